"""The dominance race."""
