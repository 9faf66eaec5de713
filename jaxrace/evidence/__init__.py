"""Evidence and decisions: e-processes, levels, certificates, and tests of what they assume."""
