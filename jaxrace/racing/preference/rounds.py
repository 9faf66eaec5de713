"""Verdicts of a preference-based race, over several rounds at once.

Between two verdicts nothing in the race changes but its counts. So the rounds are not played one
by one: first the round in which each pair would be decided is looked up, and then the race goes
from one such round to the next. The r rounds played at once, at most 126, are numbered 1 to r by
int8 numbers, four times as many to a vector register as int32. Axes: K options, r rounds, W races
side by side.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

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
    num_rounds = gains.shape[0]
    start = begin(state, params, first_round)
    look = None
    if dynamic_delta:
        look = _dynamic_look(state, params, gains, first_round)
        verdicts = look(start)
    else:
        verdicts = verdict_rounds(params, state.net, gains, first_round)
    end = last_of(params, first_round, num_rounds)
    progress = go_through(*_one_lane((start, verdicts, end)), top=top, rule=rule, look=look)
    progress = stop(jax.tree.map(lambda x: x[..., 0], progress), end)
    gained = counted_gains(gains, progress)
    return finish(state, params, progress, gained, finite, first_round)


def _one_lane(tree: Any) -> Any:
    return jax.tree.map(lambda x: x[..., None], tree)


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
    """The first round that decides an active pair: int8 [...] of arguments [K, K, ...]."""
    # On one axis: loops over K numbers leave the vector units half empty.
    active, verdicts = (x.reshape(x.shape[0] ** 2, *x.shape[2:]) for x in (active, verdicts))
    return jnp.where(active, verdicts, NUMBER(NEVER)).min(0)


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
        progress: Of W races, on the last axis of everything, where they fill the vector units.
        verdicts: int8 [K, K, W], the round in which each pair would be decided, or ``NEVER``.
        end: int8 [W], the last round.
        top: kappa.
        rule: See ``kernels.select_and_discard``.
        look: Finds later verdicts of a single race where they depend on earlier ones.
    """

    def play_on(
        carry: tuple[Progress, jax.Array, jax.Array],
    ) -> tuple[Progress, jax.Array, jax.Array]:
        old, verdicts, number = carry
        goes_on = number <= end
        beats = old.beats | (old.active & (verdicts == number) & goes_on)
        selected, discarded = kernels.select_and_discard(beats, top, rule)
        settled = selected | discarded
        still_open = ~(settled[:, None] & settled[None, :]) & ~(beats | beats.swapaxes(0, 1))
        progress = Progress(
            now=number,
            last_round=jnp.where(old.active, number, old.last_round),
            active=old.active & still_open,
            beats=beats,
            selected=selected,
            discarded=discarded,
            undecided_sum=_undecided_sum(old, number),
        )
        progress = jax.tree.map(lambda x, y: jnp.where(goes_on, x, y), progress, old)
        if look is not None:
            verdicts = _one_lane(look(jax.tree.map(lambda x: x[..., 0], progress)))
        return progress, verdicts, next_verdict(progress.active, verdicts)

    start = (progress, verdicts, next_verdict(progress.active, verdicts))
    return lax.while_loop(lambda carry: (carry[2] <= end).any(), play_on, start)[0]


def stop(progress: Progress, end: jax.Array) -> Progress:
    """What is open at the last round has counted until then."""
    last_round = jnp.where(progress.active, end, progress.last_round)
    return progress._replace(last_round=last_round)


def flat(gains: jax.Array) -> jax.Array:
    """[..., K, K] as [..., K K]: K numbers alone would leave the vector units half empty.

    Of a whole batch, where it costs nothing: under vmap the races would come before the rounds.
    """
    return gains.reshape(*gains.shape[:-2], -1)


def counted_gains(gains: jax.Array, progress: Progress) -> jax.Array:
    """What the rounds [r, K K] that counted added to the net counts: int32 [K, K]."""
    counted = numbers_of(gains.shape[0])[:, None] <= progress.last_round.reshape(-1)
    gained = jnp.where(counted, gains, 0).sum(0, dtype=jnp.int32)
    return gained.reshape(progress.last_round.shape)


def finish(
    state: PreferenceState,
    params: PreferenceParams,
    progress: Progress,
    gained: jax.Array,
    finite: jax.Array,
    first_round: jax.Array,
) -> PreferenceState:
    """The state of a race after the rounds.

    Args:
        state: Before them.
        params: The race's.
        progress: From ``stop``.
        gained: int32 [K, K], what they added to the net counts.
        finite: bool [K, r], is the option's outcome of the round finite?
        first_round: int32 [], rounds played before.
    """
    num_rounds = finite.shape[1]
    last_round = progress.last_round.astype(jnp.int32)
    drawn = progress.last_round.max(-1)
    numbers = numbers_of(num_rounds)
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
        undecided_sum=_undecided_sum(progress, num_rounds),
        invalid=jnp.where(first_bad, first_round + bad_rounds.astype(jnp.int32), state.invalid),
    )


def _undecided_sum(progress: Progress, number: jax.Array | int) -> jax.Array:
    """Sum of m_l = K - |C u D| at the start of round l, over all rounds up to ``number``."""
    undecided = (~(progress.selected | progress.discarded)).sum(0, dtype=jnp.int32)
    played = jnp.asarray(number, jnp.int32) - progress.now.astype(jnp.int32)
    return progress.undecided_sum + undecided * played


def _dynamic_look(
    state: PreferenceState, params: PreferenceParams, gains: jax.Array, first_round: jax.Array
) -> Callable[[Progress], jax.Array]:
    """Finds verdicts whose level changes with every verdict: each time all rounds are looked at."""
    numbers = numbers_of(gains.shape[0])
    rounds = first_round + numbers.astype(jnp.int32)
    evidence = _evidence(state.net, gains.reshape(-1, *state.net.shape), rounds)

    def look(progress: Progress) -> jax.Array:
        level = _dynamic_level(params, progress, first_round, state.net.shape[-1])
        return _dynamic_verdict_rounds(evidence, numbers, progress.now, level)

    return look


def _dynamic_level(
    params: PreferenceParams, progress: Progress, first_round: jax.Array, num_options: int
) -> jax.Array:
    """ln(2 c_t / delta), the same for all rounds t after ``now`` until options are decided.

    c_t = (K-1) [sum_{l<t} m_l + (n_max - t + 1) m_t]: eq. 8 with m the number of undecided
    options and the sum over its own index; with m unchanged since ``now`` the sum is complete.
    """
    # In floats: the product of K, K - 1 and n_max may exceed an int32.
    undecided = (~(progress.selected | progress.discarded)).sum(dtype=jnp.int32)
    now = first_round + progress.now.astype(jnp.int32)
    remaining = jnp.maximum(params.max_rounds - now, 0)
    statements = progress.undecided_sum.astype(jnp.float32) + (
        remaining.astype(jnp.float32) * undecided.astype(jnp.float32)
    )
    return jnp.log(2 * (num_options - 1) * statements / params.delta)


def verdict_rounds(
    params: PreferenceParams, net: jax.Array, gains: jax.Array, first_round: jax.Array
) -> jax.Array:
    """The first of the rounds that follow whose interval puts s_ij above 1/2: int8 [K, K].

    Of both orders of a pair only the one that comes first has its round.
    """
    num_options = net.shape[-1]
    index = jnp.arange(num_options, dtype=jnp.int32)
    # With epsilon both orders may reach a threshold below 0: the one that is ahead holds then, and
    # of two that are even the first.
    least = (index[:, None] >= index[None, :]).reshape(-1).astype(jnp.int32)
    net = net.reshape(-1)

    def look(place: jax.Array, carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        net, verdicts = carry
        net = net + lax.dynamic_index_in_dim(gains, place, keepdims=False)
        at = first_round + place
        threshold = lax.dynamic_index_in_dim(params.thresholds, at, keepdims=False)
        certain = net >= jnp.maximum(threshold, least)
        number = (place + 1).astype(NUMBER)
        return net, jnp.minimum(verdicts, jnp.where(certain, number, NUMBER(NEVER)))

    never = jnp.full_like(net, NEVER, NUMBER)
    # Not a scan, which would put the rounds of a batch before its races: a copy of all of it.
    _, verdicts = lax.fori_loop(0, gains.shape[0], look, (net, never))
    verdicts = verdicts.reshape(num_options, num_options)
    return jnp.where(verdicts < verdicts.T, verdicts, NUMBER(NEVER))


def _evidence(net: jax.Array, gains: jax.Array, rounds: jax.Array) -> jax.Array:
    """t times 2 (S - 1/2)^2 = C^2 / (2 t^3) where S > 1/2, else -1: float32 [r, K, K].

    The interval of the dynamic correction puts s_ij above 1/2 where it exceeds ln(2 c_t / delta).
    """
    counts = kernels.net_counts(net, gains).astype(jnp.float32)
    t = rounds.astype(jnp.float32)[:, None, None]
    return jnp.where(counts > 0, (counts / t) ** 2 / (2 * t), -1.0)


def _dynamic_verdict_rounds(
    evidence: jax.Array, numbers: jax.Array, now: jax.Array, level: jax.Array
) -> jax.Array:
    """The first round after ``now`` with more evidence than ``level``: int8 [K, K].

    Of both orders of a pair only the one that comes first has its round.
    """
    numbers = numbers[:, None, None]
    verdicts = jnp.where((evidence > level) & (numbers > now), numbers, NUMBER(NEVER)).min(0)
    return jnp.where(verdicts < verdicts.T, verdicts, NUMBER(NEVER))
