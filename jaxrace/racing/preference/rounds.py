"""Verdicts of a preference-based race, over several rounds at once.

Between two verdicts nothing changes but the counts. So first the round in which each pair would be
decided is looked up, and then the race goes from one such round to the next. The r rounds, at most
126, have int8 numbers 1 to r, for the vector registers. Axes: K options, r rounds.
"""

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace import kernels
from jaxrace.racing.preference.state import PreferenceParams, PreferenceState, Told

# A round of those played at once, and one that never comes.
NUMBER = jnp.int8
NO_ROUND = jnp.iinfo(NUMBER).max


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
    state: PreferenceState,
    params: PreferenceParams,
    told: Told,
    *,
    top: int,
    rule: str,
    is_dynamic: bool,
) -> PreferenceState:
    """Lines 4 to 17 of Algorithm 2 (Busa-Fekete et al. 2014) for r rounds.

    The state is that after r more rounds, but for its outcomes and number of rounds. The level of
    the dynamic correction (eq. 8) changes with every verdict, and all rounds are looked at again.
    """
    gains, _, first_round = told
    progress = begin(state, params, first_round)
    end = last_of(params, first_round, gains.shape[0])
    look = _dynamic_look(state, params, told) if is_dynamic else None
    if look is None:
        verdicts = verdict_rounds(params, state.net, gains, first_round)
    else:
        verdicts = look(progress)
    progress = go_through(progress, verdicts, end, top=top, rule=rule, look=look)
    return _finish(state, params, progress, told)


def _dynamic_look(
    state: PreferenceState, params: PreferenceParams, told: Told
) -> Callable[[Progress], jax.Array]:
    """Rounds with a verdict, int8 [K, K], by the dynamic correction.

    With m_l undecided options in round l the level is ln(2 c_t / delta), the same for all rounds t
    until options are decided, c_t = (K-1) [sum_{l<t} m_l + (n_max - t + 1) m_t]. The interval puts
    s_ij above 1/2 where t times 2 (S - 1/2)^2 = C^2 / (2 t^3) exceeds it, and S > 1/2.
    """
    num_options = state.net.shape[-1]
    gains, _, first_round = told
    numbers = _numbers(gains.shape[0])[:, None, None]
    counts = kernels.net_counts(state.net, gains).astype(jnp.float32)
    t = (first_round + numbers.astype(jnp.int32)).astype(jnp.float32)
    evidence = jnp.where(counts > 0, (counts / t) ** 2 / (2 * t), -1.0)  # [r, K, K]

    def look(progress: Progress) -> jax.Array:
        # In floats: the product of K, K - 1 and n_max may exceed an int32.
        undecided = (~(progress.selected | progress.discarded)).sum(dtype=jnp.int32)
        now = first_round + progress.now.astype(jnp.int32)
        remaining = jnp.maximum(params.max_rounds - now, 0)
        statements = progress.undecided_sum.astype(jnp.float32) + (
            remaining.astype(jnp.float32) * undecided.astype(jnp.float32)
        )
        level = jnp.log(2 * (num_options - 1) * statements / params.delta)
        certain = (evidence > level) & (numbers > progress.now)
        return _of_first_order(jnp.where(certain, numbers, NUMBER(NO_ROUND)).min(0))

    return look


def _numbers(num_rounds: int) -> jax.Array:
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
    return jnp.where(active, verdicts, NUMBER(NO_ROUND)).min()


def go_through(
    progress: Progress,
    verdicts: jax.Array,
    end: jax.Array,
    *,
    top: int,
    rule: str,
    look: Callable[[Progress], jax.Array] | None = None,
) -> Progress:
    """From verdict to verdict, until the last of the rounds, ``end``, int8 [].

    ``verdicts``, int8 [K, K], are the rounds in which pairs would be decided, or ``NO_ROUND``;
    ``look`` finds later ones where they depend on earlier ones.
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


def _finish(
    state: PreferenceState, params: PreferenceParams, progress: Progress, told: Told
) -> PreferenceState:
    """The state of a race after the rounds."""
    gains, finite, first_round = told
    num_rounds = finite.shape[1]
    # What is open at the last round has counted until then.
    end = last_of(params, first_round, num_rounds)
    last = jnp.where(progress.active, end, progress.last_round)
    last_round = last.astype(jnp.int32)
    drawn = last.max(-1)
    numbers = _numbers(num_rounds)
    counted = numbers[:, None, None] <= last
    gained = jnp.where(counted, gains, 0).sum(0, dtype=jnp.int32)
    bad_rounds = jnp.where(~finite & (numbers <= drawn[:, None]), numbers, NUMBER(NO_ROUND)).min(-1)
    first_bad = (state.invalid == 0) & (bad_rounds < NO_ROUND)
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
    """The first of the r rounds whose interval puts s_ij above 1/2: int8 [K, K]."""
    num_options = net.shape[0]
    index = jnp.arange(num_options, dtype=jnp.int32)
    # With epsilon both orders may reach a threshold below 0: the one that is ahead holds then, and
    # of two that are even the first.
    least = (index[:, None] >= index[None, :]).reshape(-1).astype(jnp.int32)
    # Pairs on one axis: loops over K numbers leave the vector units half empty.
    gains = gains.reshape(-1, num_options**2)

    def look(place: jax.Array, carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        net, verdicts = carry
        net = net + lax.dynamic_index_in_dim(gains, place, keepdims=False)
        threshold = lax.dynamic_slice_in_dim(params.thresholds, first_round + place, 1)
        number = (place + 1).astype(NUMBER)
        certain = net >= jnp.maximum(threshold, least)
        return net, jnp.minimum(verdicts, jnp.where(certain, number, NUMBER(NO_ROUND)))

    net = net.reshape(-1)
    never = jnp.full_like(net, NO_ROUND, NUMBER)
    # Not a scan, which would put the rounds of a batch before its races: a copy of all of it.
    _, verdicts = lax.fori_loop(0, gains.shape[0], look, (net, never))
    return _of_first_order(verdicts.reshape(num_options, num_options))


def _of_first_order(verdicts: jax.Array) -> jax.Array:
    """Verdicts [K, K] of that order alone of each pair which comes first."""
    return jnp.where(verdicts < verdicts.T, verdicts, NUMBER(NO_ROUND))
