"""A small gridworld: from the top left to the bottom right cell in as few steps as possible.

As far as Thomas, Theocharous and Ghavamzadeh 2015 (High confidence policy improvement) describe it:
4 x 4 cells, at most 10 steps, reward -1 for each. Axes: C = size * size cells, numbered row by row;
A = 4 actions.
"""

import dataclasses
import math
from typing import Any

import chex
import jax
import jax.numpy as jnp

from jaxrace.core.narrowing import as_float32, require_held
from jaxrace.core.validation import MOST_INT32, BadArgument, require_integer

_MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))  # (row, column) of up, down, left, right
_MOST_SIZE = math.isqrt(MOST_INT32)  # an int32 holds the number of every cell

# Worst and best return of the default grid: ten steps, and the six of a shortest path.
RETURN_RANGE = (-10.0, -6.0)

# P(up), P(down), P(left), P(right) of the initial policy, which the paper does not print: chosen
# for a normalised return of .2380.
_INITIAL = (0.09135, 0.40865, 0.09135, 0.40865)


@dataclasses.dataclass(frozen=True)
class Gridworld:
    """A walk over `size` x `size` cells without chance.

    An action is an int32 [] in 0..3: up, down, left, right; it is neither checked nor clipped. A
    move against the outer wall changes nothing. A state is (row, column), int32 [2]; an observation
    is the same divided by `size` - 1, float32 [2] in [0, 1]. Every step costs 1 until the bottom
    right cell is reached, which ends the episode. BadArgument unless `size` is in 2..46340.

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
        """No parameters at all."""
        return {}

    def reset(self, key: jax.Array, params: Any) -> jax.Array:
        """The top left cell (0, 0)."""
        del key, params
        return jnp.zeros((2,), jnp.int32)

    def step(
        self, key: jax.Array, state: jax.Array, action: jax.Array, params: Any
    ) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Walk one cell in the direction `action`."""
        del key, params
        chex.assert_rank(action, 0)
        require_held("action", action, jnp.int32)
        require_held("state", state, jnp.int32)
        arrived = jnp.all(state == self.size - 1)
        next_state = jnp.where(arrived, state, _move(state, action, self.size))
        reward = jnp.where(arrived, jnp.float32(0.0), jnp.float32(-1.0))
        return next_state, reward, jnp.all(next_state == self.size - 1)

    def observe(self, state: jax.Array, params: Any) -> jax.Array:
        """(row, column) / (size - 1), float32 [2] in [0, 1]."""
        del params
        return state.astype(jnp.float32) / jnp.float32(self.size - 1)


def initial_probabilities(size: int = 4) -> jax.Array:
    """The policy that collects the data: P(a | cell), float32 [C, A], the same in every cell.

    Its normalised expected return on the default grid is .2380; that of uniform choice is .0170.

    >>> low, high = RETURN_RANGE
    >>> print(f"{(expected_return(initial_probabilities(), 10) - low) / (high - low):.4f}")
    0.2380
    """
    require_integer("size", size, 2, _MOST_SIZE)
    return jnp.tile(jnp.asarray(_INITIAL, jnp.float32), (size * size, 1))


def expected_return(probabilities: jax.Array, horizon: int) -> jax.Array:
    """The exact expected return of a stationary policy from the top left cell, float32 [].

    Undiscounted, by backward dynamic programming: with t steps to go, V_t(cell) = -1 + sum over a
    of P(a | cell) V_(t-1)(next cell), and 0 in the bottom right cell. `probabilities` P(a | cell)
    are float32 [C, A] (BadArgument for another shape), with rows that sum to 1; they may be
    differentiated and vmapped.

    >>> print(f"{expected_return(jnp.full((16, 4), 0.25, jnp.float32), horizon=10):.2f}")
    -9.93
    """
    shape = jnp.shape(probabilities)
    size = math.isqrt(shape[0]) if len(shape) == 2 else 0
    if size < 2 or shape != (size * size, len(_MOVES)):
        raise BadArgument("probabilities", "shape [size * size, 4]", str(list(shape)))
    require_integer("horizon", horizon, 1, MOST_INT32)
    probabilities = as_float32("probabilities", probabilities)
    cells = jnp.arange(size * size, dtype=jnp.int32)
    places = jnp.stack([cells // size, cells % size], axis=1)
    actions = jnp.arange(len(_MOVES), dtype=jnp.int32)
    over_actions = jax.vmap(lambda place, action: _move(place, action, size), (None, 0))
    moved = jax.vmap(over_actions, (0, None))(places, actions)
    next_cells = moved[..., 0] * size + moved[..., 1]  # [C, A]

    def add_a_step(values: jax.Array, _: None) -> tuple[jax.Array, None]:
        ahead = jnp.sum(probabilities * values[next_cells], axis=1) - jnp.float32(1.0)
        return ahead.at[-1].set(0.0), None

    nothing = jnp.zeros((size * size,), jnp.float32)
    values, _ = jax.lax.scan(add_a_step, nothing, None, length=horizon)
    return values[0]


def _move(place: jax.Array, action: jax.Array, size: int) -> jax.Array:
    """Row and column [2] after a move."""
    return jnp.clip(place + jnp.asarray(_MOVES, jnp.int32)[action], 0, size - 1)
