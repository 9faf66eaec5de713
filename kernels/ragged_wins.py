"""Net counts of options that have different numbers of samples.

Axes: B races (lanes), K options, N samples kept, P pairs.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxrace.kernels.sparse import listing_block, row_slices

Compare = Callable[[Any, Any], jax.Array]

_TILE = 32  # samples of either option that are compared at once


def ragged_net(compare: Compare, outcomes: Any, counts: jax.Array, wanted: jax.Array) -> jax.Array:
    """Net counts of every pair over the samples that both have: the first min(n_i, n_j) of each.

    int32 [B, K, K], antisymmetric, of outcomes with leaves [B, K, N, ...] and ``counts`` n_i, int32
    [B, K]; 0 for races that are not ``wanted``, bool [B], which cost nothing.

    >>> from jaxrace.kernels import total_order
    >>> x, counts = jnp.array([[[3.0, 1.0], [2.0, 0.0]]]), jnp.array([[2, 1]])
    >>> ragged_net(total_order, x, counts, jnp.array([True]))[0].tolist()  # 3 against 2
    [[0, 1], [-1, 0]]
    """
    num_lanes, num_options, capacity = jax.tree.leaves(outcomes)[0].shape[:3]
    tile = min(_TILE, capacity)
    rows = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), outcomes)
    first, second = jnp.asarray(np.triu_indices(num_options, 1), jnp.int32)  # [P]
    shared = jnp.minimum(counts[:, first], counts[:, second]).astype(jnp.int32)
    shared = jnp.where(wanted[:, None], shared, 0).reshape(-1)
    block = listing_block(shared.size)
    # Pairs with as many samples are compared together, those with most of them first.
    order = jnp.argsort(-shared).astype(jnp.int32)
    order = jnp.pad(order, (0, -shared.size % block), constant_values=shared.size)

    def count_block(index: jax.Array, net: jax.Array) -> jax.Array:
        places = lax.dynamic_slice_in_dim(order, index * block, block)
        place = jnp.minimum(places, shared.size - 1)
        start, pair = place // first.size * num_options, place % first.size
        both = start + first[pair], start + second[pair]
        found = _net_of_pairs(compare, tile, rows, both, shared[place])
        at = both[0] * num_options + second[pair], both[1] * num_options + first[pair]
        at = jnp.where(places < shared.size, jnp.stack(at), net.size)
        return net.at[at].set(jnp.stack([found, -found]), mode="drop")

    num_blocks = -(-(shared > 0).sum(dtype=jnp.int32) // block)
    net = jnp.zeros(num_lanes * num_options**2, jnp.int32)
    net = lax.fori_loop(0, num_blocks, count_block, net)
    return net.reshape(num_lanes, num_options, num_options)


def _net_of_pairs(
    compare: Compare,
    tile: int,
    samples: Any,
    both: tuple[jax.Array, jax.Array],
    shared: jax.Array,
) -> jax.Array:
    """Net counts [P] of the options in two rows [P] of samples [rows, N, ...], over [P] rounds."""
    capacity = jax.tree.leaves(samples)[0].shape[1]
    against = jax.vmap(jax.vmap(jax.vmap(compare, (None, 0)), (0, None)))  # [P, tile, tile]

    def cut(row: jax.Array, index: jax.Array) -> tuple[Any, jax.Array]:
        """Samples of one tile, and which of them count: [P, tile]."""
        # The last slice that fits may start earlier.
        start = jnp.minimum(index * tile, capacity - tile)
        number = start + jnp.arange(tile, dtype=jnp.int32)
        counts = (number >= index * tile) & (number < shared[:, None])
        return row_slices(samples, row, jnp.full_like(row, start), tile), counts

    def add_row(index: jax.Array, net: jax.Array) -> jax.Array:
        x, in_x = cut(both[0], index)

        def add_tile(index: jax.Array, net: jax.Array) -> jax.Array:
            y, in_y = cut(both[1], index)
            counts = in_x[:, :, None] & in_y[:, None, :]
            signs = jnp.where(counts, against(x, y), jnp.int8(0))
            return net + signs.sum((1, 2), dtype=jnp.int32)

        return lax.fori_loop(0, num_tiles, add_tile, net)

    num_tiles = -(-shared.max() // tile)
    return lax.fori_loop(0, num_tiles, add_row, jnp.zeros_like(shared))
