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
_WITH_SPREAD = re.compile(rf"({_NUMBER})\s*(%?)\s*(?:±|\+/-|\+-)\s*{_NUMBER}\s*%?")
_THOUSANDS = {  # both signs are there, so that neither may be taken for the other
    "": re.compile(r"[+-]?\d{1,3}(?:,\d{3})+\.\d+"),
    ",": re.compile(r"[+-]?\d{1,3}(?:\.\d{3})+,\d+"),
}


def plain(table: Table) -> Table:
    """A text's table with numbers alone where units, spreads or signs of thousands were, said."""
    table = _without_repeated_heads(table)
    table = _without_units_below_heads(table)
    for rule in (_number_before_spread, _number_before_unit, _without_thousands):
        table = _changed(table, rule)
    return table


def without_comments(text: str) -> tuple[str, int]:
    """A text with empty lines for those that begin with # below the first one, and their number."""
    if "\n#" not in text:
        return text, 0
    first, *lines = text.split("\n")
    kept = ["" if line.startswith("#") else line for line in lines]
    is_head = [line.startswith("#") and not line.startswith("#{") for line in (first, *lines)]
    begin = next((at for at, one in enumerate(is_head) if not one), 0)
    # What stands above the heads is a title, which may be the heads.
    lines = [first, *lines[: max(begin - 1, 0)], *kept[max(begin - 1, 0) :]]
    return "\n".join(lines), sum(is_head[begin:])


def _without_repeated_heads(table: Table) -> Table:
    rows = [row for row in range(len(table.lines)) if not _repeats(table, row)]
    left = len(table.lines) - len(rows)
    return table.rows(rows, f"rows that repeat the heads, left out: {left}") if left else table


def _repeats(table: Table, row: int) -> bool:
    return len(table.heads) > 1 and all(
        column[row] == head for head, column in zip(table.heads, table.columns, strict=True)
    )


def _without_units_below_heads(table: Table) -> Table:
    """Without a first row of units, if all cells below are numbers."""
    if len(table.lines) < 2:
        return table
    first = [str(column[0]).strip("[]() ").lower() for column in table.columns]
    named = [unit for unit in first if unit]
    below = [kind_of(c[1:]) for c, unit in zip(table.columns, first, strict=True) if unit]
    if not named or not {*named} <= _UNITS or {*below} != {"number"}:
        return table
    found = table.rows(range(1, len(table.lines)), f"a row of units: {quoted([*{*named}])}")
    return dataclasses.replace(found, unit_of_scores=named[0] if len({*named}) == 1 else "")


def _changed(table: Table, rule: Callable[[Sequence[Cell]], tuple[dict[str, str], str]]) -> Table:
    """The table with other texts in the columns that a rule knows, and with what it says."""
    columns, said, unit = [], [], table.unit_of_scores
    for column in table.columns:
        known, told = rule(column)
        columns.append([known.get(cell, cell) for cell in column] if known else column)
        if known and not said:
            said.append(told)
        if known and rule is _number_before_unit:
            unit = told.rpartition(" ")[2]
    if not said:
        return table
    said = (*table.said, *said)
    return dataclasses.replace(table, columns=tuple(columns), said=said, unit_of_scores=unit)


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
