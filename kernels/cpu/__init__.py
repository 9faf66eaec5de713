"""Forms that a CPU runs faster; each is chosen where its plain form stands."""
