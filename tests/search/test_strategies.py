"""The evosax adapter: supported names, types, ranks, and CMA-ES as the papers use it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace.search import strategies
from jaxrace.search.strategies import Strategy

START = np.full(3, 2.0, np.float32)

# One of each kind, in the default run.
QUICK = ("CMA_ES", "SNES", "Open_ES")


def distance_after(strategy, generations, sigma0=None):
    """How far the mean is from the optimum of a sphere, told ranks only."""
    params = strategy.params(START, sigma0)

    def generation(state, key):
        ask_key, tell_key = jax.random.split(key)
        population, state = strategy.ask(ask_key, state, params, START)
        ranking = jnp.argsort((population**2).sum(-1))
        return strategy.tell(state, population, ranking, params, tell_key, START), None

    keys = jax.random.split(jax.random.key(1), generations)
    start = strategy.init(jax.random.key(0), jnp.asarray(START), params)
    state, _ = jax.jit(lambda s: jax.lax.scan(generation, s, keys))(start)
    return float(jnp.linalg.norm(state.mean))


# evosax's PGPE calls a function that optax has renamed.
@pytest.mark.filterwarnings("ignore:optax.global_norm is deprecated")
@pytest.mark.parametrize(
    "name",
    [
        name if name in QUICK else pytest.param(name, marks=pytest.mark.slow)
        for name in strategies.SUPPORTED
    ],
)
def test_every_supported_strategy_moves_towards_the_optimum(name):
    # These have learning rates so small that 200 generations are a short way.
    slow = ("ARS", "Open_ES", "GuidedES", "ASEBO", "ESMC")
    allowed = np.linalg.norm(START) * (0.99 if name in slow else 1 / 3)
    with jax.debug_nans(True):  # which evosax begins with
        assert distance_after(Strategy(name, 20), 200) < allowed


def test_cma_es_converges_to_machine_precision_of_the_scale():
    assert distance_after(Strategy("CMA_ES", 7), 200, sigma0=1.0) < 1e-4


def test_cma_es_weights_are_those_of_the_best_half():
    params = Strategy("CMA_ES", 7).params(START)
    # w_i proportional to ln(mu + 1) - ln i for the mu = 3 best, 0 for the rest.
    raw = np.log(4) - np.log([1, 2, 3])
    expected = np.concatenate([raw / raw.sum(), np.zeros(4)])
    np.testing.assert_allclose(params.weights, expected, atol=1e-6)
    np.testing.assert_allclose(params.mu_eff, 1 / (expected**2).sum(), rtol=1e-5)


def test_the_mean_moves_to_the_weighted_best():
    strategy = Strategy("CMA_ES", 7)
    params = strategy.params(START, sigma0=2.0)
    state = strategy.init(jax.random.key(0), jnp.asarray(START), params)
    population, state = strategy.ask(jax.random.key(1), state, params, START)
    ranking = jnp.array([6, 2, 4, 0, 1, 3, 5])

    told = strategy.tell(state, population, ranking, params, jax.random.key(2), START)

    expected = np.asarray(params.weights[:3]) @ np.asarray(population)[[6, 2, 4]]
    np.testing.assert_allclose(told.mean, expected, rtol=1e-4, atol=1e-5)


def test_states_are_strongly_typed_and_keep_their_types():
    strategy = Strategy("CMA_ES", 7)
    params = strategy.params(START, sigma0=2.0)
    state = strategy.init(jax.random.key(0), jnp.asarray(START), params)
    population, asked = strategy.ask(jax.random.key(1), state, params, START)
    told = strategy.tell(asked, population, jnp.arange(7), params, jax.random.key(2), START)

    def types(tree):
        return [(x.shape, x.dtype, x.weak_type) for x in jax.tree.leaves(tree)]

    assert not any(weak for _, _, weak in types(state))
    assert types(told) == types(state)


def test_solutions_may_be_pytrees():
    example = {"w": np.zeros((2, 3), np.float32), "b": np.zeros(3, np.float32)}
    strategy = Strategy("CMA_ES", 8)
    params = strategy.params(example, sigma0=1.0)
    state = strategy.init(jax.random.key(0), example, params)
    population, _ = strategy.ask(jax.random.key(1), state, params, example)
    assert population["w"].shape == (8, 2, 3)
