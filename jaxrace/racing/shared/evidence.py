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
import numpy as np
from jax import lax

from jaxrace import kernels
from jaxrace.judging.levels import LEAST_FACTOR
from jaxrace.kernels.sums import Total, plus
from jaxrace.racing.shared.state import BLOCK, SharedParams, SharedState, common_tasks

# Means that are as close as this, in units of the range, are equal: float32 rounds scores by half.
TIE = 2.0**-23

# Products are cut here, far above every level, and bets where a factor could exceed 1 / room.
_MOST = 1e30
_ROOM = 1e-6

Differences = Callable[[Any, Any], jax.Array]  # of outcomes [BLOCK, R, ...] of each: [BLOCK, R]


class Tally(NamedTuple):
    """The evidence of R pairs, in both orders but for the sum."""

    bets: jax.Array  # float32 [Q, L, 2, R]
    highest: jax.Array  # float32 [Q, 2, R]
    total: Total  # float32 [R]


class Numbers(NamedTuple):
    """What ``SharedParams`` say to each of R pairs."""

    nulls: jax.Array  # float32 [Q, 1, R]
    bets: jax.Array  # float32 [L, 1, R]
    whole: jax.Array  # int32 [R]


def keep_outcomes(states: SharedState, outcomes: Any, lacking: jax.Array) -> SharedState:
    """Append outcomes [B, K, T, ...], of each option at most as many as it lacks, int32 [B, K]."""
    num_told = jax.tree.leaves(outcomes)[0].shape[2]
    start, room = states.simulated.reshape(-1), lacking.reshape(-1)
    number = jnp.arange(num_told, dtype=jnp.int32)
    told = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), outcomes)
    kept = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), states.outcomes)
    nowhere = jax.tree.leaves(kept)[0].shape[1]

    def write(rows: jax.Array, kept: Any) -> Any:
        own = jnp.minimum(rows, start.size - 1)
        counts = number < room[own][:, None]
        at = rows[:, None], jnp.where(counts, start[own][:, None] + number, nowhere)
        return jax.tree.map(
            lambda old, new: old.at[at].set(new[own].astype(old.dtype), mode="drop"), kept, told
        )

    block = kernels.listing_block(start.size, light=True)
    kept = kernels.for_listed(lacking > 0, block, write, kept)
    return dataclasses.replace(
        states,
        outcomes=jax.tree.map(lambda x, old: x.reshape(old.shape), kept, states.outcomes),
        simulated=states.simulated + jnp.minimum(lacking, num_told),
    )


def count_tasks(
    states: SharedState,
    params: SharedParams,
    before: jax.Array,
    *,
    differences: Differences,
    is_finite: bool,
    at_most: int,
) -> SharedState:
    """Play the tasks that pairs have come to share; options had ``before``, int32 [B, K].

    No option has got more than ``at_most``.
    """
    num_options = before.shape[1]
    first, second = jnp.asarray(np.triu_indices(num_options, 1), jnp.int32)  # of P pairs
    start = jnp.minimum(before[:, first], before[:, second])  # [B, P]
    end = jnp.minimum(states.simulated[:, first], states.simulated[:, second])
    samples = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), states.outcomes)
    kept = (states.bets, states.highest, states.total, states.total_rest)
    kept = jax.tree.map(lambda x: x.reshape(-1, *x.shape[3:]), kept)  # [B K K, ...]

    def play_pass(number: jax.Array, kept: Any) -> Any:
        begin = start + BLOCK * number

        def play(places: jax.Array, kept: Any) -> Any:
            place = jnp.minimum(places, begin.size - 1)
            lane, pair = place // first.size, place % first.size
            rows = tuple(lane * num_options + option[pair] for option in (first, second))
            begins, ends = begin.reshape(-1)[place], end.reshape(-1)[place]
            found = differences(
                *(kernels.sample_slices(samples, row, begins, BLOCK) for row in rows)
            )
            # Where a pair's numbers lie in [B, K, K], in both orders.
            at = rows[0] * num_options + second[pair], rows[1] * num_options + first[pair]
            at = jnp.where(places == begin.size, before.size * num_options, jnp.stack(at))  # [2, R]
            bets, highest, value, missing = kept
            tally = Tally(
                jnp.moveaxis(bets[at], (-2, -1), (0, 1)),
                jnp.moveaxis(highest[at], -1, 0),
                Total(value[at[0]], missing[at[0]]),
            )
            numbers = Numbers(
                params.nulls[lane].T[:, None], params.bets[lane].T[:, None], params.max_rounds[lane]
            )
            step = functools.partial(_play_task, numbers, ends, is_finite)
            tasks = begins + jnp.arange(1, BLOCK + 1, dtype=jnp.int32)[:, None]  # s
            tally = lax.scan(step, tally, (tasks, found), unroll=UNROLL)[0]
            sums = (jnp.stack([x, -x]) for x in tally.total)
            new = (
                jnp.moveaxis(tally.bets, (0, 1), (-2, -1)),
                jnp.moveaxis(tally.highest, 0, -1),
                *sums,
            )
            return jax.tree.map(lambda old, x: old.at[at].set(x, mode="drop"), kept, new)

        block = kernels.listing_block(begin.size, light=True)
        return kernels.for_listed(begin < end, block, play, kept)

    passes = -(-at_most // BLOCK)
    if passes > 1:
        needed = (-(-(end - start) // BLOCK)).max()
        kept = lax.fori_loop(0, needed, play_pass, kept)
    else:
        kept = play_pass(jnp.int32(0), kept)
    names = ("bets", "highest", "total", "total_rest")
    changed = {n: x.reshape(getattr(states, n).shape) for n, x in zip(names, kept, strict=True)}
    return dataclasses.replace(states, **changed)


UNROLL = 1


def _play_task(
    numbers: Numbers,
    end: jax.Array,
    is_finite: bool,
    tally: Tally,
    task: tuple[jax.Array, jax.Array],
) -> tuple[Tally, None]:
    number, difference = task  # [R]: s and d_s; a pair plays up to ``end``
    counts = number <= end
    both = jnp.stack([difference, -difference])  # [2, R]
    mean, bets = numbers.nulls, numbers.bets
    if is_finite:
        sums = jnp.stack([tally.total.value, -tally.total.value])
        whole = numbers.whole.astype(jnp.float32)
        left = jnp.maximum(numbers.whole - number + 1, 1).astype(jnp.float32)
        mean = jnp.maximum((numbers.nulls * whole - sums) / left, -1.0)  # c_s [Q, 2, R]
        bets = bets * (whole / left)  # [L, 1, R]
    room = (1 - LEAST_FACTOR) / jnp.maximum(1 + mean, _ROOM)
    bets = jnp.minimum(bets[None], room[:, None])  # [Q, L, 2, R]
    factor = 1 + bets * (both - mean)[:, None]
    product = jnp.where(counts, jnp.minimum(tally.bets * factor, _MOST), tally.bets)
    highest = jnp.maximum(tally.highest, product.sum(1))
    added = plus(tally.total, difference)
    total = jax.tree.map(lambda new, old: jnp.where(counts, new, old), added, tally.total)
    if is_finite:
        certain = _with_certain(numbers, number, total, highest)
        highest = jnp.where(counts, certain, highest)
    return Tally(product, highest, total), None


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


def are_tied(state: SharedState, params: SharedParams) -> jax.Array:
    """bool [K, K]: have two options the same sum over all N tasks, as far as float32 can tell?"""
    whole = common_tasks(state.simulated) >= params.max_rounds
    apart = jnp.abs(state.total + state.total_rest)
    return whole & (apart <= TIE * params.max_rounds.astype(jnp.float32))
