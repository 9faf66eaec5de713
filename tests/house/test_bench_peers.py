"""The NumPy peers of the benchmarks compute what jaxrace computes, on small instances."""

import functools
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from peers_of_bench import PEERS, peer
from reference import improvement as improvement_reference
from reference import selection as reference

from jaxrace import kernels, racing
from jaxrace.agents.outcomes import Both, Return
from jaxrace.agents.policies import Sigmoid
from jaxrace.agents.rollout import PolicyInTask, Rollout
from jaxrace.envs import medical

RACES, OPTIONS, ROUNDS, TOP = 12, 5, 90, 2


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


@pytest.mark.parametrize("name", ["numpy_batched_race", "numpy_lockstep_race"])
def test_batched_races(instance, name):
    outcomes, thresholds, samples, ranking = instance

    def draw(races, first, count):
        return outcomes[races, :, first : first + count]

    played = peer(name).play(draw, thresholds, RACES, OPTIONS, TOP, chunk=25)
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
        # The uniform numbers behind the start, and the endurance.
        start = jnp.stack([patient.tumour, patient.toxicity]) / option.env_params.initial_limit
        return outcome, earned, jnp.concatenate([start, patient.endurance[None]])

    outcome, earned, noise = jax.tree.map(np.asarray, jax.vmap(play)(keys, theta))
    treated = peer("numpy_medical").treat(theta, noise.swapaxes(0, 1), with_reward=True)
    assert 0 < outcome.alive.mean() < 1
    np.testing.assert_array_equal(np.isfinite(treated.tumour), outcome.alive)
    alive = outcome.alive
    close = functools.partial(np.testing.assert_allclose, rtol=1e-5, atol=1e-5)
    close(treated.toxicity[alive], outcome.worst_toxicity[alive])
    close(treated.tumour[alive], outcome.tumour_size[alive])
    np.testing.assert_array_equal(treated.reward, earned)


@pytest.mark.parametrize("seed", range(3))
def test_selection(seed):
    """The fit ends where that of the reference does, and values every pair as it does."""
    generator = np.random.default_rng(seed)
    size, top = 6, 2
    numpy_selection = peer("numpy_selection")
    pairs = numpy_selection.pairs_of(size)
    scores = reference.Scores(size)
    ours = numpy_selection.Scores(*np.zeros((3, len(pairs.first))))
    for pair, (i, j) in enumerate(reference.pair_list(size)):
        assert (pairs.first[pair], pairs.second[pair]) == (i, j)
        for score in generator.normal(0.3 * (j - i), 1 + i / 3, generator.integers(3, 12)):
            scores.add(i, j, score)
            ours.add(pair, score)
    close = functools.partial(np.testing.assert_allclose, rtol=1e-9, atol=1e-12)
    n, upper = scores.n, np.triu_indices(size, 1)
    close(ours.counts, n[upper])
    close(ours.means, scores.m[upper])

    def check_values(mu, variance, pair_variances):
        values, order = numpy_selection.log_expected_correct(
            pairs, mu, pair_variances[upper], ours.counts, top
        )
        expected = reference.log_expected_correct(mu, variance, pair_variances, n, top)
        close(values, expected[upper])
        np.testing.assert_array_equal(order, reference.order(mu))

    close(ours.variances, reference.unbiased(n, scores.v)[upper])
    check_values(*reference.score_moments(n, scores.m, scores.v))
    gamma, sigma2 = reference.fit_quasi_newton(n, scores.m, scores.v)
    check_values(*reference.fitted_moments(gamma, sigma2, n), sigma2)
    exact = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 20_000, "maxfun": 50_000}
    for options, tolerance in ((exact, 1e-6), (None, 1e-2)):
        qualities, variances, _ = numpy_selection.fit(pairs, ours, options)
        np.testing.assert_allclose(qualities, gamma, rtol=0, atol=tolerance)
        np.testing.assert_allclose(variances, sigma2[upper], rtol=10 * tolerance)


def test_bootstrap_bounds_of_daedalus():
    """All candidates at once, each by the reference; equal values among them."""
    theirs, rng = peer("numpy_daedalus"), np.random.default_rng(3)
    values = rng.uniform(size=(8, 90)) * np.exp(rng.normal(0, 1.5, (8, 90)))
    values[2], values[5] = 0.7, rng.uniform(size=90) < 0.2
    counts = rng.multinomial(110, np.full(90, 1 / 90), theirs.RESAMPLES).T.astype(float)
    # Means that only rounding tells from the mean of all may be below it or not: only zeros and
    # ones have so many of them that it matters.
    tolerances = [1e-9] * 5 + [0.02] + [1e-9] * 2
    found = theirs.bca(values, counts, 0.05)
    assert found.shape == (8,)
    for row, bound, tolerance in zip(values, found, tolerances, strict=True):
        expected = improvement_reference.bootstrap_bound(row, counts.T / 110, 0.05)
        np.testing.assert_allclose(bound, expected, rtol=tolerance)
        np.testing.assert_allclose(theirs.bca(row, counts, 0.05), bound, rtol=tolerance)


def test_weights_of_daedalus():
    """Of several policies at once, step by step: products of ratios, and the weighted estimate."""
    theirs, rng = peer("numpy_daedalus"), np.random.default_rng(4)
    thetas, logged = rng.normal(size=(3, 16, 4)), rng.normal(size=(16, 4))
    visits, returns, logs = theirs.collect(rng, logged, 40)
    known = theirs.Set()
    known.add(visits, returns, logs)
    weights = known.weights(thetas)
    behaviour = theirs.probabilities(logged)
    for theta, listed, worth in zip(thetas, weights, known.estimate(weights), strict=True):
        ratios = (theirs.probabilities(theta) / behaviour) ** visits
        np.testing.assert_allclose(listed, ratios.prod((1, 2)), rtol=1e-9)
        np.testing.assert_allclose(worth, np.average(returns, weights=listed), rtol=1e-9)


def test_a_benchmark_that_does_not_exist():
    """It would leave a file without numbers in place of the results."""
    command = [sys.executable, str(PEERS.parent / "run.py"), "--only", "bench_rases"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    message = "run.py: error: --only: expected a part of the name of a benchmark, got 'bench_rases'"
    assert ended.stderr.splitlines()[-1] == message
    assert not (PEERS.parent / "results" / "rases").exists()
