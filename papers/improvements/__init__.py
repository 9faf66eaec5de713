"""Simulated policy improvement: ``python -m papers.improvements`` in a checkout."""
