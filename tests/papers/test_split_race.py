"""How long the races of a search are: deltas that take turns, and halves that agree."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace import kernels, racing
from jaxrace.agents import outcomes
from jaxrace.agents.policies import Sigmoid
from jaxrace.agents.rollout import PolicyInTask
from jaxrace.envs import medical
from jaxrace.search import PolicySearch, run
from papers.preference_racing.learners.split_race import SplitRaceSearch, shared_weight

RACE = racing.PreferenceRace(7, 3, 40, kernels.total_order)
PARTS = (medical.Medical(), Sigmoid(2), outcomes.Return())
KEYS = jax.random.split(jax.random.key(0), 3)
TREATMENTS = racing.PreferenceRace(7, 3, 40, medical.prefer)
SEARCH = SplitRaceSearch(*PARTS[:2], medical.TreatmentOutcome(), TREATMENTS, agreement=0.6)
RANK = jax.jit(SEARCH.rank)


def weights(ranking, top):
    """ln(mu + 1) - ln i for the mu best, in the order of the options."""
    by_option = np.zeros(len(ranking))
    for place, option in enumerate(ranking[:top]):
        by_option[option] = np.log(top + 1) - np.log(place + 1)
    return by_option


def test_shared_weight_is_that_of_the_recombination():
    rng = np.random.default_rng(0)
    for top in (1, 3, 5):
        for _ in range(20):
            one, other = rng.permutation(9), rng.permutation(9)
            expected = weights(one, top) @ weights(other, top) / (weights(one, top) ** 2).sum()
            found = float(shared_weight(jnp.asarray(one), jnp.asarray(other), top))
            assert found == pytest.approx(expected, abs=1e-6)


@dataclasses.dataclass(frozen=True)
class OneStep:
    """The reward is the action, or nothing but noise."""

    horizon: int = 1
    continues_after_terminal: bool = False
    default_params: bool = False  # is it noisy?

    def reset(self, key, params):
        return jax.random.normal(key, (), jnp.float32)

    def step(self, key, state, action, params):
        return state, jnp.where(params, state, action), jnp.bool_(True)

    def observe(self, state, params):
        return jnp.ones(2, jnp.float32)


@pytest.mark.parametrize("delta", [(), (0.5, 1.5), 0.0])
def test_bad_deltas_are_named(delta):
    with pytest.raises(ValueError, match=r"^delta: expected"):
        PolicySearch(*PARTS, RACE).params(10.0, delta, max_rounds=40)


@pytest.mark.parametrize("bad", [(), (2,), (0, 5)])
def test_policies_with_outcomes_that_are_not_finite_are_found(bad):
    table = jax.tree.map(lambda x: x[0], SEARCH.params(10.0, 0.5, max_rounds=40).race)
    theta = np.zeros((7, 3), np.float32)
    theta[list(bad)] = np.nan
    params = medical.Medical().default_params
    options = jax.vmap(lambda theta: PolicyInTask(theta, params))(theta)
    found = RANK(jax.random.key(0), options, table, jnp.int32(6))
    assert np.asarray(found.invalid).tolist() == [int(option in bad) for option in range(7)]


def test_a_generation_is_raced_in_two_halves():
    """Against two races by hand, their orders pooled in NumPy."""
    table = jax.tree.map(lambda x: x[0], SEARCH.params(10.0, 0.5, max_rounds=40).race)
    shares = []
    for number in range(12):
        key = jax.random.fold_in(jax.random.key(1), number)
        theta = 3 * jax.random.normal(jax.random.fold_in(key, 1), (7, 3), jnp.float32)
        options = jax.vmap(lambda theta: PolicyInTask(theta, medical.Medical().default_params))(
            theta
        )

        found = RANK(key, options, table, jnp.int32(31))

        params = TREATMENTS.params_at(table, jnp.int32(16))
        halves = [
            racing.run(TREATMENTS, half, SEARCH.rollout, options, params)
            for half in jax.random.split(key)
        ]
        net = np.sum([np.asarray(half.net, np.int64) for half in halves], 0)
        order = sorted(range(7), key=lambda i: (-(net[i] > 0).sum(), -net[i].sum(), i))
        assert np.asarray(found.ranking).tolist() == order
        one, other = (weights(np.asarray(half.ranking), 3) for half in halves)
        share = one @ other / (one @ one)
        assert bool(found.enough) == (share >= 0.6)
        shares.append(share)
        assert int(found.samples) == sum(int(half.samples.sum()) for half in halves)
        assert bool(found.race_decided) == all(bool(half.decided) for half in halves)
    assert min(shares) < 0.6 <= max(shares)


def test_n_max_grows_until_the_halves_agree():
    search = SplitRaceSearch(OneStep(), Sigmoid(2), outcomes.Return(), RACE, agreement=0.9)
    params = search.params(1.0, budget=8000, max_rounds=40, env_params=np.bool_(True))
    log = run(search, KEYS, params)
    last = np.take_along_axis(np.asarray(log.rows.max_rounds), log.generations[None] - 1, 0)
    assert np.median(last) == 40


def test_split_races_need_wins():
    with pytest.raises(ValueError, match=r"^race: expected a PreferenceRace"):
        SplitRaceSearch(*PARTS, racing.HoeffdingRace(7, 3))
    with pytest.raises(ValueError, match=r"^agreement: expected"):
        SplitRaceSearch(*PARTS, RACE, agreement=1.5)
