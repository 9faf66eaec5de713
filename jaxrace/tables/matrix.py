"""Who beats whom: matrices of probabilities or wins, crosstables of points. Axes: K options."""

import dataclasses
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jaxrace.core.inputs import as_reals, require_plain_file
from jaxrace.core.validation import BadArgument
from jaxrace.tables.files import file_at
from jaxrace.tables.frames import table_of
from jaxrace.tables.numbers import numbers_of
from jaxrace.tables.reading import content_in
from jaxrace.tables.sources import read_table
from jaxrace.tables.table import Cell, Place, Table, is_blank, kind_of, label_of, quoted

# What stands where an option would meet itself.
_MARKS = frozenset(("-", "--", "\u2013", "\u2014", "x", "*", "\\", "#"))
_HALVES = frozenset(("½", "1/2", "="))
_RESULTS = re.compile(r"(?:[+=-]\s*\d+[\s,/]*){3}")  # +3 =2 -1
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
        delimiter: What separates the columns of a text.
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
    if isinstance(source, str | os.PathLike) and Path(source).suffix.lower() == ".json":
        file = file_at(argument, source)
        source = _by_rows(file, content_in(file)) or source
    elif isinstance(source, Mapping):
        source = _by_rows(Place(argument, "a mapping"), source) or source
    is_path = isinstance(source, str | os.PathLike)
    if isinstance(source, np.ndarray) or (is_path and Path(source).suffix.lower() == ".npy"):
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


def _by_rows(place: Place, content: Any) -> Table | None:
    """Row -> column -> number as a table, None of anything else; of counts 0 is what is missing."""
    rows = [*content.values()] if isinstance(content, Mapping) else []
    if not rows or not all(isinstance(row, Mapping) for row in rows):
        return None
    if own := next((name for name, row in content.items() if name in row), None):
        hint = "without numbers of an option against itself the outer names are those who won"
        got = f"a number of {own} against itself, as where pandas has columns outside"
        raise place.wrong("to be told whether the outer names are rows", got, hint=hint)
    names = [*dict.fromkeys([*content, *(name for row in rows for name in row)])]
    cells = [content.get(name, {}) for name in names]
    are_counts = all(isinstance(x, int) for row in rows for x in row.values())
    columns = {
        str(name): [
            row.get(name, 0 if are_counts and row is not cells[at] else None) for row in cells
        ]
        for at, name in enumerate(names)
    }
    return table_of(place.argument, {"": [*map(str, names)], **columns}, place.where)


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
    columns, lines = [[*column] for column in table.columns], [*table.lines]
    heads: list[str] = []
    if table.unit != "line" or any(not head.startswith("option ") for head in table.heads):
        heads = [*table.heads]  # of a frame
    elif lines and _have_heads(columns):
        heads, lines = [label_of(column.pop(0)) for column in columns], lines[1:]
    if heads and len(columns) == len(lines) + 1:
        index = [*map(label_of, columns.pop(0))]
        heads = index if heads[1:] == _numbered(index) else heads[1:]
        if sorted(heads) != sorted(index):
            got = f"{quoted(index)} beside {quoted(heads)}"
            raise table.wrong("rows of the same names as columns", got)
        order = [index.index(name) for name in heads]
        lines = [lines[row] for row in order]
        columns = [[column[row] for row in order] for column in columns]
    if len(columns) != len(lines):
        below = {"heads": tuple(heads), "columns": tuple(columns), "lines": lines}
        found = crosstable_in(dataclasses.replace(table, **below)) if heads and lines else None
        if found is None:
            raise table.wrong("a square", f"shape [{len(lines)}, {len(columns)}]")
        return found
    names = tuple(heads or map(str, range(len(columns))))
    if again := [name for name in names if names.count(name) > 1]:
        raise table.wrong("different names", f"{again[0]!r} twice")
    return dataclasses.replace(table, heads=names, columns=_points(columns), lines=lines)


def _have_heads(columns: Sequence[Sequence[Cell]]) -> bool:
    """Are there names, not numbers, in the first row?"""
    first, below = [column[0] for column in columns], [*map(label_of, columns[0][1:])]
    rest = [cell for cell in map(points_of, first[1:]) if str(cell).lower() not in _MARKS]
    if kind_of(rest) in ("text", "mixed"):
        return True
    # Numbers as names, where they only number the options.
    is_named = kind_of(below) == "text" or (below == _numbered(first[1:]) and len(below) > 2)
    return first[1:] == _numbered(first[1:]) and is_named and kind_of(first[:1]) != "number"


def _numbered(cells: Sequence[Cell]) -> list[str]:
    return [str(place) for place in range(1, len(cells) + 1)]


def _points(columns: Iterable[Sequence[Cell]]) -> tuple[list[Cell], ...]:
    """The points in columns, None on the diagonal where it is marked or blank."""
    found = tuple([*map(points_of, column)] for column in columns)
    for place, column in enumerate(found):
        if is_blank(column[place]) or str(column[place]).lower() in _MARKS:
            column[place] = None
    return found


def _probabilities(table: Table, numbers: np.ndarray) -> np.ndarray | None:
    """The numbers with their diagonal if they are probabilities, None if they may be counts."""
    apart = ~np.eye(len(numbers), dtype=bool)
    for i, j in np.argwhere(np.isnan(numbers) & apart):
        raise table.wrong("a number", repr(table.columns[j][i]), int(i), table.heads[j])
    full = np.where(apart | ~np.isnan(numbers), numbers, 0.5)
    bad, unlike = ~((full >= 0) & (full <= 1)), abs(full + full.T - 1) > _TOLERANCE
    if not (bad.any() or unlike.any()):
        return full
    whole = full[apart]
    are_halves = (whole >= 0) & np.isfinite(whole) & (2 * whole == np.floor(2 * whole))
    if are_halves.all() and ((whole > 1).any() or (whole == np.floor(whole)).all()):
        return None
    i, j = np.argwhere(bad if bad.any() else unlike)[0]
    if bad.any():
        got = f"{full[i, j]:.10g} for {table.heads[i]} against {table.heads[j]}"
        raise table.wrong("probabilities, or counts of wins", got)
    got = f"{full[i, j]:.10g} + {full[j, i]:.10g} for {table.heads[i]} and {table.heads[j]}"
    raise table.wrong("p_ij + p_ji = 1", got)


def _from_counts(table: Table, wins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The share of its games that each row has won against each column, and the wins."""
    wins = np.nan_to_num(wins)
    if np.diagonal(wins).any():
        place = np.flatnonzero(np.diagonal(wins))[0]
        got = f"{wins[place, place]:g} for {table.heads[place]}"
        raise table.wrong("no wins of an option against itself", got)
    games = wins + wins.T
    np.fill_diagonal(games, 1)
    if (games == 0).any():
        i, j = np.argwhere(games == 0)[0]
        got = f"none of {table.heads[i]} and {table.heads[j]}"
        hint = "`jaxrace select` ranks by a model, which needs no game of every pair"
        raise table.wrong("a comparison of every pair", got, hint=hint)
    beats = wins / games
    np.fill_diagonal(beats, 0.5)
    return beats, wins


def crosstable_in(table: Table) -> Table | None:
    """The columns of the options, in the order of their rows, or None for other tables.

    They are called as rows in the first column of words, or 1, 2, ...; others are left out.
    """
    if not 2 <= len(table.lines) <= len(table.heads):
        return None
    words = next((head for head in table.heads if table.kind(head) == "text"), None)
    names = [] if words is None else table.labels(words)
    choices = (names, _numbered(names))
    heads = next((one for one in choices if set(one) <= set(table.heads)), [])
    if not heads or len(set(names)) < len(names):
        return None
    others = [head for head in table.heads if head not in (*heads, words)]
    said = (*table.said, *[f"columns {quoted(others)} are left out"] * bool(others))
    columns = _points(map(table.column, heads))
    return dataclasses.replace(table, heads=tuple(names), columns=columns, said=said)


def points_of(cell: Cell) -> Cell:
    """A cell in which ½, 1/2 and = are half a point, and 7½ is 7.5."""
    if isinstance(cell, str) and cell in _HALVES:
        return 0.5
    if isinstance(cell, str) and cell.endswith("½") and cell[:-1].strip().isdigit():
        return float(cell[:-1]) + 0.5
    return cell if isinstance(cell, str | int | float | None) else str(cell)


def results_in(table: Table) -> np.ndarray | None:
    """Wins, defeats and draws of the row, int64 [K, K, 3], of cells such as +3 =2 -1, or None.

    BadArgument if two cells of one pair differ; one of them may be empty.
    """
    found = np.zeros((len(table.heads), len(table.heads), 3), np.int64)
    cells = [(i, j, c) for j, column in enumerate(table.columns) for i, c in enumerate(column)]
    cells = [(i, j, str(cell)) for i, j, cell in cells if i != j and not is_blank(cell)]
    if not cells or not all(_RESULTS.fullmatch(cell) for *_, cell in cells):
        return None
    for i, j, cell in cells:
        own = {sign: int(count) for sign, count in re.findall(r"([+=-])\s*(\d+)", cell)}
        if len(own) < 3:
            raise table.wrong("one count of +, = and - each", repr(cell), i, table.heads[j])
        of = [own["+"], own["-"], own["="]]
        if found[i, j].any() and of != found[i, j].tolist():
            won, lost, drawn = found[i, j].tolist()
            expected = f"+{won} ={drawn} -{lost}, as in the other cell of the two,"
            raise table.wrong(expected, repr(cell), i, table.heads[j])
        found[i, j], found[j, i] = of, [of[1], of[0], of[2]]
    return found


def games_of(points: np.ndarray) -> np.ndarray:
    """Wins of the first, of the second, and draws (of halves), int64 [n, 3], from points [n, 2]."""
    won = np.floor(points)
    return np.column_stack([won, points.sum(1) - won.sum(1)]).astype(np.int64)
