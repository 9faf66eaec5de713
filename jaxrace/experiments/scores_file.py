"""Tables of scores. Axes: K options, n_i runs of option i."""

import math
import os
from typing import NamedTuple

import numpy as np

from jaxrace import tables

# Columns of a table that has a row for each run.
_LONG = ("option", "score")

# Heads of columns that number the runs.
_NUMBERS = ("id", "index", "repeat", "run", "seed", "step", "trial")

# An order of runs that chance makes less often is no order in which they were made.
_UNLIKELY = 1e-6


class ScoreTable(NamedTuple):
    """Scores by the names of options."""

    names: list[str]  # K, as they come
    scores: list[np.ndarray]  # K of float64 [n_i], as they were made


def read_scores(path: str | os.PathLike[str]) -> ScoreTable:
    """Read a CSV file with a column for each option, or with columns option and score.

    Raises:
        ValueError: It cannot be read or used; the column or the row is named.

    >>> tables.write_table("wide.csv", {"a": np.array([1.5, 2.5]), "b": np.array(["0", ""])})
    >>> read_scores("wide.csv")
    ScoreTable(names=['a', 'b'], scores=[array([1.5, 2.5]), array([0.])])
    """
    try:
        lines = [[cell.strip() for cell in row] for row in tables.read_rows(path)]
    except (OSError, ValueError) as error:
        raise _wrong(f"a CSV file, got {os.fspath(path)!r}: {error}") from error
    numbered = [(number, row) for number, row in enumerate(lines, 1) if any(row)]
    heads = numbered[0][1] if numbered else []
    is_long = set(_LONG) <= {head.lower() for head in heads}
    _require_heads(heads, is_long)
    if is_long:
        heads = [head.lower() for head in heads]
    found: dict[str, list[float]] = {} if is_long else {name: [] for name in heads}
    for line, row in numbered[1:]:
        if len(row) != len(heads):
            raise _wrong(f"{len(heads)} cells in line {line}, got {len(row)}")
        cells = dict(zip(heads, row, strict=True))
        for name, cell in [[cells[head] for head in _LONG]] if is_long else cells.items():
            if not name:
                raise _wrong(f"a name of an option in line {line}, got none")
            if cell or is_long:
                found.setdefault(name, []).append(_number(cell, name, line))
    table = ScoreTable(list(found), [np.array(scores) for scores in found.values()])
    if len(table.names) < 2:
        raise _wrong(f"two options or more, got {', '.join(found) or 'none'}")
    for name, scores in zip(*table, strict=True):
        _require_no_order(name, scores)
    return table


def ranks_of(table: ScoreTable) -> list[np.ndarray]:
    """The scores' places among all different ones, int32: nothing but their order counts.

    >>> [ranks.tolist() for ranks in ranks_of(ScoreTable(["a", "b"], [np.array([7.0, -np.inf]),
    ...     np.array([7.0])]))]
    [[1, 0], [1]]
    """
    everything = np.concatenate(table.scores)
    ranks = np.unique(everything, return_inverse=True)[1].astype(np.int32)
    return np.split(ranks, np.cumsum([len(scores) for scores in table.scores])[:-1])


def _wrong(expected: str) -> ValueError:
    return ValueError(f"scores: expected {expected}")


def _require_heads(heads: list[str], is_long: bool) -> None:
    if len(heads) < 2:
        raise _wrong(f"two columns or more with commas between them, got {', '.join(heads)!r}")
    if len(set(heads)) < len(heads) or "" in heads:
        raise _wrong(f"different names of columns, got {', '.join(heads)}")
    numbers = [head for head in heads if head.lower() in _NUMBERS]
    if numbers and not is_long:
        raise _wrong(
            f"a column for each option, got {numbers[0]!r}, which seems to number the runs: leave "
            "it out"
        )


def _number(cell: str, name: str, line: int) -> float:
    try:
        score = float(cell.replace("_", "no number"))
    except ValueError:
        score = math.nan
    is_too_large = math.isinf(score) and "inf" not in cell.lower()
    if math.isnan(score) or is_too_large:
        raise _wrong(f"a number as score of {name} in line {line}, got {cell!r}")
    return score


def _require_no_order(name: str, scores: np.ndarray) -> None:
    """Sorted scores of an option are not independent of each other: no verdict would hold."""
    counts = np.unique(scores, return_counts=True)[1]
    # The orders that equally likely orders of these scores have.
    orders = math.lgamma(len(scores) + 1) - sum(math.lgamma(count + 1) for count in counts)
    is_sorted = any((x[1:] >= x[:-1]).all() for x in (scores, scores[::-1]))
    if is_sorted and orders > -math.log(_UNLIKELY / 2):
        raise _wrong(f"runs in the order in which they were made, got sorted scores of {name}")
