"""Thomas et al. 2015 (ICML): high-confidence policy improvement."""
