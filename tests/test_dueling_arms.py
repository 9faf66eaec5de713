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

from jaxrace.dueling import (
    ActionElimination,
    Best,
    Counting,
    KlUcb,
    NextBest,
    Savage,
    Ucb1,
    UniformArms,
    arms,
    play,
    step_keys,
)

CHANCES = np.array([0.25, 0.85, 0.6, 0.1, 0.7], np.float32)
SETTINGS = [
    pytest.param(Question("best", 5), False, marks=pytest.mark.slow),
    pytest.param(Question("next", 5, skipped=2), False, marks=pytest.mark.slow),
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
        seen = (choice[0], paid, best, algorithm.draw(ask_key), state.active, state.settled_at)
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


def test_the_default_scales():
    """UCB1 explores by 2 ln t, KL-UCB by ln t."""
    assert Ucb1(5, Best(5)).params().scale == 2
    assert KlUcb(5, Best(5)).params().scale == 1


@pytest.mark.parametrize(("question", "wrapped"), SETTINGS)
def test_elimination_against_the_reference(question, wrapped):
    algorithm = ActionElimination(5, decision_of(question), wrapped)
    ends = []
    for seed in (0, 1):
        history, best, _, active, settled_at = listed(algorithm, 700, algorithm.params(0.9), seed)
        expected = reference.survivors(question, wrapped, history, 0.9)
        left = set(range(5))
        for t, after in enumerate(expected):
            assert history[t][0] == reference.next_survivor(left, history[:t], 5)
            assert {i for i in range(5) if active[t][i]} == after
            end = next((n + 1 for n, found in enumerate(expected[: t + 1]) if len(found) == 1), 0)
            assert settled_at[t] == end
            left = after
        counted = history[: settled_at[-1] or None]  # the last one is no longer looked at
        assert best[-1] == reference.recommended(question, counted)
        ends.append(len(left))
    assert min(ends) < 5


def test_elimination_until_the_end():
    """The last one is played on, whatever it pays."""
    algorithm = ActionElimination(5, Best(5))
    chances = np.array([0.2, 0.95, 0.3, 0.1, 0.05], np.float32)
    params = algorithm.params(0.5)
    history, _, _, active, settled_at = listed(algorithm, 1500, params, 2, chances)
    end = settled_at[-1]
    assert 0 < end < 1400
    assert settled_at[end - 2] == 0
    assert {arm for arm, _ in history[end:]} == {1}
    assert active[-1] == [False, True, False, False, False]


DELTA = 0.1


@functools.partial(jax.jit, static_argnums=0)
def run_many(algorithm, problem, params, keys):
    return jax.vmap(lambda key: play(algorithm, key, problem, 2400, params, 1))(keys)


def eliminate(factor, runs):
    """Is the arm that is left at the end the wrong one, and when was it left? [runs]."""
    algorithm = ActionElimination(4, Best(4))
    params = algorithm.params(DELTA)
    params = dataclasses.replace(params, log_level=factor * params.log_level)
    means = np.array([0.75, 0.25, 0.25, 0.25], np.float32)
    problem = arms(means, means)

    log = run_many(algorithm, problem, params, jax.random.split(jax.random.key(3), runs))
    return np.asarray(log.recommended)[:, 0] != 0, np.asarray(log.settled_at)[:, 0]


@pytest.mark.parametrize("runs", [200, pytest.param(2000, marks=pytest.mark.slow)])
def test_elimination_errs_less_often_than_delta(runs):
    errors, settled_at = eliminate(1.0, runs)
    assert (settled_at > 0).all()
    assert upper_limit(errors) <= DELTA
    careless, _ = eliminate(0.02, runs)
    assert 1 - upper_limit(~careless) > DELTA


@functools.cache
def pulls_of(kind):
    """Pulls of a good and a worse arm up to 1,000 and 10,000, means over 64 runs: [2, 2]."""
    algorithm = kind(2, Best(2))
    params = algorithm.params()

    @jax.jit
    @jax.vmap
    def run(key):
        def step(carry, _):
            key, state = carry
            key, first, second = jax.random.split(key, 3)
            choice = algorithm.ask(first, state, params)
            paid = jax.random.uniform(second) < jnp.where(choice[0] == 0, 0.9, 0.6)
            return (key, algorithm.tell(state, choice, paid, params)), None

        carry, _ = jax.lax.scan(step, (key, algorithm.init(params)), None, 1000)
        early = carry[1].pulls
        carry, _ = jax.lax.scan(step, carry, None, 9000)
        return early, carry[1].pulls

    return np.mean(run(jax.random.split(jax.random.key(4), 64)), axis=1)


@pytest.mark.slow
def test_regret_grows_with_the_logarithm():
    gap = 0.3
    entropy = 0.6 * math.log(0.6 / 0.9) + 0.4 * math.log(0.4 / 0.1)
    for kind, rate in ((Ucb1, 2 / gap**2), (KlUcb, 1 / entropy)):
        early, late = pulls_of(kind)
        assert early.sum() == 1000
        assert late.sum() == 10_000
        # Between 10^3 and 10^4 the pulls of the worse arm grow by rate ln 10, not by a factor 10.
        growth = late[1] - early[1]
        assert 0.4 * rate * math.log(10) < growth < 1.8 * rate * math.log(10)
    # Auer et al. 2002, Theorem 1: for every horizon.
    bound = 8 * math.log(10_000) / gap**2 + 1 + math.pi**2 / 3
    assert pulls_of(Ucb1)[1, 1] < bound
    assert 2 * pulls_of(KlUcb)[1, 1] < pulls_of(Ucb1)[1, 1]
    # Lai and Robbins: nobody needs fewer than about this in the long run.
    assert pulls_of(KlUcb)[1, 1] > 0.5 * math.log(10_000) / entropy


@pytest.mark.slow
def test_wrapped_bandits_find_the_next_best():
    """A bandit that plays for payments hardly looks at the arm that it is asked about."""
    decision = NextBest(5, 2)
    plain, wrapped = (
        np.asarray(follow(algorithm, CHANCES, jax.random.key(5), 1000, algorithm.params())[0])
        for algorithm in (KlUcb(5, decision), KlUcb(5, decision, wrapped=True))
    )
    assert (wrapped == 2).sum() > 2 * (plain == 2).sum()


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
    log = play(algorithm, jax.random.key(7), arms(CHANCES, values), 300, algorithm.params(), 10)
    _, best, *_ = listed(algorithm, 300, algorithm.params(), 7)
    losses = (values.max() - values)[best].reshape(10, 30).sum(1)
    np.testing.assert_allclose(log.regret[:, 0], losses, rtol=1e-5)
    assert log.recommended.tolist() == best[29::30]
    assert not log.settled_at.any()


@pytest.mark.parametrize(
    "kind",
    [
        Ucb1,
        pytest.param(KlUcb, marks=pytest.mark.slow),
        pytest.param(ActionElimination, marks=pytest.mark.slow),
    ],
)
def test_other_numbers_compile_nothing(kind, count_compilations):
    algorithm = kind(3, Best(3))
    numbers = [algorithm.params(0.1), algorithm.params(0.7)]
    problems = [arms(means, means) for means in np.array([[0.1, 0.5, 0.9], [0.3, 0.2, 0.1]])]
    keys = list(jax.random.split(jax.random.key(8), 2))

    def use(number):
        params, key = numbers[number], keys[number]
        state = algorithm.init(params)
        choice = algorithm.ask(key, state, params)
        state = algorithm.tell(state, choice, True, params)
        algorithm.recommend(state, params)
        play(algorithm, key, problems[number], 20, params, 2)

    use(0)
    with count_compilations() as compilations:
        use(1)
    assert compilations.count == 0


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


def test_a_count_can_be_recommended():
    algorithm = Ucb1(3, Counting(3))
    params = algorithm.params()
    state = algorithm.init(params)
    for arm in (0, 0, 1):
        state = algorithm.tell(state, np.array([arm]), state.time == 0, params)
    assert algorithm.recommend(state, params) == 1


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
        play(algorithm, jax.random.key(0), problem, 10, algorithm.params(), 1)


def test_problems_have_a_utility_of_every_decision():
    means = [0.1, 0.2, 0.5]
    algorithm = Savage(3, Counting(3))
    play(algorithm, jax.random.key(0), arms(means, [0, 1, 2, 1]), 9, algorithm.params(), 1)
    for other, utilities in ((algorithm, means), (Ucb1(3, Best(3)), [0.1])):
        with pytest.raises(ValueError, match=r"^problem: expected a utility of each of \d decisio"):
            play(other, jax.random.key(0), arms(means, utilities), 9, other.params(), 1)
