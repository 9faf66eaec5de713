"""What outcomes on shared tasks add to the evidence of every pair of options.

Task s of a pair, in the common order, has the difference d_s in [-1, 1], S_s is the sum of the
first s of them, and mu the mean under the null. Its factor is 1 + lambda_s (d_s - c_s), with

    a stream of tasks:  c_s = mu,                              lambda_s = lambda
    a list of N tasks:  c_s = (mu N - S_{s-1}) / (N - s + 1),  lambda_s = lambda N / (N - s + 1)

and lambda_s cut so that no factor is below 0.01. Bets on a list grow because what it lacks to a
null has ever fewer tasks to come from. In a list, i over j is certain once the tasks that are left
cannot change it. Axes: K options, T tasks told, L bets, Q nulls.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace.judging.levels import LEAST_FACTOR
from jaxrace.kernels.sums import Total, plus
from jaxrace.racing.shared.state import BLOCK, SharedParams, SharedState, common_tasks

# Means that are as close as this, in units of the range, are equal: float32 rounds scores by half.
TIE = 2.0**-23

# Products are cut here, far above every level, and bets where a factor could exceed 1 / room.
_MOST = 1e30
_ROOM = 1e-6

Differences = Callable[[Any, Any], jax.Array]  # of outcomes [K, BLOCK, ...], [K, K, BLOCK, ...]


class Tally(NamedTuple):
    """The evidence of all ordered pairs; see ``SharedState``."""

    bets: jax.Array  # float32 [Q, L, K, K]
    highest: jax.Array  # float32 [Q, K, K]
    total: Total  # float32 [K, K]


def keep_outcomes(state: SharedState, outcomes: Any, lacking: jax.Array) -> SharedState:
    """Append outcomes [K, T, ...], of each option at most as many as it lacks, int32 [K]."""
    num_told = jax.tree.leaves(outcomes)[0].shape[1]
    number = jnp.arange(num_told, dtype=jnp.int32)
    counts = number[None, :] < lacking[:, None]
    nowhere = jax.tree.leaves(state.outcomes)[0].shape[1]
    place = jnp.where(counts, state.simulated[:, None] + number, nowhere)
    option = jnp.arange(state.simulated.size)[:, None]
    kept = jax.tree.map(
        lambda old, new: old.at[option, place].set(new.astype(old.dtype), mode="drop"),
        state.outcomes,
        outcomes,
    )
    told = state.simulated + jnp.minimum(lacking, num_told)
    return dataclasses.replace(state, outcomes=kept, simulated=told)


def count_tasks(
    state: SharedState,
    params: SharedParams,
    before: jax.Array,
    *,
    differences: Differences,
    is_finite: bool,
    at_most: int,
) -> SharedState:
    """Play the tasks that pairs have come to share; options had ``before`` tasks, int32 [K].

    No option has got more than ``at_most``.
    """
    start, end = common_tasks(before), common_tasks(state.simulated)
    # The view of the one that lags begins where the pair's tasks to be played do.
    index = jnp.arange(before.size)
    own = (before[:, None] < before[None, :]) | (
        (before[:, None] == before[None, :]) & (index[:, None] < index[None, :])
    )
    tally = Tally(state.bets, state.highest, Total(state.total, state.total_rest))

    def play(number: jax.Array, tally: Tally) -> Tally:
        offset = BLOCK * number
        views = jax.vmap(lambda at: _slice(state.outcomes, at + offset))(before)
        mine = jax.tree.map(lambda x: x[index, index], views)
        found = differences(mine, views)  # of the first of a pair and the second, [K, K, BLOCK]
        found = jnp.where(own[..., None], found, -found.swapaxes(0, 1))
        found = jnp.moveaxis(found, -1, 0)
        tasks = start + offset + jnp.arange(1, BLOCK + 1, dtype=jnp.int32)[:, None, None]  # s
        step = functools.partial(_play_task, params, end, is_finite)
        return lax.scan(step, tally, (tasks, found))[0]

    passes = -(-at_most // BLOCK)
    if passes == 1:
        tally = play(jnp.int32(0), tally)
    else:
        needed = (-(-(end - start) // BLOCK)).max()
        tally = lax.fori_loop(0, needed, play, tally)
    return dataclasses.replace(
        state,
        bets=tally.bets,
        highest=tally.highest,
        total=tally.total.value,
        total_rest=tally.total.missing,
    )


def _slice(outcomes: Any, start: jax.Array) -> Any:
    """The outcomes of all options from one task on: leaves [K, BLOCK, ...]."""
    return jax.tree.map(lambda x: lax.dynamic_slice_in_dim(x, start, BLOCK, axis=1), outcomes)


def _play_task(
    params: SharedParams,
    end: jax.Array,
    is_finite: bool,
    tally: Tally,
    task: tuple[jax.Array, jax.Array],
) -> tuple[Tally, None]:
    number, difference = task  # [K, K]: s and d_s; a pair plays up to ``end``
    counts = number <= end
    nulls, bets = params.nulls[:, None, None], params.bets[:, None, None]
    total = tally.total
    mean, bet = nulls, bets
    if is_finite:
        whole = params.max_rounds.astype(jnp.float32)
        left = jnp.maximum(params.max_rounds - number + 1, 1).astype(jnp.float32)
        mean = jnp.maximum((nulls * whole - total.value) / left, -1.0)  # c_s [Q, K, K]
        bet = bets * (whole / left)  # [L, K, K]
    room = (1 - LEAST_FACTOR) / jnp.maximum(1 + mean, _ROOM)
    bet = jnp.minimum(bet[None], room[:, None])  # [Q, L, K, K]
    factor = 1 + bet * (difference - mean)[:, None]
    product = jnp.where(counts, jnp.minimum(tally.bets * factor, _MOST), tally.bets)
    highest = jnp.maximum(tally.highest, jnp.where(counts, product.sum(1), 0.0))
    added = plus(total, difference)
    total = jax.tree.map(lambda new, old: jnp.where(counts, new, old), added, total)
    if is_finite:
        highest = jnp.where(counts, _certain(params, number, total, highest), highest)
    return Tally(product, highest, total), None


def _certain(
    params: SharedParams, number: jax.Array, total: Total, highest: jax.Array
) -> jax.Array:
    """``highest`` [Q, K, K] with what is certain after a task: infinite, and after all or nothing.

    What is closer than rounding is not certain.
    """
    whole = params.max_rounds.astype(jnp.float32)
    left = (params.max_rounds - number).astype(jnp.float32)
    surplus = (total.value - left) + (total.missing - params.nulls[:, None, None] * whole)
    is_certain = surplus > TIE * whole
    highest = jnp.where(is_certain, jnp.inf, highest)
    return jnp.where((left == 0) & ~is_certain, 0.0, highest)


def are_tied(state: SharedState, params: SharedParams) -> jax.Array:
    """bool [K, K]: have two options the same sum over all N tasks, as far as float32 can tell?"""
    whole = common_tasks(state.simulated) >= params.max_rounds
    apart = jnp.abs(state.total + state.total_rest)
    return whole & (apart <= TIE * params.max_rounds.astype(jnp.float32))
