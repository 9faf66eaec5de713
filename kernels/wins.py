"""Pairwise win counts: the two-sample U-statistic of every pair, in exact integers.

For options i, j with n samples each, the *net count* is ``C_ij = sum_a sum_b c(x_i^a, x_j^b)`` with
the sign c in {-1, 0, +1}; it is antisymmetric. In *half units* (a win 2, a tie or an incomparable
pair 1, a loss 0) the win count is ``W_ij = n^2 + C_ij``, and the estimate of s_ij = P(i preferred
to j) + P(neither) / 2 is ``S_ij = W_ij / (2 n^2)`` (Busa-Fekete et al. 2014, eq. 2 with the half
points of section 4.2).

``compare(a, b)`` takes two single outcomes, pytrees, and returns an int8 sign. Loops go over blocks
of *old* samples and keep the new samples of all options as the minor-most axis: a fused loop
compares, adds and keeps its [K, K m] sums in vector registers. Axes: K options, n rounds (samples
per option), m new rounds.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace.kernels.listing import with_operands_kept

Outcome = Any
Compare = Callable[[Outcome, Outcome], jax.Array]

MAX_ROUNDS = 32767  # 2 n^2 half units must fit in an int32

_MAX_BLOCK = 8  # old samples taken per pass over the sums
_REGISTER = 8  # new samples of all options are filled up to a multiple of so many
_CHUNK = 16  # new samples per pass over the prefixes


def round_gains(
    compare: Compare, old: Outcome, new: Outcome, num_old: jax.Array | int
) -> jax.Array:
    """What each new round adds to the net counts, int32 [m, K, K], antisymmetric.

    Entry t is the net count after round num_old + t + 1 minus that after the round before. Of
    ``old`` samples, leaves [K, N, ...], only the first ``num_old`` rounds are read, which may be
    traced; ``new`` are the next m samples of each option, leaves [K, m, ...].

    >>> from jaxrace.kernels import total_order
    >>> old, new = jnp.array([[3.0], [1.0]]), jnp.array([[2.0], [0.0]])
    >>> round_gains(total_order, old, new, 1)[0].tolist()  # (3, 2) against (1, 0) after (3) : (1)
    [[0, 3], [-3, 0]]
    """
    num_options, num_new = _leading_axes(new)
    block = block_size(num_new)
    # One sample of each option [K] against many samples [M]: [K, M]. Under jit its many uses are
    # traced once; the compiler inlines them all.
    against = jax.jit(jax.vmap(jax.vmap(compare, (None, 0)), (0, None)))
    # The new samples of all options on one axis, which fills the vector registers but for the last
    # one: rounds alone leave a part of one per option, whose numbers go one by one.
    size = num_options * num_new
    padding = -size % _REGISTER
    flat = jax.tree.map(lambda x: _padded(x.reshape(size, *x.shape[2:]), padding), new)

    def add_old(start: jax.Array, size: int, sums: jax.Array) -> jax.Array:
        return sums + _sum_over_old(against, _rounds_slice(old, start, size), flat, size)

    # sums[i, (j, t)] = sum of the signs of (x_i^a, x_j^t) over the samples a older than t.
    num_old = jnp.asarray(num_old, jnp.int32)
    num_blocks = num_old // block
    sums = jnp.zeros((num_options, size + padding), jnp.int32)
    capacity = _leading_axes(old)[1]
    if capacity >= block:
        sums = lax.fori_loop(0, num_blocks, lambda b, sums: add_old(b * block, block, sums), sums)
    if capacity:
        # A driver that works in chunks leaves no remainder, and this loop makes no pass.
        sums = lax.fori_loop(num_blocks * block, num_old, lambda a, sums: add_old(a, 1, sums), sums)

    # All bits of [a, (j, t)] where round t is later than a, made once: comparing again costs more.
    later = -jnp.triu(jnp.ones((num_new, num_new), jnp.int32), 1)
    later = jnp.pad(jnp.tile(later, num_options), ((0, 0), (0, padding)))

    def add_newer(index: jax.Array, sums: jax.Array) -> jax.Array:
        samples = _rounds_slice(new, index * block, block)
        is_later = lax.dynamic_slice_in_dim(later, index * block, block)
        return sums + _sum_over_old(against, samples, flat, block, is_later)

    sums = lax.fori_loop(0, num_new // block, add_newer, sums)
    sums = sums[:, :size].reshape(num_options, num_options, num_new)
    # The new sample of j against older ones of i, the reverse, and the two new ones.
    same_round = jax.vmap(jax.vmap(jax.vmap(compare), (None, 0)), (0, None))(new, new)
    gains = sums - sums.swapaxes(0, 1) + same_round.astype(jnp.int32)
    # Each made once, before they are moved.
    return with_operands_kept(lambda gains: jnp.moveaxis(gains, -1, 0), num_old >= 0, gains)


def net_counts(net: jax.Array, gains: jax.Array) -> jax.Array:
    """Net counts after each of m rounds, int32 [m, K, K], from those before and their gains.

    ``net + jnp.cumsum(gains, axis=0)`` would on a CPU be a window over all m rounds for each.
    """

    def add_round(net: jax.Array, gained: jax.Array) -> tuple[jax.Array, jax.Array]:
        return net + gained, net + gained

    return lax.scan(add_round, net, gains)[1]


def prefix_wins(compare: Compare, outcomes: Outcome) -> jax.Array:
    """Win counts of every prefix 1 .. n of samples [K, n, ...], int32 [n, K, K] half units.

    Entry [t - 1, i, j] divided by 2 t^2 is S_ij(t). ValueError if n exceeds ``MAX_ROUNDS``.

    >>> from jaxrace.kernels import total_order
    >>> x = jnp.array([[3.0, 1.0], [2.0, 2.0]])
    >>> prefix_wins(total_order, x)[:, 0, 1].tolist()  # 1 of 1 won, then 2 of 4
    [2, 4]
    """
    num_options, num_rounds = _leading_axes(outcomes)
    if num_rounds > MAX_ROUNDS:
        raise ValueError(
            f"outcomes: expected at most {MAX_ROUNDS} rounds, so that 2 n^2 half units fit in "
            f"an int32, got {num_rounds}"
        )
    _require_rounds(num_rounds)
    chunk = min(_CHUNK, num_rounds)
    num_chunks = -(-num_rounds // chunk)
    missing = num_chunks * chunk - num_rounds
    padded = jax.tree.map(jax.vmap(lambda x: _padded(x, missing)), outcomes)

    def add_chunk(net: jax.Array, num_old: jax.Array) -> tuple[jax.Array, jax.Array]:
        gains = round_gains(compare, padded, _rounds_slice(padded, num_old, chunk), num_old)
        nets = net_counts(net, gains)
        return nets[-1], nets

    nothing = jnp.zeros((num_options, num_options), jnp.int32)
    starts = chunk * jnp.arange(num_chunks, dtype=jnp.int32)
    nets = lax.scan(add_chunk, nothing, starts)[1].reshape(-1, *nothing.shape)[:num_rounds]
    return jnp.arange(1, num_rounds + 1, dtype=jnp.int32)[:, None, None] ** 2 + nets


def block_size(num_rounds: int) -> int:
    """Old samples that are taken per pass: the largest divisor of the rounds up to 8.

    >>> block_size(25), block_size(32), block_size(7)
    (5, 8, 7)
    """
    _require_rounds(num_rounds)
    return max(d for d in range(1, _MAX_BLOCK + 1) if num_rounds % d == 0)


def _require_rounds(num_rounds: int) -> None:
    if not num_rounds:
        raise ValueError("outcomes: expected at least one round, got none")


def _leading_axes(outcomes: Outcome) -> tuple[int, int]:
    first = jax.tree.leaves(outcomes)[0]
    return first.shape[0], first.shape[1]


def _rounds_slice(outcomes: Outcome, start: jax.Array | int, size: int) -> Outcome:
    return jax.tree.map(lambda x: lax.dynamic_slice_in_dim(x, start, size, axis=1), outcomes)


def _padded(x: jax.Array, missing: int) -> jax.Array:
    """So many zeros behind the first axis."""
    return jnp.pad(x, [(0, missing)] + [(0, 0)] * (x.ndim - 1))


def _sum_over_old(
    against: Compare, samples: Outcome, new: Outcome, size: int, is_counted: jax.Array | None = None
) -> jax.Array:
    """``size`` samples per option ``against`` all new ones [M], summed: int32 [K, M].

    With ``is_counted`` (int32 [size, M], all bits or none) only some of them are.
    """

    def one(u: int) -> jax.Array:
        sign = against(jax.tree.map(lambda x: x[:, u], samples), new)
        # As wide as the sums: bytes behind a mask are slower.
        return sign if is_counted is None else sign.astype(jnp.int32) & is_counted[u]

    # At most 8 signs: the int8 partial sum cannot overflow.
    return functools.reduce(jnp.add, [one(u) for u in range(size)]).astype(jnp.int32)
