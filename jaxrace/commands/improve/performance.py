"""How good a policy really is, exactly where a task is small. Axes: T steps, A actions."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace.envs import Environment, gridworld

Chances = Callable[[Any], jax.Array]  # of observations [m, ...]: float32 [m, A]
_ROUNDING = 1e-6  # a difference of two performances that is rounding


class Worth(NamedTuple):
    """Performance in [0, 1], and how far off it may be; float32 [] each, or arrays of one shape."""

    mean: Any
    stderr: Any  # 0 if the mean is exact


def is_worse(found: Worth, floor: Worth) -> np.ndarray:
    """Is a policy worse than the floor, by more than three standard errors of the difference?"""
    error = np.hypot(found.stderr, floor.stderr)
    return np.asarray(found.mean) < floor.mean - 3 * error - _ROUNDING


def of_gridworld(chances: Chances) -> jax.Array:
    """The expected return in the default gridworld, float32 []."""
    env = gridworld.Gridworld()
    axis = jnp.linspace(0, 1, env.size, dtype=jnp.float32)
    cells = jnp.stack(jnp.meshgrid(axis, axis, indexing="ij"), -1)
    return gridworld.expected_return(chances(cells.reshape(-1, 2)), env.horizon)


def without_chance(env: Environment, num_actions: int, chances: Chances) -> jax.Array:
    """The expected return over all sequences of actions, where nothing is random: float32 []."""
    levels = _levels(env, num_actions)
    ahead = jnp.zeros(num_actions ** len(levels), jnp.float32)
    for observations, rewards in reversed(levels):
        listed = rewards + ahead.reshape(-1, num_actions)
        ahead = (chances(jnp.asarray(observations)) * listed).sum(1)
    return ahead[0]


@functools.cache
def _levels(env: Environment, num_actions: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """What may be observed in step t, float32 [A^t, d], and the rewards then, float32 [A^t, A].

    As NumPy arrays, so that no trace is kept.
    """
    # Also when a program is being traced that asks for it.
    with jax.ensure_compile_time_eval():
        params, key = env.default_params, jax.random.key(0)
        actions = jnp.arange(num_actions, dtype=jnp.int32)

        @jax.jit
        @jax.vmap
        def ahead(state: Any) -> tuple[Any, Any, jax.Array]:
            after, rewards, _ = jax.vmap(lambda one: env.step(key, state, one, params))(actions)
            return env.observe(state, params), after, rewards

        states, found = jax.tree.map(lambda x: x[None], env.reset(key, params)), []
        for _ in range(env.horizon):
            seen, after, rewards = ahead(states)
            found.append((np.asarray(seen), np.asarray(rewards)))
            states = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), after)
    return found
