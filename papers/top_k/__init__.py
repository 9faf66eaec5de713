"""Groves and Branke: top-k selection from scored comparisons."""
