"""Confidence intervals of all pairs, and what they look like after every round."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy.typing import NDArray

from jaxrace.core.validation import BadArgument
from jaxrace.kernels.bounds import Bound, FloatArray, bernoulli_divergence, levels
from jaxrace.kernels.sparse import MAX_ROUNDS
from jaxrace.kernels.wins import Compare, Outcome, both_orders, open_round_nets


def intervals(
    bound: Bound,
    num_options: int,
    max_rounds: int,
    delta: float,
    estimate: FloatArray,
    rounds: NDArray[np.integer],
) -> tuple[FloatArray, FloatArray]:
    """Two-sided intervals [lower, upper] of s_ij, all valid together with probability 1 - delta.

    Of ``estimate`` S_ij in [0, 1], any shape, from ``rounds`` samples per option, the same shape; 0
    rounds give [0, 1]. One-sided bounds report the intervals of their two-sided versions.

    >>> from jaxrace.kernels import RACE_BOUNDS
    >>> low, high = intervals(RACE_BOUNDS["tight"], 2, 100, 0.1, np.array(0.75), np.array(100))
    >>> print(f"[{low:.3f}, {high:.3f}]")
    [0.555, 0.945]
    """
    two_sided = dataclasses.replace(bound, sides=2)
    level, size = levels(two_sided, num_options, max_rounds, delta)
    seen = np.asarray(rounds)
    index = np.clip(seen - 1, 0, max_rounds - 1)
    level, size = level[index], np.where(seen > 0, size[index], 0.0)
    estimate = np.asarray(estimate, np.float64)
    with np.errstate(divide="ignore"):
        allowed = np.where(size > 0, level / np.where(size > 0, size, 1.0), np.inf)
    if bound.divergence == "kl":
        return 1 - _largest_within(1 - estimate, allowed), _largest_within(estimate, allowed)
    radius = np.sqrt(allowed / 2)
    return np.maximum(estimate - radius, 0.0), np.minimum(estimate + radius, 1.0)


def _largest_within(estimate: FloatArray, allowed: FloatArray) -> FloatArray:
    """max {q : kl(estimate, q) <= allowed}, by bisection."""
    low, high = np.broadcast_arrays(estimate, 1.0)
    for _ in range(60):
        middle = (low + high) / 2
        inside = bernoulli_divergence(estimate, middle) <= allowed
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    # The outer end: rounding must not shrink the interval.
    return np.where(np.isinf(allowed), 1.0, high)


_CHUNK = 16  # new samples per pass over the prefixes


def prefix_wins(compare: Compare, outcomes: Outcome) -> jax.Array:
    """Win counts of every prefix 1 .. n of samples [K, n, ...], int32 [n, K, K] half units.

    Entry [t - 1, i, j] divided by 2 t^2 is S_ij(t). ValueError if n exceeds ``MAX_ROUNDS``.

    >>> from jaxrace.kernels import total_order
    >>> x = jnp.array([[3.0, 1.0], [2.0, 2.0]])
    >>> prefix_wins(total_order, x)[:, 0, 1].tolist()  # 1 of 1 won, then 2 of 4
    [2, 4]
    """
    num_options, num_rounds = jax.tree.leaves(outcomes)[0].shape[:2]
    if not num_rounds:
        raise BadArgument("outcomes", "at least one round", "none")
    if num_rounds > MAX_ROUNDS:
        expected = f"at most {MAX_ROUNDS} rounds, so that 2 n^2 half units fit in an int32"
        raise BadArgument("outcomes", expected, str(num_rounds))
    chunk = min(_CHUNK, num_rounds)
    num_chunks = -(-num_rounds // chunk)
    missing = num_chunks * chunk - num_rounds

    def padded(x: jax.Array) -> jax.Array:
        return jnp.pad(x, [(0, 0), (0, missing)] + [(0, 0)] * (x.ndim - 2))[None]

    old = jax.tree.map(padded, outcomes)
    every_pair = jnp.ones((1, num_options, num_options), bool)
    numbers, signs = both_orders(num_options)

    def add_chunk(net: jax.Array, num_old: jax.Array) -> tuple[jax.Array, jax.Array]:
        new = jax.tree.map(lambda x: lax.dynamic_slice_in_dim(x, num_old, chunk, axis=2), old)
        nets = open_round_nets(compare, old, new, num_old, net[None], every_pair)[0].T
        nets = nets[:, numbers] * signs
        return nets[-1], nets

    nothing = jnp.zeros((num_options, num_options), jnp.int32)
    starts = chunk * jnp.arange(num_chunks, dtype=jnp.int32)
    nets = lax.scan(add_chunk, nothing, starts)[1].reshape(-1, *nothing.shape)[:num_rounds]
    return jnp.arange(1, num_rounds + 1, dtype=jnp.int32)[:, None, None] ** 2 + nets
