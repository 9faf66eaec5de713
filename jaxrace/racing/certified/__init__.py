"""Races that certify kappa options by e-values: on independent samples, and on shared tasks."""
