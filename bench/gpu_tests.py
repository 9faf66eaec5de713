"""The default tests on a machine with a GPU, names of failures as they come; then what jobs take.

    python bench/gpu_tests.py [--tests ARGUMENT ...] [--no-tests] [--no-jobs] [--minutes 6]

Needs no network: all that it runs is installed and in this checkout. The tests see the GPU, 14
workers share it (so no process takes its memory beforehand), a test that takes two minutes ends its
worker, and all that has been printed counts if the time is up. Then `train`, `improve`, `select`
and `duel` with their defaults, on the GPU and on the CPU: seconds of the clock and of the
processor, cold and warm.

The tests took 2,656 processor seconds on a machine with an H200, and 465 on one without. Why is not
known; these are guesses, to be looked at with what is printed here: (1) a program for a GPU is
compiled by LLVM and by ptxas, in parts, on as many threads as there are cores, and most programs of
the tests are large and run once; (2) autotuning compiles several kernels for every reduction and
product, runs them, and keeps one; (3) what is compiled for a CPU in haste (`compilation.py`,
tests/conftest.py) is compiled in full there; (4) each worker, and each process that a test starts,
has a context of its own, for a second or more of the driver's; (5) threads wait in a loop for the
card. `--xla` compares: with `--xla_gpu_autotune_level=0` (2) is gone; with
`--xla_gpu_force_compilation_parallelism=1` the threads of (1).
"""

import argparse
import os
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORKERS, SECONDS_OF_TEST = 14, 120
JOBS = (
    *(("jaxrace", "train", "medical"), ("papers.improvements", "gridworld")),
    *(("papers.selections", "thurstone"), ("papers.duels", "random")),
)


def environment(xla: str) -> dict[str, str]:
    """Of the processes: XLA_FLAGS as users have them, and a card that many share."""
    here = {"XLA_FLAGS": xla, "XLA_PYTHON_CLIENT_PREALLOCATE": "false", "PYTHONUNBUFFERED": "1"}
    return {**os.environ, **here}


def run_tests(arguments: list[str], xla: str, deadline: float) -> None:
    """Run pytest, and print a line for each test that fails, and the last lines."""
    options = ["-n", str(WORKERS), "-v", "--tb=line", "-p", "no:cacheprovider"]
    options += ["-o", f"faulthandler_timeout={SECONDS_OF_TEST}"]
    with tempfile.NamedTemporaryFile("w+", prefix="gpu-tests-", suffix=".log") as log:
        tests = subprocess.Popen(
            [sys.executable, "-m", "pytest", *options, *arguments],
            cwd=ROOT,
            env=environment(xla),
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        counts: dict[str, int] = dict.fromkeys(("PASSED", "SKIPPED", "FAILED", "ERROR"), 0)
        with open(log.name, encoding="utf-8", errors="replace") as lines:
            last: list[str] = []
            while True:
                has_ended = tests.poll() is not None
                for line in lines:
                    last = [*last, line.rstrip()][-15:]
                    kind = next((kind for kind in counts if f" {kind} " in line), None)
                    if kind and "::" in line:
                        counts[kind] += 1
                    if kind in ("FAILED", "ERROR") or ("worker" in line and "crashed" in line):
                        print(line.rstrip(), flush=True)
                if has_ended:
                    break
                if time.monotonic() > deadline:
                    print("the time is up", flush=True)
                    tests.terminate()
                    tests.wait(20)
                time.sleep(0.5)
        print("\n".join(last), counts, sep="\n", flush=True)


def run_jobs(jobs: Sequence[Sequence[str]], deadline: float) -> None:
    """Print the table of the commands, cold and warm, on both."""
    print("\n| job | device | cold: clock, processor | warm: clock, processor |", flush=True)
    print("| --- | --- | --- | --- |", flush=True)
    for job in jobs:
        for device in ("gpu", "cpu"):
            if time.monotonic() > deadline:
                print("the time is up", flush=True)
                return
            with tempfile.TemporaryDirectory() as folder:
                cells = [_took([*job, "--device", device], folder, kind) for kind in "ab"]
            print(f"| {' '.join(job)} | {device} | {' | '.join(cells)} |", flush=True)


def _took(job: list[str], folder: str, kind: str) -> str:
    """Seconds of the clock and of the processor of a command."""
    command = [sys.executable, "-m", *job, "--out", f"{folder}/{kind}"]
    kept = {"JAX_COMPILATION_CACHE_DIR": f"{folder}/programs"}
    started, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        command, cwd=ROOT, env=environment("") | kept, capture_output=True, text=True, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode:
        return f"failed: {done.stderr.strip().splitlines()[-1:]}"
    return f"{time.monotonic() - started:.1f}, {processor:.1f}"


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description="The default tests, and jobs, with a GPU.")
    parser.add_argument("--tests", nargs="+", default=[], help="files or ids, instead of all")
    parser.add_argument("--no-tests", action="store_true")
    parser.add_argument("--no-jobs", action="store_true")
    parser.add_argument("--job", type=shlex.split, help="a command instead of the four")
    parser.add_argument("--xla", default="", help="XLA_FLAGS of the tests")
    parser.add_argument("--minutes", type=float, default=6, help="of the tests, and of the jobs")
    asked = parser.parse_args()
    if not asked.no_tests:
        run_tests(asked.tests, asked.xla, time.monotonic() + 60 * asked.minutes)
    if not asked.no_jobs:
        jobs = [asked.job] if asked.job else JOBS
        run_jobs(jobs, time.monotonic() + 60 * asked.minutes)


if __name__ == "__main__":
    main()
