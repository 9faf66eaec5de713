"""Are the scores of all options on one scale? Compared as numbers, percents beat shares always."""

import dataclasses
from shlex import quote

import numpy as np

from jaxrace.evidence.process import FloatArray
from jaxrace.judging.in_memory import wrong
from jaxrace.judging.scores import ScoreTable

_FEWEST, _MANY = 20, 50  # scores of an option: below these it may be chance
_MOST_OPTIONS = 50  # that are looked at
_MOST_NAMED = 8  # in a hint
_FACTORS = (10, 100, 1_000)
_TOPS = (7, 10, 100)  # of scales that are longer than one from 1 to 5
_AT_TOP, _ABOVE = 0.15, 0.2


def on_one_scale(table: ScoreTable, is_smaller: bool) -> ScoreTable:
    """The table; ValueError if two options plainly have unlike scales, a note if they may have.

    Plainly: one has ten or a hundred times the few values of the other; or percents where the other
    has shares in the same range; or it goes on above a grade of 5 where the other ends, often. Not
    where smaller is better: times of two options may differ by any factor. A caller who has named
    the options has looked.
    """
    if table.chosen or is_smaller:
        return table
    columns = []
    for name, column in [*zip(table.names, table.values, strict=True)][:_MOST_OPTIONS]:
        try:
            numbers = column.astype(float).ravel()
        except OverflowError:  # a whole number beyond floats, which is refused by its place
            continue
        numbers = numbers[np.isfinite(numbers)]
        if len(numbers) >= _FEWEST:
            columns.append((name, numbers))
    for name, numbers in columns:
        for other, fewer in columns:
            if not (name != other and numbers.max() > fewer.max()):
                continue
            got = f"{_said(fewer)} of {other}, {_said(numbers)} of {name}"
            plain = _are_times_as_large(numbers, fewer) or _are_percents(numbers, fewer)
            if plain or _goes_beyond(numbers, fewer, _MANY):
                names = ",".join(f'"{x}"' if "," in x else x for x in table.names[:_MOST_NAMED])
                hint = f"write all in one way; --options {quote(names)} says that they are"
                raise wrong("scores of all options on one scale", got, hint)
            if _goes_beyond(numbers, fewer, _FEWEST):
                note = f"are scores of all options on one scale? {got}"
                return dataclasses.replace(table, said=(*table.said, note))
    return table


def _said(numbers: FloatArray) -> str:
    """The values, if these are two, or else their range."""
    values = np.unique(numbers)
    between = "and" if len(values) == 2 else "to"
    return f"{values[0]:g} {between} {values[-1]:g}"


def _are_times_as_large(numbers: FloatArray, others: FloatArray) -> bool:
    """Are the different values, two or more, those of others times ten, a hundred or so?"""
    own, their = np.unique(numbers), np.unique(others)
    if not 2 <= len(own) == len(their):
        return False
    return any(np.allclose(own, factor * their, rtol=1e-9, atol=0) for factor in _FACTORS)


def _are_percents(numbers: FloatArray, others: FloatArray) -> bool:
    """Are these from 0 to 100, and others shares of 1, whose percents are in the same range?"""
    above, shares = numbers[numbers > 0], others[others > 0]
    are_shares = others.min() >= 0 and others.max() <= 1
    if not (are_shares and len(np.unique(shares[shares < 1])) > 2):
        return False
    if numbers.min() < 0 or numbers.max() > 100 or (above <= 1).mean() > 0.01:
        return False
    low, high = np.quantile(above, (0.05, 0.95))
    return bool(low <= 100 * np.median(shares) <= high)


def _goes_beyond(grades: FloatArray, others: FloatArray, fewest: int) -> bool:
    """Do others end at 5, as whole grades, and are these whole as well, up to a larger end?"""
    if (grades % 1).any() or (others % 1).any() or min(grades.min(), others.min()) < 0:
        return False
    if others.max() != 5 or grades.max() not in _TOPS or len(np.unique(others)) < 3:
        return False
    is_cut = (others == 5).mean() >= _AT_TOP and (grades > 5).mean() >= _ABOVE
    return is_cut and min(len(grades), len(others)) >= fewest
