"""`jaxrace duel`: dueling bandits on a preference matrix."""
