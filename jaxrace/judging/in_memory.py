"""Scores in memory by name: mappings, lists and arrays.

Axes: n_i runs of option i, T tasks, R values on each of them.
"""

import math
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jaxrace.answers.answer import listed
from jaxrace.core.validation import BadArgument
from jaxrace.evidence.independence import REFUSED
from jaxrace.tables import Scores
from jaxrace.tables.comparisons import comparisons
from jaxrace.tables.failures import EXPECTED, HINT, sentinels
from jaxrace.tables.pairs import are_pairs
from jaxrace.tables.runs import Asked, Failed, SourceRuns, groups_of, in_clusters, scores_of
from jaxrace.tables.scores import columns_of
from jaxrace.tables.table import Place, alike, numbered, visible
from jaxrace.tables.wide import Wide

Columns = list[np.ndarray]


def wrong(expected: str, got: str, hint: str = "") -> BadArgument:
    """An error in the data of a race."""
    return BadArgument("data", expected, got, f": {hint}" if hint else "")


def counted(failed: Failed) -> float:
    """The score of a run that failed; NaN if it is dropped."""
    return {"drop": math.nan, "worst": -math.inf}.get(failed, failed)  # pyright: ignore


def in_memory(data: Any, shared: bool, of_numbers: bool, asked: Asked) -> Scores:
    """Columns by name, each an option or what a reader of files takes it for."""
    if of_numbers and are_pairs(data):
        raise comparisons(Place("data", "a list"), "pairs of names")
    wide = Wide({}, {}, None)
    if isinstance(data, Mapping) and data and all(isinstance(x, Mapping) for x in data.values()):
        tasks = list(dict.fromkeys(task for column in data.values() for task in column))
        wide = Wide({}, {}, [*map(str, tasks)])
        data = {name: [column.get(task) for task in tasks] for name, column in data.items()}
    names, columns = _columns(data, of_numbers)
    is_plain = of_numbers and len(set(names)) == len(names) and any(map(np.size, columns))
    if is_plain and all(map(_are_numbers, columns)):
        wide = columns_of("data", dict(zip(names, columns, strict=True)), asked)
        if isinstance(wide, SourceRuns):
            found = scores_of(wide)
            return in_clusters(found, asked.cluster) if asked.cluster else found
        seen = dict(zip(map(visible, names), columns, strict=True))
        names, columns = tuple(wide.found), [seen[name] for name in wide.found]
    expected = "scores [T] or [T, R]" if shared else "scores [n]"
    for name, column in zip(names, columns, strict=True):
        if not 1 <= column.ndim <= 1 + shared:
            raise wrong(f"{expected} of {name}", f"an array {list(column.shape)}")
    said = list(wide.said)
    if of_numbers:
        columns = _with_failures(names, columns, shared, asked.failed, said)
    about: Any = {"measures": names, "failed": asked.failed}
    if not (shared or wide.tasks or wide.groups):
        return Scores(names, tuple(columns), None, (), (*said, *alike("options", names)), **about)
    said += _axes_of(names, columns)
    if wide.has_repeats:
        made = {name: _rows_made(column) for name, column in zip(names, columns, strict=True)}
        said += wide.of_items(Place("data", "a mapping"), made)
    rows = wide.tasks or [str(row + 1) for row in range(max(map(len, columns), default=0))]
    task_names, places = numbered(rows)
    tasks = [np.repeat(places[: len(x)], x.size // max(len(x), 1)) for x in columns]
    groups, more = groups_of(names, task_names, rows, wide.groups, wide.grouped_by)
    about |= {"numbered": wide.tasks is None, "groups": groups, "clusters": wide.clusters}
    values = tuple(map(np.ravel, columns))
    found = Scores(names, values, tuple(tasks), task_names, (*said, *more), **about)
    return in_clusters(found, asked.cluster) if asked.cluster else found


def _with_failures(
    names: Sequence[str], columns: Columns, shared: bool, failed: Failed, said: list[str]
) -> Columns:
    """The same with a score, or NaN, where a run failed: inf, an unlikely -1, NaN of runs alone."""
    try:
        found = [column.astype(float) for column in columns]
    except (TypeError, ValueError, OverflowError):
        return columns  # what is wrong is said of a table
    below = None if failed == -1 else sentinels(found, names)
    kept, counts = list(columns), []
    for place, (name, column) in enumerate(zip(names, found, strict=True)):
        is_odd = np.isinf(column) if below is None else np.isinf(column) | below[place]
        if not shared and np.isnan(column).any():
            kept[place] = column  # without a score for NaN it is refused, by its place
            is_odd |= np.isnan(column) & (failed is not None)
        if not is_odd.any():
            continue
        if failed is None:
            raise wrong(EXPECTED, f"{column[is_odd].flat[0]:g} of {name}", HINT)
        counts.append(f"{name} {int(is_odd.sum()):,}")
        kept[place] = np.where(is_odd, counted(failed), column)
    if counts:
        said.append(f"runs that failed ({failed}): {listed(counts)}")
    return kept


def _rows_made(column: np.ndarray) -> np.ndarray:
    """The rows with an outcome, which is neither None nor NaN."""
    there = [x is not None and not (isinstance(x, float) and x != x) for x in column.ravel()]
    kept = np.array(there, bool).reshape(column.shape)
    return np.flatnonzero(kept.any(axis=tuple(range(1, column.ndim))))


def is_read(data: Mapping[Any, Any] | Sequence[Any] | np.ndarray) -> bool:
    """Are these paths, rows, scores by task, or columns with words, instead of lists of scores?"""
    if isinstance(data, np.ndarray):
        return False
    found = list(data.values()) if isinstance(data, Mapping) else list(data)
    if found and all(isinstance(one, str | os.PathLike | Mapping) for one in found):
        return True
    firsts = [x[:1] if isinstance(x, list | tuple) else np.ravel(x)[:1] for x in found]
    return isinstance(data, Mapping) and any(isinstance(x, str) for one in firsts for x in one)


def _are_numbers(column: np.ndarray) -> bool:
    """Are they real numbers [n] or [n, R] that floats hold, or None for what is missing?"""
    if column.ndim not in (1, 2):
        return False
    return (column.dtype.kind in "biuf" or not column.size) or all(
        isinstance(x, float | None) or (isinstance(x, int) and abs(x) <= sys.float_info.max)
        for x in column.flat
    )


def _columns(data: Any, of_numbers: bool) -> tuple[tuple[str, ...], Columns]:
    if isinstance(data, Mapping):
        names, found = tuple(map(str, data)), list(data.values())
    elif isinstance(data, np.ndarray | Sequence) and not isinstance(data, str):
        found = list(data)
        if isinstance(data, np.ndarray):
            if data.ndim != 2:
                got = f"an array {list(data.shape)}"
                raise wrong("a table with a column for each option", got)
            # NaN at the end fills a column up.
            ends = np.where(data == data, np.arange(1, len(data) + 1)[:, None], 0).max(0, initial=0)
            found = [column[:end] for column, end in zip(data.T, ends.tolist(), strict=True)]
        names = tuple(f"option {i}" for i in range(len(found)))
    else:
        raise wrong("scores by name, or an array [n, K]", type(data).__name__)
    if of_numbers:
        return names, [*map(_numbers, names, found)]
    columns = [np.empty(len(runs), object) for runs in found]
    for column, runs in zip(columns, found, strict=True):
        for place, outcome in enumerate(runs):  # of any kind, also an array
            column[place] = outcome
    return names, columns


def _numbers(name: str, runs: Any) -> np.ndarray:
    if np.ma.is_masked(runs):
        hint = "NaN is what has not been run"
        raise wrong(f"numbers as scores of {name}", "a masked array", hint)
    try:
        return np.asarray(runs)
    except ValueError as error:  # rows of many lengths
        expected = f"as many values on each task as scores of {name}, NaN where there is none"
        raise wrong(expected, str(error)) from error


def _axes_of(names: Sequence[str], columns: Columns) -> list[str]:
    """What is said of the axes of options that have several values on a task.

    ValueError if columns certainly differ, and rows do not: tasks are the columns.
    """
    wide = [(name, x) for name, x in zip(names, columns, strict=True) if x.shape[1:] > (1,)]
    if not wide:
        return []
    name, (rows, values) = wide[0][0], wide[0][1].shape
    numbers = [x for _, x in wide if x.dtype.kind in "biuf"]
    if numbers:
        of_columns = np.mean([_evidence_of_unlike(x) for x in numbers])
        if of_columns >= 1 / REFUSED and np.mean([_evidence_of_unlike(x.T) for x in numbers]) < 1:
            raise wrong(
                f"scores [T, R] of {name}, R values alike on each of T tasks",
                f"[{rows}, {values}] with columns that differ and rows that do not",
                "where rows are runs and columns are tasks, array.T has the tasks first",
            )
    return [f"scores [{rows}, {values}] of {name}: {rows:,} tasks, with {values} values on each"]


def _evidence_of_unlike(values: np.ndarray) -> float:
    """An e-value of "the columns are alike", which has a mean of at most 1 if they are.

    In each row either of two columns is then as likely to be the larger one, whatever other pairs
    of columns are. A bet on each pair has a beta(1/2, 1/2) of its own.
    """
    log_e = 0.0
    for x, y in zip(values.T[::2], values.T[1::2], strict=False):
        won, lost = int((x > y).sum()), int((x < y).sum())
        log_e += math.lgamma(won + 0.5) + math.lgamma(lost + 0.5) - math.lgamma(won + lost + 1)
        log_e += (won + lost) * math.log(2) - math.log(math.pi)
    return math.exp(min(log_e, 700.0))
