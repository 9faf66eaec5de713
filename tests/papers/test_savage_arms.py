"""Bandits whose arms pay, against the plain reference, and what is known of their regret."""

import dataclasses
import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats
from error_rates import upper_limit
from reference import arm_bandits as reference
from reference.savage import Question

from jaxrace.dueling import CopelandWinner, Savage, arms, run, step_keys
from papers.savage.arms import (
    ActionElimination,
    KlUcb,
    Ucb1,
    UniformArms,
    counting_bandit,
    rigged_bandit,
)
from papers.savage.questions import Best, Counting, NextBest

CHANCES = np.array([0.25, 0.85, 0.6, 0.1, 0.7], np.float32)
SETTINGS = [
    (Question("next", 5, skipped=2), True),
]
INDICES = {Ucb1: reference.ucb1, KlUcb: reference.kl_ucb}


def decision_of(question):
    count = question.num_arms
    return Best(count) if question.kind == "best" else NextBest(count, question.skipped)


@functools.partial(jax.jit, static_argnums=(0, 3))
def follow(algorithm, chances, key, length, params):
    """Choices, outcomes, recommendations and more of a run, and the random numbers of `draw`."""

    def step(state, time):
        ask_key, outcome_key = step_keys(key, time)
        choice = algorithm.ask(ask_key, state, params)
        paid = jax.random.uniform(outcome_key, (), jnp.float32) < chances[choice[0]]
        state = algorithm.tell(state, choice, paid, params)
        best = algorithm.recommend(state, params)
        seen = (choice[0], paid, best, algorithm.draw(ask_key), state.active, state.decided_at)
        return state, seen

    return jax.lax.scan(step, algorithm.init(params), jnp.arange(length))[1]


def listed(algorithm, length, params, seed, chances=CHANCES):
    """As lists, with the history as pairs of arm and payment."""
    seen = follow(algorithm, chances, jax.random.key(seed), length, params)
    arm, paid, *rest = (np.asarray(x).tolist() for x in seen)
    return list(zip(arm, paid, strict=True)), *rest


@pytest.mark.parametrize(("question", "wrapped"), SETTINGS)
@pytest.mark.parametrize(("kind", "scale"), [(Ucb1, 2.0), (KlUcb, 1.0)])
def test_index_policies_against_the_reference(kind, scale, question, wrapped):
    algorithm = kind(5, decision_of(question), wrapped)
    sure = 0
    for seed, factor in ((0, 1.0), (1, 0.3)):
        params = algorithm.params(scale * factor)
        history, best, noise, active, _ = listed(algorithm, 300, params, seed)
        for t in range(len(history)):
            exact, near = reference.best_by_index(
                INDICES[kind], question, wrapped, history[:t], scale * factor
            )
            assert history[t][0] in near
            if near == exact:
                sure += 1
                assert history[t][0] == reference.pick(exact, noise[t])
            assert best[t] == reference.recommended(question, history[: t + 1])
        assert np.all(active)
    assert sure > 400


@pytest.mark.parametrize(("question", "wrapped"), SETTINGS)
def test_elimination_against_the_reference(question, wrapped):
    algorithm = ActionElimination(5, decision_of(question), wrapped)
    ends = []
    for seed in (0, 1):
        history, best, _, active, decided_at = listed(algorithm, 700, algorithm.params(0.9), seed)
        expected = reference.survivors(question, wrapped, history, 0.9)
        left = set(range(5))
        for t, after in enumerate(expected):
            assert history[t][0] == reference.next_survivor(left, history[:t], 5)
            assert {i for i in range(5) if active[t][i]} == after
            end = next((n + 1 for n, found in enumerate(expected[: t + 1]) if len(found) == 1), 0)
            assert decided_at[t] == end
            left = after
        counted = history[: decided_at[-1] or None]  # the last one is no longer looked at
        assert best[-1] == reference.recommended(question, counted)
        ends.append(len(left))
    assert min(ends) < 5


DELTA = 0.1


@functools.partial(jax.jit, static_argnums=0)
def run_many(algorithm, problem, params, keys):
    return jax.vmap(lambda key: run(algorithm, key, problem, 2400, params, 1))(keys)


def eliminate(factor, runs):
    """Is the arm that is left at the end the wrong one, and when was it left? [runs]."""
    algorithm = ActionElimination(4, Best(4))
    params = algorithm.params(DELTA)
    params = dataclasses.replace(params, log_level=factor * params.log_level)
    means = np.array([0.75, 0.25, 0.25, 0.25], np.float32)
    problem = arms(means, means)

    log = run_many(algorithm, problem, params, jax.random.split(jax.random.key(3), runs))
    return np.asarray(log.recommended)[:, 0] != 0, np.asarray(log.decided_at)[:, 0]


@pytest.mark.slow
def test_elimination_errs_less_often_than_delta():
    errors, decided_at = eliminate(1.0, 200)
    assert (decided_at > 0).all()
    assert upper_limit(errors) <= DELTA
    careless, _ = eliminate(0.02, 200)
    assert 1 - upper_limit(~careless) > DELTA


def test_uniform_play():
    algorithm = UniformArms(5, Best(5))
    history, best, noise, *_ = listed(algorithm, 1000, algorithm.params(), 6)
    assert [arm for arm, _ in history] == np.floor(5 * np.array(noise)).tolist()
    counts = np.bincount([arm for arm, _ in history], minlength=5)
    assert scipy.stats.chisquare(counts).pvalue > 1e-3
    assert best[-1] == reference.recommended(Question("best", 5), history)


def test_play_is_the_loop_of_the_verbs():
    """And its regret is that of recommending."""
    algorithm = Ucb1(5, NextBest(5, 2), wrapped=True)
    values = np.where(CHANCES >= 0.7, 0, CHANCES)
    log = run(algorithm, jax.random.key(7), arms(CHANCES, values), 300, algorithm.params(), 10)
    _, best, *_ = listed(algorithm, 300, algorithm.params(), 7)
    losses = (values.max() - values)[best].reshape(10, 30).sum(1)
    np.testing.assert_allclose(log.regret[:, 0], losses, rtol=1e-5)
    assert log.recommended.tolist() == best[29::30]
    assert not log.decided_at.any()


@pytest.mark.parametrize("kind", [Ucb1, KlUcb, ActionElimination])
def test_a_count_gives_no_arm_a_worth(kind):
    def use():
        algorithm = kind(3, Counting(3), wrapped=True)
        params = algorithm.params()
        state = algorithm.init(params)
        choice = algorithm.ask(jax.random.key(0), state, params)
        algorithm.tell(state, choice, True, params)

    with pytest.raises(ValueError, match="decision: expected one that gives arms a worth"):
        use()


def test_what_is_told_must_be_an_arm():
    algorithm = Ucb1(3, Best(3))
    state = algorithm.init(algorithm.params())
    for choice in ([3], [-1], [0, 1], 0, [0.5]):
        with pytest.raises(ValueError, match="choice: expected 1 arms from 0 to 2"):
            algorithm.tell(state, np.array(choice), True, algorithm.params())
    with pytest.raises(ValueError, match="outcome: expected 0 or 1"):
        algorithm.tell(state, np.array([0]), 2, algorithm.params())
    problem = arms(np.array([0.1, 0.2]), np.array([0.1, 0.2]))
    with pytest.raises(ValueError, match="problem: expected probabilities"):
        run(algorithm, jax.random.key(0), problem, 10, algorithm.params(), 1)


def test_problems_have_a_utility_of_every_decision():
    means = [0.1, 0.2, 0.5]
    algorithm = Savage(3, Counting(3))
    run(algorithm, jax.random.key(0), arms(means, [0, 1, 2, 1]), 9, algorithm.params(), 1)
    for other, utilities in ((algorithm, means), (Ucb1(3, Best(3)), [0.1])):
        with pytest.raises(ValueError, match=r"^problem: expected a utility of each of \d decisio"):
            run(other, jax.random.key(0), arms(means, utilities), 9, other.params(), 1)


def test_the_rigged_bandit_pays_for_the_next_best_arm():
    """The two best of five are worth nothing; ties go to the first arm."""
    problem = rigged_bandit([0.5, 0.9, 0.5, 0.25, 0.75], skipped=2)
    assert np.asarray(problem.losses).tolist() == [0, 0.5, 0, 0.25, 0.5]
    assert problem.probabilities.tolist() == pytest.approx([0.5, 0.9, 0.5, 0.25, 0.75])
    whole = np.asarray(rigged_bandit().losses)
    assert np.flatnonzero(whole == 0).tolist() == [4]
    assert whole[:6] == pytest.approx([0.55] * 4 + [0, 0.05], abs=1e-6)


def test_the_counting_bandit_costs_what_the_count_is_off():
    problem = counting_bandit([0.1, 0.3, 0.5, 0.9], above=0.2, below=0.6)
    assert np.asarray(problem.losses).tolist() == [2, 1, 0, 1, 2]
    whole = np.asarray(counting_bandit().losses)
    assert whole.tolist() == [abs(n - 6) for n in range(101)]


BAD = [
    (lambda: Ucb1(4, Best(3)), "decision: expected one about 4 arms"),
    (lambda: KlUcb(3, CopelandWinner(3)), "decision: .* about 3 arms that pay"),
    (lambda: KlUcb(3, Best(3)).params(math.nan), "scale: expected"),
    (lambda: rigged_bandit([0.5, 0.6], 2), "skipped: expected"),
    (lambda: counting_bandit([[0.5, 0.6]]), "means: expected"),
]


@pytest.mark.parametrize(("make", "message"), BAD)
def test_bad_numbers_are_named(make, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        make()
