"""Is the default test run sharp? One-line faults of the source, and whether it finds each.

    python tests/house/mutants.py                 all of them, two at a time
    python tests/house/mutants.py kernels/ 17     those of a folder or file, or by number
    python tests/house/mutants.py --all-tests     survivors meet the whole default run

Each mutant is made in a copy of the checkout, where the tests that are named beside it run without
the slow ones, up to the first failure. Exit status 1 if more than one in twenty survives.
"""

import argparse
import concurrent.futures
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import mutants_decisions
import mutants_races
import mutants_searches

CHECKOUT = Path(__file__).resolve().parents[2]
COPIED = (
    *("jaxrace", "kernels", "envs", "papers", "tests", "docs", "bench"),
    *("pyproject.toml", "README.md"),
)
MOST_SURVIVORS = 1 / 20
MOST_SECONDS = 240


class Mutation(NamedTuple):
    """A fault: in ``file``, ``new`` in place of the only ``old``; ``tests`` should find it."""

    file: str
    old: str
    new: str
    tests: str


MUTATIONS = [
    Mutation(*mutant)
    for table in (mutants_races, mutants_searches, mutants_decisions)
    for mutant in table.MUTANTS
]


def main() -> int:
    """Run what was asked for, print a line per mutant, and return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("which", nargs="*", help="starts of files, or numbers")
    parser.add_argument("--all-tests", action="store_true", help="survivors meet all tests")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    chosen = [
        (number, mutation)
        for number, mutation in enumerate(MUTATIONS)
        if not arguments.which
        or any(mutation.file.startswith(w) or str(number) == w for w in arguments.which)
    ]
    killed = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.processes) as pool:
        verdicts = pool.map(lambda item: verdict(item[1], arguments.all_tests), chosen)
        for (number, mutation), (is_killed, shown) in zip(chosen, verdicts, strict=True):
            killed += is_killed
            print(f"{number:3d} {shown}  {mutation.file}: {mutation.new.strip()}", flush=True)
    print(f"{killed} of {len(chosen)} mutants were killed")
    return int(len(chosen) - killed > MOST_SURVIVORS * len(chosen))


def verdict(mutation: Mutation, all_tests: bool = False) -> tuple[bool, str]:
    """Is it killed, and how that is said."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="jaxrace-mutant-") as folder:
        copy(Path(folder))
        mutate(mutation, Path(folder))
        is_killed = fails(mutation.tests.split(), Path(folder))
        if not is_killed and all_tests:
            is_killed = fails([], Path(folder))
    word = "killed  " if is_killed else "SURVIVED"
    return is_killed, f"{word} {time.monotonic() - start:4.0f} s"


def copy(folder: Path) -> None:
    """What the tests need of the checkout; the links to kernels and envs stay links."""
    ignored = shutil.ignore_patterns("__pycache__", "node_modules")
    for name in COPIED:
        source = CHECKOUT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, symlinks=True, ignore=ignored)
        else:
            shutil.copy(source, folder / name)


def mutate(mutation: Mutation, folder: Path) -> None:
    """Make the fault; ValueError if its place is not there, or not the only one."""
    path = folder / mutation.file
    text = path.read_text("utf-8")
    if text.count(mutation.old) != 1 or mutation.old == mutation.new:
        raise ValueError(f"{mutation.file}: expected one {mutation.old!r}")
    path.write_text(text.replace(mutation.old, mutation.new), "utf-8")


def fails(tests: list[str], folder: Path) -> bool:
    """Does a test fail? ValueError if pytest itself does, such as over a name that is wrong."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not slow", "-n0", *tests]
    cache = CHECKOUT / ".pytest_cache" / "mutants"  # programs are shared among mutants
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            [*command, "-o", f"cache_dir={cache}"],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=MOST_SECONDS,
        )
    except subprocess.TimeoutExpired:  # a loop that no longer ends
        return True
    # 1: a test failed. 2: a file could not be imported, say, which stops a run as well.
    if done.returncode not in (0, 1, 2):
        raise ValueError(f"pytest {' '.join(tests)}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.returncode != 0


if __name__ == "__main__":
    sys.exit(main())
