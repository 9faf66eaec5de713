"""The sampled test of independence: against the reference, the exact one, and in runs."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference import savage as reference
from reference.savage import Question
from savage_cases import (
    assert_same_steps,
    decision_of,
    label,
    make,
    play_many,
    prepare,
    told,
)

from jaxrace.dueling import (
    CondorcetWinner,
    CopelandWinner,
    Introspection,
    Savage,
    duels,
    shuffled,
)
from jaxrace.dueling.matrices import hard_condorcet
from jaxrace.dueling.savage import never_seen_to_matter
from jaxrace.kernels import draw_uniforms
from papers.savage.questions import Best


class Box(NamedTuple):
    """What the sampled test looks at."""

    time: Any
    lower: Any
    upper: Any
    active: Any


@pytest.mark.parametrize("growth", [1.0, 1.1, 2.0])
def test_when_introspection_takes_place(growth):
    """At the first number of samples beyond each power of the growth factor."""
    how = Introspection(1, growth)
    point = jnp.array([0.5, 0.5])  # nothing matters

    @jax.jit
    @jax.vmap
    def is_tested(time):
        now = Box(time, point, point, jnp.ones(2, bool))
        return never_seen_to_matter(how, Best(2), jax.random.key(0), now).all()

    times = np.arange(1, 300, dtype=np.int32)
    powers = growth ** np.arange(1, 400)
    expected = [growth == 1 or ((t - 1 < powers) & (powers <= t)).any() for t in times]
    np.testing.assert_array_equal(is_tested(times), expected)


@functools.partial(jax.jit, static_argnums=(0, 1))
def introspect(how, decision, keys, lower, upper, active):
    """Tests of boxes [number, N] at time 1."""

    def one(key, *box):
        return never_seen_to_matter(how, decision, key, Box(jnp.int32(1), *box))

    return jax.vmap(one)(keys, lower, upper, active)


@functools.partial(jax.jit, static_argnums=2)
def draw_points(key, time, num_parameters):
    """What the test after so many samples draws for 12 simulations: uniform numbers [12, 2, N]."""

    def draw(number):
        own = jax.random.fold_in(jax.random.fold_in(key, time), number)
        return draw_uniforms(own, (2, num_parameters))

    return jnp.stack([draw(number) for number in range(12)])


@pytest.mark.parametrize(
    "question",
    [
        Question("counting", 3, limits=(0.25, 0.75)),
        Question("borda", 4),
    ],
    ids=label,
)
def test_introspection_against_the_reference(question):
    """From the same random numbers; some parameters have been dropped before."""
    decision, how = decision_of(question), Introspection(12, 1.0)
    rng = np.random.default_rng(3)
    lower, upper = reference.draw_box(rng, 60, decision.num_parameters, "anywhere")
    active = rng.random(lower.shape) < 0.8
    keys = jax.random.split(jax.random.key(4), 60)
    found = np.asarray(introspect(how, decision, keys, lower, upper, active))

    uniforms = np.asarray(jax.vmap(lambda key: draw_points(key, 1, lower.shape[1]))(keys))
    expected = [
        reference.never_matters(question, low, high, numbers)
        for low, high, numbers in zip(lower, upper, uniforms, strict=True)
    ]
    np.testing.assert_array_equal((found & active), (expected & active))
    assert 0 < (found & active).mean() < 1


@pytest.mark.parametrize(
    "question",
    [
        Question("copeland", 3),
    ],
    ids=label,
)
def test_introspection_step_by_step_against_the_reference(question):
    """A test after every sample, of so few simulations that they err: whole runs, all the same."""
    algorithm, chances, _, uniforms = prepare(question, 100, Introspection(12, 1.0))
    key, count = jax.random.key(11), algorithm.decision.num_parameters
    seen = told(algorithm, chances, uniforms, algorithm.params(0.5, 100, key=key))
    points = jax.vmap(draw_points, (None, 0, None))(key, jnp.arange(1, 101), count)
    ends = []
    for number in range(4):
        expected, settled = reference.explore(
            question, chances[number], uniforms[number], 0.5, 100, simulated=np.asarray(points)
        )
        assert_same_steps(question, [x[number] for x in seen], expected, settled)
        ends.append((settled, len(expected)))
    assert any(settled for settled, _ in ends)
    assert len(set(ends)) > 1


def test_every_run_has_simulations_of_its_own():
    algorithm = make(Question("best", 4), Introspection(3, 1.3))
    params = algorithm.params(0.9, 60, key=jax.random.key(6))
    keys = jax.random.split(jax.random.key(9), 6)
    drawn = jax.jit(jax.vmap(lambda key: jax.random.key_data(algorithm.of_run(params, key).key)))
    assert len(np.unique(drawn(keys), axis=0)) == 6


@pytest.mark.parametrize(
    ("num_arms", "decision", "latest"),
    [
        # By one test later at most.
        pytest.param(5, CopelandWinner, 1.1, marks=pytest.mark.slow),
        pytest.param(10, CopelandWinner, 1.1, marks=pytest.mark.slow),
        # Points without a Condorcet winner count, too.
        pytest.param(10, CondorcetWinner, 1.4, marks=pytest.mark.slow),
    ],
)
def test_introspection_is_as_good_as_the_exact_test(num_arms, decision, latest):
    """On the paper's hard matrix, where the best two arms are hard to tell apart."""
    runs, horizon = (20, 4_000) if num_arms < 10 else (100, 20_000)
    exact = Savage(num_arms, decision(num_arms))
    sampled = Savage(num_arms, decision(num_arms), Introspection())
    problem = duels(np.asarray(hard_condorcet(num_arms)))
    problems = jax.tree.map(lambda leaf: jnp.stack([leaf] * runs), problem)
    order_keys = jax.random.split(jax.random.key(1), runs)
    problems = jax.vmap(shuffled)(order_keys, problems)
    keys = jax.random.split(jax.random.key(2), runs)
    ends = []
    for algorithm in (exact, sampled):
        params = algorithm.params(1 / horizon, horizon, key=jax.random.key(3))
        log = play_many(algorithm, keys, problems, horizon, 1, params)
        assert (np.asarray(log.recommended) == 0).mean() >= 0.98
        assert (np.asarray(log.decided_at) > 0).all()
        ends.append(np.asarray(log.decided_at).mean())
    assert 0.5 < ends[1] / ends[0] < latest
