"""Urvoy et al. 2013: SAVAGE."""
