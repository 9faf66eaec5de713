"""Tables of scores. Axes: K options, n_i runs of option i, T tasks."""

import contextlib
import itertools
import math
import os
from collections.abc import Iterator

import numpy as np

from jaxrace import tables
from jaxrace.judging.scores import Table

# Columns of a table that has a row for each run.
_LONG, _TASK = ("option", "score"), "task"

# Heads of columns that number the runs.
_NUMBERS = ("id", "index", "repeat", "run", "seed", "step", "task", "trial")

MOST_OPTIONS, _MOST_SCORES = 5_000, 20_000_000
_EXACT = 2**53  # larger integers are not all floats


def read_scores(
    path: str | os.PathLike[str], has_header: bool = True, shared: bool = False
) -> Table:
    """The scores of each option, [n_i], float64, or object where that is too coarse; as made.

    From a CSV file with a column for each option, or with columns option and score. Without a
    header the first row is a run of options without names. Shared tasks have a row each, perhaps
    with their names in a column task, or are named in a column task of every run.
    """
    lines = tables.numbered_rows("scores", path)
    with contextlib.closing(lines):
        first = next(lines, (1, []))
        heads = first[1] if has_header else [f"option {i + 1}" for i in range(len(first[1]))]
        is_long = set(_LONG) <= {head.lower() for head in heads}
        _require_heads(heads, is_long, shared)
        rows = lines if has_header else itertools.chain([first], lines)
        if is_long:
            table = _long([head.lower() for head in heads], rows, shared)
        else:
            table = _wide(heads, rows, shared)
    if not any(map(len, table.values)):
        raise _wrong("runs below the names of the columns, got none")
    if len(table.names) < 2:
        raise _wrong(f"two options or more, got {', '.join(table.names)}")
    return table


def _long(heads: list[str], lines: Iterator[tuple[int, list[str]]], shared: bool) -> Table:
    found: dict[str, list[float]] = {}
    tasks: dict[str, list[int]] = {}
    has_tasks = shared or _TASK in heads
    numbers: dict[str, int] = {}  # of tasks, in the order in which they come
    for count, (line, row) in enumerate(lines):
        cells = _cells(heads, line, row)
        name, cell = (cells[head] for head in _LONG)
        if not name:
            raise _wrong(f"a name of an option in line {line}, got none")
        found.setdefault(name, []).append(_number(cell, name, line))
        _require_size(len(found), count + 1)
        if has_tasks:
            if not cells[_TASK]:
                raise _wrong(f"a name of a task in line {line}, got none")
            number = numbers.setdefault(cells[_TASK], len(numbers))
            tasks.setdefault(name, []).append(number)
    return _table(found, tasks, list(numbers), has_tasks)


def _wide(heads: list[str], lines: Iterator[tuple[int, list[str]]], shared: bool) -> Table:
    names = [head for head in heads if not (shared and head.lower() == _TASK)]
    (task_head,) = [head for head in heads if head not in names] or [None]
    found: dict[str, list[float]] = {name: [] for name in names}
    tasks: dict[str, list[int]] = {name: [] for name in names}
    task_names: list[str] = []
    for count, (line, row) in enumerate(lines):
        _require_size(len(names), (count + 1) * len(names))
        cells = _cells(heads, line, row)
        for name in names:
            if cells[name]:
                found[name].append(_number(cells[name], name, line))
                tasks[name].append(count)
        task_names.append(cells[task_head] if task_head else str(count + 1))
    if shared and len(set(task_names)) < len(task_names):
        raise _wrong("different names of tasks in a table with a row for each, got the same twice")
    return _table(found, tasks, task_names, shared)


def _cells(heads: list[str], line: int, row: list[str]) -> dict[str, str]:
    if len(row) != len(heads):
        raise _wrong(f"{len(heads)} cells in line {line}, got {len(row)}")
    return dict(zip(heads, row, strict=True))


def _table(
    found: dict[str, list[float]],
    tasks: dict[str, list[int]],
    task_names: list[str],
    has_tasks: bool,
) -> Table:
    values = tuple(map(_as_array, found.values()))
    if not has_tasks:
        return Table(tuple(found), values)
    numbers = tuple(np.array(tasks[name], int) for name in found)
    return Table(tuple(found), values, numbers, tuple(task_names))


def _wrong(expected: str) -> ValueError:
    return ValueError(f"scores: expected {expected}")


def _require_heads(heads: list[str], is_long: bool, shared: bool) -> None:
    if not heads:
        raise _wrong("a CSV file with something in it, got none")
    if len(heads) < 2:
        raise _wrong(f"two columns or more with commas between them, got {', '.join(heads)!r}")
    if all(map(_is_number, heads)):
        raise _wrong(
            f"names of columns in the first row, got {', '.join(heads[:3])}: with --no-header it "
            "is a run; a name that is a number needs a letter"
        )
    if len(set(heads)) < len(heads) or "" in heads:
        raise _wrong(f"different names of columns, got {', '.join(heads)}")
    has_task = _TASK in [head.lower() for head in heads]
    if is_long and shared and not has_task:
        raise _wrong(f"columns option, task and score for shared tasks, got {', '.join(heads)}")
    numbers = [head for head in heads if head.lower() in _NUMBERS]
    if shared:
        numbers = [head for head in numbers if head.lower() != _TASK]
    if numbers and not is_long:
        raise _wrong(
            f"a column for each option, got {numbers[0]!r}, which seems to number the runs: leave "
            "it out"
        )


def _require_size(options: int, scores: int) -> None:
    if options > MOST_OPTIONS:
        raise _wrong(f"at most {MOST_OPTIONS:,} options, got more")
    if scores > _MOST_SCORES:
        raise _wrong(f"at most {_MOST_SCORES:,} scores, got more")


def _is_number(text: str) -> bool:
    with contextlib.suppress(ValueError):
        float(text)
        return True
    return not text


def _number(cell: str, name: str, line: int) -> float:
    try:
        score = tables.as_float(cell)
    except ValueError:
        score = math.nan
    is_too_large = math.isinf(score) and "inf" not in cell.lower()
    if math.isnan(score) or is_too_large:
        raise _wrong(f"a number as score of {name} in line {line}, got {cell!r}")
    is_coarse = abs(score) >= _EXACT and cell.lstrip("+-").isdecimal()
    return int(cell) if is_coarse else score


def _as_array(scores: list[float]) -> np.ndarray:
    return np.array(scores, object if any(isinstance(x, int) for x in scores) else float)
