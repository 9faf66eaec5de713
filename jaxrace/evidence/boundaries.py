"""All boundaries at once: tiers, ranks and ties. Axes: K options; arrays [K, K] are "i over j".

A set of options of which each has a verdict over each of the rest is a beginning of the list, but
for a probability of delta for all such sets, of any size, at any look, together. The boundaries
that are certified cut the list into tiers. Proofs: docs/theory/tiers.md.
"""

import math
from typing import NamedTuple

import numpy as np

from jaxrace.evidence.levels import COUNTS_SHARE, BoolArray, By, IntArray, Levels
from jaxrace.evidence.table_decision import keys_of


def board_levels(by: By, num_options: int, delta: float) -> Levels:
    """Log e-values: of tiers (``verdict``), and of all pairs together (``strong``, ``possible``).

    mean: tiers ln((K - 1) / delta), pairs ln(K (K - 1) / (2 delta)).
    wins: tiers ln(1.5 K / ((1 - eps) delta)), eps = 0.05, pairs ln(K (K - 1) / delta).
    Ties within a tolerance are among the pairs, at no price. Proofs: docs/theory/tiers.md.

    >>> [round(level, 3) for level in board_levels("mean", 10, 0.05)]
    [5.193, 6.802, 6.802]
    >>> [round(level, 3) for level in board_levels("wins", 10, 0.05)]
    [5.755, 7.496, 7.496]
    """
    ordered = num_options * (num_options - 1)
    if by == "mean":
        nulls, of_pairs = num_options - 1, ordered / 2
    else:
        nulls, of_pairs = 1.5 * num_options / (1 - COUNTS_SHARE), ordered
    pairs = math.log(of_pairs / delta)
    return Levels(min(math.log(nulls / delta), pairs), pairs, pairs)


class Board(NamedTuple):
    """The whole list."""

    ranking: IntArray  # [K], options, best first
    tier: IntArray  # [K], of each option the number of its tier, from 0
    lowest: IntArray  # [K], the best rank that it may have, from 1
    highest: IntArray  # [K], the worst one

    @property
    def ends(self) -> IntArray:
        """Of each tier but the last the options in it and in those above: [tiers - 1]."""
        return np.flatnonzero(np.diff(self.tier[self.ranking])) + 1


def board_of(over: BoolArray, strong: BoolArray, mean: np.ndarray) -> Board:
    """Tiers by the verdicts ``over``, ranks by those that all hold together, ``strong``.

    An option ranks behind each that is certainly over it, before each that it is certainly over,
    and within its tier.

    >>> over = np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]], bool)
    >>> board = board_of(over, over, np.where(over, 0.5, 0) - np.where(over.T, 0.5, 0))
    >>> print(board.tier, board.lowest, board.highest, board.ends)
    [0 1 1] [1 2 2] [1 3 3] [1]
    """
    num_options = len(over)
    ranking = keys_of(over, mean).ranking()
    # The last place whose option one of this place is not over: it is in the same tier.
    place = np.arange(num_options)
    lacking = np.triu(~over[np.ix_(ranking, ranking)], 1)
    last = np.where(lacking, place, place[:, None]).max(1)
    is_end = np.maximum.accumulate(last) == place
    tier = np.empty(num_options, int)
    tier[ranking] = np.concatenate([[0], is_end[:-1].cumsum()])
    above = (tier[None, :] < tier[:, None]).sum(1)
    within = (tier[None, :] <= tier[:, None]).sum(1)
    lowest = np.maximum(1 + strong.sum(0), 1 + above)
    highest = np.minimum(num_options - strong.sum(1), within)
    return Board(ranking, tier, lowest, highest)


def tied_groups(tied: BoolArray, ranking: IntArray) -> list[list[int]]:
    """Longest stretches of the ranking in which any two options are tied, bool [K, K].

    >>> tied = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], bool)
    >>> tied_groups(tied, np.array([0, 1, 2]))
    [[0, 1], [1, 2]]
    """
    found: list[list[int]] = []
    order, reached = ranking.tolist(), 0
    for begin in range(len(order)):
        end = begin + 1
        while end < len(order) and tied[order[end], order[begin:end]].all():
            end += 1
        if end > max(reached, begin + 1):
            found.append(order[begin:end])
        reached = max(reached, end)
    return found
