"""The reproduction on hold'em players: scores, ranks, and where selections take them from."""

import itertools

import numpy as np
import pytest

from jaxrace import kernels
from jaxrace.commands.job import Job
from jaxrace.runs import tables
from papers.config import ReproduceConfig
from papers.holdem import matches
from papers.job import reproduce
from papers.top_k import poker_matches
from papers.top_k.poker_matches import Match, Tables, preferred
from papers.top_k.poker_report import against_the_order, truth_of
from papers.workbench import Workbench


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
