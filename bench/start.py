"""What a person waits for: processor seconds of whole processes, beside a floor.

    python bench/start.py [--only NAME ...] [--rounds 3] [--markdown FILE]

The floor imports JAX and matplotlib's pyplot and compiles one product. "Cold" begins with an empty
folder of compiled programs, "warm" finds what the cold one left. Medians of the rounds, which go
through all lines in turn. `--markdown` writes the table.
"""

import argparse
import compileall
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
FLOOR = "floor"

_FLOOR = """
import jax, matplotlib.pyplot
jax.jit(lambda x: x @ x)(jax.numpy.ones((8, 8))).block_until_ready()
"""
_RACE = """
import jax, jax.numpy as jnp, time
from jaxrace import kernels, racing
race = racing.{kind}({size}, {top}, {capacity}, kernels.total_order)
params, options = race.params(delta=0.05), jnp.arange({size}) / 3.0
def sample(key, mean): return mean + jax.random.normal(key)
racing.run(race, jax.random.key(0), sample, options, params)
"""
# As a cell of a notebook that is run again: a function that is new, and says the same.
_AGAIN = """
started = time.process_time()
def sample(key, mean): return mean + jax.random.normal(key)
racing.run(race, jax.random.key(1), sample, options, params)
print(time.process_time() - started)
"""


class Line(NamedTuple):
    """A process whose seconds are measured."""

    name: str
    arguments: tuple[str, ...]  # of Python
    is_kept: bool = False  # is what it compiled measured again, warm?
    is_part: bool = False  # does it print its own seconds?


class Cost(NamedTuple):
    """What a process took."""

    seconds: float  # of the processor, all threads
    megabytes: float  # at most, in memory


def _command(name: str, *arguments: str) -> Line:
    # Files are answered at once, and leave no folder.
    own = ("--out", "{run}") if name == "train" else ()
    shown = " ".join((name, *arguments))
    return Line(f"jaxrace {shown}", ("-m", "jaxrace", name, *arguments, *own), bool(own))


def _simulation(room: str, *arguments: str) -> Line:
    command = "-m", f"papers.{room}", *arguments
    return Line(" ".join(("python", *command)), (*command, "--out", "{run}"), is_kept=True)


def _race(
    kind: str, size: int = 10, top: int = 3, capacity: int = 300, again: bool = False
) -> Line:
    code = _RACE.format(kind=kind, size=size, top=top, capacity=capacity)
    name = f"one {kind}, K = {size:,}" + (", `sample` defined again" if again else "")
    return Line(name, ("-c", code + _AGAIN * again), is_part=again)


LINES = (
    Line(FLOOR, ("-c", _FLOOR)),
    _command("--help"),
    _command("list"),
    _command("train", "medical"),
    _command("train", "medical", "--method", "pb-edps"),
    _command("race", "docs/data/scores.csv", "--top", "2"),
    _command("race", "docs/data/answers.csv", "--shared"),
    _command("select", "docs/data/games.csv", "--top", "3"),
    _command("improve", "docs/data/log.csv", "--low", "0", "--high", "20"),
    _command("improve", "docs/data/log.csv", "--low", "0", "--high", "20", "--bound", "betting"),
    _command("duel", "bench/wins.csv"),
    _simulation("duels", "random"),
    _simulation("duels", "random", "--algorithm", "rucb", "--horizon", "2000"),
    _simulation("selections", "thurstone", "--top", "4", "--method", "hybrid,pocbam,uniform"),
    _simulation("improvements", "gridworld"),
    _race("DominanceRace"),
    _race("DominanceRace", again=True),
    _race("PreferenceRace"),
    _race("PreferenceRace", again=True),
    _race("DominanceRace", 1_000, 10, 100),
    _race("PreferenceRace", 1_000, 10, 100),
)


def measure(line: Line, programs: str, run: str) -> Cost:
    """Run a process to its end, and see what it took; RuntimeError if it failed."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "JAX_COMPILATION_CACHE_DIR": programs}
    if not line.is_kept:
        del environment["JAX_COMPILATION_CACHE_DIR"]
    command = [
        sys.executable,
        *(
            argument.format(run=run) if argument == "{run}" else argument
            for argument in line.arguments
        ),
    ]
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=output)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        said = output.read().decode()
    if process.returncode not in (0, 3):  # done; done, and not certain yet
        raise RuntimeError(f"{line.name}: {said[-2000:]}")
    seconds = float(said.split()[-1]) if line.is_part else used.ru_utime + used.ru_stime
    return Cost(seconds, used.ru_maxrss / 1024)


def measure_all(lines: list[Line], rounds: int) -> dict[str, list[Cost]]:
    """The costs of all rounds by name; of what is kept warm ones, too."""
    costs: dict[str, list[Cost]] = {}
    for part in ("jaxrace", "kernels", "envs"):  # as they are once they are installed
        compileall.compile_dir(ROOT / part, quiet=1)
    for number in range(rounds):
        for line in lines:
            with tempfile.TemporaryDirectory() as folder:
                names = (
                    [f"{line.name}, cold", f"{line.name}, warm"] if line.is_kept else [line.name]
                )
                for name in names:
                    run = f"{folder}/{len(os.listdir(folder))}"
                    costs.setdefault(name, []).append(measure(line, f"{folder}/programs", run))
                    shown = f"{number + 1}: {name}: {costs[name][-1].seconds:.2f} s"
                    print(shown, file=sys.stderr, flush=True)
    return costs


def table(costs: dict[str, list[Cost]]) -> str:
    """Medians as a table in Markdown."""
    floor = statistics.median(cost.seconds for cost in costs[FLOOR])
    rows = ["| Process | Processor seconds | Floors | Memory, MB |", "| --- | --- | --- | --- |"]
    for name, found in costs.items():
        seconds = statistics.median(cost.seconds for cost in found)
        memory = statistics.median(cost.megabytes for cost in found)
        rows.append(f"| {name} | {seconds:.2f} | {seconds / floor:.1f} | {memory:,.0f} |")
    return "\n".join(rows) + "\n"


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument(
        "--only", action="append", help="a part of a name; the floor is always there"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--markdown", type=Path)
    arguments = parser.parse_args()
    chosen = [
        line
        for line in LINES
        if line.name == FLOOR or not arguments.only or any(o in line.name for o in arguments.only)
    ]
    found = table(measure_all(chosen, arguments.rounds))
    print(found, end="")
    if arguments.markdown:
        arguments.markdown.write_text(found)


if __name__ == "__main__":
    main()
