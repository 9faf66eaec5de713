"""`jaxrace improve`: simulated tasks, files of logged trajectories, and bad input."""

import json

import jax.numpy as jnp
import numpy as np
import pytest
from rich.console import Console

from jaxrace import runs
from jaxrace.bases import Fourier
from jaxrace.cli import main
from jaxrace.experiments.improve_config import BOUNDS, ImproveConfig
from jaxrace.experiments.improve_report import print_improvement
from jaxrace.improvement import BOUNDS as LOWER_BOUNDS
from jaxrace.improvement import ReturnRange
from jaxrace.improvement.loading import load
from jaxrace.improvement.saved import load_policy

# The cache would stay switched on for the tests that follow.
COMMAND = ["improve", "--no-compilation-cache"]
SMALL = ["--bound", "t", "--candidates", "none"]


def test_all_bounds_are_explained():
    assert set(BOUNDS) == set(LOWER_BOUNDS)
    for name, text in BOUNDS.items():
        if name != "betting-anytime":
            assert text.startswith("safe" if LOWER_BOUNDS[name].is_safe else "semi-safe")


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "grid"
    size = ["--trajectories", "400", "--repeats", "3"]
    assert main([*COMMAND, "gridworld", *SMALL, *size, "--out", str(folder)]) == 0
    return folder


def test_what_lies_in_the_folder(simulated):
    names = {path.name for path in simulated.iterdir()}
    assert names == {"config.json", "log.csv", "summary.json", "policy.npz", "performance.png"}
    log = runs.read_log(simulated)
    assert log["trajectories"].tolist() == [100, 200, 300, 400] * 3
    assert not (log["added"] & ~log["passed"]).any()
    assert (log["lower_bound"][log["passed"]] >= 0.238 - 1e-6).all()
    assert (log["lower_bound"][~log["passed"]] < 0.238).all()
    changed = np.flatnonzero(
        np.diff(log["performance"]) * (log["repeat"][1:] == log["repeat"][:-1])
    )
    assert log["added"].reshape(3, 4).any(1).sum() == len(
        set(log["repeat"][changed + 1])
        | set(log["repeat"][log["added"] & (log["trajectories"] == 100)])
    )
    summary = runs.read_summary(simulated)
    assert summary["floor"] == 0.238
    assert not summary["is_safe"]
    assert summary["performance"]["mean"] == pytest.approx(log["performance"][3::4].mean())
    policy = np.load(simulated / "policy.npz")
    assert policy["theta"].shape == (3, 4, 16)
    assert policy["alpha"].tolist() == [1, 1, 1]
    with pytest.raises(ValueError, match="expected the policy of a run on a file"):
        load_policy(simulated / "policy.npz")


def test_it_goes_on_where_it_was(simulated, capsys):
    """A finished run says again what it found."""
    size = ["--trajectories", "400", "--repeats", "3"]
    command = [*COMMAND, "gridworld", *SMALL, *size, "--out", str(simulated), "--resume"]
    assert main(command) == 0
    said = capsys.readouterr().out
    assert "policy at the start: performance 0.238" in said
    assert "not a strict guarantee: daedalus2 tests on data that it has seen" in said


def write_csv(path, count=400, best=0.9):
    rng = np.random.default_rng(0)
    rows = ["trajectory,age,action,probability,reward"]
    for number in range(count):
        done = rng.integers(2)
        paid = float(rng.random() < (best if done else 0.1))
        rows.append(f"t{number},{rng.uniform(20, 60):.1f},{done},0.5,{paid}")
    path.write_text("\n".join(rows) + "\n")
    return str(path)


def test_a_file(tmp_path, capsys):
    data = write_csv(tmp_path / "log.csv")
    out = tmp_path / "run"
    command = [*COMMAND, data, "--low", "0", "--high", "1", "--bound", "betting"]
    assert main([*command, "--candidates", "none", "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("found: with confidence 95% its performance is at least 0.8")
    assert "\nfloor 0.525 = mean of the log +- 0.025: " in said
    assert "bound betting is safe: a policy worse than the floor with probability at most " in said
    summary = runs.read_summary(out)
    assert summary["is_safe"]
    assert summary["lower_bound"] < 0.9
    assert not (out / "performance.png").exists()
    assert summary["floor_stderr"] == pytest.approx(np.sqrt(0.25 / 400), rel=0.05)


def test_a_policy_can_be_applied(tmp_path):
    """By what policy.npz says alone: in a log where one action is for the old, the other not."""
    rng = np.random.default_rng(1)
    rows = ["trajectory,age,noise,action,probability,reward"]
    for number in range(600):
        age, done = rng.uniform(20, 60), rng.integers(2)
        paid = float(rng.random() < (0.9 if done == (age > 40) else 0.1))
        rows.append(f"{number},{age},{rng.normal(5, 2)},{done},0.5,{paid}")
    (tmp_path / "log.csv").write_text("\n".join(rows) + "\n")
    command = [*COMMAND, str(tmp_path / "log.csv"), "--low", "0", "--high", "1", *SMALL]
    assert main([*command, "--order", "1", "--out", str(tmp_path / "run")]) == 0
    policy = load_policy(tmp_path / "run" / "policy.npz")
    assert policy.names == ("age", "noise")
    assert policy.softmax.basis == Fourier(1, 2)
    assert policy.alpha == runs.read_summary(tmp_path / "run")["alpha"] == 1
    chances = policy.probabilities([[22, 5], [58, 5]])
    assert chances.argmax(1).tolist() == [0, 1]
    assert chances.max(1).min() > 0.7
    # They are those by which the test judged.
    found = load(tmp_path / "log.csv", ReturnRange(0, 1))
    lines = np.loadtxt(tmp_path / "log.csv", delimiter=",", skiprows=1)
    expected = policy.softmax.probabilities(
        jnp.asarray(policy.theta), found.data.observations[:, 0]
    )
    np.testing.assert_allclose(policy.probabilities(lines[:, 1:3]), expected, rtol=1e-4)
    half = policy._replace(alpha=0.5)
    mixed = half.probabilities([22, 5], in_use=[0.2, 0.8])
    np.testing.assert_allclose(mixed, (chances[0] + [0.2, 0.8]) / 2)
    with pytest.raises(ValueError, match=r"^in_use: expected .* with probability 0.5, got None"):
        half.probabilities([22, 5])


def report_of(tmp_path, **changes):
    """What is said of a summary."""
    share = {"mean": 1.0, "stderr": None, "count": 1}
    numbers = {"floor": 0.5, "floor_stderr": 0.01, "lower_bound": 0.61, "estimate": 0.7}
    kind = {"method": "batch", "bound": "ci", "is_safe": True, "delta": 0.05}
    counts = {"delta_holds_for": "the whole run", "tests": 1, "repeats": 1, "passed": share}
    runs.write_summary(tmp_path, {**kind, **counts, **numbers, "alpha": 1.0, **changes})
    console = Console(record=True, width=200)
    print_improvement(console, tmp_path)
    return console.export_text()


def test_what_is_said_of_a_mixture(tmp_path):
    assert "a mixture: " not in report_of(tmp_path)
    said = report_of(tmp_path, alpha=0.6)
    assert "a mixture: what policy.npz says with probability 0.6, the policy in use" in said


def test_a_candidate_that_is_no_better(tmp_path):
    """All returns are equal: the candidate passes, and is nothing new."""
    said = report_of(tmp_path, floor=1.0, floor_stderr=0.0, lower_bound=1.0, estimate=1.0)
    assert said.startswith("nothing better found: with confidence 95% its performance is at least ")
    assert "keep the policy in use" in said
    assert "mean of the log" not in said


def test_a_file_without_anything_to_find(tmp_path, capsys):
    data = write_csv(tmp_path / "log.csv", best=0.1)
    command = [*COMMAND, data, "--low", "0", "--high", "1", *SMALL, "--floor", "0.5"]
    assert main([*command, "--out", str(tmp_path / "run")]) == 0
    said = capsys.readouterr().out
    assert said.startswith("nothing found: the bound of the candidate with confidence 95% is 0.")
    assert "keep the policy in use" in said


def test_arrays_of_a_file(tmp_path, capsys):
    rng = np.random.default_rng(0)
    done = rng.integers(2, size=(300, 2))
    arrays = {
        "observations": rng.normal(size=(300, 2, 3)),
        "actions": done,
        "probabilities": np.full((300, 2), 0.5),
        "rewards": done * 1.0,
        "lengths": rng.integers(1, 3, 300),
    }
    np.savez(tmp_path / "log.npz", **arrays)
    command = [*COMMAND, str(tmp_path / "log.npz"), "--low", "0", "--high", "2", *SMALL]
    assert main([*command, "--out", str(tmp_path / "run")]) == 0
    assert capsys.readouterr().out.startswith("found")


BAD = {
    "maze": "task: expected gridworld, mountain-car, marketing, or a file",
    "log.csv": "--low: expected the least and the largest possible return of a file",
    "log.csv --low 0 --high 1": "No such file",
    "log.csv --low 0 --high 1 --method daedalus": "--method: expected batch for a file",
    "gridworld --bound hoeffding": "--bound: expected one of ci, betting",
    "gridworld --delta 0": "--delta: expected a number between 0 and 1, exclusive",
    "gridworld --trajectories 150": "--trajectories: expected a multiple of batch = 100, got 150",
    "gridworld --batch 10": "--batch: expected an integer of at least 20, got 10",
    "gridworld --spend": "--spend: expected --method daedalus",
    "gridworld --floor 1.5": "--floor: expected a number in [0, 1), got 1.5",
    "gridworld --candidates some": "--candidates: expected one of none, k-fold, got 'some'",
    "gridworld --low 3": "--low: expected none with gridworld, as it is of a file, got 3.0",
    "gridworld --order 5": "--order: expected none with gridworld, as it is of a file, got 5",
    "marketing --discount 0.2": "--discount: expected none with marketing, as it is of a file",
    "log.csv --low 0 --high 1 --trajectories 77": "--trajectories: expected none with log.csv",
    "log.csv --low 0 --high 1 --repeats 9": "--repeats: expected none with log.csv, as it is of a",
    "log.csv --low 0 --high 1 --batch 50": "--batch: expected none with method batch",
    "gridworld --method batch --batch 50": "--batch: expected none with method batch",
}


@pytest.mark.parametrize("command", list(BAD))
def test_bad_input(command, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status = main([*COMMAND, *command.split()])
    assert status == (1 if "No such" in BAD[command] else 2)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("jaxrace: error: ")
    assert BAD[command] in line
    assert not list(tmp_path.iterdir())


HEAD = "trajectory,x,action,probability,reward"

BAD_FILES = {
    "trajectory,x,action,reward\na,1,0,1": "expected a column 'probability'",
    "trajectory,action,probability,reward\na,0,1,1": "at least one column with what was observed",
    HEAD: "expected a row for each step, got none",
    f"{HEAD}\na,1,0,.5,1\nb,1,0,0,1": "line 3: probability: expected a number in (0, 1], got '0'",
    f"{HEAD}\na,1,0,.5,1\nb,1,0,nan,1": "line 3: probability: expected a finite number, got 'nan'",
    f"{HEAD}\na,1,-1,.5,1": "line 2: action: expected 0, 1, 2, ..., got '-1'",
    f"{HEAD}\na,1,0,.5": "line 2: expected 5 fields, got 4",
    f"{HEAD}\na,1,0,.5,1\nb,1,0,.5,1\na,1,0,.5,1": "line 4: expected the steps of a trajectory",
    f"{HEAD}\na,1,0,.5,1\nb,1,0,.5,7": "trajectory 'b': expected a return from 0 to 1, got 7",
    f"{HEAD}\na,1,0,.5,1": "data: expected at least 20 trajectories, got 1",
    "": "expected the names of the columns, got an empty file",
    f"{HEAD},x\na,1,0,.5,1,2": "expected columns of different names, got 'x' twice",
    f"{HEAD},behaviour\na,1,0,.5,0,0\na,1,0,.5,1,1": "line 3: behaviour: expected one policy for",
    f"{HEAD}\na,1,3000000000,.5,1": "line 2: action: expected at most 2147483647, got",
    f"{HEAD}\na,1,0,.5,1\n\nb,1,0,1e-60,1": "line 4: probability: expected a number in (0, 1]",
    f"{HEAD}\na,1e60,0,.5,1": "line 2: x: expected a finite number, got '1e60'",
    f"{HEAD}\na\xe9,1,0,.5,1": "log.csv: expected a CSV file in UTF-8",
}


@pytest.mark.parametrize("text", list(BAD_FILES))
def test_bad_files(text, tmp_path, capsys):
    (tmp_path / "log.csv").write_bytes(f"{text}\n".encode("latin-1"))
    command = [*COMMAND, str(tmp_path / "log.csv"), "--low", "0", "--high", "1"]
    assert main([*command, "--out", str(tmp_path / "run")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert BAD_FILES[text] in line


def test_what_other_programs_write(tmp_path):
    """A byte order mark, lines that end in CR LF, empty lines."""
    lines = [HEAD, "a,1,0,.5,1", "a,2,1,.5,0", "", "b,3,0,.5,1", "", ""]
    (tmp_path / "log.csv").write_bytes("\r\n".join(lines).encode("utf-8-sig"))
    found = load(tmp_path / "log.csv", ReturnRange(0, 2))
    assert found.names == ("x",)
    assert found.data.taken.sum(1).tolist() == [2, 1]
    assert found.low == 1
    assert found.high == 3


def test_the_configuration_is_kept(simulated):
    kept = json.loads((simulated / "config.json").read_text())["config"]
    assert ImproveConfig(**kept) == ImproveConfig(
        "gridworld", bound="t", candidates="none", trajectories=400, repeats=3
    )
