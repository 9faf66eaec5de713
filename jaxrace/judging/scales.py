"""Are the scores of all options on one scale? Compared as numbers, percents beat shares always."""

import dataclasses
from typing import NamedTuple

import numpy as np

from jaxrace.evidence.process import FloatArray
from jaxrace.judging.in_memory import wrong
from jaxrace.judging.scores import ScoreTable
from jaxrace.tables.refusals import as_options

_FEWEST, _MANY = 20, 50  # scores of an option: below these it may be chance
_MOST_OPTIONS = 50  # that are looked at
_FACTORS = (10, 100, 1_000)
_TOPS = (7, 10, 100)  # of scales that are longer than one from 1 to 5
_AT_TOP, _ABOVE = 0.15, 0.2


class _Column(NamedTuple):
    """The scores of an option, and which there are, from the least on."""

    name: str
    numbers: FloatArray
    values: FloatArray


def on_one_scale(table: ScoreTable, is_smaller: bool) -> ScoreTable:
    """The table; ValueError if two options plainly have unlike scales, a note if they may have.

    Plainly: one has ten or a hundred times the few values of the other; or percents where the other
    has shares in the same range; or it goes on above a grade of 5 where the other ends, often. Not
    where smaller is better: times of two options may differ by any factor. A caller who has named
    the options has looked.
    """
    if table.chosen or is_smaller:
        return table
    columns: list[_Column] = []
    for name, column in [*zip(table.names, table.values, strict=True)][:_MOST_OPTIONS]:
        try:
            numbers = column.astype(float).ravel()
        except OverflowError:  # a whole number beyond floats, which is refused by its place
            continue
        numbers = numbers[np.isfinite(numbers)]
        if len(numbers) >= _FEWEST:
            columns.append(_Column(name, numbers, np.unique(numbers)))
    for own in columns:
        for other in columns:
            if own.values[-1] <= other.values[-1]:
                continue
            got = f"{_said(other)} of {other.name}, {_said(own)} of {own.name}"
            plain = _are_times_as_large(own, other) or _are_percents(own, other)
            if plain or _goes_beyond(own, other, _MANY):
                named = as_options(table.names)
                hint = f"write all in one way; --options {named} says that they are"
                raise wrong("scores of all options on one scale", got, hint)
            if _goes_beyond(own, other, _FEWEST):
                note = f"are scores of all options on one scale? {got}"
                return dataclasses.replace(table, said=(*table.said, note))
    return table


def _said(column: _Column) -> str:
    """The values, if these are two, or else their range."""
    between = "and" if len(column.values) == 2 else "to"
    return f"{column.values[0]:g} {between} {column.values[-1]:g}"


def _are_times_as_large(column: _Column, other: _Column) -> bool:
    """Are the different values, two or more, those of the other times ten, a hundred or so?"""
    own, its = column.values, other.values
    if not 2 <= len(own) == len(its):
        return False
    return any(np.allclose(own, factor * its, rtol=1e-9, atol=0) for factor in _FACTORS)


def _are_percents(column: _Column, other: _Column) -> bool:
    """Are these from 0 to 100, and the other's shares of 1, whose percents are in one range?"""
    are_shares = other.values[0] >= 0 and other.values[-1] <= 1
    if not are_shares or column.values[0] < 0 or not 1 < column.values[-1] <= 100:
        return False
    if ((other.values > 0) & (other.values < 1)).sum() <= 2:
        return False
    above, shares = column.numbers[column.numbers > 0], other.numbers[other.numbers > 0]
    if (above <= 1).mean() > 0.01:
        return False
    low, high = np.quantile(above, (0.05, 0.95))
    return bool(low <= 100 * np.median(shares) <= high)


def _goes_beyond(column: _Column, other: _Column, fewest: int) -> bool:
    """Does the other end at 5, as whole grades, and are these whole as well, up to a larger end?"""
    own, its = column.values, other.values
    if its[-1] != 5 or own[-1] not in _TOPS or len(its) < 3:
        return False
    if (own % 1).any() or (its % 1).any() or min(own[0], its[0]) < 0:
        return False
    is_cut = (other.numbers == 5).mean() >= _AT_TOP and (column.numbers > 5).mean() >= _ABOVE
    return is_cut and min(len(column.numbers), len(other.numbers)) >= fewest
