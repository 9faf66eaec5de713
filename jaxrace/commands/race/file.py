"""Tables of scores. Axes: K options, n_i runs of option i."""

import contextlib
import itertools
import math
import os

import numpy as np

from jaxrace import tables
from jaxrace.commands.race.config import MOST_RUNS

_LONG = ("option", "score")  # columns of a table that has a row for each run

# Heads of columns that number the runs.
_NUMBERS = ("id", "index", "repeat", "run", "seed", "step", "trial")

# So many options take minutes and 2 GB; and squared, times the most runs of one.
MOST_OPTIONS, _MOST_WORK = 1_000, 10**9
_EXACT = 2**53  # larger integers are not all floats


def read_scores(path: str | os.PathLike[str], has_header: bool = True) -> dict[str, np.ndarray]:
    """The scores of each option, [n_i], float64, or object where that is too coarse; as made.

    From a CSV file with a column for each option, or with columns option and score. Without a
    header the first row is a run of options without names.
    """
    lines = tables.numbered_rows("scores", path)
    with contextlib.closing(lines):
        first = next(lines, (1, []))
        heads = first[1] if has_header else [f"option {i + 1}" for i in range(len(first[1]))]
        is_long = set(_LONG) <= {head.lower() for head in heads}
        _require_heads(heads, is_long)
        found: dict[str, list[float]] = {} if is_long else {name: [] for name in heads}
        heads = [head.lower() if is_long else head for head in heads]
        most = 0
        _require_size(len(found), most)
        for line, row in lines if has_header else itertools.chain([first], lines):
            if len(row) != len(heads):
                raise _wrong(f"{len(heads)} cells in line {line}, got {len(row)}")
            cells = dict(zip(heads, row, strict=True))
            for name, cell in [[cells[head] for head in _LONG]] if is_long else cells.items():
                if not name:
                    raise _wrong(f"a name of an option in line {line}, got none")
                if cell or is_long:
                    scores = found.setdefault(name, [])
                    scores.append(_number(cell, name, line))
                    if len(scores) > most or len(scores) == 1:
                        most = max(most, len(scores))
                        _require_size(len(found), most)
    if not most:
        raise _wrong("runs below the names of the columns, got none")
    if len(found) < 2:
        raise _wrong(f"two options or more, got {', '.join(found)}")
    return {name: _as_array(scores) for name, scores in found.items()}


def ranks_of(table: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The scores' places among all different ones, int32: nothing but their order counts."""
    ends = np.cumsum([len(scores) for scores in table.values()])
    ranks = np.unique(np.concatenate(list(table.values())), return_inverse=True)[1]
    return dict(zip(table, np.split(ranks.astype(np.int32), ends[:-1]), strict=True))


def _wrong(expected: str) -> ValueError:
    return ValueError(f"scores: expected {expected}")


def _require_heads(heads: list[str], is_long: bool) -> None:
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
    numbers = [head for head in heads if head.lower() in _NUMBERS]
    if numbers and not is_long:
        raise _wrong(
            f"a column for each option, got {numbers[0]!r}, which seems to number the runs: leave "
            "it out"
        )


def _require_size(options: int, runs: int) -> None:
    if options > MOST_OPTIONS:
        raise _wrong(f"at most {MOST_OPTIONS:,} options, got more")
    if runs > MOST_RUNS:
        raise _wrong(f"at most {MOST_RUNS:,} runs of an option, got more")
    if options**2 * runs > _MOST_WORK:
        most = _MOST_WORK // options**2
        raise _wrong(f"at most {most:,} runs of an option for {options:,} options, got more")


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
