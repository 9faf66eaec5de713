"""How `jaxrace race FILE` grows: processor seconds and memory of whole processes, beside a floor.

    python bench/growth.py [--only PART ...] [--rounds 1] [--markdown FILE]

The tables are made for it: normal scores with a standard deviation of 1 and means from 0 to 1, of
independent runs; right or wrong answers to the same questions, with chances from .3 to .7. The
floor is that of `bench/start.py`.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import start

# Options and runs of each, and options and shared tasks.
INDEPENDENT = ((10, 300), (100, 5_000), (10, 100_000), (5_000, 20))
SHARED = ((12, 14_000), (100, 5_000), (10, 100_000), (5_000, 100))


def write_table(path: Path, options: int, rows: int, shared: bool) -> None:
    """A column for each option, a row for each run or task."""
    rng = np.random.default_rng(0)
    places = np.linspace(0, 1, options)
    with path.open("w") as file:  # row by row: a child's peak of memory is at least its parent's
        heads = [f"option_{place}" for place in range(options)]
        print(*["question"] * shared, *heads, sep=",", file=file)
        for row in range(rows):
            if shared:
                is_right = 0.3 + 0.4 * places + 0.1 * rng.normal() > rng.random(options)
                print(f"q{row}", *is_right.astype(int), sep=",", file=file)
            else:
                scores = places + rng.normal(size=options)
                print(*map("{:.6g}".format, scores), sep=",", file=file)


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", action="append", help="a part of a name")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--markdown", type=Path)
    arguments = parser.parse_args()
    lines = [line for line in start.LINES if line.name == start.FLOOR]
    sizes = [(*size, False) for size in INDEPENDENT] + [(*size, True) for size in SHARED]
    with tempfile.TemporaryDirectory() as folder:
        for options, rows, shared in sizes:
            name = f"{options:,} options, {rows:,} {'shared tasks' if shared else 'runs'}"
            if arguments.only and not any(part in name for part in arguments.only):
                continue
            path = Path(folder) / f"{options}_{rows}_{shared}.csv"
            write_table(path, options, rows, shared)
            command = ("-m", "jaxrace", "race", str(path), *["--shared"] * shared)
            lines.append(start.Line(name, command))
        found = start.table(start.measure_all(lines, arguments.rounds))
    print(found, end="")
    if arguments.markdown:
        arguments.markdown.write_text(found)


if __name__ == "__main__":
    main()
