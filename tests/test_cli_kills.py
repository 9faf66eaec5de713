"""The command `jaxrace train` is killed, whenever, and goes on as if nothing had happened."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from jaxrace import runs, sweep

GRID = [
    *("train", "medical", "--sigma", "10,1", "--repeats", "40", "--episodes", "10000"),
    *("--max-rounds", "60", "--test-patients", "20", "--lanes", "8", "--out"),
]

# The command, saved several times in a second instead of every half minute.
SCRIPT = """
import functools, sys
from jaxrace import sweep
sweep.Checkpoints = functools.partial(sweep.Checkpoints, every=0.1)
from jaxrace.cli import main
sys.exit(main())
"""


@pytest.fixture
def command(tmp_path):
    """Begin the command; all share compiled programs."""
    cache = {"JAX_COMPILATION_CACHE_DIR": str(tmp_path / "cache")}

    def begin(*arguments):
        return subprocess.Popen(
            [sys.executable, "-c", SCRIPT, *GRID, *map(str, arguments)],
            env={**os.environ, **cache},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    return begin


def kill_when_saved(process, folder, seconds):
    """Kill it some time after a whole checkpoint is there that was not there before."""

    def saved():
        found = (folder / "checkpoint" / "lanes").glob("*")
        return {path.name for path in found if path.name.isdigit()}

    before = saved()
    while process.poll() is None and not saved() - before:
        time.sleep(0.01)
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return process.returncode == -signal.SIGKILL


def test_a_command_that_is_killed_goes_on(tmp_path, command):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    with command(whole) as process:
        assert "of the lanes busy" in process.communicate()[0]
    rng, resume = np.random.default_rng(0), ()
    for _ in range(2):
        with command(killed, *resume) as process:
            assert kill_when_saved(process, killed, rng.uniform(0.0, 0.2))
        assert sweep.is_saved(killed / "checkpoint")
        resume = ("--resume",)
    with command(killed, *resume) as process:
        output = process.communicate()[0]
    assert process.returncode == 0
    assert "searches/s" in output
    assert "of the lanes busy" in output
    assert json.loads((killed / "timing.json").read_text())["episodes_per_second"] is None
    for name in ("log.csv", "summary.json"):
        assert (killed / name).read_bytes() == (whole / name).read_bytes()
    assert runs.read_config(killed)["sweep"]["width"] == 8
