"""`python -m papers.improvements`: what is simulated, and what is left."""

import numpy as np
import pytest

from jaxrace import load_policy, runs
from papers.improvements.__main__ import main

# The cache would stay switched on for the tests that follow.
COMMAND = ["--no-compilation-cache"]
SMALL = ["--bound", "t", "--candidates", "none"]


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "grid"
    size = ["--trajectories", "400", "--repeats", "3"]
    assert main([*COMMAND, "gridworld", *SMALL, *size, "--out", str(folder)]) == 0
    return folder


def test_what_lies_in_the_folder(simulated):
    names = {path.name for path in simulated.iterdir()}
    figures = {"performance.png", "performance.svg"}
    assert names == {"config.json", "log.csv", "summary.json", "policy.npz"} | figures
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
    # Of one repeat they would say nothing beside means of all.
    assert not {"lower_bound", "estimate"} & set(summary)
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
    assert (
        "not a strict guarantee: daedalus2 tests on data that it has seen, and bound t is semi-safe"
        in said
    )
