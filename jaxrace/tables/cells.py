"""What stands beside numbers in the cells of a text, and rows that are none of runs."""

import dataclasses
import re
from collections.abc import Sequence
from typing import NamedTuple

from jaxrace.tables.heads import names_option, names_task, word_set
from jaxrace.tables.table import Table, different, is_blank, kind_of, quoted

_UNITS = word_set(
    "s ms us µs ns min h sec secs second seconds minutes hours % percent kb mb gb kib mib gib b "
    "bytes fps hz khz mhz ghz ops ops/s it/s tokens/s req/s w kw j usd eur $ € points pts steps"
)
_NUMBER = r"[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?"
_WITH_UNIT = re.compile(rf"({_NUMBER})\s*([^\d\s,.+-][^\d,.+-]*)")
_SPREAD = rf"(?:±|\+/-|\+-|\\pm)\s*{_NUMBER}\s*%?|\(\s*{_NUMBER}\s*%?\s*\)"
_WITH_SPREAD = re.compile(rf"[*$ ]*({_NUMBER})\s*(%?)\s*(?:{_SPREAD})[*$†‡ ]*")
_DASHES = ("-", "--", "\u2013", "\u2014")
_CELLS = re.compile(rf"(?:^|[,;\t| ])\s*{_NUMBER}\s*(?:[,;\t| ]|$)")  # that are numbers
_THOUSANDS = {  # both signs are there, so that neither may be taken for the other
    (",", "commas"): re.compile(r"[+-]?\d{1,3}(?:,\d{3})+\.\d+"),
    (".", "points"): re.compile(r"[+-]?\d{1,3}(?:\.\d{3})+,\d+"),
}


def plain(table: Table, header: bool) -> Table:
    """A text's table with numbers alone where units, spreads or signs of thousands were, said."""
    if header:
        table = _without_units_below_heads(_without_repeated_heads(table))
    columns, units, said = [], dict(table.units), {}  # what is said first, by rule
    for head, column in zip(table.heads, table.columns, strict=True):
        texts = [x for x in different(column) if isinstance(x, str) and not is_blank(x)]
        made: dict[str, str] = {}
        # Names that end in a number in brackets are not those without it.
        is_named = names_task(head) or names_option(head)
        for rule in _RULES[is_named:]:
            found = rule([made.get(text, text) for text in texts])
            if not found.numbers:
                continue
            made = {text: found.numbers.get(x, x) for text in texts for x in [made.get(text, text)]}
            said.setdefault(rule, found.said)
            units |= {head: found.unit} if found.unit else {}
        columns.append([made.get(cell, cell) for cell in column] if made else column)
    if not said:
        return table
    told = (*table.said, *(said[rule] for rule in _RULES if rule in said))
    return dataclasses.replace(table, columns=tuple(columns), said=told, units=units)


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
    first, *others = table.columns
    begin = {row for row, cell in enumerate(first) if cell == table.heads[0]}
    pairs = [*zip(table.heads[1:], others, strict=True)]
    repeat = {row for row in begin if all(column[row] == head for head, column in pairs)}
    if not (others and repeat):
        return table
    rows = [row for row in range(len(table.lines)) if row not in repeat]
    return table.rows(rows, f"rows that repeat the heads, left out: {len(repeat)}")


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


class _Found(NamedTuple):
    """What a rule makes of the different texts of a column."""

    numbers: dict[str, str]  # by text; empty if the rule does not hold for the column
    said: str = ""
    unit: str = ""


def _number_before_spread(texts: Sequence[str]) -> _Found:
    """Of "87.2 ± 4.0" and "87.2 (4.0)" the number; "(4.0)" alone is none."""
    found = {text: match for text in texts if (match := _WITH_SPREAD.fullmatch(text))}
    shown = next(iter(found), "")
    numbers = {text: match[1] + match[2] for text, match in found.items()}
    return _Found(numbers, f"of cells such as {shown!r}: the number")


def _number_before_unit(texts: Sequence[str]) -> _Found:
    """Of "1.40 s" the number, if all cells have the same unit."""
    found = {text: match for text in texts if (match := _WITH_UNIT.fullmatch(text))}
    units = {match[2].strip().lower() for match in found.values()}
    if len(found) < len(texts) or len(units) != 1 or not units <= _UNITS - {"%"}:
        return _Found({})
    unit = units.pop()
    return _Found({text: match[1] for text, match in found.items()}, f"numbers in {unit}", unit)


def _without_thousands(texts: Sequence[str]) -> _Found:
    """1,759.4 and 1.509,15 without the signs of thousands, if cells are of one of these forms."""
    both = [text for text in texts if "," in text and "." in text]
    for (sign, name), form in _THOUSANDS.items():
        if both and all(map(form.fullmatch, both)):
            numbers = {text: text.replace(sign, "") for text in both}
            return _Found(numbers, f"thousands are parted by {name}")
    return _Found({})


def _without_dashes(texts: Sequence[str]) -> _Found:
    """Nothing where a dash is among numbers."""
    dashes = [text for text in texts if text.strip() in _DASHES]
    if not dashes or kind_of([text for text in texts if text not in dashes]) != "number":
        return _Found({})
    return _Found(dict.fromkeys(dashes, ""), "dashes among numbers are empty cells")


_RULES = (_number_before_spread, _number_before_unit, _without_thousands, _without_dashes)
