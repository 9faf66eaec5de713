"""Races on tables of scores, on the host: NumPy, float64, nothing compiled and JAX not imported."""
