"""Bootstrap bounds of a mean, compared with a reference in float64 and with SciPy."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference import improvement as reference
from scipy import stats

from jaxrace import kernels
from jaxrace.improvement import Bootstrap
from jaxrace.improvement.bounds import StudentT, Used

SIZE = 64
DELTA = jnp.float32(0.05)

draw = jax.jit(kernels.resampling_counts, static_argnums=3)


def bound_with(values, used, counts, delta, corrected=True):
    """From resamples that are there."""
    rows = Used(used, jnp.zeros(used.shape, jnp.int32))
    return Bootstrap(corrected).predict(counts, values, rows, delta, rows.total).lower


bound_of = jax.jit(bound_with, static_argnums=4)


def draw_for(used, number, resamples, seed=0):
    return draw(jax.random.key(seed), jnp.asarray(used), jnp.int32(number), resamples)


def exact(counts, used, number):
    """The shares in float64, of the values that count: [B, n]."""
    return (np.asarray(counts, np.float64) / number)[used].T


def with_holes(rng, count):
    used = np.zeros(SIZE, bool)
    used[rng.choice(SIZE, count, replace=False)] = True
    return used


def skewed(rng, count):
    values = np.exp(rng.normal(0, rng.choice([0.3, 1.0, 2.0]), count))
    values = np.where(rng.uniform(size=count) < rng.choice([0, 0.4]), 0, values)
    return (values + rng.uniform(size=count)).astype(np.float32)


def test_resamples_of_few_values_may_be_larger_than_any_int16():
    counts = np.asarray(draw_for(np.array([True, False, True, True]), 600_000, 50))
    np.testing.assert_array_equal(counts.sum(0), 600_000)
    assert (counts[1] == 0).all()
    np.testing.assert_allclose(counts[[0, 2, 3]], 200_000, atol=6 * 366)  # 6 standard deviations


@pytest.mark.parametrize("number", [130, 64, 20, 1])
def test_resamples_are_drawn_with_replacement_from_what_counts(number):
    rng = np.random.default_rng(0)
    used = with_holes(rng, 23)
    counts = np.asarray(draw_for(used, number, 2000), np.float64).T
    np.testing.assert_allclose(counts, np.rint(counts), atol=1e-4)
    np.testing.assert_array_equal(np.rint(counts).sum(1), number)
    assert (counts[:, ~used] == 0).all()
    # Each count is binomial: its mean and variance, within four standard errors.
    share = 1 / 23
    mine = counts[:, used]
    deviation = np.sqrt(number * share * (1 - share))
    assert (abs(mine.mean(0) - number * share) < 4 * deviation / np.sqrt(2000)).all()
    np.testing.assert_allclose(mine.var(0).mean(), deviation**2, rtol=0.06)
    # No two resamples, and no two columns, are copies of each other.
    if number >= 20:
        assert len(np.unique(mine, axis=0)) == 2000
        correlations = np.asarray(np.corrcoef(mine.T)) + 1 / 22
        assert abs(correlations[~np.eye(23, dtype=bool)]).max() < 5 / np.sqrt(2000)


@pytest.mark.parametrize("corrected", [True, False])
def test_random_values(corrected):
    """To 1e-5 of the mean, but for resamples whose mean float32 cannot tell from that of X.

    One such among 250 moves z0 by about .01, and a quantile by some hundredths of a deviation.
    """
    rng = np.random.default_rng(1)
    differences = []
    for seed in range(40):
        count, number = rng.integers(12, SIZE + 1), int(rng.choice([130, 64, 20]))
        used = with_holes(rng, count)
        values = skewed(rng, count)
        delta = float(np.float32(rng.choice([1e-5, 0.01, 0.05, 0.4, 0.999])))
        counts = draw_for(used, number, 250, seed)
        padded = np.full(SIZE, 7.0, np.float32)
        padded[used] = values
        found = bound_of(jnp.asarray(padded), jnp.asarray(used), counts, delta, corrected)
        expected = reference.bootstrap_bound(values, exact(counts, used, number), delta, corrected)
        deviation = values.std() / np.sqrt(number)
        difference = abs(float(found) - expected)
        assert difference < 0.05 * deviation + 1e-5 * values.mean(), (seed, delta)
        differences.append(difference < 1e-5 * values.mean())
    assert np.mean(differences) > 0.9


def test_the_first_and_the_last_resample():
    """An error probability below 1 / (B + 1) gives the least mean, one above 1 - that the largest.

    So it is for the percentile; between two of them the bound rises with delta.
    """
    rng = np.random.default_rng(2)
    used = np.ones(SIZE, bool)
    values = skewed(rng, SIZE)
    counts = draw_for(used, 64, 250)
    means = np.sort(exact(counts, used, 64) @ values.astype(np.float64))
    deltas = np.array([1e-6, 0.0039, 0.004, 0.2, 0.5, 0.9, 0.996, 0.9962, 0.99999], np.float32)
    found = [
        float(bound_of(jnp.asarray(values), jnp.asarray(used), counts, delta, False))
        for delta in deltas
    ]
    np.testing.assert_allclose(found[0], means[0], rtol=1e-6)
    np.testing.assert_allclose(found[-1], means[-1], rtol=1e-6)
    assert found == sorted(found)
    # 0.2 of 251 is place 50.2.
    assert means[49] <= found[3] <= means[50]


@pytest.mark.parametrize("ones", [5, 20])
def test_resamples_whose_mean_is_that_of_the_values(ones):
    """With zeros and ones a tenth of them are, and these are not below (Algorithm 3, line 8)."""
    values = np.zeros(SIZE, np.float32)
    values[:ones] = 1
    used = np.arange(SIZE) < 50
    counts = draw_for(used, 50, 2000)
    found = float(bound_of(jnp.asarray(values), jnp.asarray(used), counts, DELTA, True))
    expected = reference.bootstrap_bound(values[used], exact(counts, used, 50), 0.05)
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_scipy_agrees():
    """The mean of 24 bounds of 2000 resamples each, and SciPy's with 48,000 resamples.

    The difference is within four standard errors, which the 24 bounds show; SciPy's error, of as
    many resamples in all, is about the same.
    """
    rng = np.random.default_rng(4)
    for scale in (0.5, 1.2):
        values = np.exp(rng.normal(0, scale, SIZE)).astype(np.float32)
        used = jnp.ones(SIZE, bool)
        bounds = [
            float(bound_of(jnp.asarray(values), used, draw_for(used, SIZE, 2000, seed), 0.1, True))
            for seed in range(24)
        ]
        theirs = stats.bootstrap(
            (values.astype(np.float64),),
            np.mean,
            n_resamples=48_000,
            batch=4000,
            confidence_level=0.9,
            alternative="greater",
            method="BCa",
            rng=rng,
        ).confidence_interval.low
        error = np.sqrt(2) * np.std(bounds, ddof=1) / np.sqrt(24)
        assert abs(np.mean(bounds) - theirs) < 4 * error
        # The error is small against the distance of the bound from the mean.
        assert error < 0.03 * (values.mean() - theirs)


@pytest.mark.parametrize("number", [130, 20])
def test_one_sample_has_the_resamples_of_its_key(number):
    rng = np.random.default_rng(8)
    used = jnp.asarray(with_holes(rng, 50))
    values, key = jnp.asarray(skewed(rng, SIZE)), jax.random.key(3)
    counts = draw(key, used, jnp.int32(number), 250)
    of_one = jax.jit(kernels.resampled_sums, static_argnums=4)
    found = of_one(key, values, used, jnp.int32(number), 250)
    np.testing.assert_allclose(found, values @ counts, rtol=1e-5)


@pytest.mark.parametrize("largest", [2.0**20, 1e37])
def test_enormous_weights(largest):
    """The bound scales with the values, far beyond the range of their cubes in float32."""
    rng = np.random.default_rng(6)
    values = rng.uniform(0.1, 1, SIZE).astype(np.float32)
    used = jnp.ones(SIZE, bool)
    counts = draw_for(used, SIZE, 250)
    small = float(bound_of(jnp.asarray(values), used, counts, DELTA))
    large = float(bound_of(jnp.asarray(values * np.float32(largest)), used, counts, DELTA))
    np.testing.assert_allclose(large / largest, small, rtol=1e-4)
    if largest == 1e37:  # the rest would be below the range of float32, as shares of the largest
        return
    # Sums of halves and of 2^20, a few times, are exact in float32: no resample changes sides.
    halves = (rng.integers(1, 3, SIZE - 1) / 2).astype(np.float32)
    one = np.append(halves, np.float32(largest))
    found = float(bound_of(jnp.asarray(one), used, counts, DELTA))
    expected = reference.bootstrap_bound(one, exact(counts, np.ones(SIZE, bool), SIZE), 0.05)
    np.testing.assert_allclose(found, expected, rtol=1e-4)


TRIALS, SETS = 8000, 80


@functools.cache
def gamma_values(count):
    """Samples [SETS, TRIALS / SETS, n] of the distribution of Thomas et al. 2015, Fig. 1."""
    drawn = np.random.default_rng(7).gamma(2, 50, (SETS, TRIALS // SETS, count))
    return jnp.asarray(drawn, jnp.float32)


@pytest.mark.parametrize(("count", "published"), [(20, 0.023), (200, 0.037)])
def test_published_error_rates_of_student(count, published):
    """8000 trials: a standard error of .0021 at most; the figure is read to .003 or so."""
    rows = Used(jnp.ones(count, bool), jnp.zeros(count, jnp.int32))
    one = jax.vmap(lambda x: StudentT().bound(None, x, rows, DELTA))
    bounds = jax.jit(jax.vmap(one))(gamma_values(count))
    rate = (np.asarray(bounds) > 100).mean()
    error = np.sqrt(published * (1 - published) / TRIALS)
    assert abs(rate - published) < 3 * error + 0.003


@pytest.mark.slow
@pytest.mark.parametrize("count", [20, 200])
def test_published_error_rates_of_bca(count):
    """About .05 in the figure, read to .01; 8000 trials: a standard error of .0025.

    Every hundred trials have their own resamples, whose chance adds .001. The plain percentile of
    the same samples errs less often, by more than chance: it is not BCa that is measured then.
    """
    used = jnp.ones(count, bool)

    @jax.jit
    def bounds_of(key, samples):
        counts = kernels.resampling_counts(key, used, jnp.int32(count), 1000)
        return jax.vmap(
            lambda x: [bound_with(x, used, counts, DELTA, bca) for bca in (True, False)]
        )(samples)

    keys = jax.random.split(jax.random.key(8), SETS)
    found = jax.lax.map(lambda pair: bounds_of(*pair), (keys, gamma_values(count)))
    is_above, plain = (np.asarray(bounds) > 100 for bounds in found)
    assert abs(is_above.mean() - 0.05) < 3 * 0.0026 + 0.01
    # Nearly all that the plain percentile is wrong about BCa is wrong about, and about more.
    only_bca, only_plain = (is_above & ~plain).sum(), (plain & ~is_above).sum()
    assert only_bca - only_plain > 3 * np.sqrt(only_bca + only_plain)
