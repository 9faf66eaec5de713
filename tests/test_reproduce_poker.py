"""The reproduction on hold'em players: scores, ranks, and where selections take them from."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace import kernels, tables
from jaxrace.commands.holdem import matches
from jaxrace.commands.holdem.evolution import RaceSelection
from jaxrace.commands.job import Job
from jaxrace.commands.reproduce.config import ReproduceConfig
from jaxrace.commands.reproduce.job import reproduce
from jaxrace.commands.select.runs import Task, problem_keys
from jaxrace.commands.workbench import Workbench
from jaxrace.envs.holdem import SEATINGS, Ashe, betting, play_lane
from jaxrace.envs.holdem.abstraction import CALL, FOLD
from jaxrace.papers.top_k import poker_matches, poker_topk
from jaxrace.papers.top_k.poker_matches import Match, Tables, preferred, run_races
from jaxrace.papers.top_k.poker_report import against_the_order, truth_of
from jaxrace.racing import DominanceRace
from jaxrace.selection import ByNumber, Pocbam, run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return reproduce(
        Job(ReproduceConfig("poker-topk", quick=True), tmp_path_factory.mktemp("runs") / "poker")
    )


@pytest.mark.slow
def test_what_a_quick_look_leaves(folder):
    names = {path.name for path in folder.iterdir()}
    figures = {"figure_7.png", "figure_8.png"}
    assert names == {"config.json", "report.md", "success.csv", "matrices.csv", *figures}
    report = (folder / "report.md").read_text()
    assert all(f"({figure})" in report for figure in figures)
    success = tables.read_table(folder / "success.csv")
    assert set(success["task"]) == {"population 1", "population 2", "all, live"}
    assert ((success["success"] >= 0) & (success["success"] <= 1)).all()


@pytest.mark.slow
def test_every_pair_has_a_row_and_ranks_go_by_what_is_won(folder):
    table = tables.read_table(folder / "matrices.csv")
    assert len(table["rank"]) == 2 * 6
    for population in (1, 2):
        won = np.zeros(4)
        for row in np.flatnonzero(table["population"] == population):
            score = table["big_blinds_per_deck"][row]
            won[int(table["rank"][row]) - 1] += score
            won[int(table["other_rank"][row]) - 1] -= score
        assert (np.diff(won) <= 1e-9).all()


@pytest.mark.slow
@pytest.mark.parametrize("side", [0, 1])
def test_a_score_is_a_deck_played_both_ways(side):
    weights = poker_matches.draw_players(5, 1, 2)
    deals = matches.draw_deals(1, 12, 64)
    shared = Tables(weights, jax.tree.map(lambda leaf: leaf[None], deals))
    scores = jax.jit(poker_matches.score_pass)(shared, Match(0, 0, 0, 1, side))
    # The first deck, hand by hand: nobody remembers anything before, so the first hand is alone.
    ashe = Ashe()
    both = SEATINGS[:2] if side == 0 else SEATINGS[2:]
    first = play_lane(
        (ashe, ashe),
        tuple(weights[0]),
        jax.random.key(0),
        jax.tree.map(lambda leaf: leaf[..., :1], deals),
        both[0],
        ashe.rules,
    )
    repeated = jax.tree.map(lambda leaf: jnp.repeat(leaf, 2, axis=-1), deals)
    seating = type(both[0])(
        jnp.tile(jnp.array([one.button for one in both]), 12),
        jnp.tile(jnp.array([one.first for one in both]), 12),
    )
    hands = play_lane(
        (ashe, ashe), tuple(weights[0]), jax.random.key(0), repeated, seating, ashe.rules
    )
    assert int(hands.winnings[0]) == int(first.winnings[0])
    expected = np.asarray(hands.winnings).reshape(12, 2).sum(1) / 100
    np.testing.assert_array_equal(scores, expected.astype(np.float32))
    assert np.abs(expected).max() > 0


@pytest.mark.slow
def test_all_scores_are_those_of_their_pair(tmp_path):
    weights = poker_matches.draw_players(0, 2, 3)
    bench = Workbench(tmp_path, quick=True)
    scores = poker_matches.play_sets(bench, "some", weights, np.array([1, 0]), 4)
    assert scores.shape == (2, 3, 3, 8)
    np.testing.assert_array_equal(scores, -scores.swapaxes(1, 2))
    deals = matches.deal_sets(Workbench(tmp_path / "again", quick=True), "some, decks", 2, 4)
    for number, (i, j), side in itertools.product((0, 1), ((0, 1), (0, 2), (1, 2)), (0, 1)):
        match = Match(1 - number, number, i, j, side)
        expected = poker_matches.score_pass(Tables(weights, deals), match)
        np.testing.assert_array_equal(scores[number, i, j, 4 * side : 4 * side + 4], expected)


@pytest.mark.slow
def test_a_match_in_which_a_player_breaks_a_rule_has_no_scores(monkeypatch):
    class FoldsForNothing(Ashe):
        def decide(self, key, weights, view, observation):
            return jnp.where(observation.seat == betting.BUTTON, CALL, FOLD).astype(jnp.int32)

    monkeypatch.setattr(poker_matches, "ASHE", FoldsForNothing())
    weights = poker_matches.draw_players(0, 1, 2)
    deals = jax.tree.map(lambda leaf: leaf[None], matches.draw_deals(0, 3, 16))
    match = Match(0, 0, 0, 1, 0)
    scores = jax.jit(lambda: poker_matches.score_pass(Tables(weights, deals), match))()
    assert np.isnan(scores).all()


def test_pairs_against_the_order_are_counted():
    means = np.zeros((1, 4, 4))
    for i, j, mean in ((0, 1, 5), (0, 2, 5), (0, 3, -1), (1, 2, 1), (1, 3, 2), (2, 3, 1)):
        means[0, i, j], means[0, j, i] = mean, -mean
    scores = means[..., None] + np.array([-1.0, 1.0])
    truth = truth_of(scores, 2)
    # 0 has won 9, 3 lost 2, 1 lost 2, 2 lost 5: the pair (0, 3) goes against it.
    assert truth.order[0, 0] == 0
    assert truth.order[0, 3] == 2
    assert truth.best[0].sum() == 2
    assert against_the_order(truth).tolist() == [
        sum(
            means[0, truth.order[0, a], truth.order[0, b]] < 0
            for a, b in itertools.combinations(range(4), 2)
        )
    ]


@pytest.mark.slow
def test_stored_scores_are_drawn_from_their_pair_and_live_ones_come_in_order():
    scores = jnp.arange(2 * 3 * 3 * 4, dtype=jnp.float32).reshape(2, 3, 3, 4)
    keys = jax.random.split(jax.random.key(0), 200)
    places = jnp.int32(1), jnp.int32(0), jnp.int32(2)

    def draw(key):
        return poker_topk.stored_score(key, (scores, places[0]), *places[1:])

    drawn = jax.vmap(draw)(keys)
    assert set(drawn.tolist()) == set(scores[1, 0, 2].tolist())
    # Every comparison takes the next score of its pair: a table without chance has one result.
    selector = Pocbam(3, 1)
    table = jnp.asarray(np.random.default_rng(0).normal(size=(3, 3, 40)), jnp.float32)
    seen = []

    def note(*asked):
        seen.append(tuple(map(int, asked)))

    def compare(number, problem, first, second):
        jax.debug.callback(
            lambda *asked: seen.append(tuple(map(int, asked))), number, first, second
        )
        return poker_topk.live_score(number, problem, first, second)

    run(selector, jax.random.key(0), ByNumber(compare), table, 30, selector.params(), interval=7)
    jax.effects_barrier()
    assert len(seen) == 30
    for i, j in itertools.combinations(range(3), 2):
        numbers = sorted(number for number, *pair in seen if pair == [i, j])
        assert numbers == list(range(len(numbers)))


def planted_scores(num_players=5):
    """Of two populations, in which players are the better the larger, or the smaller, their number.

    The best one of the first loses much against the next one, so that both win fewer chips than
    the third.
    """
    generator = np.random.default_rng(0)
    scores = generator.normal(size=(2, num_players, num_players, 60)).astype(np.float32)
    scores = scores + 2 * np.arange(num_players, dtype=np.float32)[:, None, None]
    scores = scores - scores.swapaxes(1, 2)
    scores[1] *= -1
    scores[0, 4, 3, :5], scores[0, 3, 4, :5] = -500, 500
    scores[0, 3, 2, :5], scores[0, 2, 3, :5] = -500, 500
    return scores


@pytest.mark.slow
def test_races_are_those_of_the_library(tmp_path):
    """The same keys, samples and verdicts as where each option brings along its own data."""
    scores, population = jnp.asarray(planted_scores()), np.array([0, 1, 0], np.int32)
    best = preferred(np.asarray(scores), 2)[population]
    task = Task("planted", poker_topk.stored_score, population, best, 99, 9, scores)
    races = run_races(Workbench(tmp_path, quick=True), task, (31,))
    race = DominanceRace(5, 2, 31, kernels.total_order)
    rank = jax.jit(RaceSelection(race, poker_topk.stored_score, 0.05).rank)
    keys = problem_keys(0, len(population))
    for number, key in enumerate(keys):
        expected = rank(key, (scores, population[number]))
        assert races.comparisons[number].tolist() == [int(expected.comparisons)]
        assert races.certified[number].tolist() == [bool(expected.certified)]
        selected = np.flatnonzero(races.selected[number, 0]).tolist()
        assert selected == sorted(expected.ranking[:2].tolist())
    # Beyond the first block, within the capacity, and mostly right.
    assert ((races.comparisons > 55) & (races.comparisons <= 155)).all()
    assert races.curve(best).correct.sum() >= 2


def test_races_look_for_those_whose_scores_are_larger_more_often():
    scores = planted_scores()
    best = preferred(scores, 2)
    for population, found in zip(scores, best, strict=True):
        values = population[~np.eye(5, dtype=bool)].reshape(5, -1)
        wins = np.asarray(kernels.prefix_wins(kernels.total_order, values)[-1])
        beaten = (wins > values.shape[1] ** 2).sum(1)
        assert set(np.flatnonzero(found)) == set(np.argsort(-beaten)[:2])
    assert best.tolist() == [[False] * 3 + [True] * 2, [True] * 2 + [False] * 3]
    # A few large scores against them: what is won is another matter.
    assert truth_of(scores, 2).best[0].tolist() != best[0].tolist()
