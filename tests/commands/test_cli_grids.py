"""`jaxrace train` on a grid of settings: tables, interruptions, kills, failures."""

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import jax
import numpy as np
import pytest

from jaxrace import runs, sweep
from jaxrace.commands.cli import main
from jaxrace.commands.train import learning

PATIENTS = 20
GRID = [
    *("train", "medical", "--method", "pb-edps", "--max-rounds", "60"),
    *("--sigma", "10,1", "--delta", "0.1,0.3"),
    *("--repeats", "4", "--episodes", "900", "--test-patients", str(PATIENTS)),
    "--no-compilation-cache",
]


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """An empty working folder, and no cache shared with other programs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    """Trained with a look at all numbers: none is NaN where nothing is wrong."""
    folder = tmp_path_factory.mktemp("runs") / "grid"
    jax.config.update("jax_debug_nans", True)
    try:
        assert main([*GRID, "--out", str(folder)]) == 0
    finally:
        jax.config.update("jax_debug_nans", False)
    return folder


def test_a_grid_ranks_its_settings(grid):
    log, summary = runs.read_log(grid), runs.read_summary(grid)
    assert list(log)[:4] == ["sigma", "delta", "repeat", "generation"]
    means = [setting["mean_reward"]["mean"] for setting in summary["settings"]]
    assert means == sorted(means, reverse=True)
    pairs = [(setting["sigma"], setting["delta"]) for setting in summary["settings"]]
    assert sorted(pairs) == [(1.0, 0.1), (1.0, 0.3), (10.0, 0.1), (10.0, 0.3)]
    for setting in summary["settings"]:
        chosen = (log["sigma"] == setting["sigma"]) & (log["delta"] == setting["delta"])
        repeat, rewards = log["repeat"][chosen], log["mean_reward"][chosen]
        last = [rewards[repeat == number][-1] for number in range(4)]
        expected = runs.mean_and_stderr(last)
        assert setting["mean_reward"] == pytest.approx(expected, rel=1e-5)
    assert (grid / "settings.png").exists()
    assert not (grid / "learning_curve.png").exists()


@pytest.mark.slow
def test_an_interrupted_grid_is_resumed(grid, nowhere, monkeypatch, capsys):
    run, told = sweep.run, []

    def run_and_be_interrupted(*arguments, on_rows, **named):
        def on_rows_too(*rows):
            on_rows(*rows)
            if len(told) == 2:
                os.kill(os.getpid(), signal.SIGTERM)
            told.append(rows)

        return run(*arguments, **named, on_rows=on_rows_too, burst=2)

    with monkeypatch.context() as patched:
        patched.setattr(sweep, "run", run_and_be_interrupted)
        assert main([*GRID, "--out", "new"]) == 143
    *_, last = capsys.readouterr().err.splitlines()
    expected = "interrupted; the same command with --out new --resume goes on"
    assert last == f"jaxrace: error: {expected}"
    assert not (nowhere / "new" / "summary.json").exists()
    assert main([*GRID, "--out", "new", "--resume", "--seed", "3"]) == 2
    assert "--seed: expected 0 as in 'new', got 3" in capsys.readouterr().err
    for _ in range(2):  # a finished one stays as it is
        assert main([*GRID, "--out", "new", "--resume"]) == 0
        for name in ("log.csv", "summary.json"):
            assert (nowhere / "new" / name).read_bytes() == (grid / name).read_bytes()
    assert not (nowhere / "new" / "checkpoint").exists()


def test_what_a_kill_near_the_end_left_undone_is_done(grid, nowhere):
    shutil.copytree(grid, "killed")
    (nowhere / "killed" / "settings.png").unlink()
    (nowhere / "killed" / "checkpoint").mkdir()
    (nowhere / "killed" / ".log.csv.jaxrace-7.tmp").touch()
    assert main([*GRID, "--out", "killed", "--resume"]) == 0
    left = {path.name for path in (nowhere / "killed").iterdir()}
    assert left == {path.name for path in grid.iterdir()}


@pytest.mark.slow
def test_a_second_process_leaves_the_first_alone(nowhere, monkeypatch, capsys):
    run = sweep.run

    def run_with_a_rival(*arguments, **named):
        monkeypatch.setattr(sweep, "run", run)
        before = sorted(nowhere.rglob("*"))
        assert main([*GRID, "--out", "new", "--resume"]) == 2
        assert main([*GRID, "--out", "new"]) == 2
        assert sorted(nowhere.rglob("*")) == before
        assert "no other process" in capsys.readouterr().err
        return run(*arguments, **named)

    monkeypatch.setattr(sweep, "run", run_with_a_rival)
    assert main([*GRID, "--out", "new"]) == 0


@pytest.mark.slow
def test_a_search_that_fails_is_named_and_the_others_are_kept(nowhere, monkeypatch, capsys):
    failed = learning.TrainWork.failed

    def fails(self, row):
        return failed(self, row) | ((row.search.generation == 3) & (row.search.best.sum() > 0))

    monkeypatch.setattr(learning.TrainWork, "failed", fails)
    # Another number of patients makes it another program.
    assert main([*GRID, "--test-patients", "21", "--out", "new"]) == 1
    *_, last = capsys.readouterr().err.splitlines()
    summary = runs.read_summary("new")
    first = summary["failed"][0]
    assert 0 < len(summary["failed"]) < 16
    assert last.startswith(f"jaxrace: error: {len(summary['failed'])} of 16 searches failed")
    assert f"first sigma {first['sigma']}, delta {first['delta']}, repeat {first['repeat']}" in last
    counts = [setting["mean_reward"]["count"] for setting in summary["settings"]]
    assert sum(counts) == 16 - len(summary["failed"])


@pytest.mark.slow
def test_a_shard_that_is_lost_is_named_and_done_again(grid, nowhere, monkeypatch, capsys):
    """As a cluster loses one: without its rows, and with what went wrong."""
    run, why = sweep.run, {"shard 0, 4 jobs from 0": "OSError: no such node"}

    def run_and_lose(*arguments, **named):
        log = run(*arguments, **named)
        kept = log.rows.taken(log.rows.job >= 4)
        return dataclasses.replace(log, parts=[kept], failed=np.arange(4), errors=why)

    with monkeypatch.context() as patched:
        patched.setattr(sweep, "run", run_and_lose)
        assert main([*GRID, "--out", "new"]) == 1
    assert "4 of 16 searches failed (shard 0, 4 jobs from 0: OSError" in capsys.readouterr().err
    summary = runs.read_summary("new")
    assert summary["errors"] == why
    assert [one["repeat"] for one in summary["failed"]] == [0, 1, 2, 3]
    counts = [setting["mean_reward"]["count"] for setting in summary["settings"]]
    assert sorted(counts) == [0, 4, 4, 4]
    assert main([*GRID, "--out", "new", "--resume"]) == 0
    for name in ("log.csv", "summary.json"):
        assert (nowhere / "new" / name).read_bytes() == (grid / name).read_bytes()


# The command, saved several times in a second instead of every half minute.
SCRIPT = """
import functools, sys, time
from jaxrace import sweep
sweep.Checkpoints = functools.partial(sweep.Checkpoints, every=0.1)
from jaxrace.commands.cli import main
"""

# It takes its time for the little that it does.
SLOWLY = """
run = sweep.run

def run_slowly(*arguments, on_rows, **named):
    def wait(*rows):
        on_rows(*rows)
        time.sleep(0.2)

    return run(*arguments, **named, on_rows=wait, burst=2)

sweep.run = run_slowly
"""


def begin(script, *arguments, **environment):
    """The command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", f"{script}\nsys.exit(main())", *map(str, arguments)],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def kill_when_saved(process, folder, seconds):
    """Kill it some time after a whole checkpoint is there that was not there before."""
    file = folder / "checkpoint" / "checkpoint.json"

    def saved():
        return file.stat().st_ino if file.exists() else None

    before = saved()
    while process.poll() is None and saved() in (None, before):
        time.sleep(0.01)
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return process.returncode == -signal.SIGKILL


def assert_same_tables(killed, whole):
    assert json.loads((killed / "timing.json").read_text())["episodes_per_second"] is None
    for name in ("log.csv", "summary.json"):
        assert (killed / name).read_bytes() == (whole / name).read_bytes()


@pytest.mark.usefixtures("shared_programs")
def test_a_grid_that_is_killed_goes_on(grid, nowhere):
    killed = nowhere / "killed"
    with begin(SCRIPT + SLOWLY, *GRID[:-1], "--out", killed) as process:
        assert kill_when_saved(process, killed, 0.0)
    assert sweep.is_saved(killed / "checkpoint")
    assert main([*GRID, "--out", "killed", "--resume"]) == 0
    assert_same_tables(killed, grid)


# A computation of about two seconds goes on while the interpreter is taken down for much longer.
UNFINISHED = """
import sys, time
import jax
from jaxrace.commands import cli

class Slow:
    sleep = staticmethod(time.sleep)
    def __del__(self):
        self.sleep(20)

sys.slow = Slow()
rounds = 100_000_000
long = jax.jit(lambda x: jax.lax.fori_loop(0, rounds, lambda i, y: jax.numpy.sin(y), x))
program = long.lower(1.0).compile()
unfinished = program(1.0)
time.sleep(0.2)
cli.main = lambda: print("interrupted") or 143
cli.command()
"""


@pytest.mark.slow
def test_a_turn_that_has_not_ended_does_not_change_the_status():
    ended = subprocess.run(
        [sys.executable, "-c", UNFINISHED], capture_output=True, text=True, check=False, timeout=120
    )
    assert ended.returncode == 143, ended.stderr
    assert ended.stdout == "interrupted\n"


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["compiling", "training", "evaluating"])
def test_a_signal_ends_every_stage(tmp_path, stage):
    """Within ten seconds, whether Python is asked or only XLA works."""
    train = ["train", "medical", "--method", "pb-edps", "--test-patients", "500"]
    repeats = ["--repeats", "20" if stage == "evaluating" else "4000"]
    asked = [*train, *repeats, "--no-compilation-cache", "--out", tmp_path / "run"]
    command = [sys.executable, "-m", "jaxrace", *asked]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert any(line.startswith(stage) for line in process.stderr)
        process.send_signal(signal.SIGTERM)
        started = time.monotonic()
        words = process.stderr.read()
        process.wait()
    assert time.monotonic() - started < 10
    assert process.returncode == 128 + signal.SIGTERM
    assert "interrupted; the same command with" in words
