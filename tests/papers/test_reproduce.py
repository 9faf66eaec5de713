"""`python -m papers`: tables, figures, reports, interruptions."""

import shutil

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace import racing, sweep
from jaxrace.commands.job import Job
from jaxrace.runs import tables
from papers import job as reproduce_module
from papers.__main__ import main
from papers.config import ReproduceConfig
from papers.figures import FIGURES, IN_ALL
from papers.job import reproduce
from papers.preference_racing import races as race_curves
from papers.preference_racing import synthetic as pbr_synthetic
from papers.preference_racing import variants
from papers.preference_racing.trials import AnyTask
from papers.workbench import Workbench

REPETITIONS = 3

# The cache would stay switched on for the tests that follow.
COMMAND = ["--no-compilation-cache"]


@pytest.fixture
def small(monkeypatch):
    """Few repetitions and values of k, and the two cheapest races."""
    monkeypatch.setattr(race_curves, "COMPLEXITIES", (1.0, 7.0))
    lineup = {run: race for run, race in pbr_synthetic.lineup().items() if run[0] == "HR"}
    monkeypatch.setattr(Workbench, "size", lambda self, full, quick: REPETITIONS)
    return lineup


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory):
    """The folder of a small `pbr-synthetic`."""
    folder = tmp_path_factory.mktemp("runs") / "synthetic"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Workbench, "size", lambda self, full, quick: REPETITIONS)
        assert main([*COMMAND, "pbr-synthetic", "--quick", "--out", str(folder)]) == 0
    return folder


@pytest.mark.slow
def test_the_table_of_races(synthetic):
    table = tables.read_table(synthetic / "races.csv")
    assert list(table) == [
        *("task", "algorithm", "variant", "rule", "bound", "k", "repetitions"),
        *("accuracy", "accuracy_stderr", "samples", "samples_stderr"),
    ]
    # HR twice, PBR with both rules twice, four more bounds, and the dominance race.
    assert len(table["k"]) == 4 * 10 * (2 + 4 + 4 + 1)
    assert set(table["repetitions"]) == {REPETITIONS}
    assert ((table["accuracy"] >= 0) & (table["accuracy"] <= 1)).all()
    assert ((table["samples"] > 0) & (table["samples"] <= 3000)).all()


@pytest.mark.slow
def test_what_lies_in_the_folder(synthetic):
    assert {path.name for path in synthetic.iterdir()} == {
        *("config.json", "races.csv", "figure_2.png", "bounds.png", "report.md"),
    }
    report = (synthetic / "report.md").read_text()
    assert "a quick look, not the full size" in report.lower()
    for number in ("2,847", "0.978", "1,791", "2,509"):
        assert f"| {number} |" in report
    assert "| nan" not in report


@pytest.mark.slow
def test_races_by_other_rankings(tmp_path, monkeypatch):
    monkeypatch.setattr(Workbench, "size", lambda self, full, quick: REPETITIONS)
    folder = reproduce(Job(ReproduceConfig("bf13-variants"), tmp_path / "rankings"))
    table = tables.read_table(folder / "races.csv")
    assert len(table["k"]) == 9 * 4 * 10
    assert set(table["algorithm"]) == set(variants.RANKINGS)
    report = (folder / "report.md").read_text()
    assert all(f"| {number} |" in report for number in ("1,161", "2,262", "1,813"))


def test_a_line_of_a_small_table_is_what_its_race_does(tmp_path, monkeypatch):
    """Each k has its own range."""
    monkeypatch.setattr(race_curves, "COMPLEXITIES", (1.0, 7.0))
    improved = ("HR", "improved", "", "hoeffding")
    lineup = {run: race for run, race in pbr_synthetic.lineup().items() if run == improved}
    curves = race_curves.measure(Workbench(tmp_path), lineup, REPETITIONS)
    tables.write_table(tmp_path / "races.csv", race_curves.table_of(curves))
    table = tables.read_table(tmp_path / "races.csv")
    assert len(table["k"]) == 4 * 2
    curve = race_curves.hoeffding("uniform", "improved")
    race = racing.HoeffdingRace(10, 5, intersect=True, dynamic_delta=True)
    chosen = np.all([table[head] == value for head, value in curve._asdict().items()], axis=0)
    k, number = 7.0, list(race_curves.TASKS).index(curve.task)
    complexities = race_curves.COMPLEXITIES
    place = number * len(complexities) + complexities.index(k)
    tasks = AnyTask(tuple(race_curves.TASKS.values()))
    draws, accuracies = [], []
    for repetition in range(REPETITIONS):
        key = jax.random.fold_in(jax.random.key(0), place * REPETITIONS + repetition)
        draw_key, race_key = jax.random.split(key)
        which = jnp.int32(list(race_curves.TASKS).index(curve.task))
        options = tasks.draw(draw_key, which, jnp.float32(k), 10)
        result = racing.run(race, race_key, tasks, options, race.params(0.05, 300, 10 * k))
        draws.append(int(result.samples.sum()))
        means = np.asarray(race_curves.TASKS[curve.task].means(options[1][int(which)]))
        best = set(np.argsort(-means)[:5].tolist())
        accuracies.append(len(best & set(result.best.tolist())) / 5)
    line = np.flatnonzero(chosen & (table["k"] == 7))
    assert line.size == 1
    assert table["samples"][line[0]] == pytest.approx(np.mean(draws))
    assert table["accuracy"][line[0]] == pytest.approx(np.mean(accuracies))
    assert table["samples_stderr"][line[0]] == pytest.approx(np.std(draws, ddof=1) / 3**0.5)


@pytest.mark.slow
def test_an_interrupted_reproduction_is_resumed(tmp_path, small, monkeypatch, capsys):
    """With two races only: the tables that they leave are those of an uninterrupted run."""
    tables = []
    monkeypatch.setattr(pbr_synthetic, "lineup", lambda: small)
    monkeypatch.setattr(pbr_synthetic, "_accuracy_against_draws", lambda curves: None)
    monkeypatch.setattr(pbr_synthetic, "_draws_of_bounds", lambda curves: None)
    monkeypatch.setattr(pbr_synthetic, "_table_of_bounds", lambda curves: "")
    for part in ("_claims", "_differences", "_savings"):
        monkeypatch.setattr(pbr_synthetic, part, lambda *_: {})
    monkeypatch.setattr(pbr_synthetic.races, "PUBLISHED", {})
    monkeypatch.setattr(Workbench, "write_figure", lambda self, name, figure: None)
    whole = reproduce(Job(ReproduceConfig("pbr-synthetic"), tmp_path / "whole"))
    asked = iter(range(1))
    folder = tmp_path / "parts"
    with pytest.raises(sweep.Interrupted):
        reproduce(
            Job(ReproduceConfig("pbr-synthetic"), folder, stop=lambda: next(asked, None) is None)
        )
    assert not (folder / "report.md").exists()
    command = [*COMMAND, "pbr-synthetic", "--out", str(folder)]
    assert main([*command, "--resume", "--quick"]) == 2
    assert "--quick: expected False as in" in capsys.readouterr().err
    assert main(command) == 2
    assert main([*command, "--resume"]) == 0
    assert main([*command, "--resume"]) == 0  # it is finished
    tables = [(path / "races.csv").read_bytes() for path in (whole, folder)]
    assert tables[0] == tables[1]
    assert not (folder / "checkpoint").exists()


def test_all_experiments_are_reproduced_in_their_folders(tmp_path, monkeypatch):
    done = []

    def run(bench):
        done.append(bench.folder.name)
        bench.write_report()

    monkeypatch.setattr(reproduce_module, "maker", lambda name: run)
    folder = reproduce(Job(ReproduceConfig("all", quick=True), tmp_path / "all"))
    expected = [name for name in FIGURES if name in IN_ALL]
    assert done == expected
    shutil.rmtree(folder / done[-1])
    assert reproduce(Job(ReproduceConfig("all", quick=True), folder, resume=True)) == folder
    assert done == [*expected, done[-1]]
