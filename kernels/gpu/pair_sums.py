"""Sums of comparisons of pairs, with many old rounds in each kernel of a GPU.

Axes: P pairs, m new rounds, S samples of a pair.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace.kernels.devices import sizes
from jaxrace.kernels.wins import Both, Compare, Listed

# Comparisons that are summed by one kernel of a GPU: of 128 XLA takes minutes to compile the sum.
_MOST_SUMMED = 32


def sums_at_once(compare: Compare, listed: Listed) -> jax.Array:
    """``open_pairs.plain_sums``, by another way."""
    old, new, num_old, capacity = listed
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
