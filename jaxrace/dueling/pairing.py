"""Pairs of arms as a flat list. Axes: K arms, P pairs (first, second) with first <= second."""

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

Pairs = NDArray[np.int32]


def pairs_of(num_arms: int, with_itself: bool = False) -> Pairs:
    """The arms of each pair, int32 [2, P]; ``with_itself``: also (i, i).

    >>> pairs_of(3).tolist()
    [[0, 0, 1], [1, 2, 2]]
    """
    return np.array(np.triu_indices(num_arms, 0 if with_itself else 1), np.int32)


def number_of(pair: jax.Array, num_arms: int, with_itself: bool = False) -> jax.Array:
    """The place of a pair, in either order, in the list of ``pairs_of``: int32 [].

    >>> int(number_of(jnp.array([2, 1]), 3))
    2
    """
    low, high = jnp.minimum(pair[0], pair[1]), jnp.maximum(pair[0], pair[1])
    diagonal = 0 if with_itself else 1
    before = low * num_arms - low * (low - 1 + 2 * diagonal) // 2
    return before + high - low - diagonal


def sums_by_arm(pairs: Pairs, of_first: jax.Array, of_second: jax.Array) -> jax.Array:
    """What the pairs of each arm add up to, float32 [K]; pairs (i, i) do not count.

    Args:
        pairs: From ``pairs_of``.
        of_first: What a pair adds to its first arm, [P].
        of_second: And to its second arm, [P].

    >>> sums_by_arm(pairs_of(3), jnp.ones(3), jnp.zeros(3)).tolist()
    [2.0, 1.0, 0.0]
    """
    num_arms, count = int(pairs.max()) + 1, pairs.shape[1]
    apart = pairs[0] != pairs[1]
    # Which number of the list below is that of i from its pair with j; the last one is 0.
    source = np.full((num_arms, num_arms), 2 * count)
    source[pairs[0][apart], pairs[1][apart]] = np.flatnonzero(apart)
    source[pairs[1][apart], pairs[0][apart]] = count + np.flatnonzero(apart)
    listed = jnp.concatenate([of_first, of_second, jnp.zeros_like(of_first, shape=(1,))])
    return listed.astype(jnp.float32)[source].sum(-1)
