"""Intervals of scores, and of the gap between the selected and the others. Axes: K options."""

from typing import NamedTuple

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student

from jaxrace.selection.votes.linked import LinkedFit

LEVEL = 0.95  # approximate, each by itself


class Intervals(NamedTuple):
    """Half the widths of intervals around scores; NaN where nothing is known."""

    scores: np.ndarray  # float64 [K], of S_i
    gap: float  # of S_i - S_j, i the last option that is selected, j the first that is not


def intervals_of_pairs(
    variances: np.ndarray, counts: np.ndarray, ranking: np.ndarray, top: int
) -> Intervals:
    """Of scores that are sums over pairs, each compared by itself.

    Args:
        variances: Of one comparison of a pair, float [K, K], symmetric.
        counts: Of comparisons, [K, K], symmetric.
        ranking: The options from the best, [K].
        top: How many are selected, k < K.

    >>> four, zero = np.full((2, 2), 4.0), np.eye(2)
    >>> found = intervals_of_pairs(1 - zero, four, np.array([1, 0]), 1)
    >>> found.scores.round(2).tolist(), round(found.gap, 2)
    ([0.98, 0.98], 1.96)
    """
    apart = ~np.eye(len(counts), dtype=bool)
    of_means = np.where(apart, variances / np.where(apart, counts, 1), 0)
    total = of_means.sum(1)
    last, first = ranking[top - 1], ranking[top]
    # The mean of their own pair is in both scores, with another sign.
    of_gap = total[last] + total[first] + 2 * of_means[last, first]
    wide = float(norm.ppf((1 + LEVEL) / 2))
    return Intervals(wide * np.sqrt(total), wide * float(np.sqrt(of_gap)))


def intervals_of_linked(fit: LinkedFit, ranking: np.ndarray, top: int) -> Intervals:
    """Of scores that one model of all comparisons gives."""
    size = len(fit.qualities)
    if not fit.is_connected or fit.degrees < 1:
        return Intervals(np.full(size, np.nan), np.nan)
    against = size * np.eye(size) - 1
    covariance = fit.variance * against @ fit.covariance @ against
    last, first = ranking[top - 1], ranking[top]
    of_gap = covariance[last, last] + covariance[first, first] - 2 * covariance[last, first]
    wide = float(student.ppf((1 + LEVEL) / 2, fit.degrees))
    return Intervals(wide * np.sqrt(np.diagonal(covariance)), wide * float(np.sqrt(of_gap)))
