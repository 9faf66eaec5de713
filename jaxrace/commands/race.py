"""Certify the best of a table of scores.

Says which options are certainly the best, or what to run next. The better option scores
higher more often than lower. With --by mean it has the higher mean.

Runs must be independent, alike, and in the order in which they were made. Independent runs of two
options have no seeds or tasks in common. With --shared all options ran on the same tasks, in one
order. Sorted, repeated or autocorrelated runs are refused.

Add runs at the end of the table and look again, as often as you like. Columns and options must
stay the same. The error probability holds for all looks together. Imports no JAX.

Exit status: 0 certified; 3 not yet; 4 data refused, which contradict what is assumed.

For example:
  jaxrace race scores.csv --top 3
  jaxrace race losses.csv --smaller --delta 0.01 --next next.csv
  jaxrace race results.csv --shared --of 14042 --by mean --low 0 --high 1 --tolerance 0.01
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from jaxrace.commands.front import arguments, config_of, write_rows
from jaxrace.judging import RaceOfTable, race
from jaxrace.runs import tables
from jaxrace.tables import read_scores

Found = TypeVar("Found")

FIGURE = "race.png"
_FILE = """A file of scores (CSV, JSON, JSON lines, Excel, Parquet), or a folder of them.
    With a column for each option: its name above, a score in each row, nothing where it has fewer
    runs. Or with a row for each run: columns of options, scores and perhaps tasks. Or what
    hyperfine, pytest-benchmark, Inspect, lm-evaluation-harness or Optuna have left. Runs are in the
    order in which they were made."""
_NO_HEADER = "The first row is a run. Options are called option 1, option 2, ..."
_NEXT = "A CSV file to write: what to run next, by option the number of runs, or the tasks."


def config_of_scores(
    about: str | None,
    *functions: Callable[..., Any],
    without: Sequence[str] = (),
    also: str = "",
    groups: Mapping[str, Sequence[str]] | None = None,
) -> type:
    """The config of a command that judges a table of scores, see ``config_of``."""
    return config_of(
        about,
        ("scores", f"{_FILE} {also}"),
        *(*functions, read_scores),
        without=("compare", "header", *without),
        groups=groups,
        no_header=(bool, False, _NO_HEADER),
        next=(str | None, None, _NEXT),
    )


def judge_scores(function: Callable[..., Found], config: Any) -> tuple[Found, str]:
    """What a function, such as ``rank``, finds in a table of scores; and a hint or nothing."""
    header = not config.no_header
    table = read_scores(config.scores, header=header, **arguments(read_scores, config))
    found = function(table, **arguments(race, config) | arguments(function, config))
    hint = "did all options run on the task of each row? then --shared compares them task by task"
    is_shared = config.shared or table.asked_alike
    return found, "" if is_shared or not table.fits_shared else hint


Config = config_of_scores(__doc__, race)


def ask(config: Any) -> tuple[RaceOfTable, str]:
    """Judge a table of scores."""
    found, hint = judge_scores(race, config)
    if config.no_header:
        note = "options are numbered by their columns, from left to right"
        found = dataclasses.replace(found, notes=(*found.notes, note))
    return found, hint


def write(folder: Path, found: RaceOfTable) -> None:
    """Write the options as a table."""
    write_rows(folder / "options.csv", found.options)


def write_next(path: Path, found: RaceOfTable) -> None:
    """A row for each option and number of runs, or for each option and task."""
    rows: list[tuple[str, str]] = []
    for name, wanted in found.next_runs.items():
        rows += [(name, str(one)) for one in (wanted if isinstance(wanted, list) else [wanted])]
    options, others = zip(*rows, strict=True) if rows else ((), ())
    second = "runs" if found.kind == "independent" else "task"
    tables.write_table(path, {"option": np.array(options), second: np.array(others)})


FILES = {"next": write_next}
