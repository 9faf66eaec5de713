"""Scores in memory by name: mappings, lists and arrays.

Axes: n_i runs of option i, T tasks, R values on each of them.
"""

import math
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxrace.answers.answer import listed
from jaxrace.core.validation import BadArgument
from jaxrace.evidence.independence import REFUSED
from jaxrace.tables import Scores
from jaxrace.tables.asked import Failed, asked_for
from jaxrace.tables.failures import HINT, sentinels
from jaxrace.tables.runs import Runs, scores_of
from jaxrace.tables.scores import columns_of
from jaxrace.tables.table import visible


def wrong(expected: str, got: str, hint: str = "") -> BadArgument:
    """An error in the data of a race."""
    return BadArgument("data", expected, got, f": {hint}" if hint else "")


def failure(got: str) -> BadArgument:
    """An error: nothing says what a run that failed counts as."""
    return wrong("to be told what a run that failed counts as", got, HINT)


class Columns(NamedTuple):
    """Scores in memory, of each option [n_i] or [n_i, R]."""

    names: tuple[str, ...]
    values: list[np.ndarray]
    rows: list[str] | None = None  # the task of each row, if it has a name
    groups: list[str] | None = None  # the group of each row
    grouped_by: str = ""
    said: tuple[str, ...] = ()

    def with_failures(self, shared: bool, failed: Failed) -> "Columns":
        """The same with a score for runs that failed; ValueError if nothing says which.

        These are infinite ones, a -1 among what is never below 0, and among independent runs NaN.
        """
        try:
            found = [column.astype(float) for column in self.values]
        except (TypeError, ValueError, OverflowError):
            return self  # what is wrong is said of a table
        below = None if failed == -1 else sentinels(found, self.names)
        kept, counts = list(self.values), []
        for place, (name, column) in enumerate(zip(self.names, found, strict=True)):
            is_odd = np.isinf(column) if below is None else np.isinf(column) | below[place]
            if not shared and failed is not None:
                is_odd |= np.isnan(column)
            elif not shared and np.isnan(column).any():
                kept[place] = column  # which is refused, by its place
            if not is_odd.any():
                continue
            if failed is None:
                raise failure(f"{column[is_odd].flat[0]:g} of {name}")
            counts.append(f"{name} {int(is_odd.sum()):,}")
            if failed == "drop":
                kept[place] = np.where(is_odd, math.nan, column) if shared else column[~is_odd]
            else:
                kept[place] = np.where(is_odd, -math.inf if failed == "worst" else failed, column)
        said = [f"runs that failed ({failed}): {listed(counts)}"] if counts else []
        return self._replace(values=kept, said=(*self.said, *said))


def in_memory(data: Any, of_numbers: bool, asked: Mapping[str, Any]) -> Scores | Columns:
    """Columns by name, each an option or what a reader of files takes it for."""
    if isinstance(data, Mapping) and data and all(isinstance(x, Mapping) for x in data.values()):
        rows = list(dict.fromkeys(task for column in data.values() for task in column))
        data = {name: [column.get(task) for task in rows] for name, column in data.items()}
        return Columns(*_columns(data, of_numbers), [*map(str, rows)])
    names, found = _columns(data, of_numbers)
    is_plain = of_numbers and len(set(names)) == len(names) and any(map(np.size, found))
    if not is_plain or not all(map(_are_numbers, found)):
        return Columns(names, found)
    by_name = dict(zip(names, found, strict=True))
    wide = columns_of("data", by_name, asked_for(**asked))
    if isinstance(wide, Runs):
        return scores_of(wide)
    seen = dict(zip(map(visible, names), found, strict=True))
    kept = [seen[name] for name in wide.found]
    return Columns(tuple(wide.found), kept, wide.tasks, wide.groups, wide.grouped_by, wide.said)


def is_read(data: Mapping[Any, Any] | Sequence[Any] | np.ndarray) -> bool:
    """Are these paths, rows, scores by task, or columns with words, instead of lists of scores?"""
    if isinstance(data, np.ndarray):
        return False
    found = list(data.values()) if isinstance(data, Mapping) else list(data)
    if found and all(isinstance(one, str | os.PathLike | Mapping) for one in found):
        return True
    return isinstance(data, Mapping) and any(map(_are_words, found))


def _are_words(column: Any) -> bool:
    cells = column if isinstance(column, list | tuple) else np.atleast_1d(np.asarray(column))
    return len(cells) > 0 and isinstance(cells[0], str)


def _are_numbers(column: np.ndarray) -> bool:
    """Are they real numbers [n] or [n, R] that floats hold, or None for what is missing?"""
    if column.ndim not in (1, 2):
        return False
    return (column.dtype.kind in "biuf" or not column.size) or all(
        one is None
        or isinstance(one, float)
        or (isinstance(one, int) and abs(one) <= sys.float_info.max)
        for one in column.flat
    )


def _columns(data: Any, of_numbers: bool) -> tuple[tuple[str, ...], list[np.ndarray]]:
    if isinstance(data, Mapping):
        names, found = tuple(map(str, data)), list(data.values())
    elif isinstance(data, np.ndarray | Sequence) and not isinstance(data, str):
        found = list(data)
        if isinstance(data, np.ndarray):
            if data.ndim != 2:
                got = f"an array {list(data.shape)}"
                raise wrong("a table with a column for each option", got)
            found = [_without_end(column) for column in data.T]
        names = tuple(f"option {i}" for i in range(len(found)))
    else:
        raise wrong("scores by name, or an array [n, K]", type(data).__name__)
    convert = _numbers if of_numbers else _objects
    return names, [convert(name, runs) for name, runs in zip(names, found, strict=True)]


def _numbers(name: str, runs: Any) -> np.ndarray:
    if np.ma.is_masked(runs):
        hint = "NaN is what has not been run"
        raise wrong(f"numbers as scores of {name}", "a masked array", hint)
    try:
        return np.asarray(runs)
    except ValueError as error:  # rows of many lengths
        expected = f"as many values on each task as scores of {name}, NaN where there is none"
        raise wrong(expected, str(error)) from error


def _objects(_: str, runs: Any) -> np.ndarray:
    """Outcomes of any kind, object [n]."""
    found = np.empty(len(runs), object)
    for place, one in enumerate(runs):
        found[place] = one
    return found


def _without_end(column: np.ndarray) -> np.ndarray:
    """A column without the NaN that fill it up."""
    if column.dtype.kind != "f":
        return column
    there = np.flatnonzero(~np.isnan(column))
    return column[: there[-1] + 1] if there.size else column[:0]


def axes_of(names: Sequence[str], columns: Sequence[np.ndarray]) -> tuple[str, ...]:
    """What is said of the axes of options that have several values on a task.

    Raises:
        ValueError: Columns certainly differ, and rows do not: tasks are the columns.

    >>> axes_of(["a"], [np.zeros((3, 2))])
    ('scores [3, 2] of a: 3 tasks, with 2 values on each',)
    """
    wide = {
        name: x for name, x in zip(names, columns, strict=True) if x.ndim == 2 and x.shape[1] > 1
    }
    if not wide:
        return ()
    name, (rows, values) = next((name, x.shape) for name, x in wide.items())
    numbers = [x for x in wide.values() if x.dtype.kind in "biuf"]
    if numbers:
        of_columns = np.mean([_evidence_of_unlike(x) for x in numbers])
        if of_columns >= 1 / REFUSED and np.mean([_evidence_of_unlike(x.T) for x in numbers]) < 1:
            raise wrong(
                f"scores [T, R] of {name}, R values alike on each of T tasks",
                f"[{rows}, {values}] with columns that differ and rows that do not",
                "where rows are runs and columns are tasks, array.T has the tasks first",
            )
    return (f"scores [{rows}, {values}] of {name}: {rows:,} tasks, with {values} values on each",)


def _evidence_of_unlike(values: np.ndarray) -> float:
    """An e-value of "the columns are alike", which has a mean of at most 1 if they are.

    In each row either of two columns is then as likely to be the larger one, also given all other
    pairs of columns that share none with them. A bet on each pair has a beta(1/2, 1/2) of its own.
    """
    log_e = 0.0
    for x, y in zip(values.T[::2], values.T[1::2], strict=False):
        won, lost = int((x > y).sum()), int((x < y).sum())
        log_e += math.lgamma(won + 0.5) + math.lgamma(lost + 0.5) - math.lgamma(won + lost + 1)
        log_e += (won + lost) * math.log(2) - math.log(math.pi)
    return math.exp(min(log_e, 700.0))
