"""`jaxrace train holdem`: poker players that evolve."""
