"""Tables in which pairs are missing: one model of all comparisons, its confidence and its advice.

A score is the difference of two qualities and noise of one variance, X_ij ~ N(gamma_i - gamma_j,
sigma^2): weighted least squares. With n_ij comparisons of a pair, the covariance of the qualities
is sigma^2 times the inverse of the Laplacian of the n_ij; so every comparison says something of all
options that a chain of comparisons connects. Axes: K options, n comparisons, m exchanges.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import erfcx, log_ndtr
from scipy.stats import t as student

from jaxrace.data import Votes

LEVEL = 0.95  # of intervals, each by itself

# Draws of the qualities, as many as there is room and time for.
_MOST_DRAWS, _FEWEST_DRAWS = 10_000, 1_000
_MOST_NUMBERS = 2 * 10**6

# Exchanges of a selected and another option, the most doubtful: advice is about these.
_MOST_EXCHANGES = 32

# What is known of options that nothing connects, in comparisons with somebody in the middle.
_LITTLE = 1e-3

# From here on 1 - b Q(b) / phi(b) is 1 / b^2, but for 3e-8 of it; beyond the second all is equal.
_FAR, _FARTHEST = 1e4, 1e100


class LinkedFit(NamedTuple):
    """Qualities that fit all comparisons best."""

    qualities: np.ndarray  # float64 [K], of mean 0
    covariance: np.ndarray  # float64 [K, K], in units of ``variance``
    variance: float  # sigma^2, of one comparison
    degrees: float  # of freedom, that it is estimated from
    is_connected: bool  # every two options are, through others if need be

    @property
    def scores(self) -> np.ndarray:
        """S_i, the sum of the differences to all others, float64 [K]."""
        return len(self.qualities) * self.qualities - self.qualities.sum()

    @property
    def covariance_of_scores(self) -> np.ndarray:
        """Of S_i, float64 [K, K]; NaN where it is not known."""
        size = len(self.qualities)
        if not self.is_connected or self.degrees < 1:
            return np.full((size, size), np.nan)
        against = size * np.eye(size) - 1
        return self.variance * against @ self.covariance @ against


class Intervals(NamedTuple):
    """Half the widths of intervals around scores; NaN where nothing is known."""

    scores: np.ndarray  # float64 [K], of S_i
    gap: float  # of S_i - S_j, i the last option that is selected, j the first that is not


def intervals_of(
    covariance: np.ndarray, degrees: float, ranking: np.ndarray, top: int
) -> Intervals:
    """Of scores with a covariance [K, K], estimated from so many degrees of freedom."""
    last, first = ranking[top - 1], ranking[top]
    of_gap = covariance[last, last] + covariance[first, first] - 2 * covariance[last, first]
    wide = float(student.ppf((1 + LEVEL) / 2, degrees))
    return Intervals(wide * np.sqrt(np.diagonal(covariance)), wide * float(np.sqrt(of_gap)))


def counts_and_means(votes: Votes) -> tuple[np.ndarray, np.ndarray]:
    """How often each pair was compared, int64 [K, K], and its mean score, float64 [K, K]."""
    counts, sums = summed(votes, np.ones(len(votes.first))), summed(votes, votes.margins)
    counts = (counts + counts.T).astype(np.int64)
    return counts, (sums - sums.T) / np.maximum(counts, 1)


def summed(votes: Votes, numbers: np.ndarray) -> np.ndarray:
    """Numbers [n] by the first and the second of each row, float64 [K, K]."""
    size = len(votes.names)
    places = votes.first.astype(np.int64) * size + votes.second
    return np.bincount(places, numbers, size * size).reshape(size, size)


def fit_linked(votes: Votes, pooled_samples: float) -> LinkedFit:
    """The qualities that fit all comparisons best, by least squares: for tables with gaps.

    sigma^2 is mixed with ``pooled_samples`` of the mean square of all scores: few comparisons that
    happen to fit each other do not look certain.
    """
    counts, means = counts_and_means(votes)
    size, margins = len(counts), votes.margins
    groups, group_of = sparse.csgraph.connected_components(sparse.csr_array(counts), False)
    together = group_of[:, None] == group_of[None, :]
    # The Laplacian of each group is regular once a number is added to all of its entries.
    added = together / together.sum(1)
    inverse = np.linalg.inv(np.diag(counts.sum(1)) - counts + added) - added
    inverse = (inverse + inverse.T) / 2
    qualities = inverse @ (counts * means).sum(1)
    qualities -= qualities.mean()
    residuals = margins - (qualities[votes.first] - qualities[votes.second])
    square = float((margins**2).mean())
    degrees = len(margins) - (size - groups) + pooled_samples
    squares = float((residuals**2).sum()) + pooled_samples * square
    # Rounding is no noise.
    is_noise = degrees > 0 and squares > 1e-24 * len(margins) * square
    variance = squares / degrees if is_noise else square or 1.0
    if groups > 1:
        inverse = np.linalg.inv(np.diag(counts.sum(1)) - counts + _LITTLE * np.eye(size))
    return LinkedFit(qualities, inverse, variance, degrees, groups == 1)


def linked_confidence(fit: LinkedFit, top: int, rng: np.random.Generator) -> float:
    """How likely the k options of the largest qualities are the best, by draws; NaN: unknown.

    Given the scores, and with nothing known before, qualities are Student-t around the fitted ones,
    with the covariance of the fit (Gelman et al., "Bayesian data analysis", 14.2).
    """
    if not fit.is_connected or fit.degrees < 1:
        return float("nan")
    size = len(fit.qualities)
    count = int(np.clip(_MOST_NUMBERS // size, _FEWEST_DRAWS, _MOST_DRAWS))
    # What is added to all entries is added to all qualities, and makes the matrix regular.
    root = np.linalg.cholesky(fit.covariance + 1 / size)
    noise = rng.normal(size=(count, size)) @ root.T
    widths = np.sqrt(fit.variance * fit.degrees / rng.chisquare(fit.degrees, count))
    drawn = fit.qualities + widths[:, None] * noise
    order = np.argsort(-fit.qualities, kind="stable")
    best, others = drawn[:, order[:top]], drawn[:, order[top:]]
    return float((best.min(1) > others.max(1)).mean())


def linked_advice(
    fit: LinkedFit, top: int, number: int, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """The comparisons that are expected to raise the total quality of the selected most.

    A score of a pair moves all qualities, by a normal number times a vector: the covariance with
    the difference of both, in units of the spread of the next score. It is worth at least what the
    best single exchange of a selected and another option gains (the knowledge gradient of
    correlated beliefs, Frazier, Powell and Dayanik 2009, for k = 1). The next pair is chosen as if
    this one had come out as ``rng`` draws it. Returned are the pairs, int64 [B, 2], and ln of the
    largest chance that one of them alone changes the selection.
    """
    places = np.argsort(np.argsort(-fit.qualities, kind="stable"))
    pairs, so_far = [], fit
    for _ in range(number):
        pair = sorted(_best_pair(so_far, top), key=places.__getitem__)
        pairs.append(pair)
        step, spread = _step_of(so_far, *pair)
        qualities = so_far.qualities + np.sqrt(fit.variance / spread) * rng.normal() * step
        covariance = so_far.covariance - np.outer(step, step) / spread
        so_far = so_far._replace(qualities=qualities, covariance=covariance)
    first, second, gaps = _exchanges(fit, top)
    chances = []
    for pair in pairs:
        step, spread = _step_of(fit, *pair)
        step = step * np.sqrt(fit.variance / spread)
        chances.append(_log_change(gaps, step[first] - step[second]))
    return np.array(pairs), max(chances)


def _step_of(fit: LinkedFit, first: int, second: int) -> tuple[np.ndarray, float]:
    """Which way a score of the pair moves qualities, [K], and its spread, squared."""
    step = fit.covariance[:, first] - fit.covariance[:, second]
    return step, 1 + step[first] - step[second]


def _best_pair(fit: LinkedFit, top: int) -> tuple[int, int]:
    first, second, gaps = _exchanges(fit, top)
    sides, own = fit.covariance[first] - fit.covariance[second], np.diag(fit.covariance)
    everybody = np.arange(len(own))
    most, best = -np.inf, (int(first[0]), int(second[0]))
    for option in np.unique([first, second]):
        others = everybody[everybody != option]
        spread = 1 + own[option] + own[others] - 2 * fit.covariance[option, others]
        steps = (sides[:, [option]] - sides[:, others]) * np.sqrt(fit.variance / spread)
        gains = _log_gains(gaps[:, None], np.abs(steps)).max(0)  # of m exchanges
        at = int(np.argmax(gains))
        if gains[at] > most:
            most, best = gains[at], (int(option), int(others[at]))
    return best


def _exchanges(fit: LinkedFit, top: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The selected and the other options of the most doubtful exchanges, and their gaps: [m]."""
    order = np.argsort(-fit.qualities, kind="stable")
    first, second = (x.ravel() for x in np.meshgrid(order[:top], order[top:], indexing="ij"))
    own, gaps = np.diag(fit.covariance), fit.qualities[first] - fit.qualities[second]
    spread = own[first] + own[second] - 2 * fit.covariance[first, second]
    doubtful = np.argsort(gaps / np.sqrt(spread), kind="stable")[:_MOST_EXCHANGES]
    return first[doubtful], second[doubtful], gaps[doubtful]


def _log_change(gaps: np.ndarray, steps: np.ndarray) -> float:
    """ln of the chance that qualities which move by N(0, 1) steps turn one of the gaps round."""
    sides = [gaps[steps * sign > 0] / np.abs(steps[steps * sign > 0]) for sign in (1, -1)]
    tails = [log_ndtr(-side.min()) for side in sides if side.size]
    return float(np.logaddexp.reduce(tails)) if tails else -math.inf


def _log_gains(gaps: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """ln E max(s Z - gap, 0) of steps s >= 0 and Z ~ N(0, 1): ln s phi(b) (1 - b Q(b) / phi(b)).

    Where no score is likely to change the selection, the gain itself is below any float.
    """
    steps = np.maximum(steps, np.finfo(float).tiny)
    with np.errstate(over="ignore"):
        b = np.minimum(gaps / steps, _FARTHEST)
    ratio = b * math.sqrt(math.pi / 2) * erfcx(b / math.sqrt(2))
    with np.errstate(divide="ignore", invalid="ignore"):  # of the other branch
        left = np.where(b < _FAR, np.log1p(-ratio), -2 * np.log(np.maximum(b, _FAR)))
    return np.log(steps / math.sqrt(2 * math.pi)) - b**2 / 2 + left
