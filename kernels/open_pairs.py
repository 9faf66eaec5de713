"""Round gains of the open pairs of many races at once.

Once a race is under way most of its pairs are decided. Shapes are fixed in compiled code, so a race
by itself compares all of its pairs; a batch can list the open pairs of all its races, and work
through that list block by block. Axes: B races (lanes), K options, N samples kept, m new rounds, P
pairs of a block.
"""

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace.kernels.devices import sizes
from jaxrace.kernels.listing import for_listed, listing_block
from jaxrace.kernels.ragged_wins import row_slices
from jaxrace.kernels.wins import Compare, Outcome, round_gains

Both = tuple[Outcome, Outcome]  # samples of both options of a pair

# Comparisons that are summed by one kernel of a GPU: of 128 XLA takes minutes to compile the sum.
_MOST_SUMMED = 32

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
    sums = pair_sums(compare, rounds_of, both, num_old, jax.tree.leaves(old)[0].shape[1])
    gains = sums + jax.vmap(jax.vmap(compare))(*both).astype(jnp.int32)
    # Made once: what goes through the rounds would count anew for each of them.
    return lax.optimization_barrier(gains)


def pair_sums(
    compare: Compare,
    old: Callable[[jax.Array, int], Both],
    new: Both,
    num_old: jax.Array | int,
    capacity: int,
) -> jax.Array:
    """Signs of each new round of P pairs (i, j) against older ones, summed: int32 [P, m].

    ``old(start, size)`` are so many of the N = ``capacity`` old rounds, leaves [P, size, ...], of
    which ``num_old`` count; ``new`` has leaves [P, m, ...]. Those of the same round do not count.
    """
    new_i, new_j = new
    num_new = jax.tree.leaves(new_i)[0].shape[1]
    tile = min(sizes().rounds, capacity)
    # The samples of a pair [S] against its new ones [m]: [P, m, S].
    against = jax.vmap(jax.vmap(jax.vmap(compare, (0, None)), (None, 0)))

    def add(samples: Both, counts: Callable[[jax.Array], jax.Array], sums: jax.Array) -> jax.Array:
        """Add all the samples that count: of those numbered [S] bool [S], or [m, S]."""
        size = jax.tree.leaves(samples[0])[0].shape[1]
        piece = min(_MOST_SUMMED, size)

        def add_piece(index: jax.Array, sums: jax.Array) -> jax.Array:
            first = index * piece
            start = jnp.minimum(first, size - piece)
            from_i, from_j = jax.tree.map(
                lambda x: lax.dynamic_slice_in_dim(x, start, piece, axis=1), samples
            )
            number = start + jnp.arange(piece, dtype=jnp.int32)
            signs = against(from_i, new_j) - against(from_j, new_i)
            told = jnp.where((number >= first) & counts(number), signs, jnp.int8(0))
            return sums + told.sum(-1, dtype=jnp.int32)

        return lax.fori_loop(0, -(-size // piece), add_piece, sums)

    def add_tile(index: jax.Array, sums: jax.Array) -> jax.Array:
        first = index * tile
        start = jnp.minimum(first, capacity - tile)

        def is_next(number: jax.Array) -> jax.Array:
            return (start + number >= first) & (start + number < num_old)

        return add(old(start, tile), is_next, sums)

    # Among the new ones only later rounds count.
    rounds = jnp.arange(num_new, dtype=jnp.int32)[:, None]
    sums = jnp.zeros(jax.tree.leaves(new_i)[0].shape[:2], jnp.int32)
    sums = add(new, lambda number: number < rounds, sums)
    if capacity:
        num_tiles = -(-jnp.asarray(num_old, jnp.int32) // tile)
        sums = lax.fori_loop(0, num_tiles, add_tile, sums)
    return sums
