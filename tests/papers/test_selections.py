"""`python -m papers.selections`: what is simulated, and what is left."""

import json
from typing import Any

import pytest

from jaxrace import runs, sweep
from jaxrace.commands.job import Job
from jaxrace.selection import ActiveRanking, PairwiseRace, Pocbam
from papers.selections.__main__ import main
from papers.selections.config import SelectionsConfig
from papers.selections.job import select
from papers.top_k.stationary import StationaryMlPocbam

# The cache would stay switched on for the tests that follow.
COMMAND = ["--no-compilation-cache"]


def test_methods_are_simulated(tmp_path, capsys):
    folder = tmp_path / "run"
    size = ["--options", "4", "--top", "1", "--budget", "60", "--repeats", "30"]
    command = [
        *COMMAND,
        "--method",
        "pkg,uniform",
        "wins",
        *size,
        "--out",
        str(folder),
    ]
    assert main(command) == 0
    names = {path.name for path in folder.iterdir()}
    assert names == {"config.json", "log.csv", "summary.json", "success.png"}
    log = runs.read_log(folder)
    assert set(log["method"]) == {"pkg", "uniform"}
    assert log["samples"][log["method"] == "pkg"].tolist()[0::42] == [18.0, 60.0]
    summary = runs.read_summary(folder)
    assert 0.3 < summary["pkg"]["correct"]["mean"] <= 1
    assert "30 selections by each method" in capsys.readouterr().out
    config = json.loads((folder / "config.json").read_text())
    assert config["config"]["problem"] == "wins"


def played(monkeypatch, folder, method, problem: Any = "wins", **numbers):
    """What a simulation would play, without playing it: its task, selector, params and batch."""
    seen = []

    def run_rows(bench, task, name, selector, kind, params=None, batch=1):
        seen.append((task, selector, params, batch))
        raise sweep.Interrupted

    monkeypatch.setattr("papers.selections.job.run_rows", run_rows)
    with pytest.raises(sweep.Interrupted):
        select(Job(SelectionsConfig(method, problem, **numbers), folder))
    return seen[0]


@pytest.mark.parametrize(
    ("method", "selector"),
    [
        ("active-ranking", ActiveRanking(3, 1)),
        ("active-ranking-wide", ActiveRanking(3, 1, radius="heckel")),
        ("pairwise-race", PairwiseRace(3, 1)),
        ("pairwise-race-copeland", PairwiseRace(3, 1, ranking="copeland")),
        ("pairwise-race-walk", PairwiseRace(3, 1, ranking="random_walk")),
    ],
)
def test_who_plays_with_a_guarantee(method, selector, monkeypatch, tmp_path):
    size = {"options": 3, "top": 1, "budget": 31, "repeats": 2}
    _, found, params, _ = played(monkeypatch, tmp_path / "run", method, delta=0.25, **size)
    assert found == selector
    assert params.delta == 0.25
    if isinstance(selector, PairwiseRace):
        assert params.max_rounds == 11  # of 3 pairs each, for a budget of 31


@pytest.mark.parametrize(("uniform", "mean"), [("variance", 2 / 3), ("deviation", 1 / 2)])
def test_what_is_uniform_in_the_thurstone_problem(uniform, mean, monkeypatch, tmp_path):
    """By the mean deviation of 600 pairs, whose standard error is .012 at most."""
    size = {"options": 3, "top": 1, "budget": 19, "repeats": 200, "uniform": uniform}
    task, *_ = played(monkeypatch, tmp_path / "run", "pocbam", "thurstone", **size)
    assert task.problems.deviations.sum() / 1200 == pytest.approx(mean, abs=0.05)


def test_who_plays_from_scores(monkeypatch, tmp_path):
    size = {"options": 3, "top": 1, "budget": 19, "repeats": 2, "batch": 5, "pooled_samples": 0.5}
    *_, found, _, batch = played(monkeypatch, tmp_path / "run", "pocbam", **size)
    assert (found, batch) == (Pocbam(3, 1, pooled_samples=0.5), 5)
    size |= {"batch": 2}
    *_, found, _, batch = played(
        monkeypatch, tmp_path / "other", "ml-pocbam-stationary", **size | {"budget": 9}
    )
    assert (found, batch) == (StationaryMlPocbam(3, 1, follows=True, pooled_samples=0.5), 2)


def test_a_budget_that_nothing_divides_is_cut(monkeypatch, tmp_path):
    size = {"options": 4, "top": 1, "repeats": 2}
    # 18 in the warm-up, and a prime number.
    task, *_ = played(monkeypatch, tmp_path / "run", "uniform", budget=5017, **size)
    assert task.interval == 50
    assert task.budget == 18 + 50 * 99
    task, *_ = played(monkeypatch, tmp_path / "other", "uniform", budget=5018, **size)
    assert task.budget == 5018
