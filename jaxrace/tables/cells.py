"""Cells of tables: which are blank, of what kind they are, and the names in them."""

import re
from collections.abc import Collection, Sequence
from typing import Any, Literal

import numpy as np

# Text, a number, a truth value, None where there is nothing, or what JSON may nest.
Cell = Any
Kind = Literal["number", "flag", "text", "mixed", "nested", "blank"]

_BLANK = frozenset(("", "na", "n/a", "#n/a", "<na>", "null", "none"))
FLAGS = {"true": 1.0, "false": 0.0}
# Includes what only looks like a number, such as 1_000 or 1'000.
LIKE_A_NUMBER = re.compile(
    r"[+-]?(?:[.,]?\d[\d.,_' ]*(?:e[+-]?\d+)?\s*%?|inf|infinity|nan)", re.IGNORECASE
)


def is_blank(cell: Cell) -> bool:
    """Is there nothing in a cell? NA is nothing; nan is a result."""
    return cell is None or (isinstance(cell, str) and cell.strip().lower() in _BLANK)


def counts(cells: Sequence[Cell]) -> bool:
    """Are they 0, 1, 2, ... or 1, 2, 3, ..., in any type?"""
    return any(
        all(str(cell) == str(number) for number, cell in enumerate(cells, begin))
        for begin in (0, 1)
    )


def label_of(cell: Cell) -> str:
    """The name in a cell, "" if it is None."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))  # pandas makes floats of integers beside an empty cell
    return "" if cell is None else str(cell)


def different(cells: Sequence[Cell]) -> Collection[Cell]:
    """The different ones if all are texts, else all: long columns repeat a few words."""
    return dict.fromkeys(cells) if set(map(type, cells)) == {str} else cells


def words_of(*columns: Sequence[Cell]) -> tuple[tuple[str, ...], np.ndarray]:
    """The different names in some columns, row by row; the place of each, int32 [columns, n]."""
    cells = [name for row in zip(*columns, strict=True) for name in row]
    names = cells if set(map(type, cells)) <= {str} else [*map(label_of, cells)]
    words = dict.fromkeys(names)
    places = dict(zip(words, range(len(words)), strict=True))
    found = np.fromiter(map(places.__getitem__, names), np.int32, len(names))
    return tuple(words), found.reshape(-1, len(columns)).T


def kind_of(cells: Sequence[Cell]) -> Kind:
    """The one kind of all cells but blank ones, "mixed" if there are several."""
    kinds: set[Kind] = {_kind(cell) for cell in different(cells)}
    kinds.discard("blank")
    return "mixed" if len(kinds) > 1 else kinds.pop() if kinds else "blank"


def _kind(cell: Cell) -> Kind:
    if isinstance(cell, str):
        if LIKE_A_NUMBER.fullmatch(cell):
            return "number"
        return "blank" if is_blank(cell) else "flag" if cell.strip().lower() in FLAGS else "text"
    if cell is None:
        return "blank"
    if isinstance(cell, bool | np.bool_):
        return "flag"
    if isinstance(cell, int | float | np.number):
        return "number"
    return "nested" if isinstance(cell, list | dict | tuple) else "text"  # such as a date
