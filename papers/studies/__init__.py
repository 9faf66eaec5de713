"""Studies of our own methods, made once: which bets, beside whom, and how often wrong."""
