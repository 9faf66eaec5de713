"""The mean of one option by itself at one look, over groups of tasks: its interval.

The mean is sum_g w_g m_g, of the means m_g of n_g independent tasks each: its variance is the sum
of w_g^2 s_g^2 / n_g. Few tasks say little of seldom scores. So there is one more, the worst for
that end in the group in which it counts most, and a correction for skewness: for right and wrong
answers about the limit of Fay and Feuer (1997), as in ``one_look.handicapped``. It is right for
many tasks. Axes: K options, T tasks, G groups.
"""

import numpy as np

from jaxrace.evidence.levels import FloatArray, IntArray
from jaxrace.evidence.quantiles import normal_quantile


def one_look_intervals(
    values: FloatArray, group: IntArray, weights: FloatArray, delta: float
) -> tuple[FloatArray, FloatArray]:
    """Ends of intervals of the means of scores [K, T] in [0, 1], which all hold but for ``delta``.

    ``group`` has the number of the group of each task, [T]; each has two tasks or more. ``weights``
    have the sum 1: [G].

    >>> right = np.array([[1.0] * 90 + [0.0] * 10])
    >>> low, high = one_look_intervals(right, np.zeros(100, int), np.ones(1), 0.05)
    >>> print(low.round(3), high.round(3))  # Clopper and Pearson: 0.824, 0.951
    [0.822] [0.96]
    """
    counts = np.bincount(group, minlength=len(weights))
    means = np.stack([np.bincount(group, x, len(weights)) for x in values]) / counts
    share = weights / counts  # of a task of each group
    terms = (values - means[:, group]) * share[group]
    square = (terms**2 * (counts / (counts - 1))[group]).sum(1)
    cube = (terms**3).sum(1)
    z = normal_quantile(1 - delta / (2 * len(values)))
    estimate = means @ weights
    low = estimate - _reach(square, cube, (means * share).max(1), z)
    high = estimate + _reach(square, -cube, ((1 - means) * share).max(1), z)
    return np.maximum(low, 0), np.minimum(high, 1)


def _reach(square: FloatArray, cube: FloatArray, worst: FloatArray, z: float) -> FloatArray:
    """How far below its estimate a mean may be: where ``one_look.handicapped`` is z."""
    square, cube = square + worst**2, cube - worst**3
    skew = np.maximum(-cube / np.where(square > 0, square, 1), 0)
    return worst + z * np.sqrt(square) + (z * z - 1) * skew / 3
