"""Numbers in a text: those that are shown against those that come out."""

import math
import re
from typing import NamedTuple

# How many standard errors of a difference it may be off, or how much relatively without errors.
ERRORS = 2.0
SHARE = 0.05

_NUMBER = r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d+)?|[-+]?\.\d+"
_TIME = re.compile(rf"(?:{_NUMBER}) s\b")
_TOKEN = re.compile(
    rf"""(?<![\w.])(?P<value>{_NUMBER})(?![\w])
    (?P<percent>\s?%)?
    (?:\s*±\s*(?P<error>{_NUMBER}))?
    (?:\ of\ (?P<total>\d{1, 3}(?:,\d{3})+|\d+)\b)?""",
    re.VERBOSE,
)


class Number(NamedTuple):
    """What stands in a text."""

    value: float
    unit: float  # of its last digit; 0 for a count
    error: float  # its standard error, 0 if there is none


def _value(said: str) -> float:
    return float(said.replace(",", ""))


def _unit(said: str) -> float:
    digits, _, power = said.partition("e")
    _, point, decimals = digits.partition(".")
    if not (point or power):
        return 0.0
    return 10.0 ** (int(power or 0) - len(decimals))


def _number(match: re.Match[str]) -> list[Number]:
    value, unit = _value(match["value"]), _unit(match["value"])
    error = _value(match["error"]) if match["error"] else 0.0
    if error and not unit:
        unit = 1.0
    if match["percent"]:
        value, unit, error = value / 100, (unit or 1.0) / 100, error / 100
    if not match["total"]:
        return [Number(value, unit, error)]
    total = int(match["total"].replace(",", ""))
    chance = value if match["percent"] else value / total
    # Also of a count of 0 or of all one may be another time.
    chance = (min(max(chance, 0.0), 1.0) * total + 1) / (total + 2)
    error = math.sqrt(chance * (1 - chance) / total)
    scale = 1.0 if match["percent"] else total
    return [Number(value, unit, error * scale), Number(total, 0.0, 0.0)]


def matches(text: str) -> list[re.Match[str]]:
    """Where the numbers of a text are, those of seconds aside."""
    blank = _TIME.sub(lambda match: " " * len(match[0]), text)
    return list(_TOKEN.finditer(blank))


def numbers(text: str) -> list[Number]:
    """All numbers of a text but seconds.

    >>> numbers("of 1,300 samples .25 ± .01 took 1.8 s")
    [Number(value=1300.0, unit=0.0, error=0.0), Number(value=0.25, unit=0.01, error=0.01)]
    """
    return [number for match in matches(text) for number in _number(match)]


def words(text: str) -> list[str]:
    """What stands between the numbers.

    >>> words("of 1,300 samples, .25 ± .01")
    ['of', 'samples,']
    """
    return _TOKEN.sub(" ", _TIME.sub("", text)).split()


def agree(shown: Number, made: Number) -> bool:
    """Counts are equal; others within their errors or, without any, a twentieth."""
    difference = abs(shown.value - made.value)
    error = math.hypot(shown.error, made.error)
    if error:
        whole = 1.0 if abs(shown.value) >= 10 else 0.0  # of a mean that is shown without digits
        return difference <= ERRORS * error + max(shown.unit or whole, made.unit)
    if not shown.unit and not made.unit:
        return difference == 0
    largest = max(abs(shown.value), abs(made.value))
    return difference <= max(SHARE * largest, shown.unit, made.unit)


def differences(shown: str, made: str, with_words: bool = True) -> list[str]:
    """What does not come out as it is shown: a line for each."""
    if with_words and words(shown) != words(made):
        return [f"expected the words of {shown!r}, got {made!r}"]
    expected, found = numbers(shown), numbers(made)
    if len(expected) != len(found):
        return [f"expected {len(expected)} numbers as in {shown!r}, got {len(found)} in {made!r}"]
    return [
        f"expected {one.value:g} in {shown.strip()[:80]!r}, got {other.value:g}"
        for one, other in zip(expected, found, strict=True)
        if not agree(one, other)
    ]
