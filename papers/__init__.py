"""Every figure of the papers, a room per paper: ``python -m papers NAME`` in a checkout."""
