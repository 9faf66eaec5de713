"""Win counts: the prefix kernel against broadcasting, SciPy, and the processor's own limit."""

import functools
import os
import shutil
import subprocess
from pathlib import Path

import jax
import measuring
import numpy as np
import pytest
from peers import jax_broadcast_wins

from jaxrace import kernels

OPTIONS, ROUNDS, RACES = 10, 300, 100
BROADCAST_RACES = 5
CALLS = 25  # that count: the speed of a virtual machine varies
# What a count of all samples has to compare: every sample of one option with every one of another.
COMPARISONS = RACES * OPTIONS * (OPTIONS - 1) // 2 * ROUNDS**2
LIMIT_SOURCE = Path(__file__).parent / "peers" / "compare_limit.c"
# The width of a register that is fastest differs between processors.
LIMIT_FLAGS = (["-mavx2", "-DBYTES=32"], ["-march=native", "-DBYTES=64"], ["-DBYTES=16"])


def prefix_wins(compare):
    """Of a batch of races."""
    return jax.vmap(functools.partial(kernels.prefix_wins, compare))


def outcomes(num_races):
    return jax.random.normal(jax.random.key(0), (num_races, OPTIONS, ROUNDS))


def test_prefix(benchmark):
    run, given = prefix_wins(kernels.total_order), outcomes(RACES)
    measuring.record_jax(
        benchmark, "prefix/jaxrace", run, given, rounds=CALLS, comparisons=COMPARISONS
    )


def test_prefix_by_broadcasting(benchmark):
    given = outcomes(RACES)[:BROADCAST_RACES]
    run, scale = jax.vmap(jax_broadcast_wins.prefix_wins), RACES / BROADCAST_RACES
    # A quarter faster than as we compile.
    more = {"compiled": measuring.plainly, "rounds": CALLS, "scale": scale}
    wins = measuring.record_jax(benchmark, "prefix/broadcast", run, given, **more)
    np.testing.assert_array_equal(wins, jax.jit(prefix_wins(kernels.total_order))(given))


def test_limit(benchmark, tmp_path):
    """All cores compare numbers from registers and the first-level cache with one another."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler: the limit is not known")
    threads = str(os.cpu_count())
    programs = []
    for number, flags in enumerate(LIMIT_FLAGS):
        program = tmp_path / f"limit{number}"
        command = [compiler, "-O3", "-pthread", *flags, str(LIMIT_SOURCE), "-o", str(program)]
        if subprocess.run(command, capture_output=True, check=False).returncode == 0:
            programs.append(program)

    def best_rates():
        runs = [
            subprocess.run([program, threads], capture_output=True, text=True, check=False)
            for program in programs
        ]
        # A program for registers that this processor lacks does not end well.
        printed = [run.stdout.split() for run in runs if run.returncode == 0]
        return [max(float(numbers[place]) for numbers in printed) for place in (0, 1)]

    rates = []
    measuring.record(benchmark, "limit/c", lambda: rates.append(best_rates()), rounds=2, warmups=0)
    of_all_cores, of_one_core = np.max(rates, axis=0)
    benchmark.extra_info["comparisons_per_second"] = of_all_cores
    benchmark.extra_info["comparisons_per_cpu_second"] = of_one_core
