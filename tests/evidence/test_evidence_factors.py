"""Factors of blocks: against a slow reference, and their means over all outcomes."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference import reference_dominance_race

from jaxrace.evidence import levels
from jaxrace.racing.certified.dominance import MAX_BET

BETS = (0.2, 1.1, MAX_BET)


def log_factors(signs, bets, xp=jnp):
    """Of both orders, [2, L, P], by bets in (0, 1.95] on d / 2, [L] or [L, P]."""
    half = np.broadcast_to((bets.T / 2).T.reshape(len(bets), -1), (len(bets), signs.shape[2]))
    number = np.float32 if xp is jnp else np.float64
    both = np.concatenate([half, -half]).astype(number)
    function = (
        jax.jit(lambda d, bets: levels.log_factors(d, bets, xp))
        if xp is jnp
        else levels.log_factors
    )
    return np.asarray(function(signs.astype(number), both)).reshape(2, len(bets), -1)


def reference_factors(signs, bets):
    """[2, L, P] of signs [b, b, P], one pair and one bet at a time; the bets are [L, P]."""
    num_pairs = signs.shape[2]
    factors = np.empty((2, len(bets), num_pairs))
    for pair, (row, bet) in itertools.product(range(num_pairs), enumerate(bets)):
        one = signs[:, :, pair]
        factors[0, row, pair] = reference_dominance_race.log_factor(one, bet[pair])
        factors[1, row, pair] = reference_dominance_race.log_factor(-one.T, bet[pair])
    return factors


def draw_signs(size, num_pairs):
    """Numbers with ties, incomparable outcomes, all won, all lost, all level: [b, b, P]."""
    rng = np.random.default_rng(size)
    x, y = rng.integers(0, 4, (2, size, num_pairs))
    signs = np.sign(x[:, None] - y[None] + rng.integers(-1, 2, num_pairs))
    signs[:, :, ::3] *= rng.random((size, size, len(signs[0, 0, ::3]))) < 0.5
    signs[:, :, :3] = [1, -1, 0]
    return signs.astype(np.int8)


@pytest.mark.parametrize("xp", [np, jnp])
@pytest.mark.parametrize("size", [2, 5, 11])
def test_factors_of_both_orders(size, xp):
    signs = draw_signs(size, 12)
    bets = np.tile(np.array(BETS, np.float32)[:, None], 12)
    expected = reference_factors(signs, bets)
    factors = log_factors(signs, np.array(BETS, np.float32), xp)
    assert factors.shape == (2, 3, 12)
    np.testing.assert_allclose(factors, expected, rtol=2e-6, atol=2e-6)
    # Clean sweeps and level blocks are known without a reference.
    won, lost = (size * np.log1p(sign * np.array(BETS) / 2) for sign in (1, -1))
    np.testing.assert_allclose(factors[0, :, 0], won, rtol=1e-5)
    np.testing.assert_allclose(factors[0, :, 1], lost, rtol=1e-5)
    np.testing.assert_allclose(factors[1, :, :2].T, [lost, won], rtol=1e-5)
    np.testing.assert_allclose(factors[:, :, 2], 0, atol=1e-6)


def test_bets_may_differ_from_pair_to_pair():
    signs = draw_signs(5, 12)
    bets = np.random.default_rng(0).uniform(0.01, 1.95, (4, 12)).astype(np.float32)
    factors = log_factors(signs, bets)
    np.testing.assert_allclose(factors, reference_factors(signs, bets), rtol=2e-6, atol=2e-6)
    same = log_factors(signs, np.tile(bets[:, :1], 12))
    np.testing.assert_allclose(same, log_factors(signs, bets[:, 0]), rtol=1e-6, atol=1e-6)


# Preferences between three outcomes: numbers, a circle, and one that is comparable to none.
PREFERENCES = {
    "numbers": [[0, -1, -1], [1, 0, -1], [1, 1, 0]],
    "circle": [[0, 1, -1], [-1, 0, 1], [1, -1, 0]],
    "partial": [[0, 1, 0], [-1, 0, 0], [0, 0, 0]],
}


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("preference", PREFERENCES)
def test_the_mean_factor_is_that_of_one_permutation(preference, size):
    """Over all outcomes of a block: (1 + lambda (s - 1/2))^b, at most 1 under the null."""
    signs_of = np.array(PREFERENCES[preference])
    blocks = np.array(list(itertools.product(range(3), repeat=size)))  # [blocks, b]
    first, second = (x.ravel() for x in np.indices((len(blocks),) * 2))
    x, y = blocks[first], blocks[second]
    signs = np.moveaxis(signs_of[x[:, :, None], y[:, None, :]], 0, -1).astype(np.int8)
    bets = np.array(BETS, np.float32)
    factors = np.exp(log_factors(signs, bets).astype(np.float64))

    rng = np.random.default_rng(size)
    laws = rng.dirichlet([0.5] * 3, (20, 2))
    laws[0, 1] = laws[0, 0]  # s = 1/2
    laws[1] = [[0, 1, 0], [0.5, 0, 0.5]]  # a constant and a fair coin
    shares = []
    for of_first, of_second in laws:
        chance = of_first[x].prod(1) * of_second[y].prod(1)
        assert chance.sum() == pytest.approx(1)
        gap = of_first @ signs_of @ of_second / 2  # s - 1/2
        for order, sign in ((0, 1), (1, -1)):
            means = (factors[order] * chance).sum(-1)
            np.testing.assert_allclose(means, (1 + bets * sign * gap) ** size, rtol=2e-6)
            assert sign * gap > 0 or (means < 1 + 2e-6).all()
        shares.append(gap)
    assert min(shares) < -0.05 < 0.05 < max(shares)
    assert abs(shares[0]) < 1e-12
