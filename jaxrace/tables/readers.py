"""All readers of what other programs leave: functions of a file, None for other files."""

from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from jaxrace.core.validation import BadArgument
from jaxrace.tables.evaluators import harness, hyperfine, inspect, pytest_benchmark
from jaxrace.tables.files import File
from jaxrace.tables.irace import irace
from jaxrace.tables.judged import (
    deepeval,
    eval_plus,
    helm,
    human_eval,
    openai_evals,
    promptfoo,
    promptfoo_table,
    swe_bench,
)
from jaxrace.tables.optuna_runs import journal, study, trial_runs
from jaxrace.tables.runs import Asked, SourceRuns
from jaxrace.tables.table import Table
from jaxrace.tables.timers import (
    asv,
    benchmark_dotnet,
    criterion,
    go_bench,
    google_benchmark,
    jmh,
    pyperf,
)
from jaxrace.tables.training import (
    cross_validated,
    curves,
    evaluations,
    games,
    monitor,
    progress,
    tensorboard,
    tracked,
)

Reader = Callable[[File, Asked], SourceRuns | None]

# Each recognises its files, reads them, and says so.
READERS: tuple[Reader, ...] = (
    *(study, journal, harness, openai_evals, human_eval, monitor, evaluations),
    *(progress, tensorboard),
    *(google_benchmark, hyperfine, pytest_benchmark, jmh, asv, pyperf, go_bench),
    *(inspect, promptfoo, deepeval, helm, swe_bench, eval_plus, games),
)
# The same of tables.
TABLE_READERS: tuple[Callable[[Table, Asked], SourceRuns | None], ...] = (
    *(trial_runs, cross_validated, tracked, curves, criterion, benchmark_dotnet),
    *(promptfoo_table, irace),
)


def runs_in(file: File, asked: Asked) -> SourceRuns | None:
    """The runs in a file, by the first reader that knows its kind; None if it is a table."""
    try:
        found = (reader(file, asked) for reader in READERS)
        return next((runs for runs in found if runs is not None), None)
    except BadArgument:
        raise
    except (AttributeError, KeyError, TypeError, ValueError) as error:  # ValueError: strict zips
        got = f"something else ({type(error).__name__}: {error})"
        raise file.wrong("what hyperfine, Inspect or others write", got) from error


def of_others(path: Path) -> Any:
    """What a reader of another package makes of a file, None if there is none that knows it.

    Such a package has an entry point ``jaxrace.readers``: a function of a path that returns None,
    or what ``read_scores`` takes, such as a frame.
    """
    for entry in entry_points(group="jaxrace.readers"):
        if (found := entry.load()(path)) is not None:
            return found
    return None


def runs_of_program(table: Table, asked: Asked) -> SourceRuns | None:
    """The runs in a table that a program has left, by the first reader that knows its kind."""
    found = (reader(table, asked) for reader in TABLE_READERS)
    return next((runs for runs in found if runs is not None), None)
