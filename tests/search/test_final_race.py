"""A search with a final race between the best of its last generations."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace import racing
from jaxrace.agents.policies import Sigmoid
from jaxrace.agents.rollout import PolicyInTask
from jaxrace.commands.train.config import TrainConfig
from jaxrace.commands.train.tasks import medical_task
from jaxrace.envs import medical
from jaxrace.search import FinalRace, PolicySearch
from papers.preference_racing.medical_runs import Learning
from papers.preference_racing.racing_pays import VARIANTS, within

ENV = medical.Medical()
RACE = racing.PreferenceRace(7, 3, 40, medical.prefer, "published")
SEARCH = PolicySearch(ENV, Sigmoid(2), medical.TreatmentOutcome(), RACE)
FINAL = racing.PreferenceRace(5, 1, 30, medical.prefer)
LEARNER = FinalRace(SEARCH, FINAL)


def params_of(budget=600, reserved=150, max_rounds=40):
    search = SEARCH.params(10.0, budget=budget - reserved, max_rounds=max_rounds)
    return LEARNER.params(search, budget)


@functools.cache
def compiled_step(learner):
    return jax.jit(learner.step)


def play(learner, key, params):
    state, rows = learner.init(key, params), []
    step = compiled_step(learner)
    while not learner.done(state, params):
        state, row = step(state, params)
        rows.append(row)
    return state, rows


@pytest.mark.parametrize("shared", [False, True])
def test_the_recommended_policy_has_won_a_race_of_the_last_ones(shared):
    params = params_of()
    key = jax.random.key(5)
    search = dataclasses.replace(SEARCH, common_random_numbers=shared)
    state, rows = play(FinalRace(search, FINAL), key, params)
    *searched, last = rows
    # Generation g has place g mod 5.
    recent = {int(row.generation) % 5: row.best for row in searched}
    thetas = jnp.stack([recent[place] for place in range(5)])
    options = PolicyInTask(thetas, jax.tree.map(lambda x: jnp.tile(x, 5), params.search.env))
    race_key = jax.random.fold_in(key, jnp.uint32(2**32 - 1))
    race_params = FINAL.params(0.05, int(params.max_rounds))
    result = racing.run(
        FINAL, race_key, SEARCH.rollout, options, race_params, common_random_numbers=shared
    )
    np.testing.assert_array_equal(last.best, thetas[int(result.ranking[0])])
    before = int(searched[-1].episodes)
    assert int(last.episodes) == before + int(result.samples.sum()) <= 600 + 7 * 40
    assert int(last.generation) == int(searched[-1].generation) + 1
    assert int(last.options_decided) == int((result.selected | result.discarded).sum())
    assert bool(last.race_decided) == bool(result.decided)
    assert bool(state.raced)
    assert bool(last.ran)


def test_a_final_race_has_no_more_rounds_than_it_has_room_for():
    search = SEARCH.params(10.0, budget=100, max_rounds=40)
    assert int(LEARNER.params(search, 100 + 5 * 20).max_rounds) == 20
    assert int(LEARNER.params(search, 100 + 5 * 200).max_rounds) == FINAL.capacity == 30


def test_bad_input():
    with pytest.raises(ValueError, match="race: expected top = 1, got 2"):
        FinalRace(SEARCH, racing.PreferenceRace(5, 2, 30, medical.prefer))
    with pytest.raises(ValueError, match="budget: expected"):
        LEARNER.params(SEARCH.params(10.0, budget=100, max_rounds=40), 104)


def test_the_last_policy_within_a_budget():
    learning = Learning(
        np.array([0, 0, 0, 1, 1, 2]),
        np.array([40, 90, 130, 60, 100, 20]),
        {"reward": np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])},
        {},
        np.array([False, False, True, False, True, True]),
    )
    last = within(learning, 100)
    assert last["reward"].tolist() == [2.0, 5.0, 6.0]
    assert last["episodes"].tolist() == [90, 100, 20]


@pytest.mark.parametrize("name", [name for name, one in VARIANTS.items() if one.final_rounds])
def test_a_final_race_is_paid_out_of_the_same_budget(name):
    config = TrainConfig(episodes=10_000)
    searches = VARIANTS[name].searches(config, medical_task(config))
    settings = jax.tree.map(lambda x: x[0], searches.settings)
    population = VARIANTS[name].population
    most = int(settings.search.budget) - 1 + population * int(settings.search.max_rounds)
    assert most + 10 * int(settings.max_rounds) <= 10_000
