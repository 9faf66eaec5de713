"""One model of all comparisons, whatever their counts: Bradley-Terry with ties, and a penalty.

A share of a win has the mean 1 / (1 + exp(q_j - q_i)) (Bradley and Terry 1952; a tie is half a
win), a margin q_i - q_j and normal noise. The penalty |q|^2 / (2 tau^2) is that of qualities
N(0, tau^2): of wins half a game or more of each option against the average one, which weighs
1 / tau^2 = 1/4 each, and more where the votes say that options are closer; of margins what they
say, and the answer is the average over tau. What is known is the normal law that is nearest (Opper
and Archambeau 2009, "The variational Gaussian approximation revisited"), of margins Student's t
for each tau, in closed form. Axes: K options, P pairs that have met, T values of tau.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from jaxrace.tables import Votes

_SCALE = 3.0  # of tau's prior, half a Cauchy law, in log-odds or the noise of one comparison
_LEAST_GAMES = 0.5  # of an option against the average one, that the penalty is worth
_START, _LEAST, _MOST = -0.5, -5.0, 6.0  # of ln tau, where its best value is looked for
_GRID = 221  # values of it, of margins
_MOST_STEPS, _MOST_REFITS = 50, 2  # of wins; of margins, which hardly change after the first
_CLOSE = 1e-4  # log-odds, to which it goes
_SETTLING = 4  # steps with one inverse, where one takes long
_POOLED = 1.0  # so many margins, of the mean square of all, are mixed with the noise
_POOLED_PAIRS = 30.0  # so many pairs that agree with an order are mixed with those of wins
_LEAST_DISPERSION = 0.01


class MetPairs(NamedTuple):
    """How often each two options have met, and how it ended."""

    size: int  # K
    first: np.ndarray  # int64 [P]
    second: np.ndarray  # int64 [P], another one, after the first in the order of names
    counts: np.ndarray  # float64 [P]
    means: np.ndarray  # float64 [P], of the scores of the first
    squares: float  # the sum of the squares of all scores

    def differences(self, qualities: np.ndarray) -> np.ndarray:
        """By how much the first is better, [P]."""
        return qualities[self.first] - qualities[self.second]

    def slopes(self, numbers: np.ndarray) -> np.ndarray:
        """Of numbers [P] what is for an option less what is against it, [K]."""
        size = self.size
        return np.bincount(self.first, numbers, size) - np.bincount(self.second, numbers, size)

    def laplacian(self, weights: np.ndarray, own: float = 0.0) -> np.ndarray:
        """The matrix [K, K] of the weighted sum of squared differences, plus ``own`` times I."""
        found = np.zeros((self.size, self.size))
        found[self.first, self.second] = found[self.second, self.first] = -weights
        np.fill_diagonal(found, own - found.sum(1))
        return found

    def is_connected(self) -> bool:
        """Does a chain of comparisons connect every two options?"""
        met, (reached, ahead) = self.met() > 0, np.zeros((2, self.size), bool)
        ahead[0] = True
        while ahead.any():
            reached |= ahead
            ahead = met[ahead].any(0) & ~reached
        return bool(reached.all())

    def met(self) -> np.ndarray:
        """How often each two options have met, int64 [K, K]."""
        found = np.zeros((self.size, self.size), np.int64)
        found[self.first, self.second] = found[self.second, self.first] = self.counts
        return found


def variance_of(covariance: np.ndarray, first: Any, second: Any) -> np.ndarray:
    """The variance of the differences of options, [...]."""
    own = np.diagonal(covariance)
    return own[first] + own[second] - 2 * covariance[first, second]


def pairs_of(votes: Votes) -> MetPairs:
    """Of shares of a win, or of margins."""
    size = len(votes.names)
    is_turned = votes.first > votes.second
    turned = 1 - votes.scores if votes.kind == "win" else -votes.scores
    scores = np.where(is_turned, turned, votes.scores)
    low, high = np.minimum(votes.first, votes.second), np.maximum(votes.first, votes.second)
    places = low.astype(np.int64) * size + high
    counts = np.bincount(places, minlength=size * size)
    met = np.flatnonzero(counts)
    means = np.bincount(places, scores, size * size)[met] / counts[met]
    squares = float((scores**2).sum())
    return MetPairs(size, met // size, met % size, counts[met].astype(float), means, squares)


class TauMixture(NamedTuple):
    """A law of Student's for each tau, in coordinates in which qualities are independent."""

    weights: np.ndarray  # float64 [T]
    vectors: np.ndarray  # float64 [K, K], a coordinate a column
    means: np.ndarray  # float64 [T, K]
    scales: np.ndarray  # float64 [T, K], squared


class Rating(NamedTuple):
    """What is known of the qualities: a normal law, or averages of Student's t."""

    kind: str  # "win" or "margin"
    qualities: np.ndarray  # float64 [K], their mean
    covariance: np.ndarray  # float64 [K, K]
    degrees: float  # of freedom; infinite: it is normal
    penalty: float  # 1 / tau^2; of margins as many of them weigh as much
    noise: float  # the variance of one margin; of a share of a win, in those of coins
    pairs: MetPairs
    mixture: TauMixture | None = None  # of margins

    def draws(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Qualities as they may be, float64 [count, K]."""
        drawn = rng.normal(size=(count, len(self.qualities)))
        if self.mixture is None:
            return self.qualities + drawn @ np.linalg.cholesky(self.covariance).T
        weights, vectors, means, scales = self.mixture
        at = rng.choice(len(weights), count, p=weights)
        drawn *= np.sqrt(scales[at] * self.degrees / rng.chisquare(self.degrees, (count, 1)))
        return (means[at] + drawn) @ vectors.T

    def expected(self) -> np.ndarray:
        """What an option scores against the average other, the mean over what may be, [K]."""
        size = len(self.qualities)
        if self.kind == "margin":
            return (size * self.qualities - self.qualities.sum()) / (size - 1)
        own, gaps = np.diagonal(self.covariance), self.qualities[:, None] - self.qualities
        variances = np.maximum(own[:, None] + own - 2 * self.covariance, 0)
        shares = chance(gaps / np.sqrt(1 + np.pi / 8 * variances))
        return (shares.sum(1) - 0.5) / (size - 1)

    def scores(self) -> tuple[np.ndarray, np.ndarray]:
        """Scores against the average other, of wins in log-odds: [K]; their slopes, [K, K]."""
        size = len(self.qualities)
        if self.kind == "margin":
            slopes = (np.full((size, size), -1.0) + size * np.eye(size)) / (size - 1)
            return slopes @ self.qualities, slopes
        gaps = self.qualities[:, None] - self.qualities
        slopes = -chance(gaps) * chance(-gaps)
        np.fill_diagonal(slopes, 0)
        np.fill_diagonal(slopes, -slopes.sum(1))
        # Each by itself: 1 less the share of one that has won everything may be 0.
        won, lost = (np.where(np.eye(size), 0, chance(side)).sum(1) for side in (gaps, -gaps))
        return np.log(won / lost), slopes * ((size - 1) / won / lost)[:, None]


def chance(differences: np.ndarray) -> np.ndarray:
    """The expected share of a win, of a difference of qualities."""
    return 1 / (1 + np.exp(-np.clip(differences, -700, 700)))


def rate(votes: Votes) -> Rating:
    """What comparisons say of the qualities."""
    pairs = pairs_of(votes)
    return _of_wins(pairs) if votes.kind == "win" else _of_margins(pairs)


def _dispersion(
    kind: str, pairs: MetPairs, qualities: np.ndarray, noise: float, fitted: float
) -> float:
    """The variance of a score over that of the model, which is ``noise`` for a margin.

    ``fitted`` is how many numbers the qualities took from the scores: the trace of what makes
    fitted scores of the scores, K - 1 at most, less with a penalty.

    Ties and shares are less noisy than coins: E (y - p)^2 = p (1 - p) - E y (1 - y). Pairs that
    disagree with an order of all, as in a circle, are noisier.
    """
    expected, (counts, means) = pairs.differences(qualities), (pairs.counts, pairs.means)
    variances, own = np.full(len(counts), noise), 1.0
    if kind == "win":
        expected = chance(expected)
        variances = np.maximum(expected * (1 - expected), np.finfo(float).tiny)
        of_shares = float((counts * means).sum()) - pairs.squares
        own = max(1 - of_shares / float((counts * variances).sum()), _LEAST_DISPERSION)
    free = len(counts) - fitted
    if free < 1:
        return own
    square = float((counts * (means - expected) ** 2).sum() / (own * variances.mean()))
    square -= math.sqrt(2 * free)  # chance alone does as much: what is beyond it counts
    return own * max((square + _POOLED_PAIRS) / (free + _POOLED_PAIRS), 1.0)


def _of_wins(pairs: MetPairs) -> Rating:
    """The nearest normal law, tau and the dispersion in turn, several steps with each inverse."""
    size, (log_tau, dispersion) = pairs.size, (_START, 1.0)
    mean, covariance = np.zeros(size), np.zeros((size, size))
    most, precision = -math.log(_LEAST_GAMES / 4) / 2, math.exp(-2 * _START)
    for _ in range(_MOST_STEPS):
        counts, precision = pairs.counts / dispersion, math.exp(-2 * log_tau)
        slopes, weights = _slopes(pairs, counts, precision, mean, covariance)
        covariance = np.linalg.inv(pairs.laplacian(weights, precision))
        start = mean
        for _ in range(_SETTLING):
            step = covariance @ slopes
            mean = mean + step * (2 / max(float(np.abs(step).max()), 2))
            slopes, _ = _slopes(pairs, counts, precision, mean, covariance)
        towards = min(max(log_tau + _towards(precision, mean, covariance), _LEAST), most)
        fitted = size - precision * float(np.trace(covariance))
        before, dispersion = dispersion, _dispersion("win", pairs, mean, 1.0, fitted)
        changes = np.abs(mean - start).max(), abs(towards - log_tau), abs(dispersion / before - 1)
        if max(changes) < _CLOSE:
            break
        log_tau = towards
    covariance = (covariance + covariance.T) / 2
    return Rating("win", mean, covariance, math.inf, precision, dispersion, pairs)


def _flatter(pairs: MetPairs, covariance: np.ndarray) -> np.ndarray:
    """What E chance(N(m, v)) has before m, nearly: 1 / sqrt(1 + pi v / 8), [P]."""
    return 1 / np.sqrt(1 + np.pi / 8 * variance_of(covariance, pairs.first, pairs.second))


def _slopes(
    pairs: MetPairs, counts: np.ndarray, precision: float, mean: np.ndarray, covariance: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Slopes of the objective at the mean, [K], and weights of the pairs, [P].

    The posterior mean maximises the objective. The weights are those of its curvature.
    """
    flatter = _flatter(pairs, covariance)
    expected = chance(flatter * pairs.differences(mean))
    slopes = pairs.slopes(counts * (pairs.means - expected)) - precision * mean
    return slopes, counts * flatter * expected * (1 - expected)


def _towards(precision: float, mean: np.ndarray, covariance: np.ndarray) -> float:
    """A step of Newton's method towards the best ln tau, of 1 at most."""
    square = precision * (mean @ mean + np.trace(covariance))
    share = 1 / (1 + _SCALE**2 * precision)
    slope = square - len(mean) + 1 - 2 * share
    follows = 2 * np.vdot(covariance, covariance) + 4 * mean @ covariance @ mean
    bend = precision**2 * follows - 2 * square - 4 * share * (1 - share)
    return float(slope / max(-bend, abs(slope), 1e-9))


def _of_margins(pairs: MetPairs) -> Rating:
    """Least squares with the penalty, and a variance of its own inverse chi-squared law."""
    number = float(pairs.counts.sum())
    found, vectors = np.linalg.eigh(pairs.laplacian(pairs.counts))
    found_sums = vectors.T @ pairs.slopes(pairs.counts * pairs.means)
    log_taus = np.linspace(_LEAST, _MOST, _GRID)
    before = log_taus - np.log1p(np.exp(2 * log_taus) / _SCALE**2)  # half a Cauchy density

    def fit(dispersion: float) -> tuple[Rating, float]:
        values, sums = np.maximum(found, 0) / dispersion, found_sums / dispersion
        degrees = number / dispersion + _POOLED
        squares = pairs.squares / dispersion + _POOLED * (pairs.squares / number or 1.0)
        shrunk = 1 / (values + np.exp(-2 * log_taus)[:, None])  # [T, K]
        variances = (squares - shrunk @ sums**2) / degrees  # [T]
        spread = np.log1p(np.exp(2 * log_taus)[:, None] * values).sum(1)
        logs = before - (spread + degrees * np.log(variances)) / 2
        weights = np.exp(logs - logs.max())
        weights /= weights.sum()
        found_means = shrunk * sums  # [T, K]
        mean, variance = weights @ found_means, float(weights @ variances)
        away = (found_means - mean) * np.sqrt(weights)[:, None]
        own = np.diag((weights * variances) @ shrunk) + away.T @ away
        widened = degrees / (degrees - 2) if degrees > 2 else 1.0
        covariance = widened * vectors @ own @ vectors.T
        covariance, qualities = (covariance + covariance.T) / 2, vectors @ mean
        penalty = dispersion * float(weights @ np.exp(-2 * log_taus))
        noise = dispersion * variance
        mixture = TauMixture(weights, vectors, found_means, variances[:, None] * shrunk)
        known = qualities, covariance, degrees, penalty, noise, pairs, mixture
        rating = Rating("margin", *known)
        return rating, float(weights @ shrunk @ values)

    (rating, fitted), dispersion = fit(1.0), 1.0
    for _ in range(_MOST_REFITS):
        last, noise = dispersion, rating.noise / dispersion
        dispersion = _dispersion("margin", pairs, rating.qualities, noise, fitted)
        if abs(dispersion - last) <= 0.01 * last:
            break
        rating, fitted = fit(dispersion)
    return rating
