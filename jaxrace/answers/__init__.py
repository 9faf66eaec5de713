"""An answer about named options, and how it is shown."""
