"""A small gridworld: from the top left to the bottom right cell in as few steps as possible.

As far as Thomas, Theocharous and Ghavamzadeh 2015 (High confidence policy improvement) describe it:
4 x 4 cells, at most 10 steps, reward -1 for each.
"""

import dataclasses
import math
from typing import Any

import chex
import jax
import jax.numpy as jnp

from jaxrace.core.float32 import require_held
from jaxrace.core.validation import MOST_INT32, require_integer

_MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))  # (row, column) of up, down, left, right
_MOST_SIZE = math.isqrt(MOST_INT32)  # an int32 holds the number of every cell

# Worst and best return of the default grid: ten steps, and the six of a shortest path.
RETURN_RANGE = (-10.0, -6.0)


@dataclasses.dataclass(frozen=True)
class Gridworld:
    """A walk over `size` x `size` cells without chance.

    An action is an int32 [] in 0..3: up, down, left, right; it is neither checked nor clipped. A
    move against the wall changes nothing. A state is (row, column), int32 [2]; an observation is
    the same divided by `size` - 1, float32 [2]. Every step costs 1 until the bottom right cell is
    reached, which ends the episode. BadArgument unless `size` is in 2..46340.

    >>> env, params = Gridworld(), {}
    >>> cell = env.reset(jax.random.key(0), params)
    >>> cell, reward, terminal = env.step(jax.random.key(1), cell, jnp.int32(3), params)
    >>> print(cell, reward, terminal, env.observe(cell, params))
    [0 1] -1.0 False [0. 0.33333334]
    """

    size: int = 4
    horizon: int = 10
    continues_after_terminal = False

    def __post_init__(self) -> None:
        require_integer("size", self.size, 2, _MOST_SIZE)
        require_integer("horizon", self.horizon, 1, MOST_INT32)

    @property
    def default_params(self) -> dict[str, jax.Array]:
        return {}

    def reset(self, key: jax.Array, params: Any) -> jax.Array:
        return jnp.zeros((2,), jnp.int32)

    def step(
        self, key: jax.Array, state: jax.Array, action: jax.Array, params: Any
    ) -> tuple[jax.Array, jax.Array, jax.Array]:
        chex.assert_rank(action, 0)
        require_held("action", action, jnp.int32)
        require_held("state", state, jnp.int32)
        arrived = jnp.all(state == self.size - 1)
        moved = jnp.clip(state + jnp.asarray(_MOVES, jnp.int32)[action], 0, self.size - 1)
        next_state = jnp.where(arrived, state, moved)
        reward = jnp.where(arrived, jnp.float32(0.0), jnp.float32(-1.0))
        return next_state, reward, jnp.all(next_state == self.size - 1)

    def observe(self, state: jax.Array, params: Any) -> jax.Array:
        return state.astype(jnp.float32) / jnp.float32(self.size - 1)
