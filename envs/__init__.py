"""Environments: pure simulators for policy search and races, and adapters to those of others."""

from jaxrace.envs import medical, options
from jaxrace.envs.check import check
from jaxrace.envs.environment import Environment, OutcomeFold, Transition
from jaxrace.envs.gymnax import GymnaxAdapter

__all__ = [
    "Environment",
    "GymnaxAdapter",
    "OutcomeFold",
    "Transition",
    "check",
    "medical",
    "options",
]
