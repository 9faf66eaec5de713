"""A search that is told preferences: the search that computes them, partial answers, judges."""

import dataclasses
import functools
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small_tasks import Parameters, SmallTask

from jaxrace import kernels, racing
from jaxrace.agents import outcomes
from jaxrace.agents.policies import Sigmoid
from jaxrace.agents.rollout import PolicyInTask, Rollout
from jaxrace.core.validation import BadArgument
from jaxrace.envs import medical
from jaxrace.search import JudgedSearch, PolicySearch
from jaxrace.search.strategies import Strategy

STRATEGY = Strategy(population_size=5)


@dataclasses.dataclass(frozen=True)
class Target(SmallTask):
    """The reward falls with the distance of the action from (3, -2), plus a noise for all."""

    default_params = ()

    def reset(self, key, params):
        return jax.random.normal(key, (), jnp.float32)

    def step(self, key, state, action, params):
        away = action - jnp.array([3.0, -2.0], jnp.float32)
        return state, state - jnp.sqrt((away**2).sum()), jnp.bool_(True)


SEARCH = JudgedSearch(Target(), Parameters(), STRATEGY)
PARAMS = SEARCH.params(sigma0=2.0, budget=60)


def signs_of(asked):
    """By the sum of the rewards: int32 [P]."""
    returns = asked.histories.reward.sum((1, 2))
    first, second = asked.pairs.T
    return jnp.sign(returns[first] - returns[second]).astype(jnp.int32)


def test_told_signs_make_the_decisions_of_the_search_that_computes_them():
    race = racing.PreferenceRace(5, 2, 1, kernels.total_order)
    computed = PolicySearch(
        Target(), Parameters(), outcomes.Return(), race, STRATEGY, common_random_numbers=True
    )
    numbers = computed.params(sigma0=2.0, budget=30, min_rounds=1, max_rounds=1)
    for seed in range(3):
        other, step = computed.init(jax.random.key(seed), numbers), jax.jit(computed.step)
        state = SEARCH.init(jax.random.key(seed), PARAMS)
        while not computed.done(other, numbers):
            other, _ = step(other, numbers)
            state = SEARCH.tell(state, signs_of(SEARCH.ask(state, PARAMS)), PARAMS)
            np.testing.assert_allclose(state.best, other.best, rtol=1e-6)
        assert SEARCH.done(state, PARAMS)
        assert (int(state.generation), int(state.answers)) == (6, 60)
        np.testing.assert_allclose(state.strategy.mean, other.strategy.mean, rtol=1e-5)


def test_what_is_shown_are_the_first_samples_of_a_race_that_all_policies_share():
    search = JudgedSearch(medical.Medical(), Sigmoid(2), STRATEGY, shown=3)
    params = search.params(sigma0=3.0)
    state = search.init(jax.random.key(4), params)
    asked = search.ask(state, params)
    race_key = jax.random.split(jax.random.fold_in(jax.random.key(4), 1), 3)[1]
    rollout = Rollout(medical.Medical(), Sigmoid(2), medical.TreatmentOutcome())
    for policy in range(5):
        option = PolicyInTask(asked.population[policy], medical.Medical().default_params)
        for number in range(3):
            key = jax.random.fold_in(jax.random.fold_in(race_key, 0), number)
            end = asked.of(policy).next_state.tumour[number, -1]
            np.testing.assert_allclose(end, rollout(key, option).tumour_size, rtol=1e-5)
    starts = np.asarray(asked.histories.state.tumour)[:, :, 0]
    assert (starts == starts[0]).all()
    assert len(set(starts[0].tolist())) == 3


def test_answers_may_come_one_by_one_and_nothing_is_lost_between_them():
    at_once = one_by_one = SEARCH.init(jax.random.key(1), PARAMS)
    for _ in range(2):
        signs = np.asarray(signs_of(SEARCH.ask(at_once, PARAMS)))
        at_once = SEARCH.tell(at_once, signs, PARAMS)
        for count, sign in enumerate(signs):
            asked = SEARCH.ask(one_by_one, PARAMS)
            assert len(asked.open_pairs) == 10 - count
            assert asked.open_pairs[0] == tuple(SEARCH.pairs[count])
            one_by_one = pickle.loads(pickle.dumps(SEARCH.tell(one_by_one, int(sign), PARAMS)))
    for a, b in zip(jax.tree.leaves(at_once), jax.tree.leaves(one_by_one), strict=True):
        assert (a == b).all()
    assert int(at_once.answers) == 20


def test_each_policy_is_about_as_often_first_as_second():
    for size in (2, 5, 6):
        search = JudgedSearch(
            Target(), Parameters(), Strategy("PGPE" if size == 2 else "CMA_ES", size)
        )
        first = np.bincount(search.pairs[:, 0], minlength=size)
        assert np.ptp(first) <= 1
        assert len({frozenset(pair) for pair in search.pairs.tolist()}) == search.num_pairs


@functools.partial(jax.jit, static_argnums=0)
def distances(errs, keys, params):
    """Of the learned policies from the best, [S], where a judge errs with this probability."""

    def one(key):
        def generation(number, state):
            flips = jax.random.bernoulli(jax.random.fold_in(key, number), errs, (10,))
            signs = signs_of(SEARCH.ask(state, params))
            return SEARCH.tell(state, jnp.where(flips, -signs, signs), params)

        state = jax.lax.fori_loop(0, 20, generation, SEARCH.init(key, params))
        return jnp.sqrt(
            ((state.best - jnp.array([3.0, -2.0], jnp.float32)) ** 2).sum()
        ), state.answers

    return jax.vmap(one)(keys)


def test_a_search_learns_from_a_judge_and_nothing_from_a_coin():
    keys, params = jax.random.split(jax.random.key(0), 100), SEARCH.params(2.0, budget=200)
    (right, answers), (noisy, _), (coin, _) = (distances(p, keys, params) for p in (0.0, 0.2, 0.5))
    assert (answers == 200).all()
    assert np.median(right) < 0.2  # it started at 3.6
    assert np.median(right) < np.median(noisy) < 1.5
    assert np.median(coin) > 2.5


def test_a_search_that_is_done_takes_no_answers_and_stays_as_it_is():
    params = SEARCH.params(sigma0=2.0, budget=19)  # one generation, and not quite another
    state = SEARCH.init(jax.random.key(0), params)
    state = SEARCH.tell(state, signs_of(SEARCH.ask(state, params)), params)
    assert SEARCH.done(state, params)
    asked = SEARCH.ask(state, params)
    assert asked.open_pairs == []
    after = jax.jit(SEARCH.tell)(state, jnp.ones(10, jnp.int32), params)
    for a, b in zip(jax.tree.leaves(state), jax.tree.leaves(after), strict=True):
        assert (a == b).all()
    with pytest.raises(BadArgument, match="signs: expected none, as the search is done, got 1"):
        SEARCH.tell(state, 1, params)


@pytest.mark.parametrize(
    ("signs", "message"),
    [
        (2, r"signs: expected \+1 .* got 2"),
        ([0, -3], r"signs: expected \+1 .* got -3"),
        (1.0, r"signs: expected an integer sign.* got float64\[\]"),
        (True, r"signs: expected an integer sign.* got bool\[\]"),
        ([], r"signs: expected"),
        ([1] * 11, "signs: expected 1 to 10, for the pairs that are open, got 11"),
        ([[1]], r"signs: expected an integer sign, or a list of them, got int64\[1, 1\]"),
    ],
)
def test_other_signs_are_refused(signs, message):
    with pytest.raises(BadArgument, match=message):
        SEARCH.tell(SEARCH.init(jax.random.key(0), PARAMS), signs, PARAMS)


def test_settings_that_cannot_be_are_refused():
    with pytest.raises(BadArgument, match="budget: expected an integer of at least 10, got 9"):
        SEARCH.params(budget=9)
    with pytest.raises(BadArgument, match="shown: expected an integer of at least 1, got 0"):
        JudgedSearch(Target(), Parameters(), shown=0)
    with pytest.raises(BadArgument, match="strategy: expected a Strategy"):
        JudgedSearch(Target(), Parameters(), "CMA_ES")  # pyright: ignore[reportArgumentType]
