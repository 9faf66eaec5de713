"""A preference-based race: its numbers and progress, and its verdicts over several rounds at once.

Between two verdicts nothing changes but the counts. So first the round in which each pair would be
decided is looked up, and then the race goes from one such round to the next. The r rounds, at most
126, have int8 numbers 1 to r, for the vector registers. Axes: K options, N = capacity, r rounds.
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
from jaxrace.core.protocol import number, pytree
from jaxrace.core.validation import Owner, require_number, require_probability

# A round of those played at once, and one that never comes.
NUMBER = jnp.int8
NO_ROUND = jnp.iinfo(NUMBER).max


@pytree
class PreferenceParams:
    """The numbers of a ``PreferenceRace``; make them with ``PreferenceRace.params``."""

    delta: jax.Array = number(require_probability)  # float32 []
    max_rounds: jax.Array = number(dtype=np.int32)  # int32 [], n_max
    epsilon: jax.Array = number(functools.partial(require_number, least=0, below=0.5))  # float32 []
    thresholds: jax.Array = number(dtype=np.int32)  # int32 [N], net count that decides in a round
    # float32 [N], L / n: the largest divergence of s_ij from S_ij per round; None by Copeland
    allowed: jax.Array | None = None
    # The kind and size of the race
    owner: Owner = dataclasses.field(metadata={"static": True}, default=("", ()))


@pytree
class PreferenceState:
    """The progress of a ``PreferenceRace``."""

    outcomes: Any  # leaves [K, N, ...], all samples so far
    round: jax.Array  # int32 [], rounds told, some perhaps after the end
    samples: jax.Array  # int32 [K], samples that counted
    simulated: jax.Array  # int32 [K], samples told for options that had asked
    net: jax.Array  # int32 [K, K], C_ij; frozen once a pair is dropped
    rounds: jax.Array  # int32 [K, K], samples per option behind net
    active: jax.Array  # bool [K, K], the paper's A
    beats: jax.Array  # bool [K, K], l_ij > 1/2; kept by Copeland races only
    selected: jax.Array  # bool [K], the paper's C
    discarded: jax.Array  # bool [K], the paper's D
    undecided_sum: jax.Array  # int32 [], sum over past rounds l of m_l = K - |C u D|
    invalid: jax.Array  # int32 [K], first round with a counted outcome that is not finite
    owner: Owner = dataclasses.field(metadata={"static": True})  # the race


class Told(NamedTuple):
    """What r rounds bring to a race, or to B races."""

    nets: jax.Array  # int32 [(B,) P, r], C_ij after each round, of the open pairs i < j
    finite: jax.Array  # bool [(B,) K, r], is the option's outcome of the round finite?
    first_round: jax.Array  # int32 [], rounds played before


RACE_AXES = Told._make((0, 0, None))  # where the axis B is, for vmap


def write_rounds(first_round: jax.Array, buffer: jax.Array, new: jax.Array) -> jax.Array:
    """Put ``new`` [K, r, ...] at round ``first_round``; what exceeds the capacity is dropped."""
    capacity = buffer.shape[1]
    new = new[:, :capacity].astype(buffer.dtype)
    size = new.shape[1]
    # The window of the buffer that is written ends where the buffer does, if not before.
    start = jnp.minimum(first_round, capacity - size)
    skipped = first_round - start

    def behind_kept(new: jax.Array) -> jax.Array:
        window = lax.dynamic_slice_in_dim(buffer, start, size, axis=1)
        rounds = jnp.arange(size, dtype=jnp.int32).reshape(1, -1, *[1] * (new.ndim - 2))
        return jnp.where(rounds >= skipped, jnp.roll(new, skipped, axis=1), window)

    # Only the last rounds of a race may not fit.
    written = lax.cond(skipped > 0, behind_kept, lambda new: new, new)
    return lax.dynamic_update_slice_in_dim(buffer, written, start, axis=1)


def keep_samples(state: PreferenceState, outcomes: Any, first_round: jax.Array) -> PreferenceState:
    """Put the samples [K, r, ...] of the next rounds behind those before."""
    write = functools.partial(write_rounds, first_round)
    num_told = jax.tree.leaves(outcomes)[0].shape[1]
    return dataclasses.replace(
        state,
        outcomes=jax.tree.map(write, state.outcomes, outcomes),
        round=state.round + num_told,
    )


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
    race: Any, state: PreferenceState, params: PreferenceParams, told: Told
) -> PreferenceState:
    """Lines 4 to 17 of Algorithm 2 (Busa-Fekete et al. 2014) for r rounds.

    The state is that after r more rounds, but for its outcomes and number of rounds. The level of
    the dynamic correction (eq. 8) changes with every verdict, and all rounds are looked at again.
    """
    nets, _, first_round = told
    progress = begin(state, params, first_round)
    end = last_of(params, first_round, nets.shape[-1])
    if look := _dynamic_look(params, told, race.num_options) if race.dynamic_delta else None:
        verdicts = look(progress)
    else:
        verdicts = verdict_rounds(params, told, race.num_options)
    progress = go_through(progress, verdicts, end, top=race.top, rule=race.rule, look=look)
    return _finish(state, params, progress, told)


def _dynamic_look(
    params: PreferenceParams, told: Told, num_options: int
) -> Callable[[Progress], jax.Array]:
    """Rounds with a verdict, int8 [K, K], by the dynamic correction.

    With m_l undecided options in round l the level is ln(2 c_t / delta), the same for all rounds t
    until options are decided, c_t = (K-1) [sum_{l<t} m_l + (n_max - t + 1) m_t]. The interval puts
    s_ij above 1/2 where t times 2 (S - 1/2)^2 = C^2 / (2 t^3) exceeds it, and S > 1/2.
    """
    nets, _, first_round = told
    numbers = _numbers(nets.shape[-1])
    t = (first_round + numbers.astype(jnp.int32)).astype(jnp.float32)
    evidence = (nets.astype(jnp.float32) / t) ** 2 / (2 * t)  # [P, r]

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
        return _first_rounds(num_options, certain & (nets > 0), certain & (nets < 0))

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
    nets, finite, first_round = told
    num_rounds = finite.shape[1]
    # What is open at the last round has counted until then.
    end = last_of(params, first_round, num_rounds)
    last = jnp.where(progress.active, end, progress.last_round)
    last_round = last.astype(jnp.int32)
    drawn = last.max(-1)
    numbers = _numbers(num_rounds)
    pairs, signs = kernels.both_orders(len(drawn))
    net = nets[pairs, jnp.maximum(last_round, 1) - 1] * signs
    bad_rounds = jnp.where(~finite & (numbers <= drawn[:, None]), numbers, NUMBER(NO_ROUND)).min(-1)
    first_bad = (state.invalid == 0) & (bad_rounds < NO_ROUND)
    return dataclasses.replace(
        state,
        samples=state.samples + drawn.astype(jnp.int32),
        net=jnp.where(last > 0, net, state.net),
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


def verdict_rounds(params: PreferenceParams, told: Told, num_options: int) -> jax.Array:
    """The first of the r rounds whose interval puts s_ij above 1/2: int8 [K, K]."""
    nets, _, first_round = told
    numbers = _numbers(nets.shape[-1])
    at = first_round + numbers.astype(jnp.int32) - 1
    threshold = params.thresholds.at[at].get(mode="clip")
    # With epsilon both orders may reach a threshold below 0: the one that is ahead holds then, and
    # of two that are even the first.
    forth, back = nets >= jnp.maximum(threshold, 0), -nets >= jnp.maximum(threshold, 1)
    return _first_rounds(num_options, forth, back)


def _first_rounds(num_options: int, forth: jax.Array, back: jax.Array) -> jax.Array:
    """The first rounds that are certain, bool [P, r] of i over j and of j over i: int8 [K, K].

    Of each pair that of one order, which comes first.
    """
    # One number for both orders, and one pass: twice the round, and 1 more for j over i.
    twice = 2 * _numbers(forth.shape[-1]).astype(jnp.int32)
    code = jnp.where(forth, twice, jnp.where(back, twice + 1, 2 * NO_ROUND)).min(-1)
    pairs, signs = kernels.both_orders(num_options)
    code = code[pairs]
    return jnp.where(2 * (code % 2) == 1 - signs, code // 2, NO_ROUND).astype(NUMBER)
