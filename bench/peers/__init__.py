"""What jaxrace is measured against: one file per peer, the best of its kind that we can write."""
