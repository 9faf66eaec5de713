"""The reproductions on the medical task: tables, and what the reports are made of."""

import numpy as np
import pytest
import sweep_cases as cases

from jaxrace import runs, sweep, tables
from jaxrace.cli import main
from jaxrace.experiments import medical_grid, medical_outcomes, racing_pays
from jaxrace.experiments.medical_convergence import mean_before, smoothed
from jaxrace.experiments.medical_outcomes import Ellipse, ellipses, pareto_front
from jaxrace.experiments.medical_runs import HAZARDS, LEARNERS, Learning
from jaxrace.experiments.racing_variants import VARIANTS
from jaxrace.experiments.reproduce import reproduce
from jaxrace.experiments.workbench import Workbench

REPEATS, EPISODES = 4, 900
SMALL = {10: REPEATS, 2_000: EPISODES, 2: 2}
FIXED = ("constant 0.1", "constant 0.4", "constant 0.5", "constant 0.7", "constant 1", "random")


def run_small(name, folder):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Workbench, "size", lambda self, full, quick: SMALL[quick])
        patched.setattr(medical_grid, "SIGMAS", (1.0, 10.0))
        patched.setattr(medical_grid, "DELTAS", (0.2, 0.5))
        return reproduce(name, folder, quick=True)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    return run_small("medical-outcomes", tmp_path_factory.mktemp("runs") / "outcomes")


@pytest.fixture(scope="module")
def convergence(tmp_path_factory):
    return run_small("medical-convergence", tmp_path_factory.mktemp("runs") / "convergence")


def rows_of(table, **names):
    chosen = np.all([table[name] == value for name, value in names.items()], axis=0)
    return {name: column[chosen] for name, column in table.items()}


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
        assert f"| {found['mean']:.3f} ± {found['stderr']:.3f} |" in line
    assert (outcomes / "figure_3_and_5.png").stat().st_size > 10_000


@pytest.mark.parametrize("method", ["pbpi", "sarsa", "pb-edps"])
def test_the_command_trains_the_same_policies(outcomes, tmp_path, method):
    command = ["train", "medical", "--method", method, "--repeats", str(REPEATS)]
    command += ["--episodes", str(EPISODES), "--bound", "published", "--hazard", "B"]
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


def test_the_fast_method_has_sizes_of_its_own(tmp_path, capsys):
    command = ["train", "medical", "--method", "pb-edps-fast", "--repeats", "2"]
    command += ["--no-compilation-cache"]
    assert main([*command, "--episodes", "800", "--out", str(tmp_path / "run")]) == 0
    log = runs.read_log(tmp_path / "run")
    assert set(log["max_rounds"]) == {30}
    assert log["episodes"][log["generation"] == 1].tolist() == [14 * 30] * 2
    for option, value in (("--population", "9"), ("--max-rounds", "50")):
        assert main([*command, option, value]) == 2
        assert f"{option}: expected none with pb-edps-fast" in capsys.readouterr().err


@pytest.mark.parametrize("method", ["pbpi", "sarsa"])
def test_learners_without_a_step_size_have_no_grid(capsys, method):
    command = ["train", "medical", "--method", method, "--no-compilation-cache"]
    assert main([*command, "--sigma", "1,2"]) == 2
    assert "--method: expected pb-edps or edps for a grid" in capsys.readouterr().err


def test_curves_end_where_the_outcomes_are(outcomes, convergence):
    curves = tables.read_table(convergence / "curves.csv")
    table = tables.read_table(outcomes / "outcomes.csv")
    for method in LEARNERS:
        rows = rows_of(curves, hazard="A", method=method)
        ends = np.append(np.diff(rows["repeat"]) != 0, True)
        expected = rows_of(table, hazard="A", method=method)
        np.testing.assert_allclose(rows["mean_reward"][ends], expected["mean_reward"], rtol=1e-5)


def test_the_grid_is_that_of_the_command(tmp_path):
    folder = run_small("medical-grid", tmp_path / "grid")
    table = tables.read_table(folder / "grid.csv")
    assert len(table["sigma"]) == 2 * 2 * 4
    command = ["train", "medical", "--sigma", "1,10", "--delta", "0.2,0.5", "--bound", "published"]
    command += ["--repeats", str(REPEATS), "--episodes", str(EPISODES)]
    assert main([*command, "--out", str(tmp_path / "run"), "--no-compilation-cache"]) == 0
    for setting in runs.read_summary(tmp_path / "run")["settings"]:
        own = {name: setting[name] for name in ("sigma", "delta")}
        rows = rows_of(table, hazard="A", method="pb-edps", **own)
        assert rows["mean_reward"] == pytest.approx([setting["mean_reward"]["mean"]], rel=1e-5)
        assert rows["survival_rate_stderr"] == pytest.approx(
            [setting["survival_rate"]["stderr"]], rel=1e-4
        )


def test_variants_of_the_search(tmp_path):
    folder = run_small("racing-pays", tmp_path / "variants")
    table = tables.read_table(folder / "variants.csv")
    assert table["variant"].tolist() == [name for name in list(VARIANTS)[:2] for _ in HAZARDS]
    assert (table["episodes"] <= EPISODES).all()
    generations = tables.read_table(folder / "generations.csv")
    rows = rows_of(generations, variant="3 rollouts", hazard="A")
    assert set(rows["max_rounds"]) == {3}
    assert set(rows["simulated"]) == {7 * 25}  # a chunk of rounds is drawn at once
    assert rows["generation"].tolist() == list(range(1, 44))  # 43 races of 21 episodes


def test_no_point_of_the_front_is_dominated():
    points = np.random.default_rng(0).integers(0, 6, (60, 3)).astype(float)
    expected = [
        not any((other <= point).all() and (other < point).any() for other in points)
        for point in points
    ]
    assert pareto_front(points).tolist() == expected


def inside(ellipse: Ellipse, center, points):
    angle = np.radians(ellipse.angle)
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    along = (points - center) @ turn.T / (np.array([ellipse.width, ellipse.height]) / 2)
    return (along**2).sum(-1) <= 1


def test_ellipses_hold_what_they_say():
    """A new repetition and the true mean lie inside in 95 % of the cases."""
    rng = np.random.default_rng(1)
    mixing = np.array([[1.0, 0.0], [-0.8, 0.3]])
    held = np.zeros(2)
    trials = 4000
    for _ in range(trials):
        points = rng.normal(size=(30, 2)) @ mixing.T
        data, mean = ellipses(points)
        center = points.mean(0)
        held += inside(mean, center, np.zeros(2)), inside(data, center, points).mean()
    error = np.sqrt(0.95 * 0.05 / trials)
    assert abs(held[0] / trials - 0.95) < 4 * error
    # Of points that the ellipse was made from, a few more than 95 % lie inside.
    assert 0.945 < held[1] / trials < 0.97


def learning(repeat, episodes, values):
    repeat, episodes = np.array(repeat), np.array(episodes)
    last = np.append(np.diff(repeat) != 0, True)
    return Learning(repeat, episodes, {"reward": np.array(values, float)}, {}, last)


def test_who_comes_nearest_to_dominating():
    rng = np.random.default_rng(0)

    def method(tumour, toxicity):
        metrics = {"tumour_size": tumour, "max_toxicity": toxicity}
        return {name: mean + 0.1 * rng.normal(size=400) for name, mean in metrics.items()}

    # One is better in both means, but only just in one; another is better in one alone.
    methods = {"pb-edps": method(1.0, 1.0), "close": method(0.5, 0.985), "far": method(0.1, 2.0)}
    text = medical_outcomes._nearest_to_dominate(methods)
    assert "is close, whose less favourable mean is" in text
    margin = float(text.split(" mean is ")[1].split(" ")[0])
    assert 0.5 < margin < 4.5  # about .015 / (.1 sqrt(2 / 400)) = 2.1
    assert text.endswith("smaller")
    del methods["close"]
    assert medical_outcomes._nearest_to_dominate(methods).endswith("larger")


def test_differences_are_paired_with_their_base():
    rng = np.random.default_rng(1)
    base = rng.normal(size=200)
    found = {
        ("A", "published schedule"): {"survival_rate": base},
        ("A", "30 rollouts"): {"survival_rate": base + 0.5 + 0.01 * rng.normal(size=200)},
        ("A", "30 rollouts, final race"): {"survival_rate": base + 0.7},
    }
    change, error = racing_pays._difference(found, "A", "30 rollouts", "survival_rate")
    assert change == pytest.approx(0.5, abs=0.01)
    assert error == pytest.approx(0.01 / 200**0.5, rel=0.3)
    change, _ = racing_pays._difference(found, "A", "30 rollouts, final race", "survival_rate")
    assert change == pytest.approx(0.2, abs=0.01)


def test_a_policy_counts_from_its_evaluation_to_the_next():
    one = learning([0, 0, 0, 1, 1], [10, 30, 70, 20, 50], [1.0, 3.0, 9.0, 2.0, 4.0])
    # 20 episodes of 1 and 30 of 3; 30 episodes of 2 and 10 of 4.
    expected = [(20 * 1 + 30 * 3) / 50, (30 * 2 + 10 * 4) / 40]
    np.testing.assert_allclose(mean_before(one, "reward", 60), expected)


def test_curves_are_means_at_common_places():
    same = learning([0, 0, 1, 1], [100, 200, 100, 200], [1.0, 2.0, 3.0, 6.0])
    places, means = smoothed(same, "reward")
    assert (places.tolist(), means.tolist()) == ([100, 200], [2.0, 4.0])


def test_clouds_are_smoothed_by_a_kernel():
    """A noisy line is found again, and a stray point among many does not make a peak."""
    rng = np.random.default_rng(0)
    repeat = np.repeat(np.arange(200), 30)
    episodes = np.sort(rng.integers(0, 10_000, (200, 30)), axis=1).ravel()
    cloud = learning(repeat, episodes, 3 + episodes / 1000 + rng.normal(size=6000))
    places, means = smoothed(cloud, "reward")
    inner = (places > 1000) & (places < 9000)
    np.testing.assert_allclose(means[inner], 3 + places[inner] / 1000, atol=0.35)
    # All at 0, 700, ..., 7000, and one of them at 350.
    episodes = np.tile(np.arange(0, 7001, 700), 200)
    stray = learning(np.repeat(np.arange(200), 11), episodes, np.ones(2200))
    stray.episodes[1], stray.metrics["reward"][1] = 350, 100.0
    assert smoothed(stray, "reward")[1].max() < 2.5


def test_a_reproduction_that_goes_wrong_says_so(tmp_path):
    jobs = sweep.stacked(cases.wanders([3, 3, 3], [0, 2, 0]))
    with pytest.raises(RuntimeError, match="walks: 1 of 3 jobs went wrong"):
        Workbench(tmp_path).sweep("walks", cases.WORK, jobs)
