"""`jaxrace select`: the best k from comparisons."""
