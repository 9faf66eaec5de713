"""TOP, active ranking and the race of pairs agree with their references step by step."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference import selection_rounds as reference
from selection_cases import Normals, choose, selected

from jaxrace.selection import ActiveRanking, PairwiseRace, Pocbam, ScoreSelector, Top
from papers.selections.runs import match_bounds
from papers.top_k.ocba import Ocba

PURPOSES = ("select", "rise", "sink", "sink")  # of a match, by the phase of TOP


@pytest.mark.parametrize(
    ("num_options", "top", "repetitions"),
    [
        (2, 1, 1),
        (7, 3, 2),
    ],
)
def test_top_plays_the_same_matches(float64, num_options, top, repetitions):
    """With the same purposes, finds the same options in the same order, and costs as much."""
    selector = Top(num_options, top)
    for seed in range(2):
        params = selector.params(repetitions, key=jax.random.key(seed))
        # Scores of whole numbers: many matches are drawn.
        compare, rng = Normals(seed, num_options, digits=0), np.random.default_rng(seed)
        oracle = reference.TopReference(num_options, top, repetitions, np.asarray(params.order))
        state, matches = selector.init(params), []
        while not oracle.done():
            assert not selector.result(state, params).done
            if state.played == 0:
                matches.append((PURPOSES[int(state.phase)], int(state.num_found)))
            uniform = np.float32(rng.uniform())
            got, expected = choose(selector, uniform, state, params), oracle.ask(uniform)
            assert got in (expected, expected[::-1])
            score = compare(*expected)
            oracle.tell(*expected, score)
            state = selector.tell(state, list(got), score if got == expected else -score, params)
            assert selected(selector, state, params) == oracle.selected()
        assert selector.result(state, params).done
        assert selector.result(state, params).ranking[:top].tolist() == oracle.chosen
        assert matches == oracle.matches
        assert int(state.time) == repetitions * len(matches)
        least, most = match_bounds(selector)
        assert least <= len(matches) <= most
        in_groups = matches.count(("select", 0))
        assert in_groups == num_options - top
        # A new one rises past at most the logarithm of those on the heap.
        most = sum(int(np.log2(size)) for size in range(1, top + 1))
        assert top - 1 <= matches.count(("rise", 0)) <= most


def assert_same_decisions(selector, oracle, params, compare, steps, seed=0):
    state, rng = selector.init(params), np.random.default_rng(seed)
    for _ in range(steps):
        assert bool(selector.result(state, params).done) == oracle.done()
        if oracle.done():
            break
        uniform = np.float32(rng.uniform())
        got, expected = choose(selector, uniform, state, params), oracle.ask(uniform)
        assert got == tuple(expected)
        score = compare(*expected)
        oracle.tell(*expected, score)
        state = selector.tell(state, list(expected), score, params)
        np.testing.assert_array_equal(np.flatnonzero(state.selected), sorted(oracle.chosen))
        np.testing.assert_array_equal(np.flatnonzero(state.discarded), sorted(oracle.discarded))
        assert selected(selector, state, params) == oracle.selected()
    return state


def assert_same_end(selector, oracle, params, steps):
    """With full scores and without an upset everybody is decided."""
    state = assert_same_decisions(selector, oracle, params, lambda i, j: 1 - 2 * (i > j), steps)
    assert np.flatnonzero(state.selected).tolist() == list(range(selector.top))
    others = list(range(selector.top, selector.num_options))
    assert np.flatnonzero(state.discarded).tolist() == others


@pytest.mark.parametrize(
    ("radius", "outcome", "num_options", "top"),
    [
        ("heckel", "wins", 2, 1),
        ("karnin", "wins", 4, 2),
    ],
)
def test_active_ranking_decides_the_same(float64, radius, outcome, num_options, top):
    selector = ActiveRanking(num_options, top, radius=radius, outcome=outcome)
    params = selector.params(delta=0.3, max_score=1.0)
    oracle = reference.ActiveRankingReference(num_options, top, 0.3, radius, outcome, 1.0)
    compare = separated(num_options)
    state = assert_same_decisions(selector, oracle, params, compare, 1500)
    if radius == "karnin" and outcome == "wins":
        assert state.selected.any()


def test_active_ranking_comes_to_an_end_the_same(float64):
    radius, num_options, top = "heckel", 2, 1
    selector = ActiveRanking(num_options, top, radius=radius, outcome="scores")
    params = selector.params(delta=0.9, max_score=1.0)
    oracle = reference.ActiveRankingReference(num_options, top, 0.9, radius, "scores", 1.0)
    assert_same_end(selector, oracle, params, 4000)


def separated(num_options, slack=0.3):
    """The lower number nearly always wins; scores in [-1, 1], in sixteenths."""
    rng = np.random.default_rng(5)

    def compare(i, j):
        sign = 1 if (i < j) == (rng.uniform() > slack / 4) else -1
        return sign * rng.integers(1, 17) / 16

    return compare


@pytest.mark.parametrize(
    ("ranking", "width", "outcome", "num_options", "top"),
    [
        ("copeland", "pairs", "wins", 5, 2),
        ("borda", "options", "scores", 5, 2),
        ("borda", "pairs", "wins", 2, 1),
        ("random_walk", "pairs", "scores", 2, 1),
    ],
)
def test_the_race_decides_the_same(float64, ranking, width, outcome, num_options, top):
    selector = PairwiseRace(num_options, top, ranking=ranking, width=width, outcome=outcome)
    params = selector.params(delta=0.3, max_rounds=120)
    arguments = (num_options, top, 0.3, 120, ranking, width, outcome, 1.0)
    oracle = reference.PairwiseRaceReference(*arguments)
    state = assert_same_decisions(selector, oracle, params, separated(num_options), 1200)
    assert state.rounds > 5


@pytest.mark.parametrize(
    ("ranking", "width", "num_options", "top"),
    [
        ("copeland", "pairs", 5, 2),
        ("borda", "options", 5, 2),
        ("random_walk", "pairs", 2, 1),
    ],
)
def test_the_race_comes_to_an_end_the_same(float64, ranking, width, num_options, top):
    selector = PairwiseRace(num_options, top, ranking=ranking, width=width, outcome="scores")
    params = selector.params(delta=0.9, max_rounds=1500)
    arguments = (num_options, top, 0.9, 1500, ranking, width, "scores", 1.0)
    oracle = reference.PairwiseRaceReference(*arguments)
    assert_same_end(selector, oracle, params, 3000)


@pytest.mark.parametrize("ranking", ["copeland", "borda", "random_walk"])
def test_a_circle_ends_undecided(float64, ranking):
    """Everybody beats the next one: all are equal, and all pairs may be clear."""
    selector, steps = PairwiseRace(3, 1, ranking=ranking), 200
    params = selector.params(delta=0.3, max_rounds=40)
    oracle = reference.PairwiseRaceReference(3, 1, 0.3, 40, ranking, "options", "wins", 1.0)

    def circle(i, j):
        return 1 if (j - i) % 3 == 1 else -1

    state = assert_same_decisions(selector, oracle, params, circle, steps)
    assert selector.result(state, params).done
    assert oracle.done()
    assert not state.selected.any()
    assert not state.discarded.any()
    assert selector.result(state, params).confidence == 0
    assert int(state.time) < 120 if ranking == "copeland" else int(state.time) == 120
    assert selector.ask(jax.random.key(0), state, params).tolist() == [-1, -1]


def test_the_walk_compares_those_most_who_are_beaten_least():
    """c_ij / r_i: the pairs of the best one are the widest, and come in rounds of their own."""
    selector = PairwiseRace(4, 1, ranking="random_walk")
    params = selector.params(max_rounds=100)
    state, key = selector.init(params), jax.random.key(0)
    for _ in range(200):
        i, j = selector.ask(key, state, params).tolist()
        state = selector.tell(state, [i, j], j - i, params)
    compared = state.counts.sum(1).tolist()
    assert compared == sorted(compared, reverse=True)
    assert compared[0] > 2 * compared[3]
    assert int(state.counts.max()) < 100


@pytest.mark.parametrize("selector", [Top(4, 2), PairwiseRace(4, 2), ActiveRanking(4, 2)])
def test_pairs_that_were_not_asked_for_are_refused(selector):
    params = selector.params()
    state = selector.init(params)
    asked = set(selector.ask(jax.random.key(0), state, params).tolist())
    other = [i for i in range(4) if i not in asked]
    with pytest.raises(ValueError, match="pair: expected the one that ask gave"):
        selector.tell(state, other, 1.0, params)


def test_a_match_without_a_winner_goes_to_whom_the_coin_names_first():
    selector = Top(num_options=2, top=1)
    params = selector.params(repetitions=1)
    start = selector.init(params)
    for pair in ([0, 1], [1, 0]):
        end = selector.tell(start, pair, 0.0, params)
        assert np.flatnonzero(selector.result(end, params).selected).tolist() == pair[:1]


@pytest.mark.parametrize(
    ("selector", "numbers"),
    [
        (Pocbam(3, 1), {"confidence": 0.9}),
        (Ocba(3, 1), {"confidence": 0.9}),
        (Top(3, 1), {"repetitions": 2}),
        (ActiveRanking(3, 1), {"delta": 0.3}),
        (PairwiseRace(3, 1), {"delta": 0.3}),
        (PairwiseRace(3, 1), {"max_rounds": 2}),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else type(value).__name__,
)
def test_asks_for_nobody_once_it_is_done(selector, numbers):
    params, key = selector.params(**numbers), jax.random.key(0)
    state = selector.init(params)
    while not selector.result(state, params).done:
        i, j = selector.ask(key, state, params).tolist()
        assert i != j
        assert min(i, j) >= 0
        state = selector.tell(state, [i, j], j - i, params)
    assert selector.ask(key, state, params).tolist() == [-1, -1]
    with pytest.raises(ValueError, match="pair: expected two different options"):
        selector.tell(state, [-1, -1], 1.0, params)
    if isinstance(selector, ScoreSelector):
        assert selector.ask_many(key, state, params, 2).tolist() == [[-1, -1]] * 2
    if isinstance(selector, ScoreSelector | Ocba):
        later = selector.tell(state, [0, 1], 1.0, params)
        assert int(later.time) == int(state.time) + 1
        return
    for pair in itertools.permutations(range(3), 2):
        with pytest.raises(ValueError, match="pair: expected the one that ask gave"):
            selector.tell(state, pair, 1.0, params)


@pytest.mark.parametrize(
    ("max_rounds", "said", "confidence"),
    [(1_000, "correct with probability at least 0.9", 0.9), (1, "undecided", 0.0)],
)
def test_a_race_says_what_it_guarantees(max_rounds, said, confidence):
    race = PairwiseRace(3, 1)
    params = race.params(delta=0.1, max_rounds=max_rounds)
    state = race.init(params)
    assert "not known yet" in str(race.result(state, params))
    while not race.result(state, params).done:
        i, j = race.ask(jax.random.key(0), state, params).tolist()
        state = race.tell(state, [i, j], j - i, params)
    result = race.result(state, params)
    assert said in str(result)
    assert ("probability at least" in str(result)) == (confidence > 0)
    assert jnp.isclose(result.confidence, confidence)
