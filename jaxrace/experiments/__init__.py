"""Whole experiments: what the command runs, one module per job."""
