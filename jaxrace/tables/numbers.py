"""Numbers in cells: the right value, or an error that says what would settle it."""

import math
import re
from collections.abc import Sequence

import numpy as np

from jaxrace.core.validation import BadArgument
from jaxrace.tables.table import FLAGS, LIKE_A_NUMBER, Cell, Table, different, is_blank, kind_of

PERCENTS = "percents divided by 100"  # what is said of them
_EXACT = 2**53  # larger integers are not all floats
_WHOLE = re.compile(r"[+-]?\d+")
_WITH_COMMA = re.compile(r"[+-]?\d*,\d+(e[+-]?\d+)?\s*%?", re.IGNORECASE)
_THOUSANDS = {
    sign: re.compile(rf"[+-]?[1-9]\d{{0,2}}({re.escape(sign)}\d{{3}})+%?") for sign in ",."
}


def labels_as_numbers(table: Table, head: str) -> np.ndarray:
    """Labels as numbers; NaN if float64 does not hold them, as long ids."""
    try:
        return numbers_of(table, [head])[0][head]
    except BadArgument:
        return np.full(len(table.lines), np.nan)


def numbers_of(
    table: Table, heads: Sequence[str], decimal: str | None = None
) -> tuple[dict[str, np.ndarray], list[str]]:
    """The numbers of some columns, float64 [rows], NaN for blank cells; and what was guessed.

    The decimal sign, unless it is given, and percents are decided for all columns together. Truth
    values are 1 and 0. BadArgument if a cell holds no number, or may be read in two ways.
    """
    columns = {head: table.column(head) for head in heads}
    texts = [cell for cells in columns.values() for cell in cells if isinstance(cell, str)]
    once = dict.fromkeys(texts)
    sign = decimal or table.decimal or _decimal_of(table, texts)
    # Where the sign is said, the other one can only part thousands.
    other = _THOUSANDS["." if sign == "," else ","] if table.decimal else None
    are_percents = any(text.endswith("%") for text in once)
    said = ["decimal commas"] if sign == "," and any("," in text for text in once) else []
    said += [PERCENTS] if are_percents else []
    once = {x: re.sub(r"[.,]", "", x) if other and other.fullmatch(x) else x for x in once}
    known = {text: _number(plain, sign, are_percents) for text, plain in once.items()}
    found = {}
    for head, cells in columns.items():
        numbers = [
            known[cell] if isinstance(cell, str) else _number(cell, sign, are_percents)
            for cell in cells
        ]
        if None in numbers:
            raise _no_number(table, numbers.index(None), head, sign, are_percents)
        found[head] = np.array(numbers, float)
    return found, said


def _decimal_of(table: Table, texts: Sequence[str]) -> str:
    """The decimal sign of cells; BadArgument if it may be that of thousands, too."""
    once = different(texts)
    commas = [text for text in once if _WITH_COMMA.fullmatch(text)]
    points = [text for text in once if "." in text and LIKE_A_NUMBER.fullmatch(text)]
    if commas and not points:
        sign, unclear = ",", commas if all(map(_THOUSANDS[","].fullmatch, commas)) else []
    else:
        sign, unclear = ".", points if all(map(_THOUSANDS["."].fullmatch, points)) else []
        often = [*filter(set(unclear).__contains__, texts)]
        if unclear and table.separator != ";" and not _seem_thousands(often, texts):
            unclear = []
    if unclear:
        hint = "--decimal comma or --decimal point says how to read it"
        raise table.wrong("numbers that can be read in one way", repr(unclear[0]), hint=hint)
    return sign


def _seem_thousands(points: Sequence[str], texts: Sequence[str]) -> bool:
    """Are whole numbers below 1,000 nearer to cells with points if these are thousands?"""
    whole = [abs(float(text)) for text in texts if _WHOLE.fullmatch(text)]
    if not whole or max(whole) >= 1_000:
        return False
    # Between decimals and thousands lies, on a scale of ratios, the root of 1,000.
    usual = np.median([abs(float(text.rstrip("% ").replace(".", ""))) for text in points])
    return bool(1_000 * np.median(whole) ** 2 > usual**2)


def _number(cell: Cell, sign: str, is_percent: bool) -> float | None:
    """The number in a cell, NaN if it is blank, None if no float holds it."""
    if is_blank(cell):
        return math.nan
    if isinstance(cell, str):
        return _number_in(cell, sign, is_percent)
    if is_percent or not isinstance(cell, bool | np.bool_ | int | float | np.number):
        return None
    try:
        number = float(cell)
    except OverflowError:
        return None
    is_exact = not isinstance(cell, int | np.integer) or int(number) == int(cell)
    return number if is_exact and not math.isnan(number) else None


def _number_in(cell: str, sign: str, is_percent: bool) -> float | None:
    if cell.lower() in FLAGS:
        return None if is_percent else FLAGS[cell.lower()]
    text = cell.removesuffix("%").rstrip()
    if cell.endswith("%") != is_percent or (sign == "," and "." in text):
        return None
    if "_" in text or not text.isascii():  # Python would take 1_000
        return None
    try:
        number = float(text.replace(",", ".") if sign == "," else text)
    except ValueError:
        return None
    if math.isnan(number) or (math.isinf(number) and "inf" not in text.lower()):
        return None
    digits = text.lstrip("+-")
    if abs(number) >= _EXACT and digits.isdecimal() and int(digits) != abs(int(number)):
        return None
    return number / 100 if is_percent else number


def _no_number(table: Table, row: int, head: str, sign: str, is_percent: bool) -> BadArgument:
    cell = table.column(head)[row]
    text, hint = str(cell), ""
    if text.lower() == "nan" and table.argument == "scores":
        hint = "leave it blank if there was no run; a run that failed needs a score"
    elif kind_of([cell]) != "number":
        pass
    elif is_percent and not text.endswith("%"):
        hint = "other cells have a percent sign"
    elif re.search(r"\d[., '_]\d{3}", text):
        hint = "thousands are written without a sign between them, decimals with a "
        hint += f"{'comma' if sign == ',' else 'point'}: take those signs out of the file"
    elif text.lstrip("+-").isdecimal():
        hint = "float64 does not hold it: subtract what all numbers have in common"
    elif sign == ",":
        hint = "other cells have decimal commas"
    return table.wrong("a number", repr(cell), row, head, hint=hint)
