"""`jaxrace race`: the best options of a table of scores."""
