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
from jaxrace.cli import main

GRID = ["train", "medical", "--sigma", "10,1", "--test-patients", "20", "--lanes", "8"]
LONG = [*GRID, "--repeats", "40", "--episodes", "10000", "--max-rounds", "60", "--out"]
SHORT = [*GRID, "--repeats", "20", "--episodes", "2500", "--max-rounds", "30", "--out"]

# The command, saved several times in a second instead of every half minute.
SCRIPT = """
import functools, sys
from jaxrace import sweep
sweep.Checkpoints = functools.partial(sweep.Checkpoints, every=0.1)
from jaxrace.cli import main
sys.exit(main())
"""


def begin(*arguments, **environment):
    """The command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *map(str, arguments)],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


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


def compare(killed, whole):
    assert json.loads((killed / "timing.json").read_text())["episodes_per_second"] is None
    for name in ("log.csv", "summary.json"):
        assert (killed / name).read_bytes() == (whole / name).read_bytes()
    assert runs.read_config(killed)["sweep"]["width"] == 8


@pytest.mark.usefixtures("shared_programs")
def test_a_command_that_is_killed_goes_on(tmp_path):
    """Killed once; what has not been killed is this process, which goes on with it as well."""
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert main([*SHORT, str(whole), "--no-compilation-cache"]) == 0
    with begin(*SHORT, killed) as process:
        assert kill_when_saved(process, killed, 0.0)
    assert sweep.is_saved(killed / "checkpoint")
    assert main([*SHORT, str(killed), "--no-compilation-cache", "--resume"]) == 0
    compare(killed, whole)


@pytest.mark.slow
def test_a_command_that_is_killed_twice_goes_on(tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    cache = {"JAX_COMPILATION_CACHE_DIR": str(tmp_path / "cache")}
    with begin(*LONG, whole, **cache) as process:
        assert "of the lanes busy" in process.communicate()[0]
    rng, resume = np.random.default_rng(0), ()
    for _ in range(2):
        with begin(*LONG, killed, *resume, **cache) as process:
            assert kill_when_saved(process, killed, rng.uniform(0.0, 0.2))
        assert sweep.is_saved(killed / "checkpoint")
        resume = ("--resume",)
    with begin(*LONG, killed, *resume, **cache) as process:
        output = process.communicate()[0]
    assert process.returncode == 0
    assert "searches/s" in output
    assert "of the lanes busy" in output
    compare(killed, whole)


# A computation of about two seconds goes on while the interpreter is taken down for much longer.
UNFINISHED = """
import sys, threading, time
import jax
from jaxrace import cli

class Slow:
    sleep = staticmethod(time.sleep)
    def __del__(self):
        self.sleep(20)

sys.slow = Slow()
rounds = 100_000_000
long = jax.jit(lambda x: jax.lax.fori_loop(0, rounds, lambda i, y: jax.numpy.sin(y), x))
program = long.lower(1.0).compile()
turn = lambda: jax.block_until_ready(program(1.0))
threading.Thread(target=turn, daemon=True).start()
time.sleep(0.2)
cli.main = lambda: print("interrupted") or 143
cli.command()
"""


def test_a_turn_that_has_not_ended_does_not_change_the_status():
    ended = subprocess.run(
        [sys.executable, "-c", UNFINISHED], capture_output=True, text=True, check=False, timeout=120
    )
    assert ended.returncode == 143, ended.stderr
    assert ended.stdout == "interrupted\n"
