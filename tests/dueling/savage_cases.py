"""SAVAGE for a question of the reference, and many runs of it at once.

Axes: T choices of a run.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from reference import savage as reference

from jaxrace.dueling import (
    BordaWinner,
    CondorcetWinner,
    CopelandWinner,
    Savage,
    run,
    step_keys,
)
from papers.savage.questions import Best, Counting, NextBest


def label(question):
    return f"{question.kind}-{question.num_arms}"


def decision_of(question):
    """The decision of the library."""
    count = question.num_arms
    decisions = {
        "best": lambda: Best(count),
        "next": lambda: NextBest(count, question.skipped),
        "counting": lambda: Counting(count, *question.limits),
        "copeland": lambda: CopelandWinner(count, question.max_defeats),
        "condorcet": lambda: CondorcetWinner(count, question.max_defeats),
        "borda": lambda: BordaWinner(count),
    }
    return decisions[question.kind]()


def make(question, how=None):
    """The algorithm of the library."""
    return Savage(question.num_arms, decision_of(question), how)


@functools.partial(jax.jit, static_argnums=0)
def explore(algorithm, chances, uniforms, params):
    """Ask and tell [runs, T] times, with outcomes from given uniform numbers."""

    def one(chances, uniforms):
        def step(state, uniform):
            choice = algorithm.ask(jax.random.key(0), state, params)
            outcome = uniform < chances[tuple(choice)]
            state = algorithm.tell(state, choice, outcome, params)
            best = algorithm.recommend(state, params)
            seen = (choice, state.active, state.lower, state.upper, best, state.decided_at)
            return state, (*seen, state.time)

        return jax.lax.scan(step, algorithm.init(params), uniforms)[1]

    return jax.vmap(one)(chances, uniforms)


@functools.cache
def draw_uniforms(runs=24, length=910):
    """The numbers that `run` decides by, and its keys."""
    keys = jax.random.split(jax.random.key(0), runs)

    def draw(key, time):
        return jax.random.uniform(step_keys(key, time)[1], (), jnp.float32)

    over_time = jax.vmap(draw, (None, 0))
    return keys, np.asarray(jax.jit(jax.vmap(over_time, (0, None)))(keys, jnp.arange(length)))


def prepare(question, length=None, how=None):
    """An algorithm, with problems for it: chances, keys, and uniform numbers [24, T]."""
    length = length or (420 if question.num_arms < 6 else 910)
    chances = reference.draw_chances(np.random.default_rng(question.num_arms), question, 24)
    keys, uniforms = draw_uniforms()
    return make(question, how), chances, keys, uniforms[:, :length]


def told(algorithm, chances, uniforms, params):
    return [np.asarray(x) for x in explore(algorithm, chances, uniforms, params)]


def assert_same_steps(question, seen, expected, settled):
    """What the library has seen of one run is what the reference expects, step by step."""
    choices, active, lower, upper, best, decided_at, time = seen
    for t, step in enumerate(expected):
        assert tuple(choices[t].tolist()) == step.choice
        assert active[t].tolist() == step.active
        assert best[t].item() in step.recommended
    length = len(expected)
    np.testing.assert_allclose(lower[:length], [x.lower for x in expected], rtol=0, atol=2e-6)
    np.testing.assert_allclose(upper[:length], [x.upper for x in expected], rtol=0, atol=2e-6)
    assert time.tolist() == list(range(1, len(time) + 1))
    assert not decided_at[: length - 1].any()
    assert (decided_at[length - 1 :] == (length if settled else 0)).all()
    # Then the decision is played, and nothing is learnt any more.
    assert (best[length - 1 :] == best[length - 1]).all()
    if question.kind != "counting":
        assert (choices[length:] == best[-1]).all()


@functools.partial(jax.jit, static_argnums=(0, 3, 4))
def play_many(algorithm, keys, problems, horizon, records, params):
    def one(key, problem):
        return run(algorithm, key, problem, horizon, params, records)

    return jax.vmap(one)(keys, problems)
