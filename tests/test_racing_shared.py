"""Races on shared tasks: against the definition, decision by decision; ask and tell; batches."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from shared_cases import plain_race

from jaxrace import kernels, racing

SEEDS = 12


def item_responses(key, num_tasks, num_options=5, spread=1.5):
    """Right or wrong answers, float32 [K, N], as in tests of ability."""
    ability, difficulty, chance = jax.random.split(key, 3)
    ability = 0.6 * jax.random.normal(ability, (num_options, 1))
    difficulty = spread * jax.random.normal(difficulty, (num_tasks,))
    right = jax.random.uniform(chance, (num_options, num_tasks))
    return (right < jax.nn.sigmoid(ability - difficulty)).astype(jnp.float32)


def lookup(key, option, task):
    """An outcome that is in a table already: an option is a row of it, a task its number."""
    return option[task]


def play(race, table, params, tell_at_most=10**9):
    """The ask/tell loop on scores [K, N]."""
    state = race.init(table[0, 0], params)
    while (asked := np.asarray(race.ask(state, params))).any():
        number = min(int(asked.max()), tell_at_most)
        at = np.asarray(state.simulated)[:, None] + np.arange(number)
        told = np.take_along_axis(table, np.minimum(at, table.shape[1] - 1), 1)
        state = race.tell(state, told, params)
    return race.result(state, params)


KINDS = {
    "mean of a stream": {"low": 0, "high": 1},
    "mean of a list": {"low": 0, "high": 1, "finite": True},
    "wins of a stream": {"by": "wins", "compare": kernels.total_order},
    "wins of a list": {"by": "wins", "compare": kernels.total_order, "finite": True},
}


def differences_of(table):
    table = np.asarray(table, np.float64)
    return table[:, None] - table[None, :]


@pytest.mark.parametrize("tolerance", [0.0, 0.05])
@pytest.mark.parametrize("kind", KINDS)
def test_every_decision_is_the_definitions(kind, tolerance):
    """Scores are 0 or 1, so that means and wins have the same differences."""
    race = racing.SharedRace(num_options=5, top=2, capacity=300, **KINDS[kind])
    params = race.params(delta=0.1, tolerance=tolerance)
    run = functools.partial(racing.run_shared, race, sample=lookup, params=params)
    seen = set()
    for seed in range(SEEDS):
        table = item_responses(jax.random.key(seed), race.capacity)
        result = run(key=jax.random.key(100 + seed), options=table)
        order = np.asarray(racing.task_order(race, jax.random.key(100 + seed)))
        history, best, certificate, possible = plain_race(
            race, params, differences_of(table[:, order])
        )
        assert set(result.best.tolist()) == best
        assert result.certificate == certificate
        np.testing.assert_array_equal(result.samples, history[-1])
        if certificate == "exhausted":
            np.testing.assert_array_equal(result.possible, possible)
        seen.add(certificate)
        if seed < 3:
            told = play(race, np.asarray(table)[:, order], params, tell_at_most=7)
            np.testing.assert_array_equal(told.samples, history[-1])
            assert told.certificate == certificate
    assert "dominance" in seen
