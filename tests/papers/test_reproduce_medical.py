"""The reproductions on the medical task: tables, and what the reports are made of."""

import dataclasses
from typing import Any

import jax
import numpy as np
import pytest
import sweep_cases as cases

from jaxrace import runs, sweep
from jaxrace.commands.cli import main
from jaxrace.commands.job import Job
from jaxrace.commands.train.config import TrainConfig
from jaxrace.commands.train.learning import make_search
from jaxrace.commands.train.tasks import medical_task
from jaxrace.runs import tables
from papers.config import ReproduceConfig
from papers.job import reproduce
from papers.preference_racing import medical_choices, medical_grid
from papers.preference_racing.medical_choices import CHOICES
from papers.preference_racing.medical_runs import HAZARDS, LEARNERS
from papers.preference_racing.racing_pays import FAST, VARIANTS
from papers.workbench import Workbench, with_error

REPEATS, EPISODES = 4, 900
SMALL = {10: REPEATS, 2_000: EPISODES, 2: 2}
DOSES = ("0.1", "0.4", "0.5", "0.55", "0.7", "1")
FIXED = (*(f"constant {dose}" for dose in DOSES), "random")


def run_small(name, folder):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Workbench, "size", lambda self, full, quick: SMALL[quick])
        patched.setattr(medical_grid, "SIGMAS", (1.0, 10.0))
        patched.setattr(medical_grid, "DELTAS", (0.2, 0.5))
        return reproduce(Job(ReproduceConfig(name, quick=True), folder))


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    return run_small("medical-outcomes", tmp_path_factory.mktemp("runs") / "outcomes")


@pytest.fixture(scope="module")
def convergence(tmp_path_factory):
    return run_small("medical-convergence", tmp_path_factory.mktemp("runs") / "convergence")


def rows_of(table, **names):
    chosen = np.all([table[name] == value for name, value in names.items()], axis=0)
    return {name: column[chosen] for name, column in table.items()}


@pytest.mark.slow
def test_outcomes_of_every_method_and_repetition(outcomes):
    table = tables.read_table(outcomes / "outcomes.csv")
    assert len(table["repeat"]) == 2 * (len(LEARNERS) + len(FIXED)) * REPEATS
    report = (outcomes / "report.md").read_text()
    for method in (*LEARNERS, *FIXED):
        rows = rows_of(table, hazard="B", method=method)
        found = runs.mean_and_stderr(rows["tumour_size"])
        line = next(
            line
            for line in report.partition("## Hazard B")[2].splitlines()
            if line.startswith(f"| {method} |")
        )
        assert f"| {with_error(found['mean'], found['stderr'])} |" in line
    assert (outcomes / "figure_3_and_5.png").stat().st_size > 10_000


@pytest.mark.slow
def test_the_command_trains_the_same_policies(outcomes, tmp_path):
    command = ["train", "medical", "--method", "pb-edps", "--repeats", str(REPEATS)]
    command += ["--episodes", str(EPISODES), "--hazard", "B", "--bound", "published"]
    assert main([*command, "--out", str(tmp_path / "run"), "--no-compilation-cache"]) == 0
    table = tables.read_table(outcomes / "outcomes.csv")
    expected = rows_of(table, hazard="B", method="pb-edps")
    summary = runs.read_summary(tmp_path / "run")
    for metric in ("survival_rate", "mean_reward", "max_toxicity"):
        mean = expected[metric].mean()
        assert summary[metric]["mean"] == pytest.approx(mean, rel=1e-5)
    log = runs.read_log(tmp_path / "run")
    assert (np.diff(log["episodes"])[np.diff(log["repeat"]) == 0] > 0).all()
    assert "theta_0" in log


def test_the_fast_method_is_what_was_measured():
    config = TrainConfig(method="pb-edps-fast", hazard="B")
    task = medical_task(config)
    shipped, measured = make_search(config, task), VARIANTS[FAST].searches(config, task)
    # It draws the rounds of a race together, which changes nothing that is counted.
    found: Any = shipped.search
    searched = dataclasses.replace(found.search, chunk=None)
    assert dataclasses.replace(found, search=searched) == measured.search
    jax.tree.map(np.testing.assert_array_equal, shipped.settings, measured.settings)


@pytest.mark.slow
def test_variants_of_the_search(tmp_path):
    folder = run_small("racing-pays", tmp_path / "variants")
    table = tables.read_table(folder / "variants.csv")
    assert table["variant"].tolist() == [name for name in list(VARIANTS)[:2] for _ in HAZARDS]
    assert (table["episodes"] <= EPISODES).all()
    generations = tables.read_table(folder / "generations.csv")
    rows = rows_of(generations, variant="3 rollouts", hazard="A")
    assert set(rows["max_rounds"]) == {3}
    assert set(rows["simulated"]) == {7 * 16}  # a chunk of rounds is drawn at once
    assert rows["generation"].tolist() == list(range(1, 44))  # 43 races of 21 episodes

    # Nothing is left to the final races, of which there is none here.
    assert set(generations["race"]) == {"generation"}
    assert "Hazard A: does racing pay? No." in (folder / "report.md").read_text()


def test_a_reproduction_that_goes_wrong_says_so(tmp_path):
    jobs = sweep.stacked(cases.wanders([3, 3, 3], [0, 2, 0]))
    with pytest.raises(RuntimeError, match="walks: 1 of 3 jobs went wrong"):
        Workbench(tmp_path).sweep("walks", cases.WORK, jobs)


@pytest.mark.slow
def test_choices_change_what_they_say_and_nothing_else(convergence, tmp_path):
    with pytest.MonkeyPatch.context() as patched:
        few = ("as in the other reports", "no intercept", "SARSA anneals ten times slower")
        patched.setattr(medical_choices, "CHOICES", {name: CHOICES[name] for name in few})
        folder = run_small("medical-choices", tmp_path / "choices")
    table = tables.read_table(folder / "claims.csv")
    here = {
        (choice, claim): words
        for choice, claim, words in zip(table["choice"], table["claim"], table["here"], strict=True)
    }
    claims = sorted({claim for _, claim in here})
    assert len(here) == len(few) * len(claims)
    plain, report = few[0], (convergence / "report.md").read_text()
    of_convergence = [claim for claim in claims if f"| {here[plain, claim]} |" in report]
    assert len(of_convergence) == 7
