"""Columns of whole numbers that are no scores: they name, count or place what was run."""

from collections.abc import Mapping

import numpy as np

from jaxrace.data.heads import names_quantity

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
    for head, x in kept.items():
        if by_name and head not in named:
            continue
        if len(kept) < 2 or not np.all((np.abs(x) < _EXACT) & (x % 1 == 0)):
            continue
        why = _unlike(x, [other for name, other in kept.items() if name != head])
        # One letter of several may be the name of an option.
        if not why and head in named and len(named) < len(kept) and (len(head) > 1 or letters == 1):
            why = "whole numbers below such a name"
        if why:
            return head, why
    return None


def _unlike(x: np.ndarray, others: list[np.ndarray]) -> str:
    """Why whole numbers are no scores beside the others, "" if they may be."""
    different = len(np.unique(x))
    if len(x) < _FEWEST or different <= _FEW:
        return ""
    pooled = np.concatenate(others)
    low, high = x.min(), x.max()
    is_once = different == len(x)
    if _are_steps(x) and len(x) >= _FEWEST_IN_A_ROW and not all(map(_are_steps, others)):
        return f"{low:.0f} to {high:.0f} in equal steps, each once"
    most = max(np.abs(pooled).max(), 1)
    if (len(others) + 1) * float(np.mean(pooled % 1 == 0)) ** len(x) < _CHANCE:
        return "whole numbers beside fractions"
    repeat = all(2 <= 2 * len(np.unique(other)) - 2 <= len(other) for other in others)
    if is_once and repeat and low > _FAR * most:
        return "whole numbers, all different and far beyond others that repeat"
    return "whole numbers far beyond all others" if low > _FARTHEST * most else ""


def _are_steps(x: np.ndarray) -> bool:
    """Is it, in any order, every number once from the least to the largest, in equal steps?"""
    return len(np.unique(np.diff(np.sort(x)))) == 1 and np.ptp(x) > 0
