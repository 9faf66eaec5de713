"""Environments: pure simulators for policy search and races, and adapters to those of others."""

from jaxrace.envs import gridworld, holdem, marketing, medical, mountain_car, open_bandit, options
from jaxrace.envs.check import check
from jaxrace.envs.environment import Environment, OutcomeFold, Transition
from jaxrace.envs.gymnax import GymnaxAdapter

__all__ = [
    "Environment",
    "GymnaxAdapter",
    "OutcomeFold",
    "Transition",
    "check",
    "gridworld",
    "holdem",
    "marketing",
    "medical",
    "mountain_car",
    "open_bandit",
    "options",
]
