"""The upper bound of KL-UCB against a root finder; Sup-KLUCB against the plain reference."""

import math

import duel_traces
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference import duel_filters
from scipy.optimize import brentq
from scipy.special import xlogy

from jaxrace import kernels
from jaxrace.dueling import SupKlucb, duels, run

kl_upper = jax.jit(kernels.kl_upper)

NEAR_ENDS = np.geomspace(1.2e-6, 1e-2, 30)
MEANS = np.concatenate([[0, 1], NEAR_ENDS, 1 - NEAR_ENDS, np.linspace(0.01, 0.99, 99)])
MEANS = np.unique(MEANS.astype(np.float32))
LEVELS = np.geomspace(1e-7, 50, 300).astype(np.float32)


def root(p, level):
    """Max {q : kl(p, q) <= level}, by Brent's method in terms of s = -ln(1 - q)."""
    if p in (0, 1):
        return 1.0 if p else -math.expm1(-level)

    def excess(s):
        return xlogy(p, p / -math.expm1(-s)) + (1 - p) * (math.log1p(-p) + s) - level

    low = -math.log1p(-p)
    # kl(p, q) >= (1 - p) s - entropy(p), and the entropy is at most ln 2.
    high = (level + math.log(2)) / (1 - p) + 1
    found = brentq(excess, low, high, xtol=1e-15)
    assert isinstance(found, float)
    return -math.expm1(-found)


def test_the_bound_by_a_root_finder():
    """Up to 2e-6, of which 6e-8 is the last digit of a number below 1."""
    found = np.asarray(kl_upper(MEANS[:, None], LEVELS))
    expected = np.array([[root(float(p), float(level)) for level in LEVELS[::5]] for p in MEANS])
    np.testing.assert_allclose(found[:, ::5], expected, rtol=0, atol=2e-6)


def test_the_bound_close_to_1():
    """Levels about the one beyond which the bound is 1 in float32: (1 - p) ln(2^24) - entropy."""
    means = MEANS[(MEANS > 0) & (MEANS < 1)][::2].astype(np.float64)
    entropy = -xlogy(means, means) - xlogy(1 - means, 1 - means)
    logs = np.linspace(14, 19, 60)[:, None]  # of 1 / (1 - q), nearly
    levels = np.maximum((1 - means) * logs - entropy, 0).astype(np.float32)
    found = np.asarray(kl_upper(means.astype(np.float32), levels))
    expected = [[root(p, float(x)) for p, x in zip(means, row, strict=True)] for row in levels]
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-6)


def maximin(mean):
    """The least chance to win, of all opponents."""
    return jnp.where(jnp.eye(len(mean), dtype=bool), 1, mean).min(-1)


def reference_of(algorithm, score):
    """With the default numbers, as float32 holds them."""
    K = algorithm.num_arms
    c1, c2 = np.float32(2 / K), np.float32(3 / K + 40 / (K - 2) ** 2)
    return duel_filters.SupKlucb(K, float(c1), float(c2), score)


@pytest.mark.parametrize(
    ("num_arms", "score", "plain"),
    [
        (3, "copeland", "copeland"),
        (5, "borda", "borda"),
        (4, maximin, min),
    ],
)
def test_against_the_reference_but_for_ties(num_arms, score, plain):
    """The bounds of some pairs differ in float32, and not in truth, or the other way round.

    Those of three arms are so wide at first that many are 1 in float32.
    """
    algorithm = SupKlucb(num_arms, score)
    matrices = duel_traces.matrices_of(num_arms, 4)
    trace = duel_traces.trace(algorithm, matrices, algorithm.params(), 300)
    disagreements = 0
    for game in range(len(matrices)):
        reference = reference_of(algorithm, plain)
        for moment in duel_traces.duels_of(trace, game):
            expected = reference.choose()
            if expected != moment.pair:
                bounds = dict(zip(reference.pairs, reference.bounds(), strict=True))
                assert bounds[expected] - bounds[moment.pair] < 1e-7
                disagreements += 1
            reference.tell(moment.pair, moment.outcome)
            scores = reference.scores()
            assert max(scores) - scores[moment.recommended] < 1e-6
        assert trace.state.wins[game, -1].tolist() == list(reference.wins.values())
        assert trace.state.plays[game, -1].tolist() == list(reference.plays.values())
    if num_arms > 3:
        assert disagreements < 0.05 * trace.outcome.size


def test_given_numbers():
    """Without any bonus the pair of the best scores is played on: the first one of them."""
    algorithm = SupKlucb(4)
    matrices = duel_traces.matrices_of(4, 3)
    trace = duel_traces.trace(algorithm, matrices, algorithm.params(c1=0, c2=0), 60)
    duel_traces.assert_same_duels(
        trace, lambda: duel_filters.SupKlucb(4, 0, 0), lambda reference, noise: reference.choose()
    )


@pytest.mark.parametrize(("score", "winner"), [(maximin, 2), (lambda p: (p**2).mean(-1), 1)])
def test_a_score_finds_its_own_winner(score, winner):
    """Arm 2 is never far behind; arm 1 has the largest squares."""
    matrix = [
        [0.5, 0.55, 0.55, 0.1],
        [0.45, 0.5, 0.3, 1],
        [0.45, 0.7, 0.5, 0.45],
        [0.9, 0, 0.55, 0.5],
    ]
    algorithm, problem = SupKlucb(4, score), duels(matrix)
    keys, params = jax.random.split(jax.random.key(0), 20), algorithm.params()
    log = jax.vmap(lambda key: run(algorithm, key, problem, 4_000, params, 1))(keys)
    assert (log.recommended[:, -1] == winner).sum() >= 18


@pytest.mark.parametrize("score", [lambda mean: mean.sum(-1), lambda mean: -mean[0], jnp.min])
def test_a_score_out_of_bounds_is_named(score):
    with pytest.raises(ValueError, match=r"^score: expected a function that gives 4 scores in \["):
        SupKlucb(4, score)


def test_a_pair_in_either_order():
    algorithm = SupKlucb(3)
    params = algorithm.params()
    state = algorithm.init(params)
    one = algorithm.tell(state, np.array([2, 0]), True, params)
    other = algorithm.tell(state, np.array([0, 2]), False, params)
    jax.tree.map(np.testing.assert_array_equal, one, other)


def test_every_pair_is_tried_whatever_is_told():
    """Six duels of another pair than asked do not end the phase in which six pairs are tried."""
    algorithm = SupKlucb(3)
    params = algorithm.params()
    state = algorithm.init(params)
    for _ in range(algorithm.opening):
        state = algorithm.tell(state, [1, 1], True, params)
    asked = []
    for _ in range(5):
        pair = np.asarray(algorithm.ask(jax.random.key(0), state, params))
        asked.append(pair.tolist())
        state = algorithm.tell(state, pair, True, params)
    assert asked == [[0, 0], [0, 1], [0, 2], [1, 2], [2, 2]]
