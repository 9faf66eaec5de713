"""`jaxrace train`: searches of policies."""
