"""CMA_ES steps against Hansen's tutorial and against pycma, on the same samples and ranks."""

from typing import Any

import cma_tutorial as tutorial
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace.search.strategies import Strategy

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
            state, population, ranking, params, key, example
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


def cases(*quick):
    """All objectives and sizes, of which those that are not named are slow: n and objective."""
    return [
        pytest.param(*size, name, marks=[] if (size[0], name) in quick else [pytest.mark.slow])
        for size in SIZES
        for name in OBJECTIVES
    ]


@pytest.mark.parametrize(
    ("n", "population_size", "objective"),
    cases((3, "slope"), (3, "valley"), (5, "noise"), (30, "noise")),
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
        asked, population, jnp.arange(population_size), params, jax.random.key(2), example
    )
    assert (np.abs(told.p_c).max() == 0) == stalls


def peer(n, population_size, k, monkeypatch):
    """Pycma with the tutorial's constants, and without what the tutorial does not have."""
    import cma  # which takes a second

    # The expected length of a normal vector: pycma has 26 n^2 where the tutorial has 21 n^2.
    monkeypatch.setattr(cma.sigma_adaptation.Mh, "chiN", lambda n: k.chi_n)
    options = {
        "popsize": population_size,
        "CMA_active": False,
        "CMA_mirrors": 0,
        "updatecovwait": GAPS.get(n, 1),
        "seed": 1,
        "verbose": -9,
    }
    es: Any = cma.CMAEvolutionStrategy(np.ones(n), 0.5, options)
    es.adapt_sigma.initialize(es)
    es.adapt_sigma.cs, es.adapt_sigma.damps = k.c_sigma, k.d_sigma
    es.sp.cc = k.c_c
    es.sm.parameters = lambda **_: {"c1": k.c_1, "cmu": k.c_mu}
    # Its own indicator puts |p|^2 / n against 2 + 4 / (n + 1), another line than the tutorial's.
    es.adapt_sigma.hsig = lambda es: (
        es.adapt_sigma._update_ps(es),
        tutorial.stall_indicator(es.adapt_sigma.ps, es.countiter, k),
    )[1]
    return es


@pytest.mark.parametrize(("n", "population_size", "objective"), cases((3, "slope"), (5, "noise")))
def test_a_whole_run_is_that_of_pycma(n, population_size, objective, monkeypatch):
    """Both go on from their own states: what differs would grow."""
    k = tutorial.constants(n, population_size)
    es = peer(n, population_size, k, monkeypatch)
    np.testing.assert_allclose(es.sp.weights[: len(k.weights)], k.weights, rtol=1e-9)
    stalled = []
    for _, population, ranking, told in run(n, population_size, objective):
        es.ask()  # it insists; our population is told
        ranks = np.empty(population_size)
        ranks[ranking] = np.arange(population_size)
        es.tell(list(population), list(ranks), check_points=False)
        stalled.append(not tutorial.stall_indicator(es.adapt_sigma.ps, es.countiter, k))
        expected = tutorial.State(es.mean, es.sigma, es.C, es.adapt_sigma.ps, es.pc, es.countiter)
        assert_close(told, expected, rtol=1e-4)
    if objective == "slope":
        assert any(stalled)
    assert not all(stalled)
