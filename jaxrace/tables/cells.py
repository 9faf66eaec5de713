"""What stands beside numbers in the cells of a text, and rows that are none of runs."""

import dataclasses
import re
from collections.abc import Callable, Sequence

from jaxrace.tables.heads import word_set
from jaxrace.tables.table import Cell, Table, different, is_blank, kind_of, quoted

_UNITS = word_set(
    "s ms us µs ns min h sec secs second seconds minutes hours % percent kb mb gb kib mib gib b "
    "bytes fps hz khz mhz ghz ops ops/s it/s tokens/s req/s w kw j usd eur $ € points pts steps"
)
_NUMBER = r"[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?"
_WITH_UNIT = re.compile(rf"({_NUMBER})\s*([^\d\s,.+-][^\d,.+-]*)")
_WITH_SPREAD = re.compile(
    rf"[*$ ]*({_NUMBER})\s*(%?)\s*(?:±|\+/-|\+-|\\pm)\s*{_NUMBER}\s*%?[*$†‡ ]*"
)
_CELLS = re.compile(rf"(?:^|[,;\t| ])\s*{_NUMBER}\s*(?:[,;\t| ]|$)")  # that are numbers
_THOUSANDS = {  # both signs are there, so that neither may be taken for the other
    "": re.compile(r"[+-]?\d{1,3}(?:,\d{3})+\.\d+"),
    ",": re.compile(r"[+-]?\d{1,3}(?:\.\d{3})+,\d+"),
}


def plain(table: Table, header: bool) -> Table:
    """A text's table with numbers alone where units, spreads or signs of thousands were, said."""
    if header:
        table = _without_units_below_heads(_without_repeated_heads(table))
    for rule in (_number_before_spread, _number_before_unit, _without_thousands):
        table = _changed(table, rule)
    return table


def without_comments(text: str) -> tuple[str, int]:
    """A text with empty lines for those that begin with #, and their number.

    Those above the first other line are comments if that one has heads, and no numbers: else the
    last of them has the heads, as NumPy writes them.
    """
    if not (text.startswith("#") or "\n#" in text):
        return text, 0
    lines = text.split("\n")
    are = [line.startswith("#") and not line.startswith("#{") for line in lines]
    begin = next((at for at, one in enumerate(are) if not one and lines[at].strip()), len(lines))
    if begin < len(lines) and _CELLS.search(lines[begin]):  # numbers
        are[:begin] = [False] * begin
    kept = ["" if one else line for one, line in zip(are, lines, strict=True)]
    return "\n".join(kept), sum(are)


def _without_repeated_heads(table: Table) -> Table:
    rows = [row for row in range(len(table.lines)) if not _repeats(table, row)]
    left = len(table.lines) - len(rows)
    return table.rows(rows, f"rows that repeat the heads, left out: {left}") if left else table


def _repeats(table: Table, row: int) -> bool:
    return len(table.heads) > 1 and all(
        column[row] == head for head, column in zip(table.heads, table.columns, strict=True)
    )


def _without_units_below_heads(table: Table) -> Table:
    """Without a first row of units above numbers: known ones, or one word in all columns."""
    if len(table.lines) < 2:
        return table
    units = {}
    for head, column in zip(table.heads, table.columns, strict=True):
        unit = str(column[0]).strip("[]() ").lower()
        if unit and kind_of(column[:1]) == "text" and kind_of(column[1:]) == "number":
            units[head] = unit
    others = [c for h, c in zip(table.heads, table.columns, strict=True) if h not in units]
    are_known = {*units.values()} <= _UNITS or (len(units) > 1 and len({*units.values()}) == 1)
    has_numbers = any(kind_of(column[:1]) == "number" for column in others)
    if not units or not are_known or has_numbers:
        return table
    found = table.rows(
        range(1, len(table.lines)), f"a row of units: {quoted([*{*units.values()}])}"
    )
    return dataclasses.replace(found, units=units)


def _changed(table: Table, rule: Callable[[Sequence[Cell]], tuple[dict[str, str], str]]) -> Table:
    """The table with other texts in the columns that a rule knows, and with what it says."""
    columns, said, units = [], [], dict(table.units)
    for head, column in zip(table.heads, table.columns, strict=True):
        known, told = rule(column)
        columns.append([known.get(cell, cell) for cell in column] if known else column)
        if known and not said:
            said.append(told)
        if known and rule is _number_before_unit:
            units[head] = told.rpartition(" ")[2]
    if not said:
        return table
    said = (*table.said, *said)
    return dataclasses.replace(table, columns=tuple(columns), said=said, units=units)


def _texts(column: Sequence[Cell]) -> list[str]:
    return [cell for cell in different(column) if isinstance(cell, str) and not is_blank(cell)]


def _number_before_spread(column: Sequence[Cell]) -> tuple[dict[str, str], str]:
    """Of "87.2 ± 4.0" the number."""
    found = {text: match for text in _texts(column) if (match := _WITH_SPREAD.fullmatch(text))}
    shown = next(iter(found), "")
    return {t: m[1] + m[2] for t, m in found.items()}, f"of cells such as {shown!r}: the number"


def _number_before_unit(column: Sequence[Cell]) -> tuple[dict[str, str], str]:
    """Of "1.40 s" the number, if all cells have the same unit."""
    texts = _texts(column)
    found = {text: match for text in texts if (match := _WITH_UNIT.fullmatch(text))}
    units = {match[2].strip().lower() for match in found.values()}
    if len(found) < len(texts) or len(units) != 1 or not units <= _UNITS - {"%"}:
        return {}, ""
    return {text: match[1] for text, match in found.items()}, f"numbers in {units.pop()}"


def _without_thousands(column: Sequence[Cell]) -> tuple[dict[str, str], str]:
    """1,759.4 and 1.509,15 without the signs of thousands, if cells are of one of these forms."""
    texts = [text for text in _texts(column) if "," in text and "." in text]
    for decimal, form in _THOUSANDS.items():
        if texts and all(map(form.fullmatch, texts)):
            sign = "." if decimal else ","
            made = {text: text.replace(sign, "") for text in texts}
            return made, f"thousands are parted by {'points' if decimal else 'commas'}"
    return {}, ""
