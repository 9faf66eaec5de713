"""Races by Borda's score or by the random walk (Busa-Fekete et al. 2013, section 5).

Both work on the intervals of all pairs, from ``net``, the net counts, int32 [K, K], and ``rounds``,
the samples per option behind them: the estimate S_ij of s_ij and an upper bound u_ij; the lower
bound is l_ij = 1 - u_ji. Bounds are margins 2 u_ij - 1 in ``base.fixed_point``, rounded outwards:
their sums are exact, whatever the order of the options. Axes: K options, r rounds.
"""

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy.typing import NDArray

from jaxrace import kernels
from jaxrace.racing import base
from jaxrace.racing.preference.race import RANKINGS, RankingRule
from jaxrace.racing.preference.result import PreferenceResult
from jaxrace.racing.preference.rounds import PreferenceParams, PreferenceState, Told

# Units of the fixed point that a bound is moved outwards, for the rounding of its estimate.
_OUTWARDS = 4

# The divergence in float32 is wrong by less than this, relative and absolute.
_DIVERGENCE_ERROR = 1e-6


def upper_margins(
    net: jax.Array, rounds: jax.Array, allowed: jax.Array, divergence: str
) -> jax.Array:
    """Upper confidence bounds of all pairs, as margins 2 u_ij - 1: int32 [..., K, K], fixed point.

    ``allowed`` is the largest divergence of s_ij from S_ij, float32: L / n, and infinite where
    nothing is known. It and ``rounds`` broadcast against ``net`` [..., K, K]. The divergence is
    "hoeffding", 2 (u - S)^2, or "kl". The lower bounds 2 l_ij - 1 are the negative transpose.
    """
    margin = _margins(net, rounds)
    if divergence == "kl":
        allowed = allowed * (1 + _DIVERGENCE_ERROR) + _DIVERGENCE_ERROR
        upper = 2 * kernels.kl_upper((1 + margin) / 2, allowed) - 1
    else:
        upper = jnp.minimum(margin + jnp.sqrt(2 * allowed), 1.0)  # 2 sqrt(allowed / 2)
    num_options = net.shape[-1]
    one = base.fixed_point(jnp.float32(1), num_options)
    return jnp.minimum(base.fixed_point(upper, num_options) + _OUTWARDS, one)


def _margins(net: jax.Array, rounds: jax.Array) -> jax.Array:
    """2 S_ij - 1, float32."""
    return net.astype(jnp.float32) / jnp.maximum(rounds, 1).astype(jnp.float32) ** 2


def borda_scores(net: jax.Array, rounds: jax.Array) -> jax.Array:
    """y_i, the mean of S_ij over all j != i: float32 [K]."""
    num_options = net.shape[-1]
    total = base.fixed_point_margins(net, rounds).sum(-1, dtype=jnp.int32)
    one = base.fixed_point(jnp.float32(1), num_options).astype(jnp.float32)
    return 0.5 + total.astype(jnp.float32) / (2 * (num_options - 1) * one)


def settle_borda(
    upper: jax.Array, selected: jax.Array, discarded: jax.Array, top: int, rule: str
) -> tuple[jax.Array, jax.Array]:
    """Options that certainly are, and certainly are not, among the top kappa by Borda's score.

    Option i is better than j for certain when l_i > u_j; see ``kernels.settle_reduced``. The
    bounds of y_i average those of s_ij over *all* j != i: the paper's sum, over the undecided only,
    changes its meaning whenever an option leaves. The *sharp* rule asks for as many options as are
    needed, the *printed* one for one more. ``selected`` and ``discarded``, bool [K], stay.
    """
    apart = ~jnp.eye(upper.shape[-1], dtype=bool)
    upper = jnp.where(apart, upper, 0)
    highest = upper.sum(-1, dtype=jnp.int32)  # (K - 1) (2 u_i - 1)
    lowest = -upper.sum(-2, dtype=jnp.int32)  # l_ij = 1 - u_ji
    better = lowest[:, None] > highest[None, :]
    more = 1 if rule == "printed" else 0
    return kernels.settle_reduced(better, selected, discarded, top, more)


def borda_can_end(
    scores: jax.Array,
    upper: jax.Array,
    active: jax.Array,
    selected: jax.Array,
    discarded: jax.Array,
    shrink: jax.Array,
    top: int,
) -> jax.Array:
    """Will the boundary be decided by n_max, if the estimates stay what they are? bool [].

    The two options beside the boundary are told apart once the gap between their scores exceeds
    half the widths of both. What decided options are sampled for is to narrow these.

    ``scores``, int32 [K], are sums of 2 S_ij - 1 in fixed point; ``active`` [K, K] are the pairs
    that can still become narrower, whose width n_max will have multiplied by ``shrink``.
    """
    num_options = scores.shape[0]
    standing = selected.astype(jnp.int32) - discarded.astype(jnp.int32)
    order = kernels.ranking(standing, scores)
    beside = jnp.stack([order[top - 1], order[top]])
    half_width = (upper + upper.T) // 2
    apart = ~jnp.eye(num_options, dtype=bool)
    narrowing = jnp.where(apart & active, half_width, 0).sum(-1, dtype=jnp.int32)[beside]
    frozen = jnp.where(apart & ~active, half_width, 0).sum(-1, dtype=jnp.int32)[beside]
    gap = scores[beside[0]] - scores[beside[1]]
    needed = shrink * narrowing.astype(jnp.float32) + frozen.astype(jnp.float32)
    return gap.astype(jnp.float32) > needed[0] + needed[1]


def settle_walk(
    net: jax.Array, rounds: jax.Array, upper: jax.Array, top: int, rule: str
) -> tuple[jax.Array, jax.Array]:
    """By ``kernels.settle_walk``, with c_ij the distance of s_ij's bounds from S_ij."""
    num_options = net.shape[-1]
    margin = _margins(net, rounds)
    one = base.fixed_point(jnp.float32(1), num_options).astype(jnp.float32)
    above = upper.astype(jnp.float32) / one - margin  # 2 (u_ij - S_ij)
    radius = jnp.maximum(above, above.T) / 2  # c_ij; S_ij - l_ij = u_ji - S_ji
    radius = jnp.where(jnp.eye(num_options, dtype=bool), 0.0, radius)
    return kernels.settle_walk((1 + margin) / 2, radius, top, rule)


def walk_scores(net: jax.Array, rounds: jax.Array) -> jax.Array:
    """v, the share of its time that the walk spends at each option: float32 [K]."""
    return kernels.long_run(kernels.transition_matrix((1 + _margins(net, rounds)) / 2))[0]


def allowed_rounds(
    race_bound: str, num_options: int, max_rounds: int, capacity: int, delta: float
) -> NDArray[np.float32]:
    """L / n of each round, infinite where nothing is known: float32 [N]."""
    bound = kernels.bound_named(race_bound)
    level, size = kernels.levels(bound, num_options, max_rounds, delta)
    allowed = np.full(capacity, np.inf, np.float32)
    allowed[:max_rounds] = np.where(size > 0, level / np.maximum(size, 1), np.inf)
    return allowed


@functools.lru_cache(maxsize=64)
def allowed_table(
    race_bound: str, num_options: int, capacity: int, delta: float
) -> NDArray[np.float32]:
    """L / n for every n_max up to the capacity: row n_max - 1 of [N, N]."""
    rows = range(1, capacity + 1)
    table = np.stack([allowed_rounds(race_bound, num_options, n, capacity, delta) for n in rows])
    table.flags.writeable = False
    return table


def play_rounds(
    race: Any, state: PreferenceState, params: PreferenceParams, told: Told
) -> PreferenceState:
    """The loop of Procedure 1 (Busa-Fekete et al. 2013) for r rounds of one race.

    A pair counts while one of its options is undecided. But as soon as the undecided cannot all
    be decided by n_max at the present estimates, or by the printed rule, which never ends, a
    decided option is dropped, and its pairs keep their intervals: on the event that all intervals
    of all rounds hold, so do the kept ones. Which of the two happens changes the cost alone.
    """
    nets, finite, first_round = told
    divergence = kernels.bound_named(race.bound).divergence
    numbers = first_round + 1 + jnp.arange(nets.shape[-1], dtype=jnp.int32)
    # All bounds at once, for the vector units: those of pairs that stop counting are not used.
    pairs, signs = kernels.both_orders(race.num_options)
    nets = nets.T[:, pairs] * signs
    number_of = numbers[:, None, None]
    uppers = upper_margins(nets, number_of, _allowed_at(params, number_of), divergence)

    last_allowed = _allowed_at(params, params.max_rounds)

    def play_round(
        carry: tuple[PreferenceState, jax.Array], of_round: tuple[jax.Array, ...]
    ) -> tuple[tuple[PreferenceState, jax.Array], None]:
        (now, kept_upper), (number, net, upper, is_finite) = carry, of_round
        counting = now.active & (number <= params.max_rounds)
        asked = counting.any(-1)
        net = jnp.where(counting, net, now.net)
        rounds = jnp.where(counting, number, now.rounds)
        upper = jnp.where(counting, upper, kept_upper)
        if race.ranking == "borda":
            selected, discarded = settle_borda(
                upper, now.selected, now.discarded, race.top, race.rule
            )
        else:
            found = settle_walk(net, rounds, upper, race.top, race.rule)
            stopped = now.selected.any()  # no rounding may take a verdict back
            selected = jnp.where(stopped, now.selected, found[0])
            discarded = jnp.where(stopped, now.discarded, found[1])
        undecided = ~(selected | discarded)
        needed = undecided[:, None] & undecided[None, :]
        if race.ranking == "borda" and race.rule == "sharp":
            scores = base.fixed_point_margins(net, rounds).sum(-1, dtype=jnp.int32)
            shrink = jnp.sqrt(last_allowed / _allowed_at(params, number))
            can_end = borda_can_end(scores, upper, counting, selected, discarded, shrink, race.top)
            needed |= can_end & (undecided[:, None] | undecided[None, :])
        first_bad = asked & ~is_finite & (now.invalid == 0)
        now = dataclasses.replace(
            now,
            samples=now.samples + asked.astype(jnp.int32),
            net=net,
            rounds=rounds,
            active=now.active & needed,
            selected=selected,
            discarded=discarded,
            invalid=jnp.where(first_bad, number, now.invalid),
        )
        return (now, upper), None

    upper = upper_margins(state.net, state.rounds, _allowed_at(params, state.rounds), divergence)
    (state, _), _ = lax.scan(play_round, (state, upper), (numbers, nets, uppers, finite.T))
    return state


def _allowed_at(params: PreferenceParams, rounds: jax.Array) -> jax.Array:
    """L / n after so many rounds, infinite after none and beyond the capacity."""
    assert params.allowed is not None
    allowed = jnp.take(params.allowed, rounds - 1, mode="fill", fill_value=jnp.inf)
    return jnp.where(rounds > 0, allowed, jnp.inf)


def by_surrogate(state: PreferenceState, borda: jax.Array, **held: Any) -> PreferenceResult:
    """The result by Borda's score or by the random walk."""
    if held["ranked_by"] == "borda":
        scores, key = borda_scores(state.net, state.rounds), borda
    else:
        scores = walk_scores(state.net, state.rounds)
        key = kernels.visits_key(scores)
    # Estimates go on moving after a verdict, but the verdict stays.
    standing = state.selected.astype(jnp.int32) - state.discarded.astype(jnp.int32)
    known = state.rounds > 0
    threshold = held["params"].thresholds[jnp.maximum(state.rounds, 1) - 1]
    return PreferenceResult(
        ranking=kernels.ranking(standing, key),
        selected=state.selected,
        discarded=state.discarded,
        tied=jnp.zeros_like(state.selected),
        decided=(state.selected | state.discarded).all(),
        beats=known & (state.net >= threshold),
        copeland=(state.net > 0).sum(-1, dtype=jnp.int32),
        scores=scores,
        borda=borda,
        **held,
    )


_BY_INTERVALS = RankingRule(play_rounds, by_surrogate, allowed_rounds, allowed_table)
RANKINGS |= dict.fromkeys(("borda", "random_walk"), _BY_INTERVALS)
