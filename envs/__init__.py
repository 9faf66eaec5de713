"""Environments: pure simulators for policy search and races, and adapters to those of others."""

from jaxrace.envs import gridworld as gridworld
from jaxrace.envs import holdem as holdem
from jaxrace.envs import medical as medical
from jaxrace.envs import mountain_car as mountain_car
from jaxrace.envs.check import check as check
from jaxrace.envs.environment import Environment as Environment
from jaxrace.envs.environment import OutcomeFold as OutcomeFold
from jaxrace.envs.environment import Transition as Transition
from jaxrace.envs.gymnax import GymnaxAdapter as GymnaxAdapter
