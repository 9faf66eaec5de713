"""Forms for a GPU, of few and large kernels; each is chosen where its plain form stands."""
