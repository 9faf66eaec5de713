"""Beta-distributed numbers: distribution, independence, and which parameter is which."""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from jaxrace import kernels

COUNT = 50_000

sample_beta = jax.jit(kernels.sample_beta)
above_half = jax.jit(kernels.above_half)

PARAMETERS = [
    (1, 1),
    (1, 2),
    (2, 1),
    (1.5, 1),
    (500, 1),
    (3, 5),
    (2, 300),
    (40, 40),
    (20_000, 30_000),
]


@functools.cache
def draws_of(a, b, seed=0):
    """Float64 [COUNT]."""
    parameters = (jnp.full(COUNT, number, jnp.float32) for number in (a, b))
    return np.asarray(sample_beta(jax.random.key(seed), *parameters), np.float64)


@pytest.mark.parametrize(("a", "b"), PARAMETERS)
def test_the_distribution(a, b):
    """By the test of Kolmogorov and Smirnov."""
    draws = draws_of(a, b)
    assert stats.kstest(draws, stats.beta(a, b).cdf).pvalue > 1e-3
    # The tails too, which that test hardly sees.
    for level in (0.001, 0.999):
        share = (draws < stats.beta(a, b).ppf(level)).mean()
        assert abs(share - level) < 4 * np.sqrt(level * (1 - level) / COUNT)


def test_each_element_has_its_own_parameters():
    """Some a < b, some a > b, side by side in an array [4, n]: means and variances."""
    a = np.array([1.0, 30.0, 5.0, 200.0])
    b = np.array([9.0, 3.0, 5.0, 600.0])
    shape = (4, COUNT)
    draws = sample_beta(
        jax.random.key(5),
        jnp.broadcast_to(jnp.asarray(a[:, None], jnp.float32), shape),
        jnp.broadcast_to(jnp.asarray(b[:, None], jnp.float32), shape),
    )
    assert draws.shape == shape
    assert draws.dtype == jnp.float32
    rows = np.asarray(draws, np.float64)
    mean, variance = stats.beta.stats(a, b)
    assert (abs(rows.mean(1) - mean) < 4 * np.sqrt(variance / COUNT)).all()
    np.testing.assert_allclose(rows.var(1), variance, rtol=0.04)


@pytest.mark.parametrize(("a", "b"), [(1, 1), (2, 300), (40, 40)])
def test_neighbours_are_independent(a, b):
    """Neighbouring elements, distant ones, and the same one with another key: rank correlations."""
    draws = draws_of(a, b)
    for first, second in (
        (draws[1:], draws[:-1]),
        (draws[COUNT // 2 :], draws[: COUNT // 2]),
        (draws, draws_of(a, b, seed=1)),
    ):
        ranks = [stats.rankdata(part) / len(part) - 0.5 for part in (first, second)]
        assert abs(np.corrcoef(*ranks)[0, 1]) * np.sqrt(len(first)) < 4
        # The distance to the middle shows a dependence without correlation.
        assert abs(np.corrcoef(*map(abs, ranks))[0, 1]) * np.sqrt(len(first)) < 4


def test_above_half_of_few_duels_is_the_distribution_of_coins():
    """Exact: P(theta > 1/2) is that of at most ``wins`` heads of wins + losses + 1 fair coins."""
    wins, losses = np.divmod(np.arange(99 * 99), 99)
    wins, losses = wins[wins + losses < 99], losses[wins + losses < 99]
    exact = [
        sum(math.comb(won + lost + 1, heads) for heads in range(won + 1)) / 2 ** (won + lost + 1)
        for won, lost in zip(wins.tolist(), losses.tolist(), strict=True)
    ]
    found = np.asarray(above_half(jnp.asarray(wins), jnp.asarray(losses)))
    np.testing.assert_allclose(found, exact, rtol=1e-7, atol=0)


@pytest.mark.parametrize("duels", [99, 100, 1000, 10**6])
def test_above_half_of_many_duels_is_as_near_as_promised(duels):
    """Over the whole range, from the last entries of the table on."""
    spread = int(4 * np.sqrt(duels))
    wins = np.unique(np.linspace(max(duels // 2 - spread, 0), min(duels // 2 + spread, duels), 101))
    wins = wins.astype(np.int32)
    found = np.asarray(above_half(jnp.asarray(wins), jnp.asarray(duels - wins)))
    exact = stats.beta(wins + 1.0, duels - wins + 1.0).sf(0.5)
    assert np.abs(found - exact).max() < 1e-5
