"""Policies of the gridworld: the one that collects the data, and what any is worth exactly.

Axes: C = size * size cells, numbered row by row; A = 4 actions.
"""

import math

import jax
import jax.numpy as jnp

from jaxrace.core.float32 import as_float32
from jaxrace.core.validation import MOST_INT32, BadArgument, require_integer
from jaxrace.envs.gridworld import Gridworld

# P(up), P(down), P(left), P(right) of the initial policy, which the paper does not print: chosen
# for a normalised return of .2380.
_INITIAL = (0.09135, 0.40865, 0.09135, 0.40865)


def initial_probabilities(size: int = 4) -> jax.Array:
    """The policy that collects the data: P(a | cell), float32 [C, A], the same in every cell.

    Its normalised expected return on the default grid is .2380; that of uniform choice is .0170.

    >>> from jaxrace.envs.gridworld import RETURN_RANGE
    >>> low, high = RETURN_RANGE
    >>> print(f"{(expected_return(initial_probabilities(), 10) - low) / (high - low):.4f}")
    0.2380
    """
    Gridworld(size)  # checks the size
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
    if size < 2 or shape != (size * size, 4):
        raise BadArgument("probabilities", "shape [size * size, 4]", str(list(shape)))
    require_integer("horizon", horizon, 1, MOST_INT32)
    probabilities = as_float32("probabilities", probabilities)
    cells, actions = jnp.arange(size * size, dtype=jnp.int32), jnp.arange(4, dtype=jnp.int32)
    places = jnp.stack([cells // size, cells % size], axis=1)
    step, key = Gridworld(size).step, jax.random.key(0)
    over_actions = jax.vmap(lambda place, action: step(key, place, action, {})[0], (None, 0))
    moved = jax.vmap(over_actions, (0, None))(places, actions)
    next_cells = moved[..., 0] * size + moved[..., 1]  # [C, A]

    def add_a_step(values: jax.Array, _: None) -> tuple[jax.Array, None]:
        ahead = jnp.sum(probabilities * values[next_cells], axis=1) - jnp.float32(1.0)
        return ahead.at[-1].set(0.0), None

    nothing = jnp.zeros((size * size,), jnp.float32)
    values, _ = jax.lax.scan(add_a_step, nothing, None, length=horizon)
    return values[0]
