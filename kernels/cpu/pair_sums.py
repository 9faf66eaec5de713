"""Sums of comparisons of pairs, in blocks whose sums stay in the registers of a CPU.

Axes: P pairs, m new rounds.
"""

import functools

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace.kernels.devices import sizes
from jaxrace.kernels.wins import Both, Compare, Listed, block_size


def sums_in_blocks(compare: Compare, listed: Listed) -> jax.Array:
    """``open_pairs.plain_sums``, by another way."""
    old, new, num_old, capacity = listed
    new_i, new_j = new
    num_new = jax.tree.leaves(new_i)[0].shape[1]
    block = block_size(num_new)
    tile = min(sizes().rounds - sizes().rounds % block, capacity)
    # One sample per pair [P] against the new ones of the other option [P, m].
    against = jax.jit(jax.vmap(jax.vmap(compare, (None, 0))))
    rounds = jnp.arange(num_new, dtype=jnp.int32)

    def add(start: jax.Array, size: int, samples: Both, newer: bool, sums: jax.Array) -> jax.Array:
        """Add ``size`` of the samples of both options, the first of them at ``start``."""
        from_i, from_j = jax.tree.map(
            lambda x: lax.dynamic_slice_in_dim(x, start, size, axis=1), samples
        )
        total = []
        for u in range(size):
            one_i, one_j = jax.tree.map(lambda x, u=u: x[:, u], (from_i, from_j))
            net = against(one_i, new_j) - against(one_j, new_i)
            # Among the new ones only later rounds count.
            total.append(jnp.where(rounds > start + u, net, jnp.int8(0)) if newer else net)
        # At most 8 differences of two signs: the int8 sum cannot overflow.
        return sums + functools.reduce(jnp.add, total).astype(jnp.int32)

    def add_blocks(
        start: jax.Array, count: jax.Array, samples: Both, newer: bool, sums: jax.Array
    ) -> jax.Array:
        return lax.fori_loop(
            0, count, lambda b, total: add(start + b * block, block, samples, newer, total), sums
        )

    def add_tile(index: jax.Array, sums: jax.Array) -> jax.Array:
        first = index * tile
        start = jnp.minimum(first, capacity - tile)
        count = jnp.minimum(num_old - first, tile) // block
        return add_blocks(first - start, count, old(start, tile), False, sums)

    def add_one(number: jax.Array, sums: jax.Array) -> jax.Array:
        return add(jnp.int32(0), 1, old(number, 1), False, sums)

    num_old = jnp.asarray(num_old, jnp.int32)
    in_blocks = num_old // block * block
    sums = jnp.zeros(jax.tree.leaves(new_i)[0].shape[:2], jnp.int32)
    if capacity >= block:
        sums = lax.fori_loop(0, -(-in_blocks // tile), add_tile, sums)
    if capacity:
        # A driver that works in chunks leaves no remainder, and this loop makes no pass.
        sums = lax.fori_loop(in_blocks, num_old, add_one, sums)
    return add_blocks(jnp.int32(0), jnp.int32(num_new // block), new, True, sums)
