"""Runs of SAVAGE by the thousand, on instances of which it is known what is right."""

import dataclasses
import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from savage_cases import make

from jaxrace.dueling import arms, driver, duels

RUNS = 2000
DELTA = 0.1

# The promises are tested on instances that are soon decided, and on close ones, where everything is
# sampled for long; gaps are p_ij - 1/2 for i < j, arms pay with the numbers.
INSTANCES = {
    "best": ([0.8, 0.4, 0.3, 0.2], [0.53, 0.5, 0.5, 0.5]),
    "next": ([0.95, 0.55, 0.15, 0.1], [0.9, 0.53, 0.5, 0.5]),
    "copeland": ([[0.2, 0.3, 0.4], [0.2, 0.3], [0.2]], [[0.03] * 3, [0.03] * 2, [0.03]]),
    "condorcet": ([[0.2, 0.3, 0.4], [0.2, 0.3], [0.2]], [[0.03] * 3, [0.03] * 2, [0.03]]),
    "borda": ([[0.4, 0.4, 0.4], [0.1, 0.2], [0.1]], [[0.01] * 3, [0.0] * 2, [0.0]]),
}
HORIZONS = {"best": 2500, "next": 2500, "copeland": 4000, "condorcet": 4000, "borda": 1500}


def chances_of(question, rng, close):
    """Instances for the promises [RUNS, ...], shuffled; and what is right in each."""
    values = INSTANCES[question.kind][close]
    orders = rng.permuted(np.tile(np.arange(4), (RUNS, 1)), axis=1)
    if question.is_about_pairs:
        gaps = np.zeros((4, 4))
        gaps[np.triu_indices(4, 1)] = np.concatenate(values)
        chances = (0.5 + gaps - gaps.T)[orders[:, :, None], orders[:, None, :]]
    else:
        chances = np.array(values)[orders]
    right = np.argmax(orders == (1 if question.kind == "next" else 0), axis=1)
    return chances.astype(np.float32), right


def level_of(question, forever=False):
    """ln(eta / delta)."""
    count = 6 if question.is_about_pairs else 4
    if forever:
        return math.log(math.pi**2 * count / (3 * DELTA))
    return math.log(2 * count * HORIZONS[question.kind] / DELTA)


@functools.partial(jax.jit, static_argnums=(0, 3))
def explore_many(algorithm, keys, problems, horizon, params):
    """The states of SAVAGE in the end."""

    def one(key, problem):
        start = algorithm.init(algorithm.of_run(params, key))
        return driver.advance(algorithm, horizon, key, start, problem, params)[0]

    return jax.vmap(one)(keys, problems)


def outcome_of(question, level=None, forever=False, close=False, how=None):
    """At a level of choice: errors and misses, bool [RUNS], and samples until it settled [RUNS].

    An error is a wrong arm on which it settled; a miss is a probability that is outside of its
    interval in the end: the intervals only shrink. A quarter of the runs if the arms are close,
    or the test is one by simulation.
    """
    algorithm, horizon = make(question, how), HORIZONS[question.kind]
    chances, right = chances_of(question, np.random.default_rng(1), close)
    if close or how:
        chances, right = chances[: RUNS // 4], right[: RUNS // 4]
    problems = jax.vmap(duels)(chances) if chances.ndim == 3 else jax.vmap(arms)(chances, chances)
    params = algorithm.params(DELTA, None if forever else horizon, key=jax.random.key(3))
    assert params.log_level == pytest.approx(level_of(question, forever))
    if level is not None:
        params = dataclasses.replace(params, log_level=jnp.float32(level))
    keys = jax.random.split(jax.random.key(2), len(chances))
    states = explore_many(algorithm, keys, problems, horizon, params)
    truth = chances[(slice(None), *np.transpose(question.choices))]
    missed = ((truth < states.lower) | (truth > states.upper)).any(1)
    decided_at = np.asarray(states.decided_at)
    recommended = np.asarray(jax.vmap(lambda state: algorithm.recommend(state, params))(states))
    return (recommended != right) & (decided_at > 0), np.asarray(missed), decided_at
