"""The search for candidates, and the test that follows: known answers."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace.agents.bases import Affine, Fourier
from jaxrace.improvement import (
    BOUNDS,
    CandidateSearch,
    LinearSoftmax,
    PolicyImprovement,
    ReturnRange,
    StudentT,
    policy_improvement,
    trajectories,
)
from jaxrace.improvement.candidates import SearchTask, find_candidate, maximise
from jaxrace.improvement.weights import evidence
from jaxrace.search.strategies import Strategy

STRATEGY = Strategy("CMA_ES", population_size=10)


def test_the_search_finds_a_maximum():
    """Of a paraboloid, and it returns the best that it has seen, or where it began."""
    goal = jnp.array([[1.0, -2.0, 0.5]])
    start = jnp.zeros((1, 3), jnp.float32)
    params = STRATEGY.params(np.zeros((1, 3), np.float32), 1.0)

    def worth(thetas):
        return -((thetas - goal) ** 2).sum((1, 2))

    found, value = maximise(STRATEGY, params, 100, jax.random.key(0), worth, start)
    np.testing.assert_allclose(found, goal, atol=1e-2)
    assert float(value) == pytest.approx(float(worth(found[None])[0]), abs=1e-6)
    best, value = maximise(
        STRATEGY, params, 5, jax.random.key(0), lambda x: -abs(x).sum((1, 2)), start
    )
    np.testing.assert_array_equal(best, start)
    assert value == 0


def bandit(count, payoffs, seed, chance=0.5):
    """One step, two actions that pay 1 with the given probabilities."""
    rng = np.random.default_rng(seed)
    done = (rng.random((count, 1)) < chance).astype(int)
    paid = (rng.random((count, 1)) < np.array(payoffs)[done]).astype(float)
    probabilities = np.where(done == 1, chance, 1 - chance)
    return trajectories(np.zeros((count, 1, 1)), done, probabilities, paid)


SOFTMAX = LinearSoftmax(Affine(1), 2)
RETURNS = ReturnRange(0, 1)


def candidate_of(data, kind, floor, seed=0, is_cold=True):
    return _candidate_of(data, kind, np.float32(floor), np.int32(seed), np.bool_(is_cold))


@functools.partial(jax.jit, static_argnums=1)
def _candidate_of(data, kind, floor, seed, is_cold):
    """Tested on four times as many."""
    search = CandidateSearch(kind, 200, 100, STRATEGY, STRATEGY)
    known = evidence(SOFTMAX, data, RETURNS, None)
    task = SearchTask(
        StudentT(),
        known,
        jnp.float32(0.05),
        floor,
        tested_on=jnp.int32(4 * len(data.behaviour)),
        initial=jnp.asarray(SOFTMAX.example()),
        is_cold=is_cold,
    )
    params = search.strategy_params(SOFTMAX.example(), 1.0)
    return find_candidate(search, params, jax.random.key(seed), task)


def test_a_clear_case_needs_no_mixture():
    data = bandit(40, (0.1, 0.9), seed=1)
    candidate = candidate_of(data, "k-fold", 0.5)
    chance = jax.nn.softmax(candidate.theta @ SOFTMAX.basis(jnp.zeros(1)))[1]
    assert candidate.alpha >= 0.8
    assert chance > 0.95


def test_without_folds_and_once_warm_there_is_no_mixture():
    data = bandit(40, (0.4, 0.6), seed=3)
    assert candidate_of(data, "none", 0.5).alpha == 1
    assert candidate_of(data, "k-fold", 0.5, is_cold=False).alpha == 1


METHODS = {
    name: PolicyImprovement(
        LinearSoftmax(Fourier(1, 1), 2),
        RETURNS,
        BOUNDS[name],
        CandidateSearch("none", 50, 50, STRATEGY),
    )
    for name in ("betting", "t")
}


def test_bad_input():
    with pytest.raises(ValueError, match=r"^kind: expected one of none, k-fold, got 'folds'"):
        CandidateSearch("folds")
    with pytest.raises(ValueError, match=r"^evaluations: expected an integer of at least 16"):
        CandidateSearch(evaluations=15)
    with pytest.raises(ValueError, match=r"^strategy: expected a Strategy, got 'CMA_ES'"):
        dataclasses.replace(CandidateSearch(), strategy="CMA_ES")
    data = bandit(19, (0.5, 0.5), 0)
    method = METHODS["t"]
    for name, kind in (
        ("softmax", "LinearSoftmax"),
        ("returns", "ReturnRange"),
        ("bound", "LowerBound"),
        ("search", "CandidateSearch"),
    ):
        with pytest.raises(ValueError, match=f"^{name}: expected a {kind}, got 'betting'"):
            dataclasses.replace(method, **{name: "betting"})
    theta = method.softmax.example()
    theta[1, 0] = np.nan
    with pytest.raises(ValueError, match=r"^initial\[1, 0\]: expected a finite number, got nan"):
        method.params(floor=0.5, initial=theta)
    with pytest.raises(ValueError, match=r"^data: expected at least 20 trajectories, got 19"):
        method.run(jax.random.key(0), data, method.params(floor=0.5))


def test_mixtures_are_with_one_policy(monkeypatch):
    """Weighed against each logger's own share, returns have no common mean that a bound is of."""
    data = bandit(40, (0.5, 0.5), 0)
    several = dataclasses.replace(data, behaviour=jnp.arange(40, dtype=jnp.int32) % 2)
    short = CandidateSearch("k-fold", evaluations=32, fold_evaluations=32)
    mixing = dataclasses.replace(METHODS["t"], search=short)
    params, key = mixing.params(floor=0.1), jax.random.key(0)
    message = r"^data: expected the trajectories of one behaviour policy, .* got those of 2"
    with pytest.raises(ValueError, match=message):
        mixing.run(key, several, params)
    # With a known policy, or without mixtures, there may be several: the search begins.
    plain = dataclasses.replace(METHODS["t"], search=CandidateSearch(evaluations=32))
    monkeypatch.setattr(policy_improvement, "_run", None)
    for method, knows_initial in ((mixing, True), (plain, False)):
        with pytest.raises(TypeError, match="not callable"):
            method.run(key, several, params, knows_initial)


def test_probabilities_that_cannot_be_right():
    """Those that add up to more than 1 are refused; a coin that is logged as a third is refuted."""
    params, key = METHODS["t"].params(floor=0.1), jax.random.key(0)
    data = bandit(500, (0.2, 0.8), 0)
    certain = dataclasses.replace(data, probabilities=0.7 * jnp.ones_like(data.probabilities))
    with pytest.raises(ValueError, match=r"^probabilities\[\d+, 0\]: .* together 1 at most"):
        METHODS["t"].run(key, certain, params)
    assert METHODS["t"].run(key, data, params).is_found
    third = dataclasses.replace(data, probabilities=data.probabilities * np.float32(2 / 3))
    found = METHODS["t"].run(key, third, params)
    assert found.is_refuted
    assert not found.is_found
    assert found.lower_bound > params.floor
    assert str(found) == "nothing can be said: the logged probabilities are too small"
