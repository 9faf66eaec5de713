"""A table as it was read, before anyone has said what its columns mean."""

import dataclasses
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from jaxrace.core.validation import BadArgument
from jaxrace.tables.cells import Cell, Kind, is_blank, kind_of, label_of

_LONGEST = 200  # characters of a cell in a message
# Marks of order, direction and width, soft hyphens; joiners are letters of some scripts.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff9-\ufffb]"
    "|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
)
_SPACES = re.compile(r"\s+")


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


def visible(name: str) -> str:
    r"""A name without invisible characters, in one form of Unicode."""
    if name.isascii():
        return name
    return _SPACES.sub(" ", unicodedata.normalize("NFC", _INVISIBLE.sub("", name))).strip()


def with_visible_names(table: Table) -> Table:
    """The table with visible heads and texts, and a note; BadArgument if two heads become one."""
    changed: dict[str, str] = {}

    def seen(cell: Cell) -> Cell:
        found = visible(cell) if isinstance(cell, str) else cell
        if found is not cell and found != cell:
            changed[cell] = found
        return found

    columns = tuple(c if _are_plain(c) else [*map(seen, c)] for c in table.columns)
    heads = tuple(map(seen, table.heads))
    if not changed:
        return table
    shown = ", ".join(f"{name!a} is {found!r}" for name, found in [*changed.items()][:3])
    said = f"names with characters that cannot be seen, {len(changed):,}: {shown}"
    return dataclasses.replace(table, heads=heads, columns=columns, said=(*table.said, said))


def _are_plain(cells: Sequence[Cell]) -> bool:
    try:
        return "".join(cells).isascii()  # fast, for texts alone
    except TypeError:
        return all(not isinstance(cell, str) or cell.isascii() for cell in cells)


def alike(what: str, names: Iterable[str]) -> list[str]:
    """A note on names that differ by case, spaces or forms of letters alone, if there are any."""
    found: dict[str, list[str]] = {}
    for name in names:
        folded = unicodedata.normalize("NFKC", name).casefold()
        found.setdefault(_SPACES.sub(" ", folded), []).append(name)
    same = "; ".join(listed(names) for names in [x for x in found.values() if len(x) > 1][:3])
    said = f"{what} that differ by case, spaces or forms of letters: {same}; are they one?"
    return [said] if same else []
