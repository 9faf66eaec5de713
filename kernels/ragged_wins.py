"""Net counts of options that have different numbers of samples.

Axes: B races (lanes), K options, N samples kept, P pairs.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxrace.kernels.devices import sizes
from jaxrace.kernels.listing import for_listed
from jaxrace.kernels.wins import Compare, Outcome

_LEAST_TILE = 32  # samples of either option in a tile of comparisons
_MOST_TILES = 2**31 - 1 - 2**16  # which are numbered by an int32, in blocks
_MOST_PAIRS = 2**16  # of several races, worked on together: their numbers stay in the cache


def ragged_net(
    compare: Compare, outcomes: Outcome, counts: jax.Array, wanted: jax.Array
) -> jax.Array:
    """Net counts of every pair over the samples that both have: the first min(n_i, n_j) of each.

    int32 [B, K, K], antisymmetric, of outcomes with leaves [B, K, N, ...] and ``counts`` n_i, int32
    [B, K]; 0 for races that are not ``wanted``, bool [B]. The time grows with the number of
    comparisons in the wanted races, whatever the others hold.

    >>> from jaxrace.kernels import total_order
    >>> x, counts = jnp.array([[[3.0, 1.0], [2.0, 0.0]]]), jnp.array([[2, 1]])
    >>> ragged_net(total_order, x, counts, jnp.array([True]))[0].tolist()  # 3 against 2
    [[0, 1], [-1, 0]]
    """
    num_lanes, num_options, capacity = jax.tree.leaves(outcomes)[0].shape[:3]
    tile = _tile(num_options, capacity)
    rows = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), outcomes)
    first, second = jnp.asarray(np.triu_indices(num_options, 1), jnp.int32)  # [P]

    def count_some(places: jax.Array, net: jax.Array) -> jax.Array:
        places = jnp.sort(places) if sizes().takes_all else places  # pairs to count come first
        lanes = jnp.minimum(places, num_lanes - 1)
        both = counts[lanes].astype(jnp.int32)
        shared = jnp.minimum(both[:, first], both[:, second])
        start = lanes[:, None] * num_options
        pairs = (start + first).reshape(-1), (start + second).reshape(-1)
        num_pairs = (places < num_lanes).sum(dtype=jnp.int32) * first.size
        found = _net_of_pairs(compare, tile, rows, pairs, shared.reshape(-1), num_pairs)
        found = found.reshape(shared.shape)
        net = net.at[places[:, None], first, second].set(found, mode="drop")
        return net.at[places[:, None], second, first].set(-found, mode="drop")

    empty = jnp.zeros((num_lanes, num_options, num_options), jnp.int32)
    together = min(
        _MOST_TILES // _num_tiles(num_options, capacity, tile), _MOST_PAIRS // first.size
    )
    return for_listed(wanted, min(max(1, together), num_lanes), count_some, empty)


def sample_slices(samples: Outcome, row: jax.Array, start: jax.Array, size: int) -> Outcome:
    """Consecutive samples of P rows, the pairs last: leaves [size, P, ...].

    Of leaves [rows, N, ...]; ``row`` and the first sample ``start``, at most N - ``size``, are
    int32 [P].

    >>> samples = jnp.arange(8).reshape(2, 4)
    >>> sample_slices(samples, jnp.array([0, 1]), jnp.array([2, 0]), 2).tolist()
    [[2, 4], [3, 5]]
    """
    slices = row_slices(samples, row, start, size)
    return jax.tree.map(lambda x: jnp.moveaxis(x, 1, 0), slices)


def row_slices(samples: Outcome, row: jax.Array, start: jax.Array, size: int) -> Outcome:
    """``sample_slices`` with the pairs first: leaves [P, size, ...]."""

    def cut(x: jax.Array) -> jax.Array:
        at = (row, start, *[jnp.zeros_like(row)] * (x.ndim - 2))
        return jax.vmap(lambda *at: lax.dynamic_slice(x, at, (1, size, *x.shape[2:]))[0])(*at)

    return jax.tree.map(cut, samples)


def _num_tiles(num_options: int, capacity: int, tile: int) -> int:
    """Tiles of one race, at most."""
    return num_options * (num_options - 1) // 2 * (-(-capacity // tile)) ** 2


def _tile(num_options: int, capacity: int) -> int:
    """The smallest tile for which the number of tiles of a race fits in an int32."""
    tile = min(_LEAST_TILE, capacity)
    while _num_tiles(num_options, capacity, tile) > _MOST_TILES:
        tile *= 2
    return tile


def _net_of_pairs(
    compare: Compare,
    tile: int,
    samples: Outcome,
    pairs: tuple[jax.Array, jax.Array],
    shared: jax.Array,
    num_pairs: jax.Array,
) -> jax.Array:
    """Net counts [P] of the options in two rows [P] of samples [rows, N, ...], over [P] rounds.

    Of the first ``num_pairs`` of them. Each pair's comparisons are cut into square tiles, at least
    one; the tiles of all pairs are numbered through.
    """
    first, second = pairs
    side = jnp.maximum(-(-shared // tile), 1)  # tiles along either option's samples
    ends = jnp.cumsum(side**2, dtype=jnp.int32)
    num_tiles = jnp.where(num_pairs > 0, ends[num_pairs - 1], 0)
    within = jnp.arange(tile, dtype=jnp.int32)
    sums = jnp.int32 if tile > 127 else jnp.int8  # of so many signs
    together = sizes().tiles

    def add_tiles(index: jax.Array, net: jax.Array) -> jax.Array:
        number = index * together + jnp.arange(together, dtype=jnp.int32)
        pair = jnp.searchsorted(ends, number, side="right", method="scan_unrolled")
        pair = jnp.minimum(pair.astype(jnp.int32), ends.size - 1)  # the last one behind the end
        own = number - (ends[pair] - side[pair] ** 2)
        x, in_x = cut(first[pair], own // side[pair] * tile, shared[pair])
        y, in_y = cut(second[pair], own % side[pair] * tile, shared[pair])
        # Gathered once: XLA would do so again for every sample that they are compared with.
        x, y = lax.optimization_barrier((x, y))
        against = jax.vmap(jax.vmap(compare), (None, 0))  # [tiles] against [tile, tiles]
        one_by_one = (
            jnp.where(in_x[a], against(jax.tree.map(lambda z, a=a: z[a], x), y).astype(sums), 0)
            for a in range(tile)
        )
        signs = functools.reduce(jnp.add, one_by_one)
        counted = in_y & (number < num_tiles)
        found = jnp.where(counted, signs, 0).sum(0, dtype=jnp.int32)
        return net.at[pair].add(found)

    def cut(row: jax.Array, start: jax.Array, limit: jax.Array) -> tuple[Outcome, jax.Array]:
        """Samples [tile, tiles] of a row per tile, and which of them count."""
        # The last slice that fits may start earlier.
        begin = jnp.minimum(start, jax.tree.leaves(samples)[0].shape[1] - tile)
        sample = begin + within[:, None]
        return sample_slices(samples, row, begin, tile), (sample >= start) & (sample < limit)

    num_blocks = -(-num_tiles // together)
    return lax.fori_loop(0, num_blocks, add_tiles, jnp.zeros(first.shape, jnp.int32))
