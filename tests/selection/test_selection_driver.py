"""The compiled driver does what ask and tell do; targets, problems, batches."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference import selection as reference
from selection_cases import draw_problem

from jaxrace.selection import (
    ActiveRanking,
    MlPocbam,
    NormalScores,
    PairwiseRace,
    Pocbam,
    Top,
    Uniform,
    borda_top,
    choice_key,
    driver,
    intransitivity_index,
    normal_score,
    observed_moments,
    pair_key,
    recorded,
    recorded_score,
    run,
    thurstone,
)
from jaxrace.selection.pocbam import fitted_moments
from papers.top_k.ocba import Ocba
from papers.top_k.poker_topk import MatchWork
from papers.top_k.stationary import StationaryMlPocbam

slow = pytest.mark.slow

SELECTORS = [
    Pocbam(4, 2),
    ActiveRanking(4, 2),
    pytest.param(MlPocbam(4, 2), marks=slow),
    pytest.param(Ocba(4, 2), marks=slow),
    pytest.param(Top(4, 2), marks=slow),
    pytest.param(PairwiseRace(4, 2, ranking="random_walk"), marks=slow),
]


def name_of(selector):
    kinds = [getattr(selector, name, "") for name in ("radius", "ranking", "width")]
    return "-".join([type(selector).__name__, *filter(None, kinds)])


def problem_of(num_options, seed=1):
    """Of the sort that `thurstone` draws, without compiling anything."""
    return NormalScores(*(jnp.asarray(x, jnp.float32) for x in draw_problem(seed, num_options)))


@jax.jit
def score_of(key, problem, low, high, number):
    return normal_score(pair_key(key, 4, low, high, number), problem, low, high)


key_of = jax.jit(choice_key)


def played_by_hand(selector, key, problem, params, budgets):
    """The loop of ask and tell, with the keys of the driver: results after so many comparisons."""
    state, counts, results = selector.init(params), np.zeros((4, 4), np.int32), []
    for budget in budgets:
        while state.time < budget and not selector.result(state, params).done:
            pair = np.asarray(selector.ask(key_of(key, state.time), state, params))
            low, high = sorted(pair)
            score = float(score_of(key, problem, low, high, counts[low, high]))
            counts[low, high] += 1
            state = selector.tell(state, pair, score if pair[0] == low else -score, params)
        results.append(selector.result(state, params))
    return results


@pytest.mark.parametrize("selector", SELECTORS, ids=name_of)
def test_the_driver_does_what_ask_and_tell_do(selector):
    key, problem = jax.random.key(3), problem_of(4)
    # So that TOP comes to its heap, and to its end.
    params = selector.params(repetitions=1) if isinstance(selector, Top) else selector.params()
    first = selector.opening if not isinstance(selector, Ocba) else 0
    budget = first + 24
    log = run(selector, key, normal_score, problem, budget, params, interval=12)
    times = log.time.tolist()
    results = played_by_hand(selector, key, problem, params, times)
    for place, (time, by_hand) in enumerate(zip(times, results, strict=True)):
        assert int(by_hand.samples) == time
        np.testing.assert_array_equal(log.selected[place], by_hand.selected)
        np.testing.assert_allclose(log.confidence[place], by_hand.confidence, rtol=2e-3)
    assert bool(log.done[-1]) == isinstance(selector, Top)


@pytest.mark.parametrize(
    "selector",
    [Pocbam(4, 2), pytest.param(StationaryMlPocbam(4, 2, follows=True), marks=slow)],
    ids=name_of,
)
def test_batches_of_the_driver_are_those_of_ask_many_and_tell_many(float64, selector):
    """Batches of five, of six pairs: a pair comes more than once in some of them."""
    key, problem, params = jax.random.key(3), problem_of(4), selector.params()
    first, batch = selector.opening, 5
    log = run(selector, key, normal_score, problem, first + 30, params, interval=10, batch=batch)
    state, counts, repeats = selector.init(params), np.zeros((4, 4), np.int32), 0
    for record in range(4):
        while state.time < (first, first + 10, first + 20, first + 30)[record]:
            # The warm-up asks for every pair in turn, whatever the batch.
            size = min(batch, first - int(state.time)) if state.time < first else batch
            pairs = np.asarray(selector.ask_many(key_of(key, state.time), state, params, size))
            scores = []
            for low, high in np.sort(pairs, 1):
                scores.append(float(score_of(key, problem, low, high, counts[low, high])))
                counts[low, high] += 1
            repeats += len(pairs) - len(np.unique(np.sort(pairs, 1), axis=0))
            scores = np.where(pairs[:, 0] < pairs[:, 1], scores, -np.array(scores))
            state = selector.tell_many(state, pairs, scores, params)
        result = selector.result(state, params)
        assert int(result.samples) == int(log.time[record])
        np.testing.assert_array_equal(log.selected[record], result.selected)
        np.testing.assert_allclose(log.confidence[record], result.confidence, rtol=1e-6)
    assert repeats > 0
    if isinstance(selector, StationaryMlPocbam):
        scores, gamma = state.scores, np.asarray(state.model.qualities)
        n, m, v = (np.asarray(x) for x in (scores.counts, scores.means, scores.variances))
        gradient = reference.profile_gradient(gamma, n, m, reference.likely(n, v))
        assert np.abs(gradient).max() < 1e-6 * n.sum() / 2


def test_the_driver_decides_a_race_as_ask_and_tell_do():
    selector = PairwiseRace(4, 2, ranking="copeland")
    key, problem = jax.random.key(3), problem_of(4)
    problem = dataclasses.replace(problem, means=20 * problem.means)
    params = selector.params(delta=0.9, max_rounds=12)
    log = run(selector, key, normal_score, problem, 72, params, interval=72)
    (by_hand,) = played_by_hand(selector, key, problem, params, [72])
    assert bool(log.done[-1])
    assert int(log.time[-1]) == int(by_hand.samples) < 72
    np.testing.assert_array_equal(log.selected[-1], by_hand.selected)
    assert float(log.confidence[-1]) == float(by_hand.confidence) > 0


def test_equal_pairs_of_a_batch_are_numbered_one_after_the_other():
    """There is one pair: after the warm-up it is compared four times at once, and again."""
    selector = Uniform(2, 1)
    params = selector.params()

    def numbered(number, problem, first, second):
        return problem[number]

    scores = jnp.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0, 5.0])

    @functools.partial(jax.jit, static_argnums=0)
    def told(batch):
        work = MatchWork(
            selector, lambda number, problem, i, j: problem[number], 11, 8, params, batch
        )
        return work.advanced(work.init(driver.SelectionJob(jax.random.key(0), scores)))

    at_once, one_by_one = told(4), told(1)
    jax.tree.map(np.testing.assert_array_equal, at_once.selector.scores, one_by_one.selector.scores)
    assert float(at_once.selector.scores.means[0, 1]) == pytest.approx(float(scores.mean()))
    assert at_once.counts.tolist() == [[0, 11], [0, 0]]


def test_the_target_is_the_sum_of_means_by_brute_force():
    means, _ = draw_problem(5, 7, noise=0.4)
    totals = [sum(means[i, j] for j in range(7) if j != i) for i in range(7)]
    best = sorted(range(7), key=lambda i: -totals[i])[:3]
    np.testing.assert_array_equal(
        np.flatnonzero(jax.jit(borda_top, static_argnums=1)(means, 3)), sorted(best)
    )


def test_thurstone_problems_are_what_they_are_said_to_be():
    keys = jax.random.split(jax.random.key(0), 4000)
    problems = jax.vmap(functools.partial(thurstone, num_options=4, noise=0.3))(keys)
    plain = jax.vmap(functools.partial(thurstone, num_options=4))(keys)
    np.testing.assert_array_equal(problems.means, -problems.means.transpose(0, 2, 1))
    np.testing.assert_array_equal(problems.deviations, plain.deviations)
    errors = np.asarray(problems.means - plain.means)[:, 0, 1]
    assert errors.std() == pytest.approx(0.3, rel=0.05)
    variances = np.asarray(plain.deviations)[:, 0, 1] ** 2
    assert variances.mean() == pytest.approx(0.5, abs=0.02)
    gaps = np.asarray(plain.means)[:, 0, 1]
    assert gaps.std() == pytest.approx(np.sqrt(1 / 6), rel=0.05)


def test_recorded_scores_are_drawn_from_those_of_the_pair():
    table = recorded([0, 1, 2, 0], [1, 2, 0, 1], [1.0, 5.0, -2.0, 3.0])
    keys = jax.random.split(jax.random.key(0), 50)
    draw = jax.vmap(recorded_score, in_axes=(0, None, None, None))
    assert set(draw(keys, table, 0, 1).tolist()) == {1.0, 3.0}
    assert set(draw(keys, table, 1, 0).tolist()) == {-1.0, -3.0}
    assert set(draw(keys, table, 0, 2).tolist()) == {2.0}
    with pytest.raises(ValueError, match="got none of 0 and 2"):
        recorded([0, 1], [1, 2], [1.0, 1.0])
    with pytest.raises(ValueError, match="in row 2"):
        recorded([0, 1], [1, 1], [1.0, 1.0])
    with pytest.raises(ValueError, match="first: expected integers"):
        recorded([0.0], [1.0], [1.0])


def test_the_index_is_that_of_the_reference():
    selector, (means, deviations) = StationaryMlPocbam(5, 2), draw_problem(0, 5, noise=0.3)
    params = selector.params()
    pairs = np.stack(np.triu_indices(5, 1), 1)[np.arange(40) % 10]
    scores = np.random.default_rng(0).normal(means[tuple(pairs.T)], deviations[tuple(pairs.T)])
    state = selector.tell_many(selector.init(params), pairs, scores, params)

    @jax.jit
    def index_of(state):
        observed, fitted = (
            observed_moments(state.scores),
            fitted_moments(state.scores, selector.qualities(state)),
        )
        return observed, fitted, intransitivity_index(observed, fitted)

    observed, fitted, index = index_of(state)
    moments = (observed.means, observed.variances, fitted.means, fitted.variances)
    expected = reference.intransitivity_index(*(np.asarray(x, np.float64) for x in moments))
    assert float(index) == pytest.approx(expected, rel=1e-4)


def test_what_is_no_number_is_an_error():
    """Of the warm-up, and later."""
    selector = Pocbam(4, 2)
    params, key = selector.params(), jax.random.key(0)
    for bad in (jnp.nan, jnp.inf):
        problem = jnp.zeros((4, 4)).at[0, 1].set(bad)
        with pytest.raises(ValueError, match="compare: expected finite scores"):
            run(selector, key, read_matrix, problem, 48, params, 6)
    with pytest.raises(ValueError, match=r"expected one number for two options, got shape \[4\]"):
        run(selector, key, lambda key, problem, i, j: problem[i], problem, 48, params, 6)
    log = jax.jit(lambda problem: run(selector, key, read_matrix, problem, 48, params, 6))(problem)
    assert not log.valid[-1]
    assert log.confidence[-1] == 0
    state = selector.init(params)
    pair = selector.ask(key, state, params)
    with pytest.raises(ValueError, match=r"score: expected a number .* got 1e\+39"):
        selector.tell(state, pair, 1e39, params)


def read_matrix(key, problem, first, second):
    del key
    return problem[first, second]


def test_scores_beyond_what_the_bounds_hold_for_are_an_error():
    selector = PairwiseRace(3, 1, outcome="scores")
    params, key = selector.params(max_score=2.0), jax.random.key(0)
    state = selector.init(params)
    pair = selector.ask(key, state, params)
    with pytest.raises(ValueError, match=r"expected a score in the range of the params, got 2\.5"):
        selector.tell(state, pair, 2.5, params)
    selector.tell(state, pair, -2.0, params)
    problem = jnp.full((3, 3), 2.5)
    with pytest.raises(ValueError, match="compare: expected finite scores in the range"):
        run(selector, key, read_matrix, problem, 12, params, 6)


def test_records_come_about_every_ten_comparisons():
    selector, problem, key = Uniform(4, 2), np.zeros((4, 4), np.float32), jax.random.key(0)
    log = run(selector, key, read_matrix, problem, 48, selector.params())
    assert log.time.tolist() == [18, 28, 38, 48]
