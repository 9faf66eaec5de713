"""Hold'em players that evolve: ``python -m papers.holdem`` in a checkout."""
