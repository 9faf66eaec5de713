"""Net counts of options that have different numbers of samples.

Axes: B races (lanes), K options, N samples kept, P pairs.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxrace.kernels.listing import for_listed
from jaxrace.kernels.wins import Compare, Outcome

# Samples of either option in a tile of comparisons, and tiles that are compared at once.
_LEAST_TILE = 32
_BLOCK_TILES = 64


def ragged_net(
    compare: Compare, outcomes: Outcome, counts: jax.Array, wanted: jax.Array
) -> jax.Array:
    """Net counts of every pair over the samples that both have: the first min(n_i, n_j) of each.

    Its time grows with the number of comparisons in the wanted races, whatever the others hold.

    Args:
        compare: Preference between two single outcomes, int8 in {-1, 0, +1}, antisymmetric.
        outcomes: Leaves [B, K, N, ...].
        counts: int32 [B, K], n_i, at most N.
        wanted: bool [B], the races to count.

    Returns:
        int32 [B, K, K], antisymmetric; 0 for races that are not wanted.

    >>> import jax.numpy as jnp
    >>> from jaxrace.kernels import total_order
    >>> x = jnp.array([[[3.0, 1.0], [2.0, 0.0]]])
    >>> print(ragged_net(total_order, x, jnp.array([[2, 1]]), jnp.array([True]))[0])  # 3 against 2
    [[ 0  1]
     [-1  0]]
    """
    num_lanes, num_options, capacity = jax.tree.leaves(outcomes)[0].shape[:3]
    count = functools.partial(_net_of_race, compare, _tile(num_options, capacity))

    def count_one(place: jax.Array, net: jax.Array) -> jax.Array:
        lane = place[0]
        found = count(jax.tree.map(lambda x: x[lane], outcomes), counts[lane])
        return net.at[lane].set(found)

    empty = jnp.zeros((num_lanes, num_options, num_options), jnp.int32)
    return for_listed(wanted, 1, count_one, empty)


def _tile(num_options: int, capacity: int) -> int:
    """The smallest tile for which the number of tiles of a race fits in an int32."""
    tile, pairs = _LEAST_TILE, num_options * (num_options - 1) // 2
    while pairs * (-(-capacity // tile)) ** 2 >= 2**31:
        tile *= 2
    return tile


def _net_of_race(compare: Compare, tile: int, outcomes: Outcome, counts: jax.Array) -> jax.Array:
    """int32 [K, K] of one race: leaves [K, N, ...], counts [K].

    Each pair's comparisons are cut into square tiles; the tiles of all pairs are numbered through.
    """
    num_options = counts.shape[0]
    first, second = map(jnp.asarray, np.triu_indices(num_options, 1))  # [P]
    shared = jnp.minimum(counts[first], counts[second])
    side = -(-shared // tile)  # tiles along either option's samples
    ends = jnp.cumsum(side**2)
    within = jnp.arange(tile, dtype=jnp.int32)
    sums = jnp.int32 if tile > 127 else jnp.int8  # of so many signs

    def add_tiles(index: jax.Array, net: jax.Array) -> jax.Array:
        number = index * _BLOCK_TILES + jnp.arange(_BLOCK_TILES, dtype=jnp.int32)
        pair = jnp.searchsorted(ends, number, side="right", method="scan_unrolled")
        pair = jnp.minimum(pair, ends.size - 1)  # behind the last tile: nothing counts there
        own = number - (ends[pair] - side[pair] ** 2)
        length = jnp.maximum(side[pair], 1)
        x, in_x = rows(first[pair], own // length * tile, shared[pair])
        y, in_y = rows(second[pair], own % length * tile, shared[pair])
        # Gathered once: XLA would do so again for every sample that they are compared with.
        x, y = lax.optimization_barrier((x, y))
        against = jax.vmap(jax.vmap(compare), (None, 0))  # [tiles] against [tile, tiles]
        one_by_one = (
            jnp.where(in_x[a], against(jax.tree.map(lambda z, a=a: z[a], x), y).astype(sums), 0)
            for a in range(tile)
        )
        signs = functools.reduce(jnp.add, one_by_one)
        counted = in_y & (number < ends[-1])
        return net.at[pair].add(jnp.where(counted, signs, 0).sum(0, dtype=jnp.int32))

    def rows(option: jax.Array, start: jax.Array, limit: jax.Array) -> tuple[Outcome, jax.Array]:
        """Samples [tile, tiles] of an option per tile, and which of them there are."""
        sample = start + within[:, None]
        return jax.tree.map(lambda x: x[option, sample], outcomes), sample < limit

    num_blocks = -(-ends[-1] // _BLOCK_TILES)
    net = lax.fori_loop(0, num_blocks, add_tiles, jnp.zeros(first.shape, jnp.int32))
    matrix = jnp.zeros((num_options, num_options), jnp.int32).at[first, second].set(net)
    return matrix - matrix.T
