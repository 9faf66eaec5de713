"""Agrawal and Chaporkar 2019: Sup-KLUCB."""
