"""Names of options and tasks as people see them: invisible characters, case, forms of Unicode."""

import dataclasses
import re
import unicodedata
from collections.abc import Iterable, Sequence

from jaxrace.tables.cells import Cell
from jaxrace.tables.table import Table, listed

# Marks of order, direction and width, soft hyphens; joiners are letters of some scripts.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff9-\ufffb]"
    "|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
)
_SPACES = re.compile(r"\s+")


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
