"""Rounds and numbers of a preference-based race by Borda's score or by the random walk.

Axes: K options, r rounds, N = capacity.
"""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy.typing import NDArray

from jaxrace import kernels
from jaxrace.racing import base
from jaxrace.racing.preference.state import PreferenceParams, PreferenceState, SurrogateParams, Told
from jaxrace.racing.preference.surrogates import (
    borda_can_end,
    settle_borda,
    settle_walk,
    upper_margins,
)


def require_intervals(ranking: str, race_bound: str, dynamic_delta: bool) -> None:
    """Raise ValueError if a race would have no intervals of all pairs, valid together."""
    if kernels.bound_named(race_bound).sides == 1:
        raise ValueError(
            f"bound: expected intervals with ranking {ranking!r}, "
            f"got {race_bound!r} for verdicts only"
        )
    if dynamic_delta:
        raise ValueError(f"dynamic_delta: expected False with ranking {ranking!r}, got True")


def with_intervals(
    params: PreferenceParams, race_bound: str, num_options: int, delta: float
) -> SurrogateParams:
    """The numbers of one race with those of its intervals; not under a trace."""
    max_rounds = int(params.max_rounds)
    allowed = np.full(params.thresholds.shape[0], np.inf, np.float32)
    allowed[:max_rounds] = _allowed(race_bound, num_options, max_rounds, delta)
    numbers = {field.name: getattr(params, field.name) for field in dataclasses.fields(params)}
    return SurrogateParams(**numbers, allowed=jnp.asarray(allowed))


def _allowed(
    race_bound: str, num_options: int, max_rounds: int, delta: float
) -> NDArray[np.float32]:
    """L / n of each round, infinite where nothing is known: float32 [max_rounds]."""
    bound = kernels.bound_named(race_bound)
    level, size = kernels.levels(bound, num_options, max_rounds, delta)
    return np.where(size > 0, level / np.maximum(size, 1), np.inf).astype(np.float32)


@functools.lru_cache(maxsize=64)
def allowed_table(
    race_bound: str, num_options: int, capacity: int, delta: float
) -> NDArray[np.float32]:
    """L / n for every n_max up to the capacity: row n_max - 1 of [N, N]."""
    table = np.full((capacity, capacity), np.inf, np.float32)
    for max_rounds in range(1, capacity + 1):
        row = _allowed(race_bound, num_options, max_rounds, delta)
        table[max_rounds - 1, :max_rounds] = row
    table.flags.writeable = False
    return table


def play_rounds(
    state: PreferenceState,
    params: SurrogateParams,
    told: Told,
    *,
    ranking: str,
    divergence: str,
    top: int,
    rule: str,
) -> PreferenceState:
    """The loop of Procedure 1 (Busa-Fekete et al. 2013) for r rounds of one race.

    A pair counts while one of its options is undecided. But as soon as the undecided cannot all
    be decided by n_max at the present estimates, or by the printed rule, which never ends, a
    decided option is dropped, and its pairs keep their intervals: on the event that all intervals
    of all rounds hold, so do the kept ones. Which of the two happens changes the cost alone.
    """
    gains, finite, first_round = told
    numbers = first_round + 1 + jnp.arange(gains.shape[0], dtype=jnp.int32)
    # All bounds at once, for the vector units: those of pairs that stop counting are not used.
    nets = kernels.net_counts(state.net, gains)
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
        if ranking == "borda":
            selected, discarded = settle_borda(upper, now.selected, now.discarded, top, rule)
        else:
            found = settle_walk(net, rounds, upper, top, rule)
            stopped = now.selected.any()  # no rounding may take a verdict back
            selected = jnp.where(stopped, now.selected, found[0])
            discarded = jnp.where(stopped, now.discarded, found[1])
        undecided = ~(selected | discarded)
        needed = undecided[:, None] & undecided[None, :]
        if ranking == "borda" and rule == "sharp":
            scores = base.fixed_point_margins(net, rounds).sum(-1, dtype=jnp.int32)
            shrink = jnp.sqrt(last_allowed / _allowed_at(params, number))
            can_end = borda_can_end(scores, upper, counting, selected, discarded, shrink, top)
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


def _allowed_at(params: SurrogateParams, rounds: jax.Array) -> jax.Array:
    """L / n after so many rounds, infinite after none and beyond the capacity."""
    allowed = jnp.take(params.allowed, rounds - 1, mode="fill", fill_value=jnp.inf)
    return jnp.where(rounds > 0, allowed, jnp.inf)
