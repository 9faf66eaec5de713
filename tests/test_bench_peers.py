"""The NumPy peers of the benchmarks compute what jaxrace computes, on small instances."""

import functools
import importlib.util
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace import kernels, racing
from jaxrace.envs import medical
from jaxrace.outcomes import Both, Return
from jaxrace.policies import Sigmoid
from jaxrace.rollout import PolicyInTask, Rollout

PEERS = Path(__file__).parents[1] / "bench" / "peers"
RACES, OPTIONS, ROUNDS, TOP = 12, 5, 90, 2


def peer(name):
    """One peer's module, from its file: bench/ is no package, and is not installed."""
    spec = importlib.util.spec_from_file_location(f"peer_{name}", PEERS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def our_race(race, params, outcomes):
    first = jax.tree.map(lambda x: x[0, 0], outcomes)
    state = race.tell(race.init(first, params), outcomes, params)
    return race.result(state, params)


@pytest.fixture(scope="module")
def instance():
    """Outcomes [R, K, N], and the samples and rankings of our races on them."""
    generator = np.random.default_rng(0)
    means = 4 * generator.random((RACES, OPTIONS, 1))
    outcomes = (means + generator.normal(size=(RACES, OPTIONS, ROUNDS))).astype(np.float32)
    race = racing.PreferenceRace(OPTIONS, TOP, ROUNDS, kernels.total_order, bound="published")
    params = race.params(delta=0.1)
    results = [our_race(race, params, x) for x in outcomes]
    samples = np.array([result.samples for result in results])
    ranking = np.array([result.ranking for result in results])
    assert len(np.unique(samples)) > 10  # pairs are dropped in many different rounds
    return outcomes, np.asarray(params.thresholds), samples, ranking


@pytest.mark.parametrize("chunk", [1, 25, 64])
@pytest.mark.parametrize("name", ["numpy_batched_race", "numpy_lockstep_race"])
def test_batched_races(instance, name, chunk):
    outcomes, thresholds, samples, ranking = instance

    def draw(races, first, count):
        return outcomes[races, :, first : first + count]

    played = peer(name).play(draw, thresholds, RACES, OPTIONS, TOP, chunk=chunk)
    np.testing.assert_array_equal(played[0], samples)
    np.testing.assert_array_equal(played[1], ranking)


def test_plain_races(instance):
    outcomes, thresholds, samples, ranking = instance
    played = [peer("numpy_plain_race").play(x, thresholds, TOP) for x in outcomes]
    np.testing.assert_array_equal([race.samples for race in played], samples)
    np.testing.assert_array_equal([race.ranking for race in played], ranking)


def test_treatments():
    theta = np.array([[0.5, -1.0, 0.2], [-3.0, 2.0, 1.0], [40.0, -60.0, 5.0]], np.float32)
    env = medical.Medical()
    rollout = Rollout(env, Sigmoid(2), Both(medical.TreatmentOutcome(), Return()))
    keys = jax.random.split(jax.random.key(0), (len(theta), 40))

    @jax.jit
    def play(keys, theta):
        option = PolicyInTask(theta, env.default_params)
        outcome, earned = jax.vmap(rollout, (0, None))(keys, option)
        patient = jax.vmap(lambda key: env.reset(jax.random.fold_in(key, 0), option.env_params))(
            keys
        )
        # The uniform numbers behind it.
        start = jnp.stack([patient.tumour, patient.toxicity]) / option.env_params.initial_limit
        return outcome, earned, jnp.concatenate([start, patient.death_thresholds.T])

    outcome, earned, noise = jax.tree.map(np.asarray, jax.vmap(play)(keys, theta))
    treated = peer("numpy_medical").treat(theta, noise.swapaxes(0, 1), with_reward=True)
    assert 0 < outcome.alive.mean() < 1
    np.testing.assert_array_equal(np.isfinite(treated.tumour), outcome.alive)
    alive = outcome.alive
    close = functools.partial(np.testing.assert_allclose, rtol=1e-5, atol=1e-5)
    close(treated.toxicity[alive], outcome.worst_toxicity[alive])
    close(treated.tumour[alive], outcome.tumour_size[alive])
    np.testing.assert_array_equal(treated.reward, earned)


def test_treatment_races():
    generator = np.random.default_rng(1)
    # Few values, so that ties occur; the better options are also rarer to die.
    shape = (RACES, OPTIONS, ROUNDS)
    quality = np.arange(OPTIONS)[None, :, None]
    costs = generator.integers(0, 6, (2, *shape)) + quality
    alive = generator.random(shape) > 0.15 * quality
    toxicity, tumour = np.where(alive, costs, np.inf).astype(np.float32)
    race = racing.PreferenceRace(OPTIONS, TOP, ROUNDS, medical.prefer, bound="stitched-kl")
    params = race.params(delta=0.2)
    thresholds = np.asarray(params.thresholds)
    decided = []
    for index in range(RACES):
        outcomes = medical.Outcome(
            alive[index], costs[0, index].astype(np.float32), costs[1, index].astype(np.float32)
        )
        ours = our_race(race, params, outcomes)
        theirs = peer("numpy_treatment_race").play(toxicity[index], tumour[index], thresholds, TOP)
        np.testing.assert_array_equal(theirs.samples, ours.samples)
        np.testing.assert_array_equal(theirs.ranking, ours.ranking)
        assert theirs.decided == ours.decided
        decided.append(theirs.decided)
    assert any(decided)
    assert not all(decided)
