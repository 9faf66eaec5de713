"""Policies, what their histories are judged by, and rollouts of them in environments."""
