"""Races by the hundred thousand, and how many of them certify a wrong set. Axes: K options."""

import dataclasses
import functools
import itertools
import math
from collections.abc import Iterator, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from jaxrace import kernels, racing
from jaxrace.evidence.decision import COUNTS, DOMINANCE
from papers.audits.dominance.options import TASKS, TIED_CIRCLE, Law, SetTask, draw
from papers.audits.reckoning import DELTAS, FULL_SIZE, MOST_OF_CONTROL, Finding, count_wrong

HORIZONS = (300, 3000)  # n_max
COUNTS_SHARE = 0.05  # epsilon, the share of delta that certificate (b) has
_NEVER = np.float32(np.inf)  # a level that certificate (a) never reaches


class _Certifying(racing.DominanceRace):
    """The race without its last guess, which no guarantee is about and takes longer than it."""

    def _finish_batch(
        self, states: racing.DominanceState, params: racing.DominanceParams
    ) -> racing.DominanceState:
        return states


def audit_races(races: int = FULL_SIZE, horizons: Sequence[int] = HORIZONS) -> Iterator[Finding]:
    """Count wrong certificates: (a) is allowed (1 - epsilon) delta, both together delta."""
    for number, task in enumerate(TASKS):
        for horizon, delta in itertools.product(horizons, DELTAS):
            params = race_params(task, horizon, delta)
            by_a, by_any = _count_wrong(task, horizon, delta, params, number, races)
            share = (1 - COUNTS_SHARE) * delta
            yield Finding(task.name, f"(a), n_max {horizon}", delta, share, by_a, races)
            yield Finding(task.name, f"(a) or (b), n_max {horizon}", delta, delta, by_any, races)


def audit_counts(races: int = FULL_SIZE, horizons: Sequence[int] = HORIZONS) -> Iterator[Finding]:
    """Count wrong certificates (b) of races that (a) cannot end: they are allowed epsilon delta."""
    task, number = TIED_CIRCLE, len(TASKS) + 1
    for horizon, delta in itertools.product(horizons, DELTAS):
        params = dataclasses.replace(race_params(task, horizon, delta), level=_NEVER)
        _, wrong = _count_wrong(task, horizon, delta, params, number, races)
        share = COUNTS_SHARE * delta
        yield Finding(task.name, f"(b) alone, n_max {horizon}", delta, share, wrong, races)


def control_races(races: int = FULL_SIZE, horizons: Sequence[int] = HORIZONS) -> Iterator[Finding]:
    """Count the wrong certificates of broken races, which must be refuted.

    Their levels are those of one test, ln(1/delta). Certificate (a) on 0 against a coin, where
    either option may win; at n_max 300 most of these races have not ended, so that there the
    mixture is broken too: all of its weights are 1. Certificate (b) alone, as in ``audit_counts``.
    """
    most = min(races, MOST_OF_CONTROL)
    for by_counts, horizon, delta in itertools.product((False, True), horizons, DELTAS):
        task = TIED_CIRCLE if by_counts else TASKS[0]
        single = jnp.float32(-math.log(delta))
        params = race_params(task, horizon, delta)
        params = dataclasses.replace(params, level=single, strong_level=single)
        claim, allowed = "control: levels of one test", delta
        if by_counts:
            claim, allowed = f"{claim}, (b) alone", COUNTS_SHARE * delta
            params = dataclasses.replace(params, level=_NEVER)
        elif horizon == min(HORIZONS):
            claim = f"{claim}, weights of 1"
            params = dataclasses.replace(params, log_weights=jnp.zeros_like(params.log_weights))
        number = len(TASKS) + 2 * by_counts
        _, by_any = _count_wrong(task, horizon, delta, params, number, most)
        yield Finding(task.name, f"{claim}, n_max {horizon}", delta, allowed, by_any, most)


def wrong_certificates(
    task: SetTask, certificate: NDArray[np.int32], best: NDArray[np.int32]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which races certified a wrong set, by (a), which does not dominate, and by (b): bool [races].

    ``best``, [races, kappa], are the first options of the rankings.
    """
    chosen = (best[:, :, None] == np.arange(task.num_options)).any(1)
    by_a = (certificate == DOMINANCE) & ~task.dominates(chosen)
    by_b = (certificate == COUNTS) & ~task.is_copeland_top(chosen)
    return by_a, by_b


def race_params(task: SetTask, horizon: int, delta: float) -> racing.DominanceParams:
    """The race's own default numbers, as many for one delta as for another."""
    race = make_race(task, horizon)
    # One program serves all deltas.
    return pad_bets(race.params(delta), max(race.params(d).bets.size for d in DELTAS))


def pad_bets(params: racing.DominanceParams, num_bets: int) -> racing.DominanceParams:
    """The same numbers with so many bets: those of weight 0 change nothing."""
    lacking = num_bets - params.bets.size
    return dataclasses.replace(
        params,
        bets=jnp.pad(params.bets, (0, lacking), mode="edge"),
        log_weights=jnp.pad(params.log_weights, (0, lacking), constant_values=-jnp.inf),
    )


def make_race(task: SetTask, horizon: int) -> racing.DominanceRace:
    """A race on a task, without the guess where it ends uncertified."""
    return _Certifying(task.num_options, task.top, horizon, kernels.total_order)


def _count_wrong(
    task: SetTask,
    horizon: int,
    delta: float,
    params: racing.DominanceParams,
    number: int,
    races: int,
) -> tuple[int, int]:
    """Races with a wrong certificate (a), and with a wrong one of any kind."""
    key = jax.random.key(0)
    for part in (number, horizon, DELTAS.index(delta)):
        key = jax.random.fold_in(key, part)
    race, laws = make_race(task, horizon), task.options.laws

    def wrong(keys: jax.Array) -> np.ndarray:
        played = play(race, laws, keys, params)
        return np.stack(wrong_certificates(task, *map(np.asarray, played)), -1)

    by_a, by_b = count_wrong(wrong, key, races)
    return int(by_a), int(by_a + by_b)


@functools.partial(jax.jit, static_argnums=0)
def play(
    race: racing.DominanceRace, laws: Law, keys: jax.Array, params: racing.DominanceParams
) -> tuple[jax.Array, jax.Array]:
    """Play one race per key: certificates, int32 [races], and first options, [races, kappa]."""
    result = jax.vmap(lambda key: racing.run(race, key, draw, laws, params, race.chunk))(keys)
    return result.certificate_number, result.ranking[:, : race.top]
