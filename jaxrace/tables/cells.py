"""Numbers in cells: the right value, or an error that says what would settle it."""

import contextlib
import math
import re
from collections.abc import Collection, Sequence
from typing import Literal

import numpy as np

from jaxrace.core.validation import require_choice
from jaxrace.tables.table import Cell, Table

Kind = Literal["number", "flag", "text", "mixed", "nested", "blank"]

_BLANK = frozenset(("", "na", "n/a", "#n/a", "<na>", "null", "none"))
_FLAGS = {"true": 1.0, "false": 0.0}
_EXACT = 2**53  # larger integers are not all floats

# What looks like a number, and may still be none, such as 1_000 or 1'000.
_LIKE_A_NUMBER = re.compile(
    r"[+-]?(?:[.,]?\d[\d.,_' ]*(?:e[+-]?\d+)?\s*%?|inf|infinity|nan)", re.IGNORECASE
)
_WHOLE = re.compile(r"[+-]?\d+")
_WITH_COMMA = re.compile(r"[+-]?\d*,\d+(e[+-]?\d+)?\s*%?", re.IGNORECASE)
_THOUSANDS = {
    ",": re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+%?"),
    ".": re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+%?"),
}


def decimal_called(name: str) -> str | None:
    """The decimal sign that an argument ``decimal`` names, None for auto."""
    require_choice("decimal", name, ("auto", "comma", "point"))
    return {"auto": None, "comma": ",", "point": "."}[name]


def is_blank(cell: Cell) -> bool:
    """Is there nothing in a cell? So says NA, too; nan is a result."""
    return cell is None or (isinstance(cell, str) and cell.strip().lower() in _BLANK)


def counts(cells: Sequence[Cell]) -> bool:
    """Are they 0, 1, 2, ... or 1, 2, 3, ...?

    >>> counts(["0", "1"]), counts([1, 2]), counts([1, 3])
    (True, True, False)
    """
    rows = range(len(cells))
    return any(all(str(cells[row]) == str(row + begin) for row in rows) for begin in (0, 1))


def label_of(cell: Cell) -> str:
    """The name in a cell, "" for none."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))  # pandas makes floats of integers beside an empty cell
    return "" if cell is None else str(cell)


def different(cells: Sequence[Cell]) -> Collection[Cell]:
    """The same, of texts alone each once: long columns repeat a few words."""
    return dict.fromkeys(cells) if set(map(type, cells)) == {str} else cells


def words_of(*columns: Sequence[Cell]) -> tuple[tuple[str, ...], np.ndarray]:
    """The different names in some columns, row by row, and the place of each, int32 [columns, n].

    >>> words_of(["b", "a"], ["c", "b"])[0]
    ('b', 'c', 'a')
    """
    cells = [name for row in zip(*columns, strict=True) for name in row]
    names = cells if set(map(type, cells)) <= {str} else [*map(label_of, cells)]
    words = dict.fromkeys(names)
    places = dict(zip(words, range(len(words)), strict=True))
    found = np.fromiter(map(places.__getitem__, names), np.int32, len(names))
    return tuple(words), found.reshape(-1, len(columns)).T


def kind_of(cells: Sequence[Cell]) -> Kind:
    """What the cells of a column are, blank ones aside."""
    found: Kind = "blank"
    for cell in different(cells):
        kind = _kind(cell)
        if kind not in ("blank", found):
            if found != "blank":
                return "mixed"
            found = kind
    return found


def _kind(cell: Cell) -> Kind:
    if isinstance(cell, str):
        if _LIKE_A_NUMBER.fullmatch(cell):
            return "number"
        lowered = cell.strip().lower()
        return "blank" if lowered in _BLANK else "flag" if lowered in _FLAGS else "text"
    if cell is None:
        return "blank"
    if isinstance(cell, bool | np.bool_):
        return "flag"
    if isinstance(cell, int | float | np.number):
        return "number"
    return "nested" if isinstance(cell, list | dict | tuple) else "text"  # such as a date


def numbers_of(
    table: Table, heads: Sequence[str], decimal: str | None = None
) -> tuple[dict[str, np.ndarray], list[str]]:
    """The numbers of some columns, float64 [rows], NaN where there is none; and what was guessed.

    The columns are read in one way: whether a comma is a decimal one (unless the sign is given),
    and whether numbers are percents, is decided for all of them. Truth values count as 1 and 0.
    ValueError if a cell is no number, or cells may be read in two ways.

    >>> table = Table("scores", "'s.csv'", ("a", "b"), (["0,5", "0,25"], ["1", ""]), (2, 3))
    >>> numbers_of(table, ["a", "b"])
    ({'a': array([0.5 , 0.25]), 'b': array([ 1., nan])}, ['decimal commas'])
    """
    columns = {head: table.column(head) for head in heads}
    texts = [cell for cells in columns.values() for cell in cells if isinstance(cell, str)]
    sign = decimal or _decimal_of(table, texts)
    percents = [text for text in different(texts) if text.endswith("%")]
    said = ["decimal commas"] if sign == "," and any("," in text for text in texts) else []
    if percents:
        said.append("percents divided by 100")
    known = {text: _number(text, sign, bool(percents)) for text in dict.fromkeys(texts)}
    found = {}
    for head, cells in columns.items():
        numbers = [
            known[cell] if isinstance(cell, str) else _number(cell, sign, bool(percents))
            for cell in cells
        ]
        if None in numbers:
            row = numbers.index(None)
            raise _no_number(table, row, head, cells[row], sign, bool(percents))
        found[head] = np.array(numbers, float)
    return found, said


def _decimal_of(table: Table, texts: Sequence[str]) -> str:
    """The decimal sign of cells; ValueError if a sign may also be that of thousands."""
    once = [*dict.fromkeys(texts)]
    commas = [text for text in once if _WITH_COMMA.fullmatch(text)]
    points = [text for text in once if "." in text and _LIKE_A_NUMBER.fullmatch(text)]
    hint = "--decimal comma or --decimal point says how to read it"
    if commas and not points:
        if all(_THOUSANDS[","].fullmatch(text) for text in commas):
            raise table.wrong("numbers that can be read in one way", repr(commas[0]), hint=hint)
        return ","
    are_like = points and all(map(_THOUSANDS["."].fullmatch, points))
    often = [*filter(set(points).__contains__, texts)]
    if are_like and (table.separator == ";" or _seem_thousands(often, texts)):
        raise table.wrong("numbers that can be read in one way", repr(points[0]), hint=hint)
    return "."


def _seem_thousands(points: Sequence[str], texts: Sequence[str]) -> bool:
    """Are whole numbers below 1,000 nearer to cells with points if these are thousands?

    >>> _seem_thousands(["1.020"], ["850"]), _seem_thousands(["1.020"], ["2", "27"])
    (True, False)
    """
    whole = [abs(float(text)) for text in texts if _WHOLE.fullmatch(text)]
    if not whole or max(whole) >= 1_000:
        return False
    # Between decimals and thousands lies, on a scale of ratios, the root of 1,000.
    usual = np.median([abs(float(text.rstrip("% ").replace(".", ""))) for text in points])
    return bool(1_000 * np.median(whole) ** 2 > usual**2)


def _number(cell: Cell, sign: str, is_percent: bool) -> float | None:
    """The number in a cell, NaN if it is blank; None if there is none, or not so."""
    if is_blank(cell):
        return math.nan
    if not isinstance(cell, str):
        if not isinstance(cell, bool | np.bool_ | int | float | np.number):
            return None
        with contextlib.suppress(OverflowError):
            number = float(cell)
            is_exact = not isinstance(cell, int | np.integer) or int(number) == int(cell)
            return number if is_exact and not math.isnan(number) and not is_percent else None
        return None
    if cell.lower() in _FLAGS:
        return None if is_percent else _FLAGS[cell.lower()]
    if cell.endswith("%") != is_percent:
        return None
    text = cell.removesuffix("%").rstrip()
    if sign == ",":
        if "." in text:
            return None
        text = text.replace(",", ".")
    if "_" in text or not text.isascii():  # Python would take 1_000
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    is_beyond = math.isinf(number) and "inf" not in text.lower()
    if math.isnan(number) or is_beyond:
        return None
    digits = text.lstrip("+-")
    if abs(number) >= _EXACT and digits.isdecimal() and int(digits) != abs(int(number)):
        return None
    return number / 100 if is_percent else number


def _no_number(
    table: Table, row: int, head: str, cell: Cell, sign: str, is_percent: bool
) -> ValueError:
    text = str(cell)
    hint = ""
    if text.lower() == "nan" and table.argument == "scores":
        hint = "leave it blank if there was no run; a run that failed needs a score"
    elif _kind(cell) == "number":
        if is_percent and not text.endswith("%"):
            hint = "other cells have a percent sign"
        elif re.search(r"\d[., '_]\d{3}", text):
            hint = "thousands are written without a sign between them, " + (
                "decimals with a comma" if sign == "," else "decimals with a point"
            )
            hint += ": take those signs out of the file"
        elif text.lstrip("+-").isdecimal():
            hint = "float64 does not hold it: subtract what all numbers have in common"
        elif sign == ",":
            hint = "other cells have decimal commas"
    return table.wrong("a number", repr(cell), row, head, hint)
