"""Self-Sparring against the plain reference, duel by duel, and whom it comes to play."""

import functools

import duel_traces
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference import duel_races

from jaxrace import kernels
from jaxrace.dueling import SelfSparring


@jax.jit
def sample(key_data, a, b):
    return kernels.sample_beta(jax.random.wrap_key_data(key_data), a, b)


def choose(reference, noise):
    def sample_both(a, b):
        return np.asarray(sample(noise, jnp.array(a, jnp.float32), jnp.array(b, jnp.float32)))

    return reference.choose(sample_both)


@pytest.mark.parametrize(("num_arms", "rate"), [(3, 1.0), (6, 0.5)])
def test_against_the_reference(num_arms, rate):
    algorithm = SelfSparring(num_arms)
    matrices = duel_traces.matrices_of(num_arms, 5)
    trace = duel_traces.trace(algorithm, matrices, algorithm.params(rate), 300)
    reference = functools.partial(duel_races.SelfSparring, num_arms, rate)
    duel_traces.assert_same_duels(trace, reference, choose)
    assert (trace.pair[..., 0] == trace.pair[..., 1]).any()


def test_it_comes_to_play_the_best_arm_against_itself():
    """Of six arms in order its regret grows with ln t: a straight line would bend by 2.9."""
    _, curvature, right = duel_traces.growth(SelfSparring(6), 10_000, 40)
    assert curvature < 1.4
    assert right == 1


def test_a_duel_with_itself_is_a_win_and_a_loss():
    algorithm = SelfSparring(2)
    params = algorithm.params()
    state = algorithm.tell(algorithm.init(params), [1, 1], True, params)
    assert (state.wins.tolist(), state.losses.tolist()) == ([0, 1], [0, 1])
    assert algorithm.recommend(state, params) == 1
