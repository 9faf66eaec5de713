"""The reproductions of dueling bandits, at a fraction of the size."""

import numpy as np
import pytest

from jaxrace.commands.job import Job
from jaxrace.runs import tables
from papers.config import ReproduceConfig
from papers.figures import FIGURES, IN_ALL
from papers.job import maker, reproduce
from papers.savage import bandits
from papers.savage import dueling as savage_dueling
from papers.savage.arms import URVOY_MEANS
from papers.sup_klucb import regret as sup_klucb
from papers.workbench import Workbench


@pytest.mark.parametrize(
    ("name", "table", "figures"),
    [
        pytest.param("savage-bandits", "bandits.csv", {"regret.png"}, marks=pytest.mark.slow),
        pytest.param("savage-dueling", "duels.csv", {"condorcet-30.png"}, marks=pytest.mark.slow),
        pytest.param(
            "sup-klucb", "games.csv", {"regret.png", "by_arms.png"}, marks=pytest.mark.slow
        ),
    ],
)
def test_what_a_quick_look_leaves(name, table, figures, tmp_path):
    folder = reproduce(Job(ReproduceConfig(name, quick=True), tmp_path / "run"))
    names = {path.name for path in folder.iterdir()}
    assert names == {"config.json", table, "curves.csv", "report.md", *figures}
    rows = tables.read_table(folder / table)
    assert (rows["regret"] >= 0).all()
    assert (rows["regret"] > 0).any()
    report = (folder / "report.md").read_text()
    assert all(f"({figure})" in report for figure in figures)


def test_all_but_what_is_on_demand_can_be_reproduced():
    for name in FIGURES:
        assert callable(maker(name)), name
    assert 0 < len(IN_ALL) < len(FIGURES)
    assert set(IN_ALL) < set(FIGURES)


def test_the_arms_of_the_rigged_bandit():
    """The best four are worth nothing, the fifth is worth .55."""
    order = np.random.default_rng(0).permutation(100)
    problem = bandits.problem_of("rigged", order)
    losses = np.asarray(problem.losses)
    means = np.array(URVOY_MEANS)[order]
    assert means[losses == 0] == pytest.approx([0.55])
    assert losses[means >= 0.9] == pytest.approx([0.55] * 4)
    assert losses[means == 0.5] == pytest.approx([0.05] * 5, abs=1e-6)
    counted = bandits.problem_of("counting", order)
    assert np.asarray(counted.losses)[[6, 5, 9]].tolist() == [0, 1, 3]  # .55 and five of .5
    best = bandits.problem_of("best arm", order)
    np.testing.assert_allclose(np.asarray(best.losses), 0.95 - means, atol=1e-6)


@pytest.mark.parametrize("number", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_the_regret_of_uniform_play_is_that_of_random_pairs(tmp_path, number):
    """By Copeland's score (eq. 9), which the report claims, and by none of the other measures."""
    drawn, horizon, runs = sup_klucb.draw_games(0, number), 2_000, 20
    time, regret = sup_klucb._measure(Workbench(tmp_path), "uniform", drawn, horizon, runs)
    assert time[-1] == horizon
    for number, matrix in enumerate(drawn):
        scores = (matrix > 0.5).sum(1) / (len(matrix) - 1)
        expected = horizon * (scores.max() - scores.mean())
        mean, error = regret[number, :, -1].mean(), regret[number, :, -1].std() / np.sqrt(runs)
        assert abs(mean - expected) < 5 * error + 1e-3 * expected


def test_the_copeland_regret_of_both_arms(tmp_path):
    """Where the regret shown is Copeland's, it is half of that column, and so is its error."""
    setting = savage_dueling.Setting("five arms", 5, 3, 2_000, ("uniform",), "copeland")
    savage_dueling.run(Workbench(tmp_path), {"random-5": setting})
    rows = tables.read_table(tmp_path / "duels.csv")
    assert rows["twice_copeland"] == pytest.approx(2 * rows["regret"])
    assert rows["twice_copeland_stderr"] == pytest.approx(2 * rows["regret_stderr"])
    assert "| twice copeland |" in (tmp_path / "report.md").read_text()
