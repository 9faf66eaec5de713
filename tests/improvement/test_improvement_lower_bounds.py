"""Lower bounds of a mean, compared with references in float64."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference import improvement as reference

from jaxrace import kernels
from jaxrace.judging.policies import lower_bounds

SIZE = 64  # all samples are put into arrays of this length, so that each program compiles once

best_cap = jax.jit(lower_bounds.best_cap)
betting_bound = jax.jit(lower_bounds.betting_bound, static_argnums=4)

TWENTY = np.arange(1, 21) / 10  # the numbers 0.1, 0.2, ..., 2


@jax.jit
def student_bound(values, used, delta, number):
    quantile = kernels.student_quantile(delta, number - 1)
    return lower_bounds.student_bound(values, used, quantile, number).lower


@jax.jit
def capped_bound(*given):
    return lower_bounds.capped_bound(*given).lower


@jax.jit
def predicted_betting_bound(*given):
    return lower_bounds.predicted_betting_bound(*given).lower


def f32(number):
    return jnp.float32(number)


def spread(values, seed=0):
    """The values in their order in an array with holes, with large numbers in the holes."""
    rng = np.random.default_rng(seed)
    used = np.zeros(SIZE, bool)
    used[np.sort(rng.choice(SIZE, len(values), replace=False))] = True
    padded = np.full(SIZE, 1e6, np.float32)
    padded[used] = values
    return jnp.asarray(padded), jnp.asarray(used)


def heavy(rng, count):
    """Importance-weighted returns: many zeros, and a tail."""
    values = np.exp(rng.normal(0, rng.choice([0.3, 1.0, 2.5]), count)) * rng.uniform(size=count)
    return np.where(rng.uniform(size=count) < rng.choice([0, 0.3, 0.8]), 0, values).astype("f4")


def instances(count=60):
    """Values, delta, m and a threshold, at random."""
    rng = np.random.default_rng(5)
    for _ in range(count):
        values = heavy(rng, rng.integers(3, SIZE + 1))
        delta = float(np.float32(rng.choice([0.01, 0.05, 0.3])))
        number = int(rng.choice([len(values), 5, 200, 30_000]))
        yield values, delta, number, float(np.float32(rng.choice([1, 1.7, 40])))


def test_known_numbers():
    """Those of the specification: both bounds for 0.1, 0.2, ..., 2."""
    values, used = spread(TWENTY)
    student = student_bound(values, used, f32(0.05), f32(20))
    capped = capped_bound(values, used, f32(1), f32(0.05), f32(20))
    assert abs(float(student) - 0.8213) < 1e-4
    assert abs(float(capped) - 0.1331) < 1e-4
    assert abs(reference.student_bound(TWENTY, 0.05, 20) - 0.8213) < 5e-5
    assert abs(reference.capped_bound(TWENTY, 1, 0.05, 20) - 0.1331) < 5e-5


def test_student_and_capped_bounds_of_random_values():
    for number, (values, delta, m, cap) in enumerate(instances()):
        padded, used = spread(values, number)
        expected = reference.student_bound(values, delta, m)
        found = student_bound(padded, used, f32(delta), f32(m))
        scale = values.mean() + abs(expected)
        assert abs(float(found) - expected) <= 3e-5 * scale, (number, m, delta)

        expected = reference.capped_bound(values, cap, delta, m)
        found = capped_bound(padded, used, f32(cap), f32(delta), f32(m))
        scale = np.minimum(values, cap).mean() + abs(expected)
        assert abs(float(found) - expected) <= 1e-5 * scale, (number, m, delta, cap)


@pytest.mark.slow
def test_the_threshold_reaches_the_best_bound():
    """Not the same c, of which there may be several, but as good a bound as any c gives."""
    for number, (values, delta, m, _) in enumerate(instances()):
        padded, used = spread(values, number)
        cap = float(best_cap(padded, used, f32(delta), f32(m)))
        assert cap >= 1
        assert cap <= max(1, values.max()) * 1.0001
        best = reference.best_capped_bound(values, delta, m)
        reached = reference.capped_bound(values, cap, delta, m)
        # By less than a thousandth of the mean, which no bound can exceed.
        assert reached > best - 1e-3 * values.mean() - 1e-6 * abs(best), (number, m, cap)


def test_a_threshold_is_never_below_one():
    values, used = spread(np.full(10, 0.25))
    assert float(best_cap(values, used, f32(0.05), f32(100))) == 1


@pytest.mark.parametrize("anytime", [False, True])
def test_betting_on_random_values(anytime):
    for number, (values, delta, _, cap) in enumerate(instances()):
        padded, used = spread(values, number)
        found = betting_bound(padded, used, f32(cap), f32(delta), anytime)
        expected = reference.betting_bound(values, cap, delta, anytime=anytime)
        np.testing.assert_allclose(float(found), expected, rtol=2e-4, atol=1e-6 * cap)


def test_predicted_betting():
    """Against what the bound is on the average with so many values, drawn from the sample."""
    rng = np.random.default_rng(1)
    values = np.minimum(heavy(rng, SIZE), 2) / 2
    for m in (64, 400):
        prediction = predicted_betting_bound(
            jnp.asarray(values), jnp.ones(SIZE, bool), f32(1), f32(0.05), f32(m)
        )
        samples = rng.choice(values, (200, m))
        bounds = [reference.betting_bound(sample, 1, 0.05) for sample in samples[:60]]
        error = np.std(bounds) / np.sqrt(60)
        # The prediction has no ups and downs: it may differ by a part of the distance to the mean.
        assert abs(float(prediction) - np.mean(bounds)) < 3 * error + 0.25 * (
            values.mean() - np.mean(bounds)
        )


@pytest.mark.parametrize("largest", [1e10, 1e18])
def test_enormous_weights(largest):
    """One weight among ordinary ones: a finite threshold, and bounds as those of the reference."""
    values = np.append(np.full(40, 0.5), largest).astype(np.float32)
    padded, used = spread(values)
    cap = float(best_cap(padded, used, f32(0.05), f32(2000)))
    best = reference.best_capped_bound(values, 0.05, 2000)
    assert reference.capped_bound(values, cap, 0.05, 2000) > best - 1e-3 * values.mean()
    student = float(student_bound(padded, used, f32(0.05), f32(41)))
    np.testing.assert_allclose(student, reference.student_bound(values, 0.05, 41), rtol=1e-4)
    betting = float(betting_bound(padded, used, f32(1), f32(0.05)))
    np.testing.assert_allclose(betting, reference.betting_bound(values, 1, 0.05), rtol=1e-4)


def test_weights_beyond_the_squares_of_float32():
    """No bound is NaN, which would compare false with anything."""
    values, used = spread(np.append(np.full(40, 0.5), 1e20))
    cap = best_cap(values, used, f32(0.05), f32(2000))
    assert 1 <= cap <= 1.01e20
    assert not np.isnan(student_bound(values, used, f32(0.05), f32(41)))
    assert capped_bound(values, used, f32(1e20), f32(0.05), f32(41)) < 0
    assert 0 < betting_bound(values, used, f32(1), f32(0.05)) < 1
    assert 0 < predicted_betting_bound(values, used, f32(1), f32(0.05), f32(41)) < 1


SKEWED = 4000  # samples of each kind
# The share that may be above the mean: .05, and three standard errors of .0034.
MOST_ERRORS = 0.05 + 3 * np.sqrt(0.05 * 0.95 / SKEWED)


def skewed_samples(kind, count):
    """Samples [SKEWED, count] of values up to 5 with long upper tails, and their mean."""
    rng = np.random.default_rng(11)
    if kind == "rare":  # 5 with probability .04
        return jnp.asarray(5.0 * (rng.uniform(size=(SKEWED, count)) < 0.04), jnp.float32), 0.2
    # 5 U^9: half of the values are below .01.
    return jnp.asarray(5 * rng.uniform(size=(SKEWED, count)) ** 9, jnp.float32), 0.5


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["rare", "power"])
def test_error_rates_of_safe_bounds(kind):
    """With a fixed threshold; that of CI is chosen on the first 20 of 400 values."""
    count = 400
    samples, mean = skewed_samples(kind, count)
    used, first = jnp.ones(count, bool), jnp.arange(count) < 20
    cap, delta = f32(5), f32(0.05)

    def split(values):
        best = best_cap(values, first, delta, f32(380))
        return (
            capped_bound(values, used, cap, delta, f32(count)),
            capped_bound(values, ~first, best, delta, f32(380)),
            betting_bound(values, used, cap, delta),
            betting_bound(values, ~first, best, delta),
        )

    fixed, chosen, betting, both = map(np.asarray, jax.jit(jax.vmap(split))(samples))
    for bounds in (fixed, chosen, betting, both):
        assert (bounds > mean).mean() < MOST_ERRORS
    # The bounds are no empty promises; betting is sharper, and nearly as often wrong as it may be.
    assert fixed.mean() < betting.mean() < mean
    assert betting.mean() > 0.4 * mean
    assert (betting > mean).mean() > 0.01
