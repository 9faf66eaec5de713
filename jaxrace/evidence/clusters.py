"""Do tasks that belong together resemble each other, as questions on one passage may?

If they do not, each assignment of the tasks to clusters of the same sizes is equally likely, within
groups that are known. Of each pair of options the statistic is the sum over clusters of S^2 / m
over the sum of all z^2: z is the difference of the two on a task less its mean over the group, S
the sum of z over the m tasks of a cluster. The largest one of all pairs is compared with those of
assignments by lot: the share of these that are at least as large, with the one that is there, is a
p-value for any law (Phipson and Smyth, 2010). Axes: P pairs, T tasks, C clusters.
"""

from typing import NamedTuple

import numpy as np

from jaxrace.evidence.levels import FloatArray, IntArray

_DRAWN = 499  # assignments


class Resemblance(NamedTuple):
    """How much clusters differ, of the pair of which they do most."""

    pair: int
    times: float  # the variance of a mean of tasks, over that of independent tasks


def resemblance(
    differences: FloatArray, cluster: IntArray, group: IntArray, level: float
) -> Resemblance | None:
    """Of differences [P, T] in clusters and groups [T]; None unless chance is below ``level``.

    Chance finds some with a probability of at most ``level``. NaN says nothing.
    """
    order = np.lexsort((cluster, group))
    z, cluster, group = differences[:, order], cluster[order], group[order]
    starts = np.flatnonzero(np.r_[True, group[1:] != group[:-1]])
    sizes = np.diff(np.r_[starts, len(group)])
    there = ~np.isnan(z)
    means = np.add.reduceat(np.nan_to_num(z), starts, 1)
    means /= np.maximum(np.add.reduceat(there, starts, 1, int), 1)
    z = np.where(there, z - np.repeat(means, sizes, 1), 0.0)
    total = (z**2).sum(1)
    z = z[total > 1e-12] / np.sqrt(total[total > 1e-12, None])
    if not len(z):
        return None
    by_cluster = np.argsort(cluster, kind="stable")
    cut = np.flatnonzero(np.r_[True, np.diff(cluster[by_cluster]) != 0])
    m = np.diff(np.r_[cut, len(cluster)])
    found = _statistic(z[:, by_cluster], cut, m)
    rng, at_least, most = np.random.default_rng(0), 1, int(level * (_DRAWN + 1))
    for _ in range(_DRAWN):
        by_lot = np.lexsort((rng.random(len(group)), group))
        at_least += _statistic(z[:, by_lot[by_cluster]], cut, m).max() >= found.max() - 1e-12
        if at_least > most:
            return None
    best = int(found.argmax())
    sums = np.add.reduceat(z[best, by_cluster], cut)
    return Resemblance(int(np.flatnonzero(total > 1e-12)[best]), float((sums**2).sum()))


def _statistic(z: FloatArray, cut: IntArray, m: IntArray) -> FloatArray:
    return (np.add.reduceat(z, cut, 1) ** 2 / m).sum(1)
