"""Verdicts of a preference-based race, over several rounds at once.

Between two verdicts nothing in the race changes but its counts. So the rounds are not played one
by one: first the round in which each pair would be decided is looked up, and then the race goes
from one such round to the next. The r rounds played at once, at most 126, are numbered 1 to r by
int8 numbers, four times as many to a vector register as int32. Axes: K options, r rounds, W races
side by side.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace import kernels
from jaxrace.racing.preference.state import PreferenceParams, PreferenceState

# A round of those played at once, and one that never comes.
NUMBER = jnp.int8
NEVER = jnp.iinfo(NUMBER).max


class Progress(NamedTuple):
    """A race after some of the rounds."""

    now: jax.Array  # int8 [], the last round played, 0 before the first
    last_round: jax.Array  # int8 [K, K], the last round in which a pair counted, 0 if in none
    active: jax.Array  # bool [K, K]
    beats: jax.Array  # bool [K, K]
    selected: jax.Array  # bool [K]
    discarded: jax.Array  # bool [K]
    undecided_sum: jax.Array  # int32 []


def play_rounds(
    states: PreferenceState,
    params: PreferenceParams,
    gains: jax.Array,
    finite: jax.Array,
    first_round: jax.Array,
    *,
    top: int,
    rule: str,
) -> PreferenceState:
    """Lines 4 to 17 of Algorithm 2 (Busa-Fekete et al. 2014) for r rounds of B races.

    Args:
        states: After ``first_round`` rounds, leaves [B, ...].
        params: Of each race, leaves [B, ...].
        gains: int32 [r, B, K, K], what each round adds to the net counts.
        finite: bool [B, K, r], is the option's outcome of the round finite?
        first_round: int32 [], rounds played before.
        top: kappa.
        rule: See ``kernels.select_and_discard``.

    Returns:
        The states after r more rounds, but for their outcomes and numbers of rounds.
    """
    progress = jax.vmap(begin, (0, 0, None))(states, params, first_round)
    end = last_of(params, first_round, gains.shape[0])
    verdicts = verdict_rounds(params, states.net, gains, first_round)
    # In later rounds few races have a verdict.
    pending = jax.vmap(next_verdict)(progress.active, verdicts) <= end
    go = jax.vmap(functools.partial(go_through, top=top, rule=rule))
    found = kernels.of_listed(go, pending, (progress, verdicts, end))
    progress = jax.vmap(lambda x, y, z: jax.tree.map(functools.partial(jnp.where, x), y, z))(
        pending, found, progress
    )
    progress = jax.vmap(stop)(progress, end)
    finish_all = jax.vmap(finish, (0, 0, 0, 1, 0, None))
    return finish_all(states, params, progress, gains, finite, first_round)


def numbers_of(num_rounds: int) -> jax.Array:
    """int8 [r]: 1 to r."""
    return jnp.arange(1, num_rounds + 1, dtype=NUMBER)


def last_of(params: PreferenceParams, first_round: jax.Array, num_rounds: int) -> jax.Array:
    """int8 []: the last of the r rounds after ``first_round`` that a race has, 0 if it has none."""
    return jnp.clip(params.max_rounds - first_round, 0, num_rounds).astype(NUMBER)


def begin(state: PreferenceState, params: PreferenceParams, first_round: jax.Array) -> Progress:
    """A race before the first of the rounds."""
    return Progress(
        now=jnp.zeros_like(state.round, NUMBER),
        last_round=jnp.zeros_like(state.net, NUMBER),
        active=state.active & (first_round < params.max_rounds),
        beats=state.beats,
        selected=state.selected,
        discarded=state.discarded,
        undecided_sum=state.undecided_sum,
    )


def next_verdict(active: jax.Array, verdicts: jax.Array) -> jax.Array:
    """The first round that decides an active pair: int8 [] of arguments [K, K]."""
    return jnp.where(active, verdicts, NUMBER(NEVER)).min()


def go_through(
    progress: Progress,
    verdicts: jax.Array,
    end: jax.Array,
    *,
    top: int,
    rule: str,
    look: Callable[[Progress], jax.Array] | None = None,
) -> Progress:
    """From verdict to verdict, until the last of the rounds.

    Args:
        progress: Before the first of them.
        verdicts: int8 [K, K], the round in which each pair would be decided, or ``NEVER``.
        end: int8 [], the last round.
        top: kappa.
        rule: See ``kernels.select_and_discard``.
        look: Finds later verdicts where they depend on earlier ones.
    """

    def play_on(carry: tuple[Progress, jax.Array]) -> tuple[Progress, jax.Array]:
        old, verdicts = carry
        number = next_verdict(old.active, verdicts)
        beats = old.beats | (old.active & (verdicts == number))
        selected, discarded = kernels.select_and_discard(beats, top, rule)
        settled = selected | discarded
        still_open = ~(settled[:, None] & settled[None, :]) & ~(beats | beats.T)
        progress = Progress(
            now=number,
            last_round=jnp.where(old.active, number, old.last_round),
            active=old.active & still_open,
            beats=beats,
            selected=selected,
            discarded=discarded,
            undecided_sum=undecided_sum(old, number),
        )
        return progress, verdicts if look is None else look(progress)

    def has_verdict(carry: tuple[Progress, jax.Array]) -> jax.Array:
        return next_verdict(carry[0].active, carry[1]) <= end

    return lax.while_loop(has_verdict, play_on, (progress, verdicts))[0]


def stop(progress: Progress, end: jax.Array) -> Progress:
    """What is open at the last round has counted until then."""
    last_round = jnp.where(progress.active, end, progress.last_round)
    return progress._replace(last_round=last_round)


def finish(
    state: PreferenceState,
    params: PreferenceParams,
    progress: Progress,
    gains: jax.Array,
    finite: jax.Array,
    first_round: jax.Array,
) -> PreferenceState:
    """The state of a race after the rounds.

    Args:
        state: Before them.
        params: The race's.
        progress: From ``stop``.
        gains: int32 [r, K, K], what each of them adds to the net counts.
        finite: bool [K, r], is the option's outcome of the round finite?
        first_round: int32 [], rounds played before.
    """
    num_rounds = finite.shape[1]
    last_round = progress.last_round.astype(jnp.int32)
    drawn = progress.last_round.max(-1)
    numbers = numbers_of(num_rounds)
    counted = numbers[:, None, None] <= progress.last_round
    gained = jnp.where(counted, gains, 0).sum(0, dtype=jnp.int32)
    bad_rounds = jnp.where(~finite & (numbers <= drawn[:, None]), numbers, NUMBER(NEVER)).min(-1)
    first_bad = (state.invalid == 0) & (bad_rounds < NEVER)
    return dataclasses.replace(
        state,
        samples=state.samples + drawn.astype(jnp.int32),
        net=state.net + gained,
        rounds=jnp.where(last_round > 0, first_round + last_round, state.rounds),
        # What was open at max_rounds stays open.
        active=jnp.where(first_round < params.max_rounds, progress.active, state.active),
        beats=progress.beats,
        selected=progress.selected,
        discarded=progress.discarded,
        undecided_sum=undecided_sum(progress, num_rounds),
        invalid=jnp.where(first_bad, first_round + bad_rounds.astype(jnp.int32), state.invalid),
    )


def undecided_sum(progress: Progress, number: jax.Array | int) -> jax.Array:
    """Sum of m_l = K - |C u D| at the start of round l, over all rounds up to ``number``."""
    undecided = (~(progress.selected | progress.discarded)).sum(0, dtype=jnp.int32)
    played = jnp.asarray(number, jnp.int32) - progress.now.astype(jnp.int32)
    return progress.undecided_sum + undecided * played


def verdict_rounds(
    params: PreferenceParams, net: jax.Array, gains: jax.Array, first_round: jax.Array
) -> jax.Array:
    """The first of the r rounds whose interval puts s_ij above 1/2: int8 [B, K, K].

    Of both orders of a pair only the one that comes first has its round. Arguments as for
    ``play_rounds``; net is int32 [B, K, K].
    """
    num_races, num_options = net.shape[:2]
    index = jnp.arange(num_options, dtype=jnp.int32)
    # With epsilon both orders may reach a threshold below 0: the one that is ahead holds then, and
    # of two that are even the first.
    least = (index[:, None] >= index[None, :]).reshape(-1).astype(jnp.int32)
    # Pairs on one axis: loops over K numbers leave the vector units half empty.
    gains = gains.reshape(-1, num_races, num_options**2)

    def look(place: jax.Array, carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        net, verdicts = carry
        net = net + lax.dynamic_index_in_dim(gains, place, keepdims=False)
        threshold = lax.dynamic_slice_in_dim(params.thresholds, first_round + place, 1, axis=1)
        number = (place + 1).astype(NUMBER)
        certain = net >= jnp.maximum(threshold, least)
        return net, jnp.minimum(verdicts, jnp.where(certain, number, NUMBER(NEVER)))

    net = net.reshape(gains.shape[1:])
    never = jnp.full_like(net, NEVER, NUMBER)
    # Not a scan, which would put the rounds of a batch before its races: a copy of all of it.
    _, verdicts = lax.fori_loop(0, gains.shape[0], look, (net, never))
    verdicts = verdicts.reshape(num_races, num_options, num_options)
    return jnp.where(verdicts < verdicts.swapaxes(1, 2), verdicts, NUMBER(NEVER))
