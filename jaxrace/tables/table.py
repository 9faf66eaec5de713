"""Cells, and a table of them as it was read, before anyone has said what its columns mean."""

import dataclasses
import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from jaxrace.core.validation import BadArgument

# Text, a number, a truth value, None where there is nothing, or what JSON may nest.
Cell = Any
Kind = Literal["number", "flag", "text", "mixed", "nested", "blank"]

_BLANK = frozenset(("", "na", "n/a", "#n/a", "<na>", "null", "none"))
FLAGS = {"true": 1.0, "false": 0.0}
# Includes what only looks like a number, such as 1_000 or 1'000.
LIKE_A_NUMBER = re.compile(
    r"[+-]?(?:[.,]?\d[\d.,_' ]*(?:e[+-]?\d+)?\s*%?|inf|infinity|nan)", re.IGNORECASE
)
_LONGEST = 200  # characters of a cell in a message
# Marks of order, direction and width, soft hyphens; joiners are letters of some scripts.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff9-\ufffb]"
    "|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
)
_SPACES = re.compile(r"\s+")


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
    # pandas makes floats of integers beside an empty cell.
    is_whole = isinstance(cell, float) and cell.is_integer()
    return "" if cell is None else str(int(cell) if is_whole else cell)


def different(cells: Sequence[Cell]) -> Collection[Cell]:
    """The different ones if all are texts, else all: long columns repeat a few words."""
    return dict.fromkeys(cells) if set(map(type, cells)) == {str} else cells


def numbered(
    labels: Sequence[str], first: Sequence[str] = ()
) -> tuple[tuple[str, ...], np.ndarray]:
    """The different labels, ``first`` some, then as they come; the number of each, int64 [n]."""
    different = tuple(dict.fromkeys(first) | dict.fromkeys(labels))
    number = dict(zip(different, range(len(different)), strict=True))
    return different, np.fromiter(map(number.__getitem__, labels), np.int64, len(labels))


def words_of(*columns: Sequence[Cell]) -> tuple[tuple[str, ...], np.ndarray]:
    """The different names in some columns, row by row; the place of each, int32 [columns, n]."""
    cells = [name for row in zip(*columns, strict=True) for name in row]
    are_texts = set(map(type, cells)) <= {str}
    words, found = numbered(cells if are_texts else [*map(label_of, cells)])
    return words, found.astype(np.int32).reshape(-1, len(columns)).T


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


@dataclasses.dataclass(frozen=True)
class Place:
    """Where something was read, for messages."""

    argument: str  # that gave it
    where: str  # the file in quotes, or what else it was

    def wrong(self, expected: str, got: str, *, hint: str = "", at: str = "") -> BadArgument:
        """An error that names the place, what was expected there, and what settles it."""
        got = got if len(got) <= _LONGEST else f"{got[:_LONGEST]}..."
        hint = f": {hint}" if hint else ""
        return BadArgument(self.argument, f"{expected} in {self.where}{at}", got, hint)

    def require_different(self, heads: Sequence[str], at: str = "") -> None:
        """Raise unless all columns have names of their own."""
        if again := {head for head, count in Counter(heads).items() if count > 1}:
            got, hint = f"{min(again)!r} twice", "give each column a name of its own"
            run, sign, metric = min(again).partition(" - ")  # as Weights & Biases calls curves
            hint += (
                f", such as '{run} seed 2 - {metric}' for another run of {run!r}" if sign else ""
            )
            raise self.wrong("different names of columns", got, hint=hint, at=at)


@dataclasses.dataclass(frozen=True)
class Table(Place):
    """Columns of cells by their heads, and where each row came from."""

    heads: tuple[str, ...]
    columns: tuple[Sequence[Cell], ...]  # a cell for each row
    lines: Sequence[int]  # the number of each row, as its reader counts them
    unit: str = "line"  # what ``lines`` count: lines of a text, rows of a frame
    said: tuple[str, ...] = ()  # what was guessed on the way, in words
    separator: str = ""  # between the cells of a text
    decimal: str | None = None  # the sign, if the caller has said it
    # By row the column and the cell that say that the run failed.
    failed: Mapping[int, tuple[str, Cell]] = dataclasses.field(default_factory=dict)
    # The scores of all columns that are in memory, whose names may be numbers.
    numbers: Mapping[str, np.ndarray] | None = None
    # In what the numbers of a column are, where its cells say so.
    units: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        self.require_different(self.heads)

    @functools.cached_property
    def _places(self) -> dict[str, int]:
        return {head: place for place, head in enumerate(self.heads)}

    def column(self, head: str) -> Sequence[Cell]:
        """The cells below a head."""
        return self.columns[self._places[head]]

    def labels(self, head: str) -> list[str]:
        """The names below a head, "" for None."""
        return [*map(label_of, self.column(head))]

    def kind(self, head: str) -> Kind:
        """The kind of the cells below a head."""
        return kind_of(self.column(head))

    def wrong(
        self,
        expected: str,
        got: str,
        row: int | None = None,
        head: str | None = None,
        *,
        hint: str = "",
        at: str = "",
    ) -> BadArgument:
        """As that of a place, which may be a row and a column."""
        at += "" if row is None else f", {self.unit} {self.lines[row]}"
        at += "" if head is None else f", column {head!r}"
        return super().wrong(expected, got, hint=hint, at=at)

    def require(self, head: str, is_good: ArrayLike, expected: str, hint: str = "") -> None:
        """Raise unless all cells below a head are good, bool [rows]; it names the first bad one."""
        if not np.all(is_good):
            row = int(np.argmin(is_good))
            raise self.wrong(expected, repr(self.column(head)[row]), row, head, hint=hint)

    def require_full(self, head: str, expected: str) -> None:
        """Raise if a cell below a head is blank."""
        self.require(head, [not is_blank(cell) for cell in self.column(head)], expected)

    def require_heads(self, heads: Sequence[str]) -> None:
        """Raise unless there are columns with these heads."""
        for head in [head for head in heads if head not in self.heads]:
            raise self.wrong(f"a column {head!r}", quoted(self.heads))

    def rows(self, rows: Sequence[int], *said: str) -> "Table":
        """The table of some rows."""
        return dataclasses.replace(
            self,
            columns=tuple([column[row] for row in rows] for column in self.columns),
            lines=[self.lines[row] for row in rows],
            said=(*self.said, *said),
            failed={new: self.failed[row] for new, row in enumerate(rows) if row in self.failed},
        )

    def without(self, heads: Sequence[str], *said: str) -> "Table":
        """The table without some columns."""
        kept = [place for place, head in enumerate(self.heads) if head not in heads]
        return dataclasses.replace(
            self,
            heads=tuple(self.heads[place] for place in kept),
            columns=tuple(self.columns[place] for place in kept),
            said=(*self.said, *said),
        )


def named(heads: Sequence[str]) -> tuple[str, ...]:
    """The same heads, called "column 1", ... where two or more have no name."""
    if list(heads).count("") < 2:
        return tuple(heads)
    return tuple(head or f"column {place}" for place, head in enumerate(heads, 1))


def quoted(names: Sequence[str], most: int = 6) -> str:
    """Some names for a message."""
    shown = ", ".join(repr(str(name)) for name in names[:most])
    return shown + (", ..." if len(names) > most else "")


def visible(name: str) -> str:
    r"""A name without invisible characters, in one form of Unicode."""
    if name.isascii():
        return name
    return _SPACES.sub(" ", unicodedata.normalize("NFC", _INVISIBLE.sub("", name))).strip()


def with_visible_names(table: Table) -> Table:
    """The table with visible heads and texts, and a note; BadArgument if two heads become one."""
    changed: dict[str, str] = {}

    def seen(cell: Cell) -> Cell:
        if not isinstance(cell, str) or (found := visible(cell)) == cell:
            return cell
        changed[cell] = found
        return found

    columns = tuple(c if _are_plain(c) else [*map(seen, c)] for c in table.columns)
    heads = tuple(map(seen, table.heads))
    if not changed:
        return table
    shown = ", ".join(f"{name!a} is {found!r}" for name, found in [*changed.items()][:3])
    said = f"names with characters that cannot be seen, {len(changed):,}: {shown}"
    return dataclasses.replace(table, heads=heads, columns=columns, said=(*table.said, said))


def without_ends(table: Table) -> Table:
    """The table with texts without spaces at their ends, and a note of those that had some."""
    changed: dict[str, str] = {}
    columns = []
    for column in table.columns:
        own = {x: x.strip() for x in different(column) if isinstance(x, str) and x != x.strip()}
        columns.append(
            [own.get(x, x) if isinstance(x, str) else x for x in column] if own else column
        )
        changed |= own
    if not changed:
        return table
    said = f"spaces at the ends of names, left out: {quoted([*changed], 3)}"
    return dataclasses.replace(table, columns=tuple(columns), said=(*table.said, said))


def _are_plain(cells: Sequence[Cell]) -> bool:
    try:
        return "".join(cells).isascii()  # fast, for texts alone
    except TypeError:
        return False


def alike(what: str, names: Iterable[str]) -> list[str]:
    """A note on names that differ by case, spaces or forms of letters alone, if there are any."""
    found: dict[str, list[str]] = {}
    for name in names:
        folded = unicodedata.normalize("NFKC", name).casefold()
        found.setdefault(_SPACES.sub(" ", folded).strip(), []).append(name)
    same = "; ".join(quoted(names) for names in [x for x in found.values() if len(x) > 1][:3])
    said = f"{what} that differ by case, spaces or forms of letters: {same}; are they one?"
    return [said] if same else []
