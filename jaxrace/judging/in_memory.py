"""Scores in memory by name: mappings, lists and arrays. Axes: n_i runs of option i, R values."""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxrace.tables import Scores
from jaxrace.tables.asked import asked_for
from jaxrace.tables.runs import Runs, scores_of
from jaxrace.tables.scores import columns_of
from jaxrace.tables.table import visible


def wrong(expected: str) -> ValueError:
    """An error in the data of a race."""
    return ValueError(f"data: expected {expected}")


class Columns(NamedTuple):
    """Scores in memory, of each option [n_i] or [n_i, R]."""

    names: tuple[str, ...]
    values: list[np.ndarray]
    rows: list[str] | None = None  # the task of each row, if it has a name
    groups: list[str] | None = None  # the group of each row
    grouped_by: str = ""
    said: tuple[str, ...] = ()


def in_memory(data: Any, of_numbers: bool, asked: Mapping[str, Any]) -> Scores | Columns:
    """Columns by name, each an option or what a reader of files takes it for."""
    if isinstance(data, Mapping) and data and all(map(_is_mapping, data.values())):
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


def _is_mapping(column: Any) -> bool:  # those of numbers are read
    return isinstance(column, Mapping)


def _are_numbers(column: np.ndarray) -> bool:
    """Are they real numbers [n] or [n, R], or None where there is none?"""
    if column.ndim not in (1, 2):
        return False
    is_plain = column.dtype.kind in "biuf" or not column.size
    return is_plain or all(one is None or _is_number(one) for one in column.flat)


def _is_number(one: Any) -> bool:
    """Is it a float, or an integer in the range of floats?"""
    is_small = isinstance(one, int) and abs(one) <= sys.float_info.max
    return is_small or isinstance(one, float)


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


def _columns(data: Any, of_numbers: bool) -> tuple[tuple[str, ...], list[np.ndarray]]:
    if isinstance(data, Mapping):
        names, found = tuple(map(str, data)), list(data.values())
    elif isinstance(data, np.ndarray):
        if data.ndim != 2:
            raise wrong(f"a table with a column for each option, got an array {list(data.shape)}")
        found = [_without_end(column) for column in data.T]
        names = tuple(f"option {i}" for i in range(len(found)))
    elif isinstance(data, Sequence) and not isinstance(data, str):
        found, names = list(data), tuple(f"option {i}" for i in range(len(data)))
    else:
        raise wrong(f"scores by name, or an array [n, K], got {type(data).__name__}")
    if not of_numbers:
        return names, [_objects(runs) for runs in found]
    return names, [_numbers(name, runs) for name, runs in zip(names, found, strict=True)]


def _numbers(name: str, runs: Any) -> np.ndarray:
    if np.ma.is_masked(runs):
        raise wrong(
            f"numbers as scores of {name}, got a masked array: NaN is what has not been run"
        )
    try:
        return np.asarray(runs)
    except ValueError as error:  # rows of many lengths
        raise wrong(
            f"as many values on each task as scores of {name}, NaN where there is none, got {error}"
        ) from error


def _objects(runs: Any) -> np.ndarray:
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
