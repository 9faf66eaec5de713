"""Crosstables: a row and a column for each option, and what the row has won against the column."""

import dataclasses

import numpy as np

from jaxrace.data.cells import is_blank, kind_of, label_of
from jaxrace.data.table import Cell, Table, listed

# What stands where an option would meet itself.
MARKS = frozenset(("-", "--", "\u2013", "\u2014", "x", "*", "\\", "#"))
_HALVES = frozenset(("½", "1/2", "="))


def crosstable_in(table: Table) -> Table | None:
    """The columns of the options, in the order of their rows, or None if it is no crosstable.

    Columns are called as rows are in the first column of words, or 1, 2, ...; others, such as
    totals, are left out. The diagonal is None where it is marked or empty.

    >>> heads = "player", "ann", "bob", "total"
    >>> table = Table("votes", "", heads, (["ann", "bob"], ["", "1"], ["2½", ""], [2.5, 1]), (2, 3))
    >>> found = crosstable_in(table)
    >>> found.heads, found.columns
    (('ann', 'bob'), ([None, '1'], [2.5, None]))
    """
    words = [place for place, cells in enumerate(table.columns) if kind_of(cells) == "text"]
    if not words or len(table.lines) < 2:
        return None
    names = [label_of(cell) for cell in table.columns[words[0]]]
    numbers = [str(place + 1) for place in range(len(names))]
    heads = next((one for one in (names, numbers) if set(one) <= set(table.heads)), None)
    if heads is None or len(set(names)) < len(names):
        return None
    columns = []
    for place, head in enumerate(heads):
        cells = [points_of(cell) for cell in table.column(head)]
        if is_blank(cells[place]) or str(cells[place]).lower() in MARKS:
            cells[place] = None
        columns.append(cells)
    others = [h for h in table.heads if h not in heads and h != table.heads[words[0]]]
    said = (*table.said, *([f"columns {listed(others)} are left out"] if others else []))
    return dataclasses.replace(table, heads=tuple(names), columns=tuple(columns), said=said)


def points_of(cell: Cell) -> Cell:
    """A cell in which ½, 1/2 and = are half a point, and 7½ is 7.5."""
    if cell in _HALVES:
        return 0.5
    if isinstance(cell, str) and cell.endswith("½") and cell[:-1].strip().isdigit():
        return float(cell[:-1]) + 0.5
    return cell if isinstance(cell, str | int | float | None) else str(cell)


def games_of(points: np.ndarray) -> np.ndarray:
    """Wins of the first, of the second, and draws, int64 [n, 3], from points [n, 2] of both.

    A half is a draw. How many other draws there were is not known; the mean score is the same.

    >>> games_of(np.array([[2.5, 0.5], [1.0, 3.0]])).tolist()
    [[2, 0, 1], [1, 3, 0]]
    """
    won = np.floor(points)
    return np.column_stack([won, points.sum(1) - won.sum(1)]).astype(np.int64)
