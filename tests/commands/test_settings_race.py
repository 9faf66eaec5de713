"""Racing the settings of a grid: who cannot win is not repeated any more."""

import os
import re
import signal
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
import pytest

from jaxrace import runs, sweep
from jaxrace.commands.cli import main
from jaxrace.commands.train.config import Setting, TrainConfig
from jaxrace.commands.train.settings_race import most_repeats, race_settings
from jaxrace.commands.train.summary import race_line

CONFIG = TrainConfig(sigma=(1, 2, 3, 4, 5), delta=(0.1, 0.2), repeats=60)
MEANS = np.array([0, 1, 5, 1, 0, 4, 2, 3, 3, 2], np.float32)  # of the ten settings


class Row(NamedTuple):
    metrics: dict[str, Any]


def make_log(jobs, numbers, failing):
    """What a sweep of these searches leaves: two rows each, of which the second counts."""
    noise = np.random.default_rng(0).normal(size=len(MEANS) * CONFIG.repeats).astype(np.float32)
    value = (MEANS[numbers // CONFIG.repeats] + noise[numbers]).astype(np.float32)
    job = np.repeat(np.arange(jobs.count), 2)
    rows = Row({"score": np.stack([-value, value], 1).ravel()})
    shapes = Row({"score": jax.ShapeDtypeStruct((), np.float32)})
    rows = sweep.Rows(job, np.tile([1, 2], jobs.count), rows)
    failed = np.flatnonzero(np.isin(numbers // CONFIG.repeats, failing))
    counts = 4, 1, jobs.count, len(job), jobs.count, False, 9
    return sweep.SweepLog(lambda: shapes, [rows], failed, *counts, 1.0, 2.0)


def race(failing=()):
    asked = []

    def run(work, jobs, folder, numbers):
        job = jobs.inputs(np.arange(jobs.count))
        np.testing.assert_array_equal(job.setting, numbers // CONFIG.repeats)
        np.testing.assert_array_equal(job.stream, numbers)
        asked.append((folder, numbers))
        return make_log(jobs, numbers, failing)

    work: Any = None  # is handed on
    return race_settings(CONFIG, "score", work, run, Path("saved")), asked


def test_the_best_setting_is_found_with_fewer_searches():
    raced, asked = race()
    summary = raced.summary
    assert summary["certified"]
    assert summary["certificate"] in ("dominance", "counts")
    assert summary["ranking"][0] == CONFIG.settings.index(Setting(2, 0.1))
    assert (summary["best"], summary["searches_without_race"]) == ({"sigma": 2, "delta": 0.1}, 600)
    assert summary["most_searches_of_race"] == 10 * most_repeats(60)
    numbers = np.concatenate([numbers for _, numbers in asked])
    assert len(set(numbers.tolist())) == len(numbers) == summary["searches"] < 250
    assert len({folder for folder, _ in asked}) == len(asked)
    # Each setting has its first repeats, and those that are close to the best have most.
    repeats = np.bincount(numbers // CONFIG.repeats, minlength=10)
    np.testing.assert_array_equal(repeats, raced.result.samples)
    for setting, count in enumerate(repeats):
        own = np.sort(numbers[numbers // CONFIG.repeats == setting]) % CONFIG.repeats
        assert own.tolist() == list(range(count))
    assert repeats[[2, 5]].min() >= repeats.max() - 5


@pytest.mark.parametrize(("repeats", "most"), [(11, 11), (15, 11), (16, 16), (100, 96)])
def test_what_a_race_can_use_is_told_beside_what_a_grid_would_take(repeats, most):
    raced, _ = race()
    assert most_repeats(repeats) == most
    sizes = {"searches_without_race": 10 * repeats, "most_searches_of_race": 10 * most}
    found = raced.summary | sizes | {"searches": 55, "certified": False}
    line = race_line(found, {"race_seconds": 2.5})
    assert f"55 of {10 * repeats:,} searches made, {1 - 5.5 / repeats:.0%} saved" in line
    in_blocks = f"({1 - 5.5 / most:.0%} of the {10 * most:,} that its blocks can use)"
    assert (in_blocks in line) == (most != repeats)
    assert line.endswith("; took 2.5 s")


def test_a_setting_that_fails_cannot_win():
    raced, _ = race(failing=[2])
    assert raced.summary["best"] == {"sigma": 3, "delta": 0.2}
    failed = raced.log.failed
    assert (failed // CONFIG.repeats == 2).all()
    assert len(failed) == raced.result.samples[2]


RACE = [
    *("train", "medical", "--method", "pb-edps", "--sigma", "10,0.1", "--race"),
    *("--repeats", "16", "--episodes", "200"),
    *("--test-patients", "10", "--no-compilation-cache"),
]


@pytest.mark.slow
def test_an_interrupted_race_is_resumed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main([*RACE, "--out", "whole"]) == 0
    output = capsys.readouterr().out
    searches = runs.read_summary("whole")["race"]["searches"]
    # The race takes 11 repeats of a setting and then five at a time, so all 16.
    expected = rf"; {searches} of 32 searches made, \d+% saved; took [\d.]+ s$"
    assert re.search(expected, output, re.MULTILINE)
    timing = runs.read_json("whole/timing.json")
    assert timing["searches_saved_by_race"] == 32 - searches
    assert 0 < timing["race_seconds"] < 600
    log = runs.read_log("whole")
    made = set(zip(log["sigma"], log["repeat"], strict=True))
    assert len(made) == searches
    run, told = sweep.run, []

    def run_and_be_interrupted(*arguments, **named):
        if len(told) == 1:
            os.kill(os.getpid(), signal.SIGTERM)
        told.append(named)
        return run(*arguments, **named)

    with monkeypatch.context() as patched:
        patched.setattr(sweep, "run", run_and_be_interrupted)
        assert main([*RACE, "--out", "new"]) == 143
    assert main([*RACE, "--out", "new", "--resume"]) == 0
    for name in ("log.csv", "summary.json"):
        assert Path("new", name).read_bytes() == Path("whole", name).read_bytes()


@pytest.mark.parametrize("options", ["--sigma 1", "--sigma 1,2 --repeats 10"])
def test_a_race_needs_settings_and_repeats(options, capsys):
    assert main(["train", "medical", "--race", *options.split()]) == 2
    assert "--race: expected several settings with at least 11 repeats" in capsys.readouterr().err
