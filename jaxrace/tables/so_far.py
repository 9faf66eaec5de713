"""Rows of counts of two that hold each other: states of one match, or a row that is a total.

Axes: R rows, S steps from one row to the next, K kinds of results, D draws.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxrace.tables.copies import TWICE

_MANY_COUNTED = 200  # games of a row: chance hardly makes the same counts of so many again
_FEWEST_COUNTED = 20  # games of the largest row: fewer may be alike by chance
_FEW_RESTARTS = 7  # of so many rows of counts one may begin another match
_MOST_ROWS = 40  # that are drawn anew
_DRAWS = 9_999
_CHANCE = 0.01  # of all files with rows of their own, at most so many are refused for their steps


class Held(NamedTuple):
    """What rows of counts are that hold each other."""

    said: list[str]
    refused: str  # why data are refused, or ""
    kept: np.ndarray  # bool [R]: rows that count


def held_rows(
    names: Sequence[str],
    first: np.ndarray,
    second: np.ndarray,
    counts: np.ndarray,
    *,
    sided: bool,
) -> Held:
    """Are rows of counts of two the states of one match, or is one the total of the others?

    If all rows, by size, have at least the counts of the one before, either is possible. Rows of
    their own are drawn anew, with the same sizes and the same counts in all; states agree better
    than nearly all of these, as each holds the one before, and are refused. Where that cannot be
    told the largest row counts alone, and a note says so.

    Args:
        names: Of the options.
        first: Places in ``names``, int [R].
        second: Others.
        counts: How often the first had 0, 1/4, ... 1 of the points, int [R, K].
        sided: Is the first the one with White? Then rows with sides reversed are others.
    """
    two: dict[tuple[int, int], list[int]] = {}
    turned = np.array(counts)
    for row, (one, other) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        if one > other and not sided:
            one, other, turned[row] = other, one, counts[row][::-1]
        two.setdefault((one, other), []).append(row)
    said, kept = list[str](), np.ones(len(counts), bool)
    for (one, other), rows in two.items():
        own, whose = turned[rows], f"of {names[one]} and {names[other]}"
        odd, kept[rows] = _held(own, whose, _CHANCE / len(two))
        if odd:
            return Held([], odd, np.ones(len(counts), bool))
        if not kept[rows].all():
            counted, left = {*map(tuple, own[kept[rows]].tolist())}, own[~kept[rows]].tolist()
            how = (
                "are the same, and count once"
                if counted.issuperset(map(tuple, left))
                else "may be states of one match, as each has at least the counts of a smaller "
                "one: the largest alone counts"
            )
            own_match = "if they are matches of their own, add them up in one row"
            said.append(f"rows of counts {whose} {how} ({len(left):,} left out); {own_match}")
    return Held(said, "", kept)


def _held(rows: np.ndarray, whose: str, chance: float) -> tuple[str, np.ndarray]:
    """Why rows [R, K] of two are refused, or ""; and which count, bool [R]."""
    sizes, every = rows.sum(1), np.ones(len(rows), bool)
    if len(rows) < 2 or sizes.max() < _FEWEST_COUNTED:
        return "", every
    large = Counter(tuple(row) for row in rows[sizes >= _MANY_COUNTED].tolist())
    row, number = large.most_common(1)[0] if large else ((), 1)
    if number > 1 and _chance_of_equals(rows[sizes >= _MANY_COUNTED]) <= chance:
        counted = ", ".join(map(str, row))
        return (
            f"{TWICE}{number:,} rows of counts {whose} are the same, [{counted}] of 0 to 1 point: "
            "leave all but one out"
        ), every
    total = int(sizes.argmax())
    if len(rows) > 2 and (2 * rows[total] == rows.sum(0)).all():
        return (
            f"{TWICE}of {len(rows):,} rows of counts {whose} number {total + 1:,} is the sum of "
            "all others: leave it out, or keep it alone"
        ), every
    by_size = np.unique(rows, axis=0, return_index=True)[1]
    by_size = by_size[np.argsort(sizes[by_size], kind="stable")]
    in_order = np.flatnonzero(np.append(True, (rows[1:] != rows[:-1]).any(1)))
    kept, is_held = every, False
    if number > 1:  # equal rows of many games that may be chance count once
        kept = (sizes < _MANY_COUNTED) | np.isin(np.arange(len(rows)), by_size)
    for order in (by_size, in_order, in_order[::-1]):
        up = _up(rows[order])
        may_restart = 0 if order is by_size else len(up) // _FEW_RESTARTS
        if (~up).sum() > may_restart:
            continue
        if len(up) and _chance_of(rows[order]) <= chance / 3:
            return (
                f"counts so far, row by row: of {len(rows):,} rows {whose} each has at least the "
                "counts of a smaller one, and they agree as states of one match do: keep the "
                "largest alone, or add up rows that are matches of their own"
            ), every
        if not is_held:  # the last state of each match
            is_held = True
            kept = np.isin(np.arange(len(rows)), order[np.append(~up, True)])
    return "", kept


def _chance_of_equals(rows: np.ndarray) -> float:
    """About how many two of rows of their own have the same counts: normal laws on whole numbers.

    sum p^2 over the results of N games of K kinds is (4 pi N)^-((K - 1) / 2) / root(prod of p).
    """
    share = rows.sum(0) / rows.sum()
    share = share[share > 0]
    sizes = Counter(rows.sum(1).tolist())
    scale = np.sqrt(share.prod())
    return sum(
        number * (number - 1) / 2 * (4 * np.pi * size) ** ((1 - len(share)) / 2) / scale
        for size, number in sizes.items()
    )


def _up(rows: np.ndarray) -> np.ndarray:
    """Has each row at least the counts of the one before? bool [..., S] of [..., R, K]."""
    return np.asarray((np.diff(rows, axis=-2) >= 0).all(-1))


def _chance_of(rows: np.ndarray) -> float:
    """How often rows of their own agree as well, step by step: exact, if games are alike.

    Given their sizes and the sum over rows of each kind, such rows are drawn by lot without
    replacement, whatever the chances of the kinds are (so one of D + 1 is the least that is found).
    """
    rows = rows[:_MOST_ROWS]
    sizes, rng = rows.sum(1), np.random.default_rng(0)
    left = np.tile(rows.sum(0), (_DRAWS, 1))
    drawn = np.zeros((_DRAWS, *rows.shape), int)
    for row, size in enumerate(sizes.tolist()):
        rest = np.full(_DRAWS, size)
        for kind in range(rows.shape[1]):
            others = left[:, kind + 1 :].sum(1)
            drawn[:, row, kind] = rng.hypergeometric(left[:, kind], others, rest)
            rest = rest - drawn[:, row, kind]
        left -= drawn[:, row]
    return float((1 + (_agreement(drawn) >= _agreement(rows)).sum()) / (_DRAWS + 1))


def _agreement(rows: np.ndarray) -> np.ndarray:
    """The log ratio of normal laws, summed over the steps that go up; [...] of [..., R, K].

    A step from M to N games differs from its expectation with the variance N - M times that of a
    game if the row holds the one before, else with N + M times that.
    """
    total = rows.sum((-2, -1), keepdims=True)
    share = rows.sum(-2, keepdims=True) / total
    sizes = rows.sum(-1)
    more, both = np.diff(sizes), sizes[..., 1:] + sizes[..., :-1]
    apart = np.diff(rows, axis=-2) - more[..., None] * share
    square = (apart**2 / np.maximum(share, 1e-300)).sum(-1)
    free = (share > 0).sum(-1) - 1
    is_up = _up(rows) & (more > 0)
    more = np.where(is_up, more, both)
    ratio = free * np.log(both / more) / 2 - square * (1 / more - 1 / both) / 2
    return np.where(is_up, ratio, 0).sum(-1)
