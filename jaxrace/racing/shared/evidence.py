"""What outcomes on shared tasks add to the evidence of every pair of options.

Task s of a pair, in the common order, has the difference d_s in [-1, 1], S_s is the sum of the
first s of them, and mu the mean under the null. Its factor is 1 + lambda_s (d_s - c_s), with

    a stream of tasks:  c_s = mu,                              lambda_s = lambda
    a list of N tasks:  c_s = (mu N - S_{s-1}) / (N - s + 1),  lambda_s = lambda N / (N - s + 1)

and lambda_s cut so that no factor is below 0.01. Bets on a list grow because what it lacks to a
null has ever fewer tasks to come from. In a list, i over j is certain once the tasks that are left
cannot change it. Axes: B races (lanes),
K options, T tasks told, R pairs, L bets, Q nulls.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace import kernels
from jaxrace.evidence.levels import LEAST_FACTOR
from jaxrace.kernels.kahan import Total, add
from jaxrace.racing.comparing import require_sign
from jaxrace.racing.shared.state import (
    BLOCK,
    TIE,
    PairEvidence,
    SharedParams,
    SharedState,
    pairs_first,
    pairs_last,
    pairs_of,
)

# Products are cut here, far above every level, and bets where a factor could exceed 1 / room.
_MOST = 1e30
_ROOM = 1e-6

Compare = Callable[[Any, Any], jax.Array]
Differences = Callable[[Any, Any], jax.Array]  # of outcomes [BLOCK, R, ...] of each: [BLOCK, R]


class Numbers(NamedTuple):
    """What ``SharedParams`` say to each of R pairs."""

    nulls: jax.Array  # float32 [Q, 1, R]
    bets: jax.Array  # float32 [L, 1, R]
    whole: jax.Array  # int32 [R]


def count_tasks(
    states: SharedState,
    params: SharedParams,
    before: jax.Array,
    *,
    differences: Differences,
    is_finite: bool,
) -> SharedState:
    """Play the tasks that pairs have come to share; options had ``before``, int32 [B, K]."""
    num_options = before.shape[1]
    first, second = pairs_of(num_options)
    start = jnp.minimum(before[:, first], before[:, second])  # [B, P]
    end = jnp.minimum(states.simulated[:, first], states.simulated[:, second])
    samples = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), states.outcomes)

    def play_pass(number: jax.Array, kept: PairEvidence) -> PairEvidence:
        begin = start + BLOCK * number

        def play(places: jax.Array, kept: PairEvidence) -> PairEvidence:
            place = jnp.minimum(places, begin.size - 1)
            lane, pair = place // first.size, place % first.size
            rows = tuple(lane * num_options + option[pair] for option in (first, second))
            begins, ends = begin.reshape(-1)[place], end.reshape(-1)[place]
            own = (kernels.sample_slices(samples, row, begins, BLOCK) for row in rows)
            numbers = Numbers(
                params.nulls[lane].T[:, None], params.bets[lane].T[:, None], params.max_rounds[lane]
            )
            earlier = pairs_last(jax.tree.map(lambda x: x[place], kept))
            tasks = begins + jnp.arange(1, BLOCK + 1, dtype=jnp.int32)[:, None]  # s
            step = functools.partial(_play_task, numbers, ends, is_finite)
            earlier = pairs_first(lax.scan(step, earlier, (tasks, differences(*own)))[0])
            return jax.tree.map(lambda x, y: x.at[places].set(y, mode="drop"), kept, earlier)

        block = kernels.listing_block(begin.size, light=True)
        return kernels.for_listed(begin < end, block, play, kept)

    kept = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), states.pairs)  # [B P, ...]
    kept = lax.fori_loop(0, (-(-(end - start) // BLOCK)).max(), play_pass, kept)
    kept = jax.tree.map(lambda x, old: x.reshape(old.shape), kept, states.pairs)
    return dataclasses.replace(states, pairs=kept)


def _play_task(
    numbers: Numbers,
    end: jax.Array,
    is_finite: bool,
    earlier: PairEvidence,
    task: tuple[jax.Array, jax.Array],
) -> tuple[PairEvidence, None]:
    number, difference = task  # [R]: s and d_s; a pair plays up to ``end``
    counts = number <= end
    both = jnp.stack([difference, -difference])  # [2, R]
    mean, bets = numbers.nulls, numbers.bets
    if is_finite:
        sums = jnp.stack([earlier.total.value, -earlier.total.value])
        whole = numbers.whole.astype(jnp.float32)
        left = jnp.maximum(numbers.whole - number + 1, 1).astype(jnp.float32)
        mean = jnp.maximum((numbers.nulls * whole - sums) / left, -1.0)  # c_s [Q, 2, R]
        bets = bets * (whole / left)  # [L, 1, R]
    room = (1 - LEAST_FACTOR) / jnp.maximum(1 + mean, _ROOM)
    bets = jnp.minimum(bets[None], room[:, None])  # [Q, L, 2, R]
    factor = 1 + bets * (both - mean)[:, None]
    product = jnp.where(counts, jnp.minimum(earlier.bets * factor, _MOST), earlier.bets)
    highest = jnp.maximum(earlier.highest, product.sum(1))
    added = add(earlier.total, difference)
    total = jax.tree.map(lambda new, old: jnp.where(counts, new, old), added, earlier.total)
    if is_finite:
        certain = _with_certain(numbers, number, total, highest)
        highest = jnp.where(counts, certain, highest)
    return PairEvidence(product, highest, total), None


def _with_certain(
    numbers: Numbers, number: jax.Array, total: Total, highest: jax.Array
) -> jax.Array:
    """``highest`` [Q, 2, R] with what is certain: infinite, and after all tasks that or nothing.

    What is closer than rounding is not certain.
    """
    whole = numbers.whole.astype(jnp.float32)
    left = (numbers.whole - number).astype(jnp.float32)
    value, missing = (jnp.stack([x, -x]) for x in total)
    surplus = (value - left) + (missing - numbers.nulls * whole)
    is_certain = surplus > TIE * whole
    highest = jnp.where(is_certain, jnp.inf, highest)
    return jnp.where((left == 0) & ~is_certain, 0.0, highest)


def require_outcome(example: Any, values: int, compare: Compare | None) -> None:
    """Raise ValueError unless an outcome has R ``values`` that a race can compare.

    ``example`` has leaves of shapes and dtypes; of single values where R is 1. Without a preference
    they are scores.
    """
    leaves = jax.tree.leaves(example)
    wanted = (values,) if values > 1 else ()
    if compare is None and (len(leaves) != 1 or leaves[0].shape != wanted):
        got = [list(leaf.shape) for leaf in leaves]
        raise ValueError(f"example_outcome: expected one array {list(wanted)} of scores, got {got}")
    for leaf in leaves:
        if leaf.shape[: len(wanted)] != wanted:
            raise ValueError(
                f"example_outcome: expected {values} values first, got {list(leaf.shape)}"
            )
        if jnp.issubdtype(leaf.dtype, jnp.complexfloating):
            raise ValueError(f"example_outcome: expected real numbers, got {leaf.dtype}")
    if compare is not None:
        one = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape[len(wanted) :], x.dtype), example)
        require_sign(compare, one)


def net_wins(compare: Compare, values: int, first: Any, second: Any) -> jax.Array:
    """The sign of two outcomes, averaged over all pairs of their R values: float32 [].

    >>> from jaxrace.kernels import total_order
    >>> print(net_wins(total_order, 2, jnp.array([1.0, 3.0]), jnp.array([1.0, 2.0])))
    0.25
    """
    if values == 1:
        return compare(first, second).astype(jnp.float32)
    signs = jax.vmap(jax.vmap(compare, (None, 0)), (0, None))(first, second)
    return signs.sum(dtype=jnp.int32).astype(jnp.float32) / values**2
