"""CMA_ES steps against Hansen's tutorial, on the same samples and ranks."""

import cma_tutorial as tutorial
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace.strategies import Strategy

SIZES = [(2, 6), (3, 7), (5, 8), (10, 10), (20, 25), (30, 8)]  # n, lambda
GAPS = {30: 4}  # generations from one decomposition of C to the next, if more than 1
GENERATIONS = 25

# Steep in one direction: the mean runs away, the path grows long and the rank-one update stalls.
# A valley: C becomes anything but round. Noise: ranks that say nothing.
OBJECTIVES = {
    "slope": lambda x, rng: x[:, 0],
    "valley": lambda x, rng: (x[:, :-1] ** 2).sum(-1) * 30 + x[:, -1] ** 2,
    "noise": lambda x, rng: rng.random(len(x)),
}


def run(n, population_size, objective):
    """Yield state, population and ranking of each generation, and the state after it."""
    strategy = Strategy("CMA_ES", population_size)
    example = np.zeros(n, np.float32)
    params = strategy.params(example, sigma0=0.5)
    state = strategy.init(jax.random.key(0), jnp.ones(n, jnp.float32), params)
    ask = jax.jit(lambda key, state: strategy.ask(key, state, params, example))
    tell = jax.jit(
        lambda key, population, ranking, state: strategy.tell(
            key, population, ranking, state, params, example
        )
    )
    rng = np.random.default_rng(0)
    for g in range(GENERATIONS):
        key = jax.random.fold_in(jax.random.key(1), g)
        population, asked = ask(key, state)
        ranking = np.argsort(OBJECTIVES[objective](np.asarray(population), rng)).astype(np.int32)
        state = tell(key, population, ranking, asked)
        yield asked, np.asarray(population, np.float64), ranking, state


def in_float64(state):
    return tutorial.State(
        mean=np.asarray(state.mean, np.float64),
        sigma=float(state.std),
        C=np.asarray(state.C, np.float64),
        p_sigma=np.asarray(state.p_std, np.float64),
        p_c=np.asarray(state.p_c, np.float64),
        generation=int(state.generation_counter),
    )


def assert_close(state, expected, rtol):
    """Relative to the largest entry of each array, as rounding errors are."""
    for name, value, wanted in (
        ("mean", state.mean, expected.mean),
        ("sigma", state.std, expected.sigma),
        ("C", state.C, expected.C),
        ("p_sigma", state.p_std, expected.p_sigma),
        ("p_c", state.p_c, expected.p_c),
    ):
        scale = np.abs(wanted).max()
        np.testing.assert_allclose(value, wanted, rtol=0, atol=rtol * scale, err_msg=name)


@pytest.mark.parametrize(("n", "population_size"), SIZES)
def test_constants(n, population_size):
    params = Strategy("CMA_ES", population_size).params(np.zeros(n, np.float32))
    expected = tutorial.constants(n, population_size)
    mu = len(expected.weights)
    np.testing.assert_allclose(params.weights[:mu], expected.weights, rtol=1e-5)
    assert (np.asarray(params.weights)[mu:] == 0).all()
    for ours, theirs in (
        (params.mu_eff, expected.mu_eff),
        (params.c_std, expected.c_sigma),
        (params.d_std, expected.d_sigma),
        (params.c_c, expected.c_c),
        (params.c_1, expected.c_1),
        (params.c_mu, expected.c_mu),
        (params.chi_n, expected.chi_n),
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)


@pytest.mark.parametrize(
    ("n", "population_size", "objective"),
    [(3, 7, "slope"), (3, 7, "valley"), (5, 8, "noise"), (30, 8, "noise")],
)
def test_each_step_is_that_of_the_tutorial(n, population_size, objective):
    k = tutorial.constants(n, population_size)
    matrices = []
    for asked, population, ranking, told in run(n, population_size, objective):
        state = in_float64(asked)
        matrices.append(state.C)
        decomposed = matrices[state.generation - state.generation % GAPS.get(n, 1)]
        expected = tutorial.update(state, population[ranking], k, decomposed)
        assert_close(told, expected, rtol=2e-5)


@pytest.mark.parametrize(("factor", "stalls"), [(0.97, False), (1.03, True)])
@pytest.mark.parametrize("name", ["CMA_ES", "Sep_CMA_ES"])
def test_the_rank_one_update_may_stall_in_the_first_generation(name, factor, stalls):
    """evosax alone counts one generation too many, and would not stall here."""
    n, population_size = 3, 7
    k = tutorial.constants(n, population_size)
    strategy = Strategy(name, population_size)
    example = np.zeros(n, np.float32)
    params = strategy.params(example, sigma0=1.0)
    state = strategy.init(jax.random.key(0), example, params)
    _, asked = strategy.ask(jax.random.key(1), state, params, example)
    # All members at one point, so far away that h_sigma just about changes.
    distance = factor * (1.4 + 2 / (n + 1)) * k.chi_n / np.sqrt(k.mu_eff)
    population = np.tile(np.array([distance, 0, 0], np.float32), (population_size, 1))
    told = strategy.tell(
        jax.random.key(2), population, jnp.arange(population_size), asked, params, example
    )
    assert (np.abs(told.p_c).max() == 0) == stalls
