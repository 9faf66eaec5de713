"""The reproductions of top-k selection, at a fraction of the size."""

import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace.commands.job import Job
from jaxrace.runs import tables
from jaxrace.selection import ActiveRanking, NormalScores, PairwiseRace, Pocbam, normal_score, win
from papers.config import ReproduceConfig
from papers.job import reproduce
from papers.selections.curves import Curve, correct_at, samples_until, success_in_words
from papers.selections.runs import Task
from papers.selections.tasks import with_own_target
from papers.top_k.shootout import DUELS, lineup, race_lineup
from papers.top_k.thurstone_noise import crossing
from papers.top_k.thurstone_topk import TOP


@pytest.mark.parametrize(
    ("name", "others"),
    [
        pytest.param("thurstone-topk", {"success.png"}, marks=pytest.mark.slow),
        pytest.param("thurstone-topk-4", {"success.png"}, marks=pytest.mark.slow),
        # The others are made of the same pieces, and take longest to compile.
        pytest.param("thurstone-large", {"success.png"}, marks=pytest.mark.slow),
        pytest.param(
            "thurstone-noise", {"success.png", "index.png", "index.csv"}, marks=pytest.mark.slow
        ),
        pytest.param("topk-batches", {"success.png"}, marks=pytest.mark.slow),
        pytest.param("topk-pooled", {"success.png"}, marks=pytest.mark.slow),
        pytest.param("topk-shootout", {"success-6.png"}, marks=pytest.mark.slow),
    ],
)
def test_what_a_quick_look_leaves(name, others, tmp_path):
    folder = reproduce(Job(ReproduceConfig(name, quick=True), tmp_path / "run"))
    names = {path.name for path in folder.iterdir()}
    assert names == {"config.json", "report.md", "success.csv", *others}
    rows = tables.read_table(folder / "success.csv")
    assert ((rows["success"] >= 0) & (rows["success"] <= 1)).all()
    assert (rows["success"].max() > 0.3).all()
    report = (folder / "report.md").read_text()
    for figure in others - {"index.csv"}:
        assert f"({figure})" in report
    if name == "thurstone-noise":
        index = tables.read_table(folder / "index.csv")
        assert ((index["index_one_sweep"] > 0) & (index["index_one_sweep"] < 1)).all()


def test_no_entry_of_the_shootout_replaces_another_one():
    names = [*lineup(10, 4), TOP, *race_lineup(10, 4), *DUELS]
    assert len(set(names)) == len(names)


# Option 0 beats both others closely, and option 1 wins more often.
CLOSE = np.array([[0.5, 0.6, 0.6], [0.4, 0.5, 1.0], [0.4, 0.0, 0.5]], np.float32)
# A cycle in which option 0 wins more often than 1, which the walk visits more often.
CYCLE = np.array([[0.5, 0.35, 0.95], [0.65, 0.5, 0.45], [0.05, 0.55, 0.5]], np.float32)


def visits(chances):
    """Of the walk of ``kernels.transition_matrix``, by many steps of it in float64."""
    chances = chances.astype(np.float64)
    step = 0.98 * chances.T / chances.sum(0)[:, None] + 0.02 / len(chances)
    return np.linalg.matrix_power(step, 1000)[0]


@pytest.mark.parametrize("chances", [CLOSE, CYCLE], ids=("close", "cycle"))
def test_whoever_counts_wins_is_judged_by_its_own_target(chances):
    # Means that nobody goes by here: the last one is best by them.
    truth = np.array([[False, False, True]])
    task = Task("1 of 3", win, jnp.asarray(chances)[None], truth, 30, 3)
    away = chances - np.diag(np.diag(chances))
    expected = {
        PairwiseRace(3, 1): away.sum(1),
        ActiveRanking(3, 1): away.sum(1),
        PairwiseRace(3, 1, ranking="copeland"): (away > 0.5).sum(1) + away.mean(1),
        PairwiseRace(3, 1, ranking="random_walk"): visits(chances),
    }
    for selector, scores in expected.items():
        assert with_own_target(task, selector).truth.argmax(1) == scores.argmax()
    for selector in (Pocbam(3, 1), PairwiseRace(3, 1, outcome="scores")):
        assert with_own_target(task, selector).truth is truth


def test_targets_of_normal_scores_are_those_of_their_chances():
    """Means are won by option 1 and chances to win by option 0."""
    means = jnp.array([[0.0, 0.3, 0.3], [-0.3, 0.0, 9.0], [-0.3, -9.0, 0.0]])
    deviations = jnp.array([[1.0, 1.0, 0.1], [1.0, 1.0, 9.0], [0.1, 9.0, 1.0]])
    truth = np.array([[False, True, False]])
    task = Task("1 of 3", normal_score, NormalScores(means[None], deviations[None]), truth, 30, 3)
    for ranking in ("borda", "copeland", "random_walk"):
        selector = PairwiseRace(3, 1, ranking=ranking)
        assert with_own_target(task, selector).truth.tolist() == [[True, False, False]]


def test_between_settings_curves_are_straight():
    records = Curve(np.array([10.0, 20.0]), np.array([[False, True], [False, False]]))
    settings = records._replace(are_settings=True)
    assert correct_at(records, 15).tolist() == [0, 0]
    assert correct_at(settings, 12.5).tolist() == [0.25, 0]
    # What has ended remains, and what has not begun is not known.
    assert correct_at(settings, 99).tolist() == [1, 0]
    assert np.isnan(correct_at(settings, 9)).all()
    assert samples_until(records, 0.25) == 20
    assert samples_until(settings, 0.25) == 15
    assert samples_until(settings, 0.9) == np.inf
    assert samples_until(settings, 0.0) == 10


def test_curves_are_read_as_said():
    curve = Curve(np.array([10.0, 20.0]), np.array([[True, True], [False, True]]))
    assert success_in_words(curve, 9) == ""  # before the first record
    assert success_in_words(curve, 10) == "0.500 ± 0.500"
    assert samples_until(curve, 0.9) == 20
    assert samples_until(curve, 1.1) == np.inf
    assert crossing(np.array([0.1, 0.3]), np.array([0.2, -0.2])) == pytest.approx(0.2)
    assert crossing(np.array([0.1, 0.3]), np.array([-0.2, -0.3])) is None
