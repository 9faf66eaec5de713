"""Dueling bandits against duelpy 1.0.0, their cost against the number of arms, and to compile.

Seconds are those of one duel. duelpy needs NumPy 1.23.5, and with it Python 3.11 or older and an
environment of its own, which the benchmark makes in a temporary folder.
"""

import concurrent.futures
import os
import subprocess
import sys
import venv
from pathlib import Path

import here  # noqa: F401
import jax
import measuring
import numpy as np
import pytest

from jaxrace import dueling, sweep
from jaxrace.core.programs import compile_ahead
from jaxrace.dueling import matrices
from papers.duels import config, runs
from papers.duels.lineup import entrant

PEER = Path(__file__).parent / "peers" / "duelpy_duels.py"
HORIZON = 1_000_000
ALGORITHMS = ("rucb", "savage", "dts")
ARMS = (10, 36)

# Duels of a run: so few that SAVAGE does not stop exploring.
DUELS = 2_000
LANES = 256

# Each with a seed of its own, for the share of them that recommend the best arm.
RUNS_OF_PEER = 20

# Seconds by the clock, for any algorithm.
COMPILED_WITHIN = 5


def program_of(name, arms, duels=DUELS, lanes=LANES):
    """A compiled program that makes so many duels in every lane, given keys [lanes]."""
    one = entrant(name, arms, HORIZON, 1 / HORIZON, jax.random.key(0))
    problem = dueling.duels(matrices.hard_condorcet(arms))

    def play(key):
        order_key, play_key = jax.random.split(key)
        shuffled = dueling.shuffled(order_key, problem)
        return dueling.run(one.algorithm, play_key, shuffled, duels, one.params, 1)

    return jax.jit(jax.vmap(play)), jax.random.split(jax.random.key(1), lanes)


@pytest.mark.parametrize("arms", ARMS)
@pytest.mark.parametrize("name", ALGORITHMS)
def test_jaxrace(benchmark, quick, name, arms):
    """Every core runs a batch of its own."""
    function, keys = program_of(name, arms, 200 if quick else DUELS)
    program, cores = compile_ahead(function, keys), os.cpu_count() or 1
    with concurrent.futures.ThreadPoolExecutor(cores) as pool:

        def run():
            return list(pool.map(lambda _: jax.block_until_ready(program(keys)), range(cores)))

        duels = cores * len(keys) * (200 if quick else DUELS)
        found = measuring.record(
            benchmark, f"duels {name} K {arms}/jaxrace", run, rounds=3, scale=1 / duels
        )
    assert not np.asarray(found[0].decided_at).any()  # else there were fewer duels
    benchmark.extra_info["share_correct"] = float(np.mean(found[0].recommended[:, -1] == 0))


@pytest.mark.parametrize("arms", [5, 10, 20, 50, 100, 200])
@pytest.mark.parametrize("name", [*ALGORITHMS, "sup-klucb"])
def test_number_of_arms(benchmark, quick, name, arms):
    if arms > (20 if quick else 100 if name == "sup-klucb" else 200):
        pytest.skip("takes long")
    # SAVAGE plays whole rounds, Sup-KLUCB must try all pairs; else every duel costs the same.
    duels = max(500, arms**2) if name in ("savage", "sup-klucb") else 500
    lanes = max(2_000 // arms, 8) if name != "sup-klucb" else max(200 // arms, 1)
    function, keys = program_of(name, arms, duels, lanes)
    measuring.record_jax(
        benchmark,
        f"duels {name} by arms/{arms}",
        function,
        keys,
        rounds=2,
        scale=1 / (duels * lanes),
        axis=f"arms ({name})",
        value=arms,
    )


@pytest.mark.parametrize("name", config.ALGORITHMS)
def test_compiling(benchmark, name):
    """The programs of `jaxrace duel` for 10 arms, with its 100 repeats in four blocks."""
    one = entrant(name, 10, 10_000, 1e-4, jax.random.key(0))
    problems = runs.stack_problems([dueling.duels(matrices.hard_condorcet(10))])
    # Two records of 100 duels each, as if the horizon were the command's default.
    work = dueling.DuelWork(one.algorithm, 100, 200, problems, one.params, ends_when_decided=True)
    number = np.zeros(100, np.int32)
    jobs = dueling.DuelJob(jax.random.split(jax.random.key(1), len(number)), number)

    def run():
        return sweep.run(work, sweep.stacked(jobs), width=25)

    log = measuring.record(benchmark, f"duels compiled/{name}", run, rounds=1, warmups=0)
    # What a person waits; the processor seconds of all threads stand beside it.
    benchmark.extra_info.update(
        compile_seconds=log.compile_seconds,
        compiling_within=log.compile_seconds,
        target_compile_seconds=COMPILED_WITHIN,
        reached=log.compile_seconds < COMPILED_WITHIN,
    )


@pytest.fixture(scope="module")
def duelpy(tmp_path_factory):
    """The interpreter of an environment with duelpy."""
    if sys.version_info >= (3, 12):
        pytest.skip("NumPy 1.23.5 needs Python 3.11 or older")
    folder = tmp_path_factory.mktemp("duelpy")
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    packages = ["numpy==1.23.5", "duelpy==1.0.0"]
    command = [str(python), "-m", "pip", "install", "--quiet", *packages]
    if subprocess.run(command, check=False).returncode:
        pytest.skip("duelpy cannot be installed")
    return python


@pytest.mark.parametrize("arms", ARMS)
@pytest.mark.parametrize("name", ALGORITHMS)
def test_duelpy(benchmark, quick, duelpy, name, arms):
    duels = 100 if quick else DUELS
    command = [str(duelpy), str(PEER), name, str(arms), str(duels)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        asked, answers = process.stdin, process.stdout
        assert answers.readline().strip() == "ready"
        found, cpu_seconds = [], []

        def run():
            print(len(found), file=asked, flush=True)  # the seed
            arm, seconds = answers.readline().split()
            found.append(int(arm))
            cpu_seconds.append(float(seconds))

        rounds = 2 if quick else RUNS_OF_PEER
        measuring.record(
            benchmark, f"duels {name} K {arms}/duelpy", run, rounds=rounds, scale=1 / duels
        )
        asked.close()
    benchmark.extra_info["cpu_seconds"] = min(cpu_seconds)
    benchmark.extra_info["share_correct"] = float(np.mean(np.array(found) == 0))
