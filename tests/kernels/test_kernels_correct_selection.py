"""Probabilities of a correct selection, their gains, and knowledge gradients."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference import selection as reference
from scipy import stats

from jaxrace import kernels

selection_threshold = jax.jit(kernels.selection_threshold, static_argnums=2)
log_correct_selection = jax.jit(kernels.log_correct_selection, static_argnums=2)
correct_selection_gains = jax.jit(kernels.correct_selection_gains, static_argnums=3)
knowledge_gradient = jax.jit(kernels.knowledge_gradient, static_argnums=2)


def test_the_probability_of_a_correct_selection_is_that_of_samples():
    """For scores that are independent and one threshold, as the formula has it."""
    rng = np.random.default_rng(0)
    means, deviations = np.array([1.0, 0.4, 0.0, -0.3]), np.array([0.5, 0.3, 0.4, 0.2])
    threshold = float(selection_threshold(jnp.array(means), jnp.array(deviations), 2))
    assert 0 < threshold < 0.4
    draws = means + deviations * rng.normal(size=(200_000, 4))
    right = (draws[:, :2] > threshold).all(1) & (draws[:, 2:] < threshold).all(1)
    expected = float(jnp.exp(log_correct_selection(jnp.array(means), jnp.array(deviations**2), 2)))
    assert abs(right.mean() - expected) < 4 * right.std() / np.sqrt(200_000)
    # And a lower bound of what it stands for.
    really = draws[:, :2].min(1) > draws[:, 2:].max(1)
    assert really.mean() > expected


def test_knowledge_gradients_are_those_of_quadrature():
    rng = np.random.default_rng(1)
    for num_options, top in ((2, 1), (5, 2), (6, 5)):
        mu = rng.normal(size=num_options).round(1)
        n = rng.integers(2, 6, (num_options, num_options))
        n = np.triu(n, 1) + np.triu(n, 1).T
        s2 = np.triu(rng.uniform(0.5, 2, n.shape), 1)
        s2 = s2 + s2.T + np.eye(num_options)
        deviations = np.sqrt(s2 / np.maximum(n * (n + 1), 1))
        got = knowledge_gradient(jnp.array(mu, jnp.float32), jnp.array(deviations), top)
        for i, j in zip(*np.triu_indices(num_options, 1), strict=True):
            expected = reference.knowledge_gradient_by_quadrature(i, j, mu, n, s2, top)
            assert float(got[i, j]) == pytest.approx(expected, abs=2e-6)


def test_many_options_do_not_underflow():
    # Of three hundred even halves have no product in float32.
    num_options, top = 300, 40
    rng = np.random.default_rng(0)
    means = jnp.array(np.sort(rng.normal(size=num_options))[::-1], jnp.float32)
    variances = jnp.ones(num_options)
    equal = log_correct_selection(0 * means, variances, top)
    assert float(equal) == pytest.approx(300 * np.log(0.5), rel=1e-6)
    gains = correct_selection_gains(
        means, variances, jnp.full((num_options, num_options), 1e-3), top
    )
    assert bool(jnp.isfinite(gains).all())
    upper = np.asarray(gains)[np.triu_indices(num_options, 1)]
    assert len(np.unique(upper)) > 1000
    far = correct_selection_gains(
        means * 1e4, variances, jnp.full((num_options, num_options), 1e-3), top
    )
    assert bool(jnp.isfinite(far).all())


def test_gains_are_those_of_the_plain_formula():
    rng = np.random.default_rng(2)
    mu, s2 = rng.normal(size=6), rng.uniform(0.1, 1, (6, 6))
    s2 = np.triu(s2, 1) + np.triu(s2, 1).T
    n = np.full((6, 6), 4) - 4 * np.eye(6, dtype=int)
    variance = np.divide(s2, n, out=np.zeros((6, 6)), where=n > 0).sum(1)
    reductions = np.divide(s2, n * (n + 1), out=np.zeros((6, 6)), where=n > 0)
    expected = reference.log_expected_correct(mu, variance, s2, n, 2)
    expected = expected - reference.log_correct(mu, variance, 2)
    arguments = [jnp.array(x, jnp.float32) for x in (mu, variance, reductions)]
    got = correct_selection_gains(arguments[0], arguments[1], arguments[2], 2)
    upper = np.triu_indices(6, 1)
    np.testing.assert_allclose(np.asarray(got)[upper], expected[upper], atol=2e-6)


@pytest.mark.parametrize("distance", [0.0, 0.5, 3.0, 4.5, 4.97, 6.0, 9.0])
def test_float32_keeps_its_digits_where_all_is_nearly_certain(distance):
    """Two options ``distance`` from the threshold: ln APCS = 2 ln Phi, which is tiny there."""
    means, variances = jnp.array([2.0, 0.0]) * distance, jnp.ones(2)
    found = float(log_correct_selection(means, variances, 1))
    assert found == pytest.approx(2 * stats.norm.logcdf(distance), rel=1e-4)
    gains = correct_selection_gains(means, variances, jnp.full((2, 2), 0.25), 1)
    later = 2 * stats.norm.logcdf(distance / np.sqrt(0.75))
    assert float(gains[0, 1]) == pytest.approx(later - 2 * stats.norm.logcdf(distance), rel=1e-4)


def log_gain_of_kink(b):
    """ln (phi(b) - b Q(b)), by the continued fraction of Mills' ratio."""
    rest = 0.0
    for number in range(500, 0, -1):
        rest = number / (b + rest)
    return stats.norm.logpdf(b) + np.log(rest / (b + rest))


def assert_same_ratios(got, expected, atol, more_than):
    """Of gains below any float, and of their logarithms: the best one, and all that are near."""
    best = np.unravel_index(expected.argmax(), expected.shape)
    assert np.unravel_index(np.triu(got, 1).argmax(), got.shape) == best
    near = expected > expected.max() - 60
    assert near.sum() > more_than
    ratios = np.log(got[near]) - np.log(got[best])
    np.testing.assert_allclose(ratios, (expected - expected.max())[near], rtol=1e-3, atol=atol)
    return best


def test_gains_below_any_float_keep_their_ratios():
    """Of pairs that are nearly certain: what is worth most is found, and by how much."""
    means, top = np.array([9.0, 6.2, 2.0, 1.9, 1.8, 0.0]), 2
    deviations = np.random.default_rng(3).uniform(0.12, 0.15, (6, 6))
    deviations = (deviations + deviations.T) / 2
    as_float32 = jnp.array(means, jnp.float32), jnp.array(deviations, jnp.float32)
    pairs = np.triu_indices(6, 1)
    got = np.asarray(knowledge_gradient(*as_float32, top), np.float64)
    expected = np.full((6, 6), -np.inf)
    for i, j in zip(*pairs, strict=True):
        kinks = [abs(b) / deviations[i, j] for b, _ in reference.breakpoints(means, i, j, top)]
        expected[i, j] = np.log(deviations[i, j]) + np.logaddexp.reduce(
            [log_gain_of_kink(b) for b in kinks]
        )
    best = assert_same_ratios(got, expected, 1e-4, 1)
    assert {1, 2} & set(best), "it moves an option beside the boundary"


def test_selection_gains_below_any_float_keep_their_ratios():
    means, top = np.array([9.0, 6.0, 2.0, 1.6, 0.5, 0.0]), 2
    rng = np.random.default_rng(4)
    variances, shares = rng.uniform(0.01, 0.02, 6), rng.uniform(0.001, 0.2, (6, 6))
    reductions = variances[:, None] * shares
    m, v, r = (jnp.array(x, jnp.float32) for x in (means, variances, reductions))
    got = np.asarray(correct_selection_gains(m, v, r, top), np.float64)
    threshold = float(kernels.selection_threshold(jnp.array(means), jnp.array(variances**0.5), top))
    distance = np.abs(means - threshold)[:, None]
    before = stats.norm.logsf(distance / np.sqrt(variances)[:, None])
    after = stats.norm.logsf(distance / np.sqrt(variances[:, None] - reductions))
    rise = before + np.log(-np.expm1(after - before))
    expected = np.logaddexp(rise, rise.T)
    expected[np.tril_indices(6)] = -np.inf
    assert_same_ratios(got, expected, 2e-3, 4)
