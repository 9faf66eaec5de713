"""Columns of whole numbers that are no scores: they name, count or place what was run."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np

from jaxrace.tables.heads import names_quantity

_FEWEST = 6  # scores, below which numbers alone say nothing
_FEWEST_IN_A_ROW = 10  # of an example by hand there are fewer
_FEW = 3  # different ones are grades
_CHANCE = 1e-4  # of whole scores alone, from which on they are no chance
_FAR, _FARTHEST = 10, 10_000  # times the largest of the others
_EXACT = 2**53  # larger floats are all whole


def identifier(
    columns: Mapping[str, np.ndarray], *, by_name: bool = False
) -> tuple[str, str] | None:
    """The first column that can hardly be one of scores, and why; None if all are alike.

    Whole numbers whose head names a count, a size or a time; others by what they are: numbers in
    equal steps, each once, whole ones beside fractions, those far beyond all others. Integers of
    one kind and range are scores, whatever they are called.

    Args:
        columns: Scores by name, float64 [n_i], NaN where there is none.
        by_name: Only those whose head names a count, a size or a time.

    >>> scores = np.array([0.5, 0.25, 0.75, 0.5, 0.125, 0.5])
    >>> identifier({"a": scores, "size": np.array([7.0, 2, 9, 2, 2, 7])})
    ('size', 'whole numbers below such a name')
    >>> identifier({"a": scores, "q": np.array([13.0, 11, 19, 12, 15, 14])})
    ('q', 'whole numbers beside fractions')
    >>> identifier({"a": np.array([1.0, 0, 1, 1, 0, 1]), "b": np.array([2.0, 0, 1, 1, 0, 2])})
    """
    kept = {head: x[np.isfinite(x)] for head, x in columns.items()}
    kept = {head: x for head, x in kept.items() if x.size}
    named = [head for head in kept if names_quantity(head)]
    letters = sum(len(name) == 1 for name in kept)
    wanted = named if by_name else kept
    if len(kept) < 2 or not wanted:
        return None
    about = [_About.of(x) for x in kept.values()]
    others = _About(*map(np.array, zip(*about, strict=True)))
    for place, (head, own) in enumerate(zip(kept, about, strict=True)):
        if head not in wanted or own.whole < own.size or own.largest >= _EXACT:
            continue
        why = _unlike(own, _About(*(np.delete(column, place) for column in others)))
        # One letter of several may be the name of an option.
        if not why and head in named and len(named) < len(kept) and (len(head) > 1 or letters == 1):
            why = "whole numbers below such a name"
        if why:
            return head, why
    return None


class _About(NamedTuple):
    """What counts of a column, or of several, each an array then."""

    size: Any
    different: Any
    whole: Any  # how many are
    low: Any
    high: Any
    largest: Any  # in absolute value
    are_steps: Any  # is it, in any order, every number once from low to high, in equal steps?

    @classmethod
    def of(cls, x: np.ndarray) -> Self:
        ordered = np.unique(x)
        are_steps = len(ordered) == len(x) > 1 and len(np.unique(np.diff(ordered))) == 1
        low, high = ordered[0], ordered[-1]
        whole = int((x % 1 == 0).sum())
        return cls(len(x), len(ordered), whole, low, high, max(-low, high), are_steps)


def _unlike(x: _About, others: _About) -> str:
    """Why whole numbers are no scores beside the others, "" if they may be."""
    if x.size < _FEWEST or x.different <= _FEW:
        return ""
    if x.are_steps and x.size >= _FEWEST_IN_A_ROW and not others.are_steps.all():
        return f"{x.low:.0f} to {x.high:.0f} in equal steps, each once"
    most = max(others.largest.max(), 1)
    share = others.whole.sum() / others.size.sum()
    if (len(others.size) + 1) * float(share) ** x.size < _CHANCE:
        return "whole numbers beside fractions"
    repeat = (others.different >= 2) & (2 * others.different - 2 <= others.size)
    if x.different == x.size and repeat.all() and x.low > _FAR * most:
        return "whole numbers, all different and far beyond others that repeat"
    return "whole numbers far beyond all others" if x.low > _FARTHEST * most else ""
