"""`jaxrace improve`: a policy that is certainly no worse."""
