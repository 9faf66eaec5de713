"""Learning curves on the medical task, as figures 4 and 6 of Busa-Fekete et al. 2014 have them.

Axes: R repetitions, n rows, X numbers of episodes.
"""

import numpy as np
from scipy import ndimage

from jaxrace.papers.preference_racing.medical_runs import Learning, Metrics

# The clouds of the evolution strategies are smoothed by a normal kernel: its standard deviation, as
# a share of all episodes, and the cells of equal width on which it is computed.
KERNEL, _CELLS = 0.03, 400

# Their generations end after other numbers of episodes in every repetition.
EVOLUTION = ("pb-edps", "edps")
Findings = dict[tuple[str, str], Learning]  # by hazard and method
Fixed = dict[str, dict[str, Metrics]]  # by hazard and policy
Curve = tuple[np.ndarray, np.ndarray]


def curve(found: Findings, hazard: str, method: str, metric: str) -> Curve:
    """The learning curve of a method: a mean, smoothed for the evolution strategies."""
    of = smoothed if method in EVOLUTION else averaged
    return of(found[hazard, method], metric)


def averaged(learning: Learning, metric: str) -> Curve:
    """The means of repetitions that are evaluated after the same numbers of episodes.

    The last policy of those that have ended goes on counting.
    """
    places = np.unique(learning.episodes)
    means = _carried_forward(learning, metric, places).mean(0)
    return places[np.isfinite(means)], means[np.isfinite(means)]


def smoothed(learning: Learning, metric: str) -> Curve:
    """A curve through the cloud of (episodes, performance) pairs of all repetitions.

    It is smoothed by a kernel, from where half of the repetitions have been evaluated to where
    half have ended.
    """
    episodes, values = learning.episodes, learning.metrics[metric]
    counts, edges = np.histogram(episodes, _CELLS)
    sums, _ = np.histogram(episodes, edges, weights=values)
    width = KERNEL * _CELLS
    # Not truncated: however long a gap between two generations, no place is without a weight.
    smooth_counts, smooth_sums = (
        ndimage.gaussian_filter1d(x.astype(float), width, mode="constant", truncate=1 / KERNEL)
        for x in (counts, sums)
    )
    middles = (edges[:-1] + edges[1:]) / 2
    is_first = np.append(True, np.diff(learning.repeat) != 0)
    first, last = np.median(episodes[is_first]), np.median(episodes[learning.is_last])
    chosen = (middles >= first) & (middles <= last)
    return middles[chosen], smooth_sums[chosen] / smooth_counts[chosen]


def _carried_forward(learning: Learning, metric: str, places: np.ndarray) -> np.ndarray:
    """What each repetition has after so many episodes: [R, X]; NaN before its first evaluation."""
    curves = []
    for repeat in np.unique(learning.repeat):
        rows = learning.repeat == repeat
        before = np.searchsorted(learning.episodes[rows], places, side="right") - 1
        values = learning.metrics[metric][rows].astype(float)
        curves.append(np.where(before >= 0, values[before], np.nan))
    return np.stack(curves)


def mean_before(learning: Learning, metric: str, episodes: int) -> np.ndarray:
    """Of every repetition, the mean of a metric over the first training episodes [R].

    A policy counts from its evaluation to the next one; before the first, nothing counts.
    """
    found = []
    for repeat in np.unique(learning.repeat):
        rows = (learning.repeat == repeat) & (learning.episodes < episodes)
        ends = np.append(learning.episodes[rows], episodes)
        weights = np.diff(ends)
        found.append(np.average(learning.metrics[metric][rows], weights=weights))
    return np.array(found)


def settled(curve: Curve, tolerance: float) -> float:
    """After how many episodes a curve stays as close to its end.

    >>> settled((np.array([100, 200, 300, 400]), np.array([0.0, 5.0, 8.0, 9.0])), tolerance=2.0)
    300.0
    """
    places, means = curve
    far = np.flatnonzero(np.abs(means - means[-1]) > tolerance)
    return float(places[far[-1] + 1 if far.size else 0])
