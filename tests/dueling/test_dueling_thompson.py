"""DTS and DTS+ against the plain reference, duel by duel; their posteriors; their regret."""

import dataclasses
import functools
import math

import duel_traces
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference import duels
from scipy.special import betainc

from jaxrace import kernels
from jaxrace.dueling import DoubleThompson
from papers.duels.dts_plus import DoubleThompsonPlus

ALPHA = float(np.float32(0.51))


@jax.jit
def sample(key_data, a, b):
    key = jax.random.wrap_key_data(key_data)
    return kernels.sample_beta(key, a.astype(jnp.float32), b.astype(jnp.float32))


def posterior(wins):
    """Probability of p_ij > 1/2, given the wins [K, K]."""
    return 1 - betainc(wins + 1.0, wins.T + 1.0, 0.5)


@functools.partial(jax.jit, static_argnums=1)
def draw_uniforms(key_data, shape):
    return kernels.draw_uniforms(jax.random.wrap_key_data(key_data), shape)


def coins(key_data, num_arms):
    """(uniform, i, j) of each pair: i in a circle, with j 1, 2, ... places ahead."""
    rows = np.asarray(draw_uniforms(key_data, (num_arms // 2, num_arms)))
    listed = {}
    for (distance, i), uniform in np.ndenumerate(rows):
        j = (i + distance + 1) % num_arms
        listed.setdefault(frozenset([i, j]), (uniform, i, j))
    assert len(listed) == math.comb(num_arms, 2)
    return listed.values()


def choose(reference, noise):
    def sample_rivals(a, b):
        return np.asarray(sample(noise.second_key, a, b))

    is_above = np.zeros((reference.num_arms, reference.num_arms), bool)  # for i < j
    chances = posterior(reference.wins)
    for coin, i, j in coins(noise.first_key, reference.num_arms):
        won = coin < chances[i, j]
        is_above[min(i, j), max(i, j)] = won if i < j else not won
    return reference.choose(is_above, float(noise.tie), sample_rivals)


def choose_plus(reference, noise):
    def sample_with(key_data):
        return lambda a, b: np.asarray(sample(key_data, a, b))

    return reference.choose_plus(
        float(noise.tie), sample_with(noise.first_key), sample_with(noise.second_key)
    )


@pytest.mark.parametrize("num_arms", [3])
def test_against_the_reference(num_arms):
    algorithm = DoubleThompson(num_arms)
    matrices = duel_traces.matrices_of(num_arms, 5)
    trace = duel_traces.trace(algorithm, matrices, algorithm.params(), 300)
    duel_traces.assert_same_duels(trace, lambda: duels.DoubleThompson(num_arms, ALPHA), choose)


@pytest.mark.parametrize("number", [5])
def test_dts_plus_against_the_reference(number):
    algorithm = DoubleThompsonPlus(6)
    matrices = duel_traces.matrices_of(6, number)
    trace = duel_traces.trace(algorithm, matrices, algorithm.params(), 150)
    duel_traces.assert_same_duels(trace, lambda: duels.DoubleThompson(6, ALPHA), choose_plus)


def test_the_posterior():
    """The probability of p_ij > 1/2 that is kept from duel to duel."""
    algorithm = DoubleThompson(3)
    matrices = duel_traces.matrices_of(3, 5)
    trace = duel_traces.trace(algorithm, matrices, algorithm.params(), 300)
    for game in range(len(matrices)):
        for moment in duel_traces.duels_of(trace, game):
            expected = posterior(moment.state.wins)
            # The circle 0, 1, 2: each arm against the next one.
            above = moment.state.above[0]
            np.testing.assert_allclose(above, expected[[0, 1, 2], [1, 2, 0]], atol=1e-4)


@pytest.mark.parametrize("count", [10, 1000, 100_000, 2_000_000])
def test_the_posterior_of_close_arms(count):
    """After so many duels of one pair, with a rate at most 3 deviations from 1/2."""
    algorithm = DoubleThompson(2)
    params = algorithm.params()
    start = algorithm.init(params)
    for deviations in np.linspace(-3, 3, 13):
        won = round(count / 2 + deviations * math.sqrt(count) / 2)
        wins = np.array([[0, won], [count - won, 0]])
        told = jnp.asarray(wins, jnp.int32), jnp.asarray(wins + wins.T, jnp.int32)
        state = dataclasses.replace(start, wins=told[0], duels=told[1])
        for pair, outcome in (([0, 1], True), ([1, 0], False)):
            after = algorithm.tell(state, np.array(pair), outcome, params)
            expected = posterior(np.add(wins, [[0, 1], [0, 0]]))
            assert after.above[0, 0] == pytest.approx(expected[0, 1], abs=1e-3)
