"""How often the races are wrong, measured against what they promise."""
