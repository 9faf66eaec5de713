"""The reproductions on the medical task: tables, and what the reports are made of."""

import dataclasses
from typing import Any

import jax
import numpy as np
import pytest
import sweep_cases as cases

from jaxrace import runs, sweep, tables
from jaxrace.commands.cli import main
from jaxrace.commands.job import Job
from jaxrace.commands.reproduce.config import ReproduceConfig
from jaxrace.commands.reproduce.job import reproduce
from jaxrace.commands.train.config import TrainConfig
from jaxrace.commands.train.learning import make_search
from jaxrace.commands.train.tasks import medical_task
from jaxrace.commands.workbench import Workbench, with_error
from jaxrace.papers.preference_racing import medical_choices, medical_grid
from jaxrace.papers.preference_racing.medical_choices import CHOICES
from jaxrace.papers.preference_racing.medical_runs import HAZARDS, LEARNERS
from jaxrace.papers.preference_racing.racing_pays import FAST, VARIANTS

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
@pytest.mark.parametrize("method", ["pbpi", "sarsa", "pb-edps"])
def test_the_command_trains_the_same_policies(outcomes, tmp_path, method):
    command = ["train", "medical", "--method", method, "--repeats", str(REPEATS)]
    command += ["--episodes", str(EPISODES), "--hazard", "B"]
    command += ["--bound", "published"] if method == "pb-edps" else []
    assert main([*command, "--out", str(tmp_path / "run"), "--no-compilation-cache"]) == 0
    table = tables.read_table(outcomes / "outcomes.csv")
    expected = rows_of(table, hazard="B", method=method)
    summary = runs.read_summary(tmp_path / "run")
    for metric in ("survival_rate", "mean_reward", "max_toxicity"):
        mean = expected[metric].mean()
        assert summary[metric]["mean"] == pytest.approx(mean, rel=1e-5)
    log = runs.read_log(tmp_path / "run")
    assert (np.diff(log["episodes"])[np.diff(log["repeat"]) == 0] > 0).all()
    names = {path.name for path in (tmp_path / "run").iterdir()}
    # A table of values is too large for the log.
    assert ("policies.npz" in names) == (method == "sarsa")
    assert ("theta_0" in log) == (method != "sarsa")
    if method == "sarsa":
        with np.load(tmp_path / "run" / "policies.npz") as archive:
            assert archive["theta"].shape == (REPEATS, 1600)


@pytest.mark.slow
def test_the_fast_method_has_sizes_of_its_own(tmp_path, capsys):
    command = ["train", "medical", "--method", "pb-edps-fast", "--repeats", "2"]
    command += ["--no-compilation-cache"]
    assert main([*command, "--episodes", "800", "--out", str(tmp_path / "run")]) == 0
    log = runs.read_log(tmp_path / "run")
    assert log["episodes"][log["generation"] == 1].tolist() == [14 * 30] * 2
    # The last race is between ten policies, for what was reserved.
    assert log["max_rounds"].tolist() == [30, 20] * 2
    assert log["episodes"][log["generation"] == 2].tolist() == [14 * 30 + 10 * 20] * 2
    for option, value in (("--population", "9"), ("--max-rounds", "50")):
        assert main([*command, option, value]) == 2
        assert f"{option}: expected none with method pb-edps-fast" in capsys.readouterr().err


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
def test_curves_end_where_the_outcomes_are(outcomes, convergence):
    curves = tables.read_table(convergence / "curves.csv")
    table = tables.read_table(outcomes / "outcomes.csv")
    for method in LEARNERS:
        rows = rows_of(curves, hazard="A", method=method)
        ends = np.append(np.diff(rows["repeat"]) != 0, True)
        expected = rows_of(table, hazard="A", method=method)
        np.testing.assert_allclose(rows["mean_reward"][ends], expected["mean_reward"], rtol=1e-5)


@pytest.mark.slow
def test_the_grid_is_that_of_the_command(tmp_path):
    folder = run_small("medical-grid", tmp_path / "grid")
    table = tables.read_table(folder / "grid.csv")
    assert len(table["sigma"]) == 2 * 2 * 4
    command = ["train", "medical", "--method", "pb-edps", "--bound", "published"]
    command += [
        "--sigma",
        "1,10",
        "--delta",
        "0.2,0.5",
        "--repeats",
        str(REPEATS),
        "--episodes",
        str(EPISODES),
    ]
    assert main([*command, "--out", str(tmp_path / "run"), "--no-compilation-cache"]) == 0
    for setting in runs.read_summary(tmp_path / "run")["settings"]:
        own = {name: setting[name] for name in ("sigma", "delta")}
        rows = rows_of(table, hazard="A", method="pb-edps", **own)
        assert rows["mean_reward"] == pytest.approx([setting["mean_reward"]["mean"]], rel=1e-5)
        assert rows["survival_rate_stderr"] == pytest.approx(
            [setting["survival_rate"]["stderr"]], rel=1e-4
        )


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


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_is_what_its_name_says(name):
    config = TrainConfig(episodes=3_000)
    variant = VARIANTS[name]
    searches = variant.searches(config, medical_task(config))
    settings = jax.tree.map(lambda x: x[0], searches.settings)
    is_final = name.endswith("final race")
    learner: Any = searches.search
    search = learner.search if is_final else learner
    numbers = settings.search if is_final else settings
    words = name.replace(",", "").split()
    population = int(words[words.index("population") + 1]) if "population" in words else 7
    assert (search.race.num_options, search.race.top) == (population, population // 2)
    rounds = (3, 100)
    for unit in {"rollouts", "shared"} & set(words):
        if words[words.index(unit) - 1].isdigit():
            rounds = (int(words[words.index(unit) - 1]),) * 2
    assert search.common_random_numbers == ("shared patients" in name)
    if name == "n_max up to 30":
        rounds = (3, 30)
    assert (int(numbers.min_rounds), int(numbers.max_rounds)) == rounds
    assert variant.base in VARIANTS
    # Of one task, with numbers of one kind: those with adaptive deltas have several tables.
    assert jax.tree.leaves(numbers.race)[0].shape[0] == len(variant.deltas)
    state = searches.search.init(jax.random.key(0), settings)
    assert not bool(searches.search.done(state, settings))


@pytest.mark.slow
def test_all_variants_run(tmp_path, monkeypatch):
    sizes = {10: 2, 2_000: EPISODES}
    monkeypatch.setattr(Workbench, "size", lambda self, full, quick: sizes.get(quick, full))
    folder = reproduce(Job(ReproduceConfig("racing-pays", quick=True), tmp_path / "variants"))
    table = tables.read_table(folder / "variants.csv")
    assert set(table["variant"]) == set(VARIANTS)
    generations = tables.read_table(folder / "generations.csv")
    final = set(generations["variant"][generations["race"] == "final"])
    assert final == {name for name, variant in VARIANTS.items() if variant.is_final}


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

    def changed(choice):
        return {claim for claim in claims if here[choice, claim] != here[plain, claim]}

    # Without an intercept SARSA and PBPI are the same, and with other rates the searches are.
    fewest = "Fewest patients die by PBPI: the order of the death rates"
    assert changed(few[1])
    assert not changed(few[1]) & {"(C_S, C_X) of PBPI", fewest}
    assert "Hazard A: the reward of SARSA is on a par with that of the others" in changed(few[2])
    assert "(C_S, C_X) of PBPI" not in changed(few[2])
