"""A table as it was read, before anyone has said what its columns mean."""

import dataclasses
from collections.abc import Sequence
from typing import Any

# Text, a number, a truth value, None where there is nothing, or what JSON may nest.
Cell = Any

_LONGEST = 200  # characters of a cell in a message


@dataclasses.dataclass(frozen=True)
class Table:
    """Columns of cells by their heads, and where each row came from.

    Attributes:
        argument: What messages begin with: the argument that gave the table.
        where: The file in quotes, or what else it was.
        heads: Names of the columns.
        columns: The cells of each column, one for each row.
        lines: The number of each row, as its reader counts them.
        unit: What ``lines`` count: lines of a text, rows of a frame.
        said: What was guessed on the way, in words.
        separator: Between the cells of a text.

    >>> table = Table("scores", "'s.csv'", ("a", "b"), ([1, 2], [3, "x"]), (2, 3))
    >>> str(table.wrong("a number", "'x'", row=1, head="b"))
    "scores: expected a number in 's.csv', line 3, column 'b', got 'x'"
    """

    argument: str
    where: str
    heads: tuple[str, ...]
    columns: tuple[Sequence[Cell], ...]
    lines: Sequence[int]
    unit: str = "line"
    said: tuple[str, ...] = ()
    separator: str = ""

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

    def without(self, heads: Sequence[str], said: Sequence[str] = ()) -> "Table":
        """The table without some columns."""
        kept = [place for place, head in enumerate(self.heads) if head not in heads]
        return dataclasses.replace(
            self,
            heads=tuple(self.heads[place] for place in kept),
            columns=tuple(self.columns[place] for place in kept),
            said=(*self.said, *said),
        )


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
    """Some names for a message.

    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b', ..."
    """
    shown = ", ".join(repr(str(name)) for name in names[:most])
    return shown + (", ..." if len(names) > most else "")
