"""Evolution by comparisons: rankings of planted populations, and searches that find a sphere."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace import sweep
from jaxrace.kernels import total_order
from jaxrace.racing import DominanceRace
from jaxrace.search.strategies import Strategy
from jaxrace.selection import HybridPocbam, KnowledgeGradient, Uniform
from papers.holdem.evolution import (
    EvolutionJob,
    EvolutionWork,
    RaceSelection,
    SelectorSelection,
)

SIZE, TOP, BUDGET = 6, 3, 75


def by_distance(key, problem, first, second):
    """The nearer one to a target wins by the difference, with a little noise."""
    population, target = problem
    distances = jnp.linalg.norm(population - target, axis=1)
    noise = 0.02 * jax.random.normal(key)
    return distances[second] - distances[first] + jnp.where(first < second, noise, -noise)


def selections(compare):
    """All of them, by name."""
    of_pairs = functools.partial(SelectorSelection, compare=compare, budget=BUDGET, batch=5)
    return {
        "uniform": of_pairs(Uniform(SIZE, TOP)),
        "hybrid": of_pairs(HybridPocbam(SIZE, TOP, pooled_samples=2.0)),
        "pkg": of_pairs(KnowledgeGradient(SIZE, TOP, pooled_samples=2.0)),
        "race": RaceSelection(DominanceRace(SIZE, TOP, 300 // SIZE, total_order), compare, 0.05),
    }


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("pkg", "race")]


@pytest.mark.parametrize("name", ["uniform", *SLOW])
def test_the_better_half_is_found(name):
    selection = selections(by_distance)[name]
    order = np.array([4, 0, 5, 2, 1, 3])
    distances = jnp.zeros(SIZE).at[order].set(jnp.arange(1.0, 7.0))
    population = distances[:, None] * jnp.array([0.6, 0.8]) + 10
    problem = population, jnp.array([10.0, 10.0])
    found = jax.jit(selection.rank)(jax.random.key(1), problem)
    assert found.valid
    assert set(found.ranking[:TOP].tolist()) == {4, 0, 5}
    if isinstance(selection, RaceSelection):
        assert found.certified
        assert 11 * SIZE <= found.comparisons < 300
    else:
        assert found.ranking.tolist() == order.tolist()
        assert found.comparisons == BUDGET
        assert not found.certified
    broken = population.at[2, 0].set(jnp.nan), problem[1]
    assert not jax.jit(selection.rank)(jax.random.key(1), broken).valid


@pytest.mark.parametrize("name", ["uniform", *SLOW])
def test_searches_find_the_target(name):
    selection = selections(by_distance)[name]
    strategy, starts = Strategy("SNES", SIZE), jnp.array([[3.0, -2.0], [-1.0, 0.0]])
    params = strategy.params(np.zeros(2, np.float32), 1.0)
    budget, target = 6000, jnp.array([1.0, 2.0])
    work = EvolutionWork(strategy, selection, params, target, jnp.int32(budget))
    jobs = EvolutionJob(jax.random.split(jax.random.key(0), 2), starts)
    log = sweep.run(work, sweep.stacked(jobs), width=1)
    for job in range(2):
        rows = jax.tree.map(lambda x, job=job: x[log.rows.job == job], log.rows.row)
        np.testing.assert_array_equal(rows.generation, 1 + np.arange(len(rows.generation)))
        np.testing.assert_array_equal(rows.comparisons, rows.used.cumsum())
        # The generation that uses up the last comparison is finished, and no other one begins.
        assert rows.comparisons[-2] < budget <= rows.comparisons[-1]
        before = np.linalg.norm(starts[job] - target)
        assert np.linalg.norm(rows.mean[-1] - target) < 0.05 * before
        assert rows.used.max() <= (300 if isinstance(selection, RaceSelection) else BUDGET)


def noted(seen, key, problem, first, second):
    del key, problem
    jax.debug.callback(lambda *pair: seen.append(tuple(map(int, pair))), first, second)
    return jnp.float32(0)


def test_uniform_allocation_is_the_same_for_all_pairs():
    seen = []
    selection = selections(functools.partial(noted, seen))["uniform"]
    jax.block_until_ready(jax.jit(selection.rank)(jax.random.key(0), jnp.zeros(SIZE)))
    jax.effects_barrier()
    pairs = list(itertools.combinations(range(SIZE), 2))
    assert sorted(seen) == sorted(pairs * (BUDGET // len(pairs)))
