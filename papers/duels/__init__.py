"""Simulated dueling bandits: ``python -m papers.duels`` in a checkout."""
