"""A table as it was read, before anyone has said what its columns mean."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

# Text, a number, a truth value, None where there is nothing, or what JSON may nest.
Cell = Any

_LONGEST = 200  # characters of a cell in a message


@dataclasses.dataclass(frozen=True)
class Table:
    """Columns of cells by their heads, and where each row came from."""

    argument: str  # what messages begin with: the argument that gave the table
    where: str  # the file in quotes, or what else it was
    heads: tuple[str, ...]
    columns: tuple[Sequence[Cell], ...]  # a cell for each row
    lines: Sequence[int]  # the number of each row, as its reader counts them
    unit: str = "line"  # what ``lines`` count: lines of a text, rows of a frame
    said: tuple[str, ...] = ()  # what was guessed on the way, in words
    separator: str = ""  # between the cells of a text
    # By row the column and the cell that say that the run failed.
    failed: Mapping[int, tuple[str, Cell]] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        require_different(self.argument, self.where, self.heads)

    def column(self, head: str) -> Sequence[Cell]:
        """The cells below a head."""
        return self.columns[self.heads.index(head)]

    def wrong(
        self,
        expected: str,
        got: str,
        row: int | None = None,
        head: str | None = None,
        hint: str = "",
    ) -> ValueError:
        """An error that names the argument, the place, what was expected, and what settles it."""
        place = self.where
        if row is not None:
            place += f", {self.unit} {self.lines[row]}"
        if head is not None:
            place += f", column {head!r}"
        return wrong(self.argument, expected, place, got, hint)

    def require(self, head: str, is_good: Any, expected: str, hint: str = "") -> None:
        """Raise unless all cells below a head are good, bool [rows]; it names the first bad one."""
        if not np.all(is_good):
            row = int(np.argmin(is_good))
            raise self.wrong(expected, repr(self.column(head)[row]), row, head, hint)

    def without(self, heads: Sequence[str], said: Sequence[str] = ()) -> "Table":
        """The table without some columns."""
        kept = [place for place, head in enumerate(self.heads) if head not in heads]
        return dataclasses.replace(
            self,
            heads=tuple(self.heads[place] for place in kept),
            columns=tuple(self.columns[place] for place in kept),
            said=(*self.said, *said),
        )


def require_different(argument: str, place: str, heads: Sequence[str]) -> None:
    """Raise unless all columns have names of their own."""
    if len(set(heads)) < len(heads):
        again = min(head for head in heads if heads.count(head) > 1)
        hint = "give each column a name of its own"
        raise wrong(argument, "different names of columns", place, f"{again!r} twice", hint)


def wrong(argument: str, expected: str, place: str, got: str, hint: str = "") -> ValueError:
    """An error as ``Table.wrong`` makes it, where there is no table yet."""
    got = got if len(got) <= _LONGEST else f"{got[:_LONGEST]}..."
    return ValueError(
        f"{argument}: expected {expected} in {place}, got {got}" + (f": {hint}" if hint else "")
    )


def named(heads: Sequence[str]) -> tuple[str, ...]:
    """The same heads, with names where two or more have none.

    >>> named(["", "a"]), named(["", "", "a"])
    (('', 'a'), ('column 1', 'column 2', 'a'))
    """
    if list(heads).count("") < 2:
        return tuple(heads)
    return tuple(head or f"column {place}" for place, head in enumerate(heads, 1))


def listed(names: Sequence[str], most: int = 6) -> str:
    """Some names for a message."""
    shown = ", ".join(repr(str(name)) for name in names[:most])
    return shown + (", ..." if len(names) > most else "")
