"""Busa-Fekete et al. 2014 (and 2013): preference-based racing and policy search."""
