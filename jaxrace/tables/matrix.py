"""Who beats whom: matrices of probabilities or wins, crosstables of points. Axes: K options."""

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jaxrace.core.validation import BadArgument, as_reals, require_plain_file
from jaxrace.tables.cells import Cell, is_blank, kind_of, label_of
from jaxrace.tables.numbers import numbers_of
from jaxrace.tables.sources import read_table
from jaxrace.tables.table import Place, Table, listed

# What stands where an option would meet itself.
_MARKS = frozenset(("-", "--", "\u2013", "\u2014", "x", "*", "\\", "#"))
_HALVES = frozenset(("½", "1/2", "="))
_TOLERANCE = 1e-6  # of p_ij + p_ji = 1, as of probabilities printed with a few digits


@dataclasses.dataclass(frozen=True, eq=False)
class Matrix:
    """Probabilities that one option beats another."""

    names: tuple[str, ...]  # of the K options, "0", "1", ... if the source has none
    # float64 [K, K]: how often the option of a row beats that of a column; p_ij + p_ji = 1 up to
    # rounding, 1/2 on the diagonal
    probabilities: np.ndarray
    said: tuple[str, ...] = ()  # what was guessed, in words
    # float64 [K, K], where they come from counts: wins of the row, a draw a half for both
    wins: np.ndarray | None = None


def read_matrix(
    source: Any, *, decimal: str = "auto", delimiter: str = "auto", argument: str = "matrix"
) -> Matrix:
    r"""Read who beats whom.

    The numbers are probabilities, p_ij that option i (the row) beats option j (the column), or
    counts of wins of i against j, from which p_ij = w_ij / (w_ij + w_ji). There may be names in the
    first row, and in the first column. The diagonal may be empty.

    Args:
        source: As for all doors (``jaxrace.tables``), .npy, or an array [K, K].
        decimal: As for all doors, and so are ``delimiter`` and ``argument``.
        delimiter: What is between the columns of a text.
        argument: What messages begin with.

    Raises:
        BadArgument: It is not square, names of rows are not those of columns, or numbers are
            neither probabilities nor counts.

    >>> from pathlib import Path
    >>> _ = Path("wins.csv").write_text(",ann,bob\nann,,3\nbob,1,\n")
    >>> found = read_matrix("wins.csv")
    >>> found.names, found.probabilities.tolist()
    (('ann', 'bob'), [[0.5, 0.75], [0.25, 0.5]])
    >>> found.said
    ('wins of the row against the column: 3 of ann, 1 of bob',)
    """
    if isinstance(source, list | tuple) and all(isinstance(row, list | tuple) for row in source):
        source = np.array(source)
    if isinstance(source, np.ndarray) or _is_npy(source):
        square, numbers, said = *_of_array(argument, source), []
    else:
        table = read_table(argument, source, decimal=decimal, delimiter=delimiter, header=False)
        square = _square(table)
        if len(square.heads) < 2:
            raise table.wrong("at least 2 rows", str(len(square.heads)))
        found, said = numbers_of(square, square.heads)
        numbers = np.stack([found[head] for head in square.heads], 1)
    beats, wins = _probabilities(square, numbers), None
    if beats is None:
        beats, wins = _from_counts(square, numbers)
        first, second = square.heads[:2]
        won = f"{wins[0, 1]:g} of {first}, {wins[1, 0]:g} of {second}"
        said.append(f"wins of the row against the column: {won}")
        games = (wins + wins.T)[~np.eye(len(wins), dtype=bool)]
        if len(games) > 2 and (games == 100).all():
            said.append("every pair has met 100 times; if these are percents, divide them by 100")
    elif np.isin(beats[~np.eye(len(beats), dtype=bool)], (0, 1)).all():
        said.append("0 and 1 are probabilities: certain, and not the results of single games")
    return Matrix(square.heads, beats, (*square.said, *said), wins)


def _is_npy(source: Any) -> bool:
    return isinstance(source, str | os.PathLike) and Path(source).suffix.lower() == ".npy"


def _of_array(argument: str, source: Any) -> tuple[Table, np.ndarray]:
    """The numbers of an array or of a .npy file, and a table that calls its options 0, 1, ..."""
    place, content = Place(argument, "an array"), source
    if not isinstance(source, np.ndarray):
        place = Place(argument, repr(str(source)))
        try:
            require_plain_file(argument, source)
            # Mapped: a header that claims more than there is takes no memory.
            content = np.load(source, mmap_mode="r", allow_pickle=False)
        except Exception as error:  # of a header NumPy makes any kind of error
            raise BadArgument(argument, "a .npy file", f"{source} ({error})") from error
    numbers = as_reals(argument, content, "[K, K]")
    if numbers.ndim != 2 or len(numbers) != numbers.shape[1]:
        raise place.wrong("a square", f"shape {list(numbers.shape)}")
    if len(numbers) < 2:
        raise place.wrong("at least 2 rows", str(len(numbers)))
    names = tuple(map(str, range(len(numbers))))
    lines = range(1, len(names) + 1)
    return Table(argument, place.where, names, tuple(numbers.T), lines, "row"), numbers


def _square(table: Table) -> Table:
    """The cells alone below their names, the diagonal empty where it is marked to be so."""
    rows = [list(row) for row in zip(*table.columns, strict=True)]
    lines = list(table.lines)
    heads: list[str] | None = None
    if table.unit != "line" or any(not head.startswith("option ") for head in table.heads):
        heads = list(table.heads)  # of a frame
    elif rows and _are_heads(rows):
        heads, rows, lines = [*map(label_of, rows[0])], rows[1:], lines[1:]
    names = heads
    width = len(table.heads)
    if heads is not None and (width == len(rows) + 1):
        index = [label_of(row[0]) for row in rows]
        names = _agreed(table, heads[1:], index)
        rows = [row[1:] for row in rows]
        order = [index.index(name) for name in names]
        rows, lines = [rows[place] for place in order], [lines[place] for place in order]
        width -= 1
    if width != len(rows):
        cells = tuple(map(list, zip(*rows, strict=True)))
        below = dataclasses.replace(table, heads=tuple(heads or ()), columns=cells, lines=lines)
        with_totals = crosstable_in(below) if heads is not None and rows else None
        if with_totals is not None:
            return with_totals
        raise table.wrong("a square", f"shape [{len(rows)}, {width}]")
    names = [str(place) for place in range(width)] if names is None else names
    again = [name for place, name in enumerate(names) if name in names[:place]]
    if again:
        raise table.wrong("different names", f"{again[0]!r} twice")
    for place, row in enumerate(rows):
        rows[place] = [points_of(cell) for cell in row]
        if str(row[place]).lower() in _MARKS or is_blank(row[place]):
            rows[place][place] = None
    columns = tuple([row[place] for row in rows] for place in range(width))
    return dataclasses.replace(table, heads=tuple(names), columns=columns, lines=lines)


def _are_heads(rows: Sequence[Sequence[Cell]]) -> bool:
    """Does the first row have names, not numbers?"""
    first, below = rows[0], [label_of(row[0]) for row in rows[1:]]
    rest = [cell for cell in map(points_of, first[1:]) if str(cell).lower() not in _MARKS]
    if kind_of(rest) in ("text", "mixed"):
        return True
    # Numbers as names, where they only number the options.
    numbered = [str(place) for place in range(1, len(first))]
    is_named = kind_of(below) == "text" or (below == numbered and len(rows) > 3)
    return [*first[1:]] == numbered and is_named and kind_of(first[:1]) != "number"


def _agreed(table: Table, heads: Sequence[str], index: Sequence[str]) -> list[str]:
    """The names of columns, which those of rows must be; heads that count stand for any."""
    if list(heads) == [str(place) for place in range(1, len(index) + 1)]:
        return list(index)
    if sorted(heads) != sorted(index):
        got = f"{listed(index)} beside {listed(heads)}"
        raise table.wrong("rows of the same names as columns", got)
    return list(heads)


def _probabilities(table: Table, numbers: np.ndarray) -> np.ndarray | None:
    """The numbers with their diagonal if they are probabilities, None if they may be counts."""
    apart = ~np.eye(len(numbers), dtype=bool)
    for i, j in np.argwhere(np.isnan(numbers) & apart):
        cell = repr(table.columns[j][i])
        raise table.wrong("a number", cell, int(i), table.heads[j])
    full = np.where(apart | ~np.isnan(numbers), numbers, 0.5)
    if ((full >= 0) & (full <= 1)).all() and (abs(full + full.T - 1) <= _TOLERANCE).all():
        return full
    whole = full[apart]
    are_halves = (whole >= 0) & np.isfinite(whole) & (2 * whole == np.floor(2 * whole))
    if are_halves.all() and ((whole > 1).any() or (whole == np.floor(whole)).all()):
        return None
    bad = np.argwhere(~((full >= 0) & (full <= 1)))
    if bad.size:
        i, j = bad[0]
        got = f"{full[i, j]:.10g} for {table.heads[i]} against {table.heads[j]}"
        raise table.wrong("probabilities, or counts of wins", got)
    i, j = np.argwhere(abs(full + full.T - 1) > _TOLERANCE)[0]
    got = f"{full[i, j]:.10g} + {full[j, i]:.10g} for {table.heads[i]} and {table.heads[j]}"
    raise table.wrong("p_ij + p_ji = 1", got)


def _from_counts(table: Table, wins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The share of its games that each row has won against each column, and the wins."""
    diagonal = np.diagonal(wins)
    if (np.nan_to_num(diagonal) != 0).any():
        place = int(np.argmax(np.nan_to_num(diagonal) != 0))
        got = f"{diagonal[place]:g} for {table.heads[place]}"
        raise table.wrong("no wins of an option against itself", got)
    wins = np.nan_to_num(wins)
    games = wins + wins.T
    np.fill_diagonal(games, 1)
    if (games == 0).any():
        i, j = np.argwhere(games == 0)[0]
        got = f"none of {table.heads[i]} and {table.heads[j]}"
        hint = "select ranks by a model, which needs no game of every pair"
        raise table.wrong("a comparison of every pair", got, hint=hint)
    beats = wins / games
    np.fill_diagonal(beats, 0.5)
    return beats, wins


def crosstable_in(table: Table) -> Table | None:
    """The columns of the options, in the order of their rows, or None if it is no crosstable.

    Columns are called as rows are in the first column of words, or 1, 2, ...; others, such as
    totals, are left out. The diagonal is None where it is marked or empty.
    """
    if not 2 <= len(table.lines) <= len(table.heads):
        return None
    words = [place for place, cells in enumerate(table.columns) if kind_of(cells) == "text"]
    if not words:
        return None
    names = [label_of(cell) for cell in table.columns[words[0]]]
    numbers = [str(place + 1) for place in range(len(names))]
    heads = next((one for one in (names, numbers) if set(one) <= set(table.heads)), None)
    if heads is None or len(set(names)) < len(names):
        return None
    columns = []
    for place, head in enumerate(heads):
        cells = [points_of(cell) for cell in table.column(head)]
        if is_blank(cells[place]) or str(cells[place]).lower() in _MARKS:
            cells[place] = None
        columns.append(cells)
    others = [h for h in table.heads if h not in heads and h != table.heads[words[0]]]
    said = (*table.said, *([f"columns {listed(others)} are left out"] if others else []))
    return dataclasses.replace(table, heads=tuple(names), columns=tuple(columns), said=said)


def points_of(cell: Cell) -> Cell:
    """A cell in which ½, 1/2 and = are half a point, and 7½ is 7.5."""
    if isinstance(cell, str) and cell in _HALVES:
        return 0.5
    if isinstance(cell, str) and cell.endswith("½") and cell[:-1].strip().isdigit():
        return float(cell[:-1]) + 0.5
    return cell if isinstance(cell, str | int | float | None) else str(cell)


def games_of(points: np.ndarray) -> np.ndarray:
    """Wins of the first, of the second, and draws, int64 [n, 3], from points [n, 2] of both.

    A half is a draw. There may have been more draws; the mean score is the same.
    """
    won = np.floor(points)
    return np.column_stack([won, points.sum(1) - won.sum(1)]).astype(np.int64)
