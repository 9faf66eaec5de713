"""Simulated selections: ``python -m papers.selections`` in a checkout."""
