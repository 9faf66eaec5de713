"""Verdicts of a preference-based race, over several rounds at once.

Between two verdicts nothing in the race changes but its counts. So the rounds are not played one
by one: first the round in which each pair would be decided is looked up, and then the race goes
from one such round to the next. Axes: K options, r rounds.
"""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace import kernels
from jaxrace.racing.preference_state import PreferenceParams, PreferenceState

# A round that never comes.
_NEVER = jnp.iinfo(jnp.int32).max


class _Progress(NamedTuple):
    """A race after some of the rounds."""

    now: jax.Array  # int32 [], the last round played
    last_round: jax.Array  # int32 [K, K], the last round in which a pair counted, 0 if in none
    active: jax.Array  # bool [K, K]
    beats: jax.Array  # bool [K, K]
    selected: jax.Array  # bool [K]
    discarded: jax.Array  # bool [K]
    undecided_sum: jax.Array  # int32 []


def play_rounds(
    state: PreferenceState,
    params: PreferenceParams,
    gains: jax.Array,
    finite: jax.Array,
    first_round: jax.Array,
    *,
    top: int,
    rule: str,
    dynamic_delta: bool,
) -> PreferenceState:
    """Lines 4 to 17 of Algorithm 2 (Busa-Fekete et al. 2014) for r rounds.

    Args:
        state: After ``first_round`` rounds.
        params: The race's.
        gains: int32 [r, K K], what each round adds to the net counts, row by row.
        finite: bool [K, r], is the option's outcome of the round finite?
        first_round: int32 [], rounds played before.
        top: kappa.
        rule: See ``kernels.select_and_discard``.
        dynamic_delta: Does the level depend on the number of undecided options (eq. 8)?

    Returns:
        The state after r more rounds, but for its outcomes and its number of rounds.
    """
    numbers = first_round + 1 + jnp.arange(gains.shape[0], dtype=jnp.int32)
    end = jnp.minimum(first_round + gains.shape[0], params.max_rounds)
    opened = state.active & (first_round < params.max_rounds)

    # The level changes with every verdict, and each time all rounds are looked at again.
    evidence = None
    if dynamic_delta:
        evidence = _evidence(state.net, gains.reshape(-1, *state.net.shape), numbers)

    def verdict_rounds(progress: _Progress) -> jax.Array:
        if evidence is None:
            return _verdict_rounds(params, state.net, gains, numbers)
        level = _dynamic_level(params, progress, opened.shape[-1])
        return _dynamic_verdict_rounds(evidence, numbers, progress.now, level)

    def next_round(progress: _Progress, verdicts: jax.Array) -> jax.Array:
        """The first round after ``now`` that decides an active pair."""
        return jnp.where(progress.active, verdicts, _NEVER).min()

    def play_on(
        carry: tuple[_Progress, jax.Array, jax.Array],
    ) -> tuple[_Progress, jax.Array, jax.Array]:
        progress, verdicts, number = carry
        beats = progress.beats | (progress.active & (verdicts == number))
        selected, discarded = kernels.select_and_discard(beats, top, rule)
        settled = selected | discarded
        still_open = ~(settled[:, None] & settled[None, :]) & ~(beats | beats.T)
        progress = _Progress(
            now=number,
            last_round=jnp.where(progress.active, number, progress.last_round),
            active=progress.active & still_open,
            beats=beats,
            selected=selected,
            discarded=discarded,
            undecided_sum=_undecided_sum(progress, number),
        )
        if dynamic_delta:  # only then do later verdicts depend on earlier ones
            verdicts = verdict_rounds(progress)
        return progress, verdicts, next_round(progress, verdicts)

    start = _Progress(
        first_round,
        jnp.zeros_like(state.net),
        opened,
        state.beats,
        state.selected,
        state.discarded,
        state.undecided_sum,
    )
    verdicts = verdict_rounds(start)
    progress, _, _ = lax.while_loop(
        lambda carry: carry[2] <= end, play_on, (start, verdicts, next_round(start, verdicts))
    )
    # What was open at max_rounds stays open.
    last_round = jnp.where(progress.active, end, progress.last_round)
    drawn_until = last_round.max(-1)
    counted = numbers[:, None] <= last_round.reshape(-1)
    gained = jnp.where(counted, gains, 0).sum(0, dtype=jnp.int32).reshape(state.net.shape)
    bad_rounds = jnp.where(~finite & (numbers <= drawn_until[:, None]), numbers, _NEVER).min(-1)
    first_bad = (state.invalid == 0) & (bad_rounds < _NEVER)
    return dataclasses.replace(
        state,
        samples=state.samples + jnp.maximum(drawn_until - first_round, 0),
        net=state.net + gained,
        rounds=jnp.maximum(state.rounds, last_round),
        active=jnp.where(opened, progress.active, state.active),
        beats=progress.beats,
        selected=progress.selected,
        discarded=progress.discarded,
        undecided_sum=_undecided_sum(progress, first_round + gains.shape[0]),
        invalid=jnp.where(first_bad, bad_rounds, state.invalid),
    )


def _undecided_sum(progress: _Progress, number: jax.Array) -> jax.Array:
    """Sum of m_l = K - |C u D| at the start of round l, over all rounds up to ``number``."""
    undecided = (~(progress.selected | progress.discarded)).sum(dtype=jnp.int32)
    return progress.undecided_sum + undecided * (number - progress.now)


def _dynamic_level(params: PreferenceParams, progress: _Progress, num_options: int) -> jax.Array:
    """ln(2 c_t / delta), the same for all rounds t after ``now`` until options are decided.

    c_t = (K-1) [sum_{l<t} m_l + (n_max - t + 1) m_t]: eq. 8 with m the number of undecided
    options and the sum over its own index; with m unchanged since ``now`` the sum is complete.
    """
    # In floats: the product of K, K - 1 and n_max may exceed an int32.
    undecided = (~(progress.selected | progress.discarded)).sum(dtype=jnp.int32)
    remaining = jnp.maximum(params.max_rounds - progress.now, 0)
    statements = progress.undecided_sum.astype(jnp.float32) + (
        remaining.astype(jnp.float32) * undecided.astype(jnp.float32)
    )
    return jnp.log(2 * (num_options - 1) * statements / params.delta)


def _verdict_rounds(
    params: PreferenceParams, net: jax.Array, gains: jax.Array, numbers: jax.Array
) -> jax.Array:
    """The first of these rounds whose interval puts s_ij above 1/2: int32 [K, K].

    Of both orders of a pair only the one that comes first has its round.
    """
    num_options = net.shape[-1]
    index = jnp.arange(num_options, dtype=jnp.int32)
    # With epsilon both orders may reach a threshold below 0: the one that is ahead holds then, and
    # of two that are even the first.
    least = (index[:, None] >= index[None, :]).reshape(-1).astype(jnp.int32)
    net = net.reshape(-1)

    def look(
        carry: tuple[jax.Array, jax.Array], told: tuple[jax.Array, jax.Array]
    ) -> tuple[tuple[jax.Array, jax.Array], None]:
        net, verdicts = carry
        number, gained = told
        net = net + gained
        threshold = lax.dynamic_index_in_dim(params.thresholds, number - 1, keepdims=False)
        certain = net >= jnp.maximum(threshold, least)
        return (net, jnp.minimum(verdicts, jnp.where(certain, number, _NEVER))), None

    never = jnp.full_like(net, _NEVER)
    (_, verdicts), _ = lax.scan(look, (net, never), (numbers, gains))
    verdicts = verdicts.reshape(num_options, num_options)
    return jnp.where(verdicts < verdicts.T, verdicts, _NEVER)


def _evidence(net: jax.Array, gains: jax.Array, numbers: jax.Array) -> jax.Array:
    """t times 2 (S - 1/2)^2 = C^2 / (2 t^3) where S > 1/2, else -1: float32 [r, K, K].

    The interval of the dynamic correction puts s_ij above 1/2 where it exceeds ln(2 c_t / delta).
    """
    counts = kernels.net_counts(net, gains).astype(jnp.float32)
    t = numbers.astype(jnp.float32)[:, None, None]
    return jnp.where(counts > 0, (counts / t) ** 2 / (2 * t), -1.0)


def _dynamic_verdict_rounds(
    evidence: jax.Array, numbers: jax.Array, now: jax.Array, level: jax.Array
) -> jax.Array:
    """The first round after ``now`` with more evidence than ``level``: int32 [K, K].

    Of both orders of a pair only the one that comes first has its round.
    """
    rounds = numbers[:, None, None]
    verdicts = jnp.where((evidence > level) & (rounds > now), rounds, _NEVER).min(0)
    return jnp.where(verdicts < verdicts.T, verdicts, _NEVER)
