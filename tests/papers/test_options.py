"""The synthetic racing tasks: closed forms against Monte Carlo and scipy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

from papers.preference_racing.options import (
    BernoulliDrift,
    BernoulliDriftOptions,
    Normal,
    NormalOptions,
    Uniform,
    UniformOptions,
)

TASKS = [
    Normal(),
    BernoulliDrift(),
    pytest.param(BernoulliDrift(5.0), marks=pytest.mark.slow),
    Uniform(),
]


def sample_many(task, instance, number, seed=1):
    """[K, number] outcomes."""
    num_options = jax.tree.leaves(instance)[0].shape[0]
    keys = jax.random.split(jax.random.key(seed), (num_options, number))
    sample = jax.vmap(jax.vmap(task.sample, in_axes=(0, None)))
    return np.asarray(jax.jit(sample)(keys, instance))


@pytest.mark.parametrize("task", TASKS, ids=str)
def test_closed_forms_against_monte_carlo(task):
    number = 20_000
    instance = task.draw(jax.random.key(0), 12.0, num_options=6)
    outcomes = sample_many(task, instance, number)
    assert outcomes.dtype == np.float32
    exact = np.asarray(task.win_probabilities(instance))
    ranks = np.sort(outcomes, axis=1)
    estimate = np.empty((6, 6))
    for i in range(6):
        for j in range(6):
            below = np.searchsorted(ranks[j], outcomes[i], "left")
            not_above = np.searchsorted(ranks[j], outcomes[i], "right")
            estimate[i, j] = np.mean((below + not_above) / 2) / number
    # Standard error at most 0.5 sqrt(2 / 20000) = .005.
    np.testing.assert_allclose(estimate, exact, atol=0.02)
    error = outcomes.std(axis=1) / np.sqrt(number)
    assert np.all(np.abs(outcomes.mean(axis=1) - task.means(instance)) < 4.5 * error)


def test_normal_against_scipy():
    mean = np.array([0.0, 0.5, 4.0, 4.0], np.float32)
    variance = np.array([1.0, 0.25, 0.5, 0.1], np.float32)
    matrix = Normal().win_probabilities(NormalOptions(jnp.array(mean), jnp.array(variance)))
    deviation = np.sqrt(variance[:, None] + variance[None, :])
    expected = scipy.stats.norm.cdf((mean[:, None] - mean[None, :]) / deviation)
    np.testing.assert_allclose(matrix, expected, rtol=1e-5)


def test_normal_without_variance_is_deterministic():
    instance = NormalOptions(jnp.array([1.0, 2.0], jnp.float32), jnp.zeros((2,), jnp.float32))
    np.testing.assert_array_equal(Normal().win_probabilities(instance), [[0.5, 0], [1, 0.5]])


@pytest.mark.parametrize(
    ("difference", "expected"),
    [(0, 0.5), (0.25, 0.75), (0.875, 0.75), (1, 0.875), (1.125, 1), (7, 1)],
)
def test_bernoulli_drift_in_every_case(difference, expected):
    instance = BernoulliDriftOptions(jnp.array([difference, 0], jnp.float32))
    matrix = BernoulliDrift().win_probabilities(instance)
    np.testing.assert_array_equal(matrix, [[0.5, expected], [1 - expected, 0.5]])


def test_uniform_against_an_integral():
    limits = [0.5, 2.0, 3.0, 9.0]
    matrix = Uniform().win_probabilities(UniformOptions(jnp.array(limits, jnp.float32)))
    for i, a in enumerate(limits):
        for j, b in enumerate(limits):
            win = scipy.stats.uniform(0, b).expect(scipy.stats.uniform(0, a).sf, lb=0, ub=b)
            np.testing.assert_allclose(matrix[i, j], win, rtol=1e-5)


def test_uniform_of_width_zero_ties():
    instance = UniformOptions(jnp.zeros((2,), jnp.float32))
    np.testing.assert_array_equal(Uniform().win_probabilities(instance), np.full((2, 2), 0.5))


@pytest.mark.parametrize(
    ("task", "limits"),
    [
        (Normal(), (1.5, 1.0)),  # k / 2, 1
        (BernoulliDrift(), (0.3,)),  # k / 10
        (BernoulliDrift(5.0), (0.6,)),  # k / 5
        (Uniform(), (30.0,)),  # 10 k
    ],
    ids=str,
)
def test_instances_are_drawn_uniformly(task, limits):
    instance = task.draw(jax.random.key(0), 3.0, num_options=20_000)
    for leaf, limit in zip(instance, limits, strict=True):
        assert leaf.dtype == jnp.float32
        test = scipy.stats.kstest(np.asarray(leaf), scipy.stats.uniform(0, limit).cdf)
        assert test.pvalue > 1e-3
    if len(instance) == 2:
        assert abs(np.corrcoef(np.stack(instance))[0, 1]) < 0.03


def test_value_ranges():
    assert Normal().value_range(3.0) == 8.0
    assert BernoulliDrift().value_range(3.0) == 1.0
    assert Uniform().value_range(3.0) == 30.0


@pytest.mark.parametrize("task", TASKS, ids=str)
def test_value_ranges_cover_the_outcomes_of_each_option(task):
    """In 400 races of ten options and 300 rounds; with the normals, in over 99 % of them."""

    def widest(key):
        draw_key, sample_key = jax.random.split(key)
        instance = task.draw(draw_key, 10.0)
        keys = jax.random.split(sample_key, (300, 10))
        outcomes = jax.vmap(jax.vmap(task.sample), in_axes=(0, None))(keys, instance)
        return jnp.max(jnp.ptp(outcomes, axis=0))

    spread = jax.jit(jax.vmap(widest))(jax.random.split(jax.random.key(9), 400))
    covered = np.mean(np.asarray(spread) <= task.value_range(10.0) * (1 + 1e-6))
    assert covered >= (0.99 if isinstance(task, Normal) else 1.0)
    assert np.max(spread) > 0.8 * task.value_range(10.0)  # the range is not idle
