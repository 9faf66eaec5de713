"""Pairwise win counts: the two-sample U-statistic of every pair, in exact integers.

For options i, j with n samples each, the *net count* is ``C_ij = sum_a sum_b c(x_i^a, x_j^b)`` with
the antisymmetric sign c in {-1, 0, +1}. In *half units* (a win 2, a tie or an incomparable pair 1)
the win count is ``W_ij = n^2 + C_ij``, and the estimate of s_ij = P(i preferred to j) + P(neither)
/ 2 is ``S_ij = W_ij / (2 n^2)`` (Busa-Fekete et al. 2014, eq. 2 and section 4.2).

``compare(a, b)`` takes two single outcomes, pytrees, and returns an antisymmetric int8 sign. Loops
go over pieces of *old* samples, the minor-most axis: one fused kernel compares and adds them up.
Axes: B races, K options, n rounds (samples per option), N samples kept, m new rounds, P pairs,
S samples of a pair.
"""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy.typing import NDArray

from jaxrace.kernels.devices import sizes
from jaxrace.kernels.sparse import for_listed, listing_block, row_slices

Outcome = Any
Compare = Callable[[Outcome, Outcome], jax.Array]
Both = tuple[Outcome, Outcome]  # samples of both options of P pairs

# Comparisons that are summed by one kernel of a GPU: of 128 XLA takes minutes to compile the sum.
_MOST_SUMMED = 32

# Listing the open pairs pays from so many options, and pairs of a batch, on.
_LISTED_OPTIONS = 8
_LISTED_PAIRS = 256


def both_orders(num_options: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The number of (i, j) among the P pairs i < j, row by row, and +1: int32 [K, K] each.

    Of (j, i) the same number and -1, of (i, i) 0 and 0.

    >>> numbers, signs = both_orders(3)
    >>> (signs * np.array([5, 6, 7])[numbers]).tolist()
    [[0, 5, 6], [-5, 0, 7], [-6, -7, 0]]
    """
    above = np.triu(np.ones((num_options, num_options), np.int32), 1)
    numbers = (above.cumsum().reshape(above.shape) - 1) * above
    return (numbers + numbers.T).astype(np.int32), above - above.T


def open_round_nets(
    compare: Compare,
    old: Outcome,
    new: Outcome,
    num_old: jax.Array | int,
    net: jax.Array,
    open_pairs: jax.Array,
) -> jax.Array:
    """Net counts C_ij after each new round of the pairs i < j that are open, int32 [B, P, m].

    What it returns of other pairs means nothing. ``net`` before, int32, and ``open_pairs``, bool,
    are symmetric [B, K, K] but for signs. Of ``old`` samples, leaves [B, K, N, ...], the first
    ``num_old`` rounds, which may be traced, are read; ``new`` are the next m, [B, K, m, ...].

    >>> from jaxrace.kernels import total_order
    >>> old, new = jnp.array([[[3.0], [1.0]]]), jnp.array([[[2.0, 0.0], [0.0, 4.0]]])
    >>> net = jnp.array([[[0, 1], [-1, 0]]])
    >>> open_round_nets(total_order, old, new, 1, net, jnp.ones((1, 2, 2), bool)).tolist()
    [[[4, 0]]]
    """
    num_races, num_options, _ = open_pairs.shape
    num_new = jax.tree.leaves(new)[0].shape[2]
    numbers, signs = both_orders(num_options)
    above, num_pairs = signs > 0, (signs > 0).sum()
    before = net.reshape(-1)
    # Sums of whole numbers far below 2^24 are exact as products.
    until = np.triu(np.ones((num_new, num_new), np.float32))

    def play_block(place: jax.Array, nets: jax.Array) -> jax.Array:
        own = jnp.minimum(place, open_pairs.size - 1)
        gained = listed_gains(compare, old, new, num_old, own)
        told = jnp.dot(gained.astype(jnp.float32), until, precision=lax.Precision.HIGHEST)
        race, pair = own // signs.size, jnp.asarray(numbers).reshape(-1)[own % signs.size]
        row = jnp.where(place < open_pairs.size, race * num_pairs + pair, len(nets))
        return nets.at[row].set(before[own, None] + told.astype(jnp.int32), mode="drop")

    nets = jnp.zeros((num_races * num_pairs, num_new), jnp.int32)
    if num_options < _LISTED_OPTIONS or nets.shape[0] < _LISTED_PAIRS:
        every_first = np.flatnonzero(np.broadcast_to(above, open_pairs.shape))
        nets = play_block(jnp.asarray(every_first, jnp.int32), nets)
    else:
        nets = for_listed(open_pairs & above, listing_block(nets.shape[0]), play_block, nets)
    return nets.reshape(num_races, num_pairs, num_new)


def listed_gains(
    compare: Compare, old: Outcome, new: Outcome, num_old: jax.Array | int, place: jax.Array
) -> jax.Array:
    """What each new round adds to the net counts of P pairs, int32 [P, m].

    ``place`` int32 [P] are their numbers in [B, K, K].
    """
    num_options = jax.tree.leaves(new)[0].shape[1]
    first = place // num_options
    second = first // num_options * num_options + place % num_options
    old, new = (
        jax.tree.map(lambda x: x.reshape(math.prod(x.shape[:2]), *x.shape[2:]), samples)
        for samples in (old, new)
    )

    def rounds_of(start: jax.Array, size: int) -> Both:
        at = jnp.full_like(first, start)
        return row_slices(old, first, at, size), row_slices(old, second, at, size)

    both = jax.tree.map(lambda x: x[first], new), jax.tree.map(lambda x: x[second], new)
    return pair_gains(compare, rounds_of, both, num_old, jax.tree.leaves(old)[0].shape[1])


def pair_gains(
    compare: Compare,
    old: Callable[[jax.Array, int], Both],
    new: Both,
    num_old: jax.Array | int,
    capacity: int,
) -> jax.Array:
    """``listed_gains`` of P pairs of options, int32 [P, m].

    ``old(start, size)`` returns so many of the N = ``capacity`` old rounds of both options, leaves
    [P, size, ...], of which ``num_old`` count; ``new`` has leaves [P, m, ...].
    """
    new_i, new_j = new
    num_new = jax.tree.leaves(new_i)[0].shape[1]
    tile = min(sizes().rounds, capacity)
    # The samples of a pair [S] against its new ones [m]: [P, m, S].
    against = jax.vmap(jax.vmap(jax.vmap(compare, (0, None)), (None, 0)))

    def add(samples: Both, counts: Callable[[jax.Array], jax.Array], sums: jax.Array) -> jax.Array:
        """Add the samples that count: of those numbered [S], bool [S] or [m, S]."""
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

    # A new sample counts against those of later rounds.
    rounds = jnp.arange(num_new, dtype=jnp.int32)[:, None]
    sums = jnp.zeros(jax.tree.leaves(new_i)[0].shape[:2], jnp.int32)
    sums = add(new, lambda number: number < rounds, sums)
    if capacity:
        num_tiles = -(-jnp.asarray(num_old, jnp.int32) // tile)
        sums = lax.fori_loop(0, num_tiles, add_tile, sums)
    gains = sums + jax.vmap(jax.vmap(compare))(*new).astype(jnp.int32)
    # Computed once: a loop over the rounds would fuse the counting into each of them.
    return lax.optimization_barrier(gains)
