"""The race of preferences: Busa-Fekete et al. 2013, and its rankings."""
