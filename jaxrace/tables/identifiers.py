"""Whole numbers that are hardly scores, but name, count or place what was run."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from jaxrace.tables.heads import names_quantity

FEWEST = 6  # scores, below which numbers alone say nothing
_FEWEST_IN_A_ROW = 10  # an example by hand has fewer
_FEW = 3  # different ones are grades
_CHANCE = 1e-4  # below it whole scores alone are not a coincidence
_FAR, _FARTHEST = 10, 10_000  # times the largest of the others
_ANSWERS = 2  # different ones are right and wrong
_EXACT = 2**53  # larger floats are all whole
# Why numbers are not scores.
_WHY = (
    "",
    "{low:.0f} to {high:.0f} in equal steps, each once",
    "whole numbers beside fractions",
    "whole numbers, each as often as any other, as scores of that range hardly are",
    "whole numbers, far beyond others that repeat",
    "whole numbers far beyond all others",
)


class _About(NamedTuple):
    """The numbers of columns, [K] each."""

    number: np.ndarray
    different: np.ndarray
    whole: np.ndarray  # how many are
    low: np.ndarray
    high: np.ndarray
    largest: np.ndarray  # in absolute value
    middle: np.ndarray  # the median
    are_steps: np.ndarray  # are all from low to high in equal steps, each once?
    are_even: np.ndarray  # is each one there as often as any other?


def identifier(columns: Mapping[str, np.ndarray]) -> tuple[str, str] | None:
    """The first column of whole numbers that can hardly be scores, and why; None if all may be.

    Its head names a count, a size or a time; or its numbers are in equal steps, each once, whole
    beside fractions, all equally often where scores would not be, or far beyond others.
    """
    kept = {head: x[np.isfinite(x)] for head, x in columns.items()}
    kept = {head: x for head, x in kept.items() if x.size}
    named = [head for head in kept if names_quantity(head)]
    letters = sum(len(name) == 1 for name in kept)
    if len(kept) < 2:
        return None
    about = _About(*np.array([_about(x) for x in kept.values()], float).T)
    are_whole = (about.whole == about.number) & (about.largest < _EXACT)
    reasons = _unlike(about)
    for place, head in enumerate(kept):
        if not are_whole[place]:
            continue
        why = _WHY[reasons[place]].format(low=about.low[place], high=about.high[place])
        # One letter of several may be the name of an option.
        if not why and head in named and len(named) < len(kept) and (len(head) > 1 or letters == 1):
            why = "whole numbers below such a name"
        if why:
            return head, why
    return None


def _about(x: np.ndarray) -> tuple[float, ...]:
    """``_About`` one column, the numbers of which are finite."""
    ordered, often = np.unique(x, return_counts=True)
    are_steps = len(ordered) == len(x) > 1 and len(np.unique(np.diff(ordered))) == 1
    low, high = ordered[0], ordered[-1]
    sizes = low, high, max(-low, high), np.median(x)
    return len(x), len(ordered), (x % 1 == 0).sum(), *sizes, are_steps, often.min() == often.max()


def _unlike(x: _About) -> np.ndarray:
    """Why whole numbers of each column are not scores beside the others, a place in ``_WHY``."""
    count, top = len(x.number), np.argmax(x.largest)

    def all_others(are: np.ndarray) -> np.ndarray:
        return are.sum() - are == count - 1

    most = np.full(count, x.largest[top])
    most[top] = np.delete(x.largest, top).max()
    most = np.maximum(most, 1)
    share = (x.whole.sum() - x.whole) / (x.number.sum() - x.number)
    is_row = (x.are_steps == 1) & (x.number >= _FEWEST_IN_A_ROW)
    are_new = x.different == x.number
    # Of n independent whole numbers in a range of R none comes again with a probability of at most
    # exp(-n (n - 1) / 2 R), whatever their law. That a value which is there is so k > 1 times has
    # one of at most a third, by Poisson.
    are_rare = x.number * (x.number - 1) > -2 * math.log(_CHANCE) * (x.high - x.low + 1)
    is_lot = (x.are_even == 1) & np.where(are_new, are_rare, x.different >= _FEWEST_IN_A_ROW)

    def are_far(others: np.ndarray) -> np.ndarray:
        """Beyond others, of which there are as many at least."""
        usual = max(1, x.largest[others].max(initial=0))
        return ~others & (x.middle > _FAR * usual) & (2 * others.sum() >= count)

    repeat = (x.different >= 2) & (2 * x.different - 2 <= x.number)
    are_answers = repeat & (x.different <= _ANSWERS)
    holds = [
        (x.number < FEWEST) | (x.different <= _FEW),
        is_row & ~all_others(x.are_steps),
        count * share**x.number < _CHANCE,
        is_lot & ~all_others(is_lot),
        (are_new & are_far(repeat)) | are_far(are_answers),
        x.low > _FARTHEST * most,
    ]
    return np.select(holds, range(len(holds)), 0)
