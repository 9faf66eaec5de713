"""Round gains of the open pairs of many races at once.

Once a race is under way most of its pairs are decided. Shapes are fixed in compiled code, so a race
by itself compares all of its pairs; a batch can list the open pairs of all its races, and work
through that list block by block. Axes: B races (lanes), K options, N samples kept, m new rounds, P
pairs of a block.
"""

import functools

import jax
import jax.numpy as jnp

from jaxrace.kernels.listing import for_listed, listing_block
from jaxrace.kernels.ragged_wins import row_slices
from jaxrace.kernels.wins import Both, Compare, Outcome, pair_gains, round_gains

# From how many options and pairs (of a batch) on it pays to list the open pairs.
_LISTED_OPTIONS = 8
_LISTED_PAIRS = 256


def open_round_gains(
    compare: Compare, old: Outcome, new: Outcome, num_old: jax.Array | int, open_pairs: jax.Array
) -> jax.Array:
    """``round_gains`` of B races, int32 [m, B, K, K]; 0 where a pair is not open, bool [B, K, K].

    The samples have leaves [B, K, N, ...] and [B, K, m, ...].

    >>> from jaxrace.kernels import total_order
    >>> old, new = jnp.array([[[3.0], [1.0]]]), jnp.array([[[2.0], [0.0]]])
    >>> open_round_gains(total_order, old, new, 1, jnp.ones((1, 2, 2), bool))[0, 0].tolist()
    [[0, 3], [-3, 0]]
    """
    num_races, num_options, _ = open_pairs.shape
    num_new = jax.tree.leaves(new)[0].shape[2]
    size = open_pairs.size
    if num_options < _LISTED_OPTIONS or size // 2 < _LISTED_PAIRS:
        of_all = jax.vmap(functools.partial(round_gains, compare), (0, 0, None), 1)
        return jnp.where(open_pairs, of_all(old, new, num_old), 0)

    def play_block(place: jax.Array, gains: jax.Array) -> jax.Array:
        gained = listed_gains(compare, old, new, num_old, place)
        gains = gains.at[:, place].set(gained.T, mode="drop")
        return gains.at[:, mirrored(place, size, num_options)].set(-gained.T, mode="drop")

    # The rounds come first, as they are looked through.
    none = jnp.zeros((num_new, size), jnp.int32)
    wanted = first_orders(open_pairs)
    gains = for_listed(wanted, listing_block(size // 2), play_block, none)
    return gains.reshape(num_new, num_races, num_options, num_options)


def first_orders(open_pairs: jax.Array) -> jax.Array:
    """Of the two orders of each open pair the one above the diagonal, bool [B, K, K]."""
    return open_pairs & jnp.triu(jnp.ones(open_pairs.shape[1:], bool), 1)


def mirrored(place: jax.Array, size: int, num_options: int) -> jax.Array:
    """Places of the reverse orders of pairs in [B, K, K]; ``size``, nowhere, stays as it is.

    >>> print(mirrored(jnp.array([1, 5, 8]), 8, 2))
    [2 6 8]
    """
    first, j = place // num_options, place % num_options  # race and option i, as one number
    reverse = (first // num_options * num_options + j) * num_options + first % num_options
    return jnp.where(place < size, reverse, size)


def listed_gains(
    compare: Compare, old: Outcome, new: Outcome, num_old: jax.Array | int, place: jax.Array
) -> jax.Array:
    """``round_gains`` of P pairs of B races, int32 [P, m].

    ``place`` int32 [P] tells the pairs (i, j), as numbers in [B, K, K]; what lies behind its end is
    the last.
    """
    num_races, num_options = jax.tree.leaves(new)[0].shape[:2]
    pair = jnp.minimum(place, num_races * num_options**2 - 1)
    first = pair // num_options
    second = first // num_options * num_options + pair % num_options
    old, new = (
        jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), samples) for samples in (old, new)
    )

    def rounds_of(start: jax.Array, size: int) -> Both:
        at = jnp.full_like(first, start)
        return row_slices(old, first, at, size), row_slices(old, second, at, size)

    both = jax.tree.map(lambda x: x[first], new), jax.tree.map(lambda x: x[second], new)
    return pair_gains(compare, rounds_of, both, num_old, jax.tree.leaves(old)[0].shape[1])
