"""`jaxrace reproduce`: the figures and tables of the papers."""
