"""A table as it was read, before anyone has said what its columns mean."""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from jaxrace.core.validation import BadArgument
from jaxrace.tables.cells import Cell, Kind, is_blank, kind_of, label_of

_LONGEST = 200  # characters of a cell in a message


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
        if len(set(heads)) < len(heads):
            again = min(head for head in heads if heads.count(head) > 1)
            hint = "give each column a name of its own"
            raise self.wrong("different names of columns", f"{again!r} twice", hint=hint, at=at)


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

    def __post_init__(self) -> None:
        self.require_different(self.heads)

    def column(self, head: str) -> Sequence[Cell]:
        """The cells below a head."""
        return self.columns[self.heads.index(head)]

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
        for head in heads:
            if head not in self.heads:
                raise self.wrong(f"a column {head!r}", listed(self.heads))

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


def listed(names: Sequence[str], most: int = 6) -> str:
    """Some names for a message."""
    shown = ", ".join(repr(str(name)) for name in names[:most])
    return shown + (", ..." if len(names) > most else "")
