"""One model of all comparisons: qualities around their mean, of a spread that is estimated, too.

A share of a win has the mean 1 / (1 + exp(q_j - q_i)) (Bradley and Terry 1952; a tie is half a
win), a margin q_i - q_j. Qualities are N(0, tau^2), so that nobody is infinitely good after three
games. The answer is a mixture over tau, by the evidence for each. Of margins all is in closed form;
of wins the posterior is the nearest normal one (Opper and Archambeau 2009, "The variational
Gaussian approximation revisited"). Axes: K options, P pairs that have met, T values of tau.
"""

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from jaxrace.tables import Votes

_SCALE = 3.0  # of tau's prior, half a Cauchy law, in log-odds or the noise of one comparison
_START, _STEP, _LEAST, _MOST = -0.5, 0.8, -5.0, 6.0  # of ln tau, where its best value is looked for
_NODES = 0.8 * np.arange(-3, 4)  # in standard deviations of ln tau
_KNOWN = 400  # so many options tell tau well enough: its best value will do
_MOST_STEPS = 50  # of a fit
_NEAR, _CLOSE = 0.01, 1e-4  # log-odds, to which it goes while tau is looked for, and at last
_SETTLING = 4  # steps with one inverse, where one takes long
_MOST_CERTAIN = 2.0  # the largest ln tau of many options: beyond it no law is nearly normal
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


class Part(NamedTuple):
    """What is known of the qualities, given tau: a normal law, or Student's t."""

    evidence: float  # ln, up to a constant
    mean: np.ndarray  # float64 [K]
    covariance: np.ndarray  # float64 [K, K], of Student's t its scale
    degrees: float  # of freedom; infinite: it is normal
    noise: float = 1.0  # the variance of one margin; of a share of a win, in those of coins


class Rating(NamedTuple):
    """What is known of the qualities: a mixture."""

    kind: str  # "win" or "margin"
    weights: np.ndarray  # float64 [T]
    parts: tuple[Part, ...]
    qualities: np.ndarray  # float64 [K], their mean
    covariance: np.ndarray  # float64 [K, K]
    noise: float  # the variance of one margin; of a share of a win, in those of coins
    pairs: MetPairs

    def draws(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Qualities as they may be, float64 [count, K]."""
        found = []
        for times, part in zip(rng.multinomial(count, self.weights), self.parts, strict=True):
            if times:
                noise = rng.normal(size=(times, len(part.mean)))
                if math.isfinite(part.degrees):
                    noise *= np.sqrt(part.degrees / rng.chisquare(part.degrees, (times, 1)))
                found.append(part.mean + noise @ np.linalg.cholesky(part.covariance).T)
        return np.concatenate(found)

    def expected(self) -> np.ndarray:
        """What an option scores against the average other, the mean over what may be, [K]."""
        size, found = len(self.qualities), np.zeros(len(self.qualities))
        if self.kind == "margin":
            return (size * self.qualities - self.qualities.sum()) / (size - 1)
        for weight, part in zip(self.weights, self.parts, strict=True):
            own, gaps = np.diagonal(part.covariance), part.mean[:, None] - part.mean
            variances = np.maximum(own[:, None] + own - 2 * part.covariance, 0)
            found += weight * (chance(gaps / np.sqrt(1 + np.pi / 8 * variances)).sum(1) - 0.5)
        return found / (size - 1)

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
    pairs, kind, dispersion = pairs_of(votes), votes.kind, 1.0
    if kind == "win" and pairs.size >= _KNOWN:
        return _of_many_wins(pairs)
    fit = functools.partial(_of_wins, pairs) if kind == "win" else _of_margins(pairs)
    rating = _rated(kind, pairs, fit(dispersion), dispersion)
    for _ in range(2):  # it hardly changes after the first
        before, noise = dispersion, rating.noise / dispersion
        dispersion = _dispersion(kind, pairs, rating.qualities, noise)
        if abs(dispersion - before) <= 0.01 * before:
            break
        rating = _rated(kind, pairs, fit(dispersion), dispersion)
    return rating


def _rated(kind: str, pairs: MetPairs, parts: tuple[Part, ...], dispersion: float) -> Rating:
    weights = np.exp([part.evidence - max(one.evidence for one in parts) for part in parts])
    weights /= weights.sum()
    qualities = weights @ np.stack([part.mean for part in parts])
    covariance = np.zeros((pairs.size, pairs.size))
    for weight, part in zip(weights, parts, strict=True):
        degrees, away = part.degrees, part.mean - qualities
        widened = degrees / (degrees - 2) if 2 < degrees < math.inf else 1.0
        covariance += weight * (widened * part.covariance + np.outer(away, away))
    noise = dispersion * float(weights @ [part.noise for part in parts])
    return Rating(kind, weights, parts, qualities, covariance, noise, pairs)


def _dispersion(kind: str, pairs: MetPairs, qualities: np.ndarray, noise: float) -> float:
    """The variance of a score over that of the model, which is ``noise`` for a margin.

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
    free = len(counts) - pairs.size + 1
    if free <= 0:
        return own
    square = float((counts * (means - expected) ** 2).sum() / (own * variances.mean()))
    square -= math.sqrt(2 * free)  # chance alone does as much: what is beyond it counts
    return own * max((square + _POOLED_PAIRS) / (free + _POOLED_PAIRS), 1.0)


def _of_wins(pairs: MetPairs, dispersion: float) -> tuple[Part, ...]:
    """What is known at some dispersion, by variational steps."""
    size, counts = pairs.size, pairs.counts / dispersion
    start = np.zeros(size), np.zeros((size, size))

    def part(log_tau: float, close: float) -> Part:
        nonlocal start
        (mean, covariance), precision, information = start, math.exp(-2 * log_tau), 0.0
        for number in range(_MOST_STEPS):
            slopes, weights = _slopes(pairs, counts, precision, mean, covariance)
            curvature = pairs.laplacian(weights, precision)
            covariance, information = np.linalg.inv(curvature), np.linalg.slogdet(curvature)[1]
            step = covariance @ slopes
            most = float(np.abs(step).max())
            mean = mean + step * (2 / max(most, 2))
            if number and most < close:
                break
        covariance = (covariance + covariance.T) / 2
        start = mean, covariance
        flatter, apart = _flatter(pairs, covariance), pairs.differences(mean)
        fits = counts * (pairs.means * apart - np.logaddexp(0, flatter * apart) / flatter)
        around = precision * (mean @ mean + np.trace(covariance))
        evidence = fits.sum() - (around + information) / 2 - size * log_tau
        return Part(float(evidence) + _before(log_tau), mean, covariance, math.inf)

    return _parts(lambda at: part(at, _NEAR).evidence, lambda at: part(at, _CLOSE), size)


def _of_many_wins(pairs: MetPairs) -> Rating:
    """The same at the best tau and dispersion alone, and several steps with each slow inverse."""
    size, (log_tau, dispersion) = pairs.size, (_START, 1.0)
    mean, covariance = np.zeros(size), np.zeros((size, size))
    for _ in range(_MOST_STEPS):
        counts, precision = pairs.counts / dispersion, math.exp(-2 * log_tau)
        slopes, weights = _slopes(pairs, counts, precision, mean, covariance)
        covariance = np.linalg.inv(pairs.laplacian(weights, precision))
        start = mean
        for _ in range(_SETTLING):
            step = covariance @ slopes
            mean = mean + step * (2 / max(float(np.abs(step).max()), 2))
            slopes, _ = _slopes(pairs, counts, precision, mean, covariance)
        towards = log_tau + _towards(precision, mean, covariance)
        towards = min(max(towards, _LEAST), _MOST_CERTAIN)
        before, dispersion = dispersion, _dispersion("win", pairs, mean, 1.0)
        changes = np.abs(mean - start).max(), abs(towards - log_tau), abs(dispersion / before - 1)
        if max(changes) < _CLOSE:
            break
        log_tau = towards
    part = Part(0.0, mean, (covariance + covariance.T) / 2, math.inf)
    return _rated("win", pairs, (part,), dispersion)


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


def _of_margins(pairs: MetPairs) -> Callable[[float], tuple[Part, ...]]:
    """The same by least squares with a prior, and a variance of its own inverse chi-squared law."""
    number = float(pairs.counts.sum())
    found, vectors = np.linalg.eigh(pairs.laplacian(pairs.counts))
    found_sums = vectors.T @ pairs.slopes(pairs.counts * pairs.means)

    def parts(dispersion: float) -> tuple[Part, ...]:
        values, sums = np.maximum(found, 0) / dispersion, found_sums / dispersion
        degrees = number / dispersion + _POOLED
        squares = pairs.squares / dispersion + _POOLED * (pairs.squares / number or 1.0)

        def least(log_tau: float) -> tuple[np.ndarray, float]:
            shrunk = 1 / (values + math.exp(-2 * log_tau))
            return shrunk, (squares - float((shrunk * sums**2).sum())) / degrees

        def evidence(log_tau: float) -> float:
            spread = float(np.log1p(math.exp(2 * log_tau) * values).sum())
            likely = spread + degrees * math.log(least(log_tau)[1])
            return _before(log_tau) - likely / 2

        def part(log_tau: float) -> Part:
            shrunk, variance = least(log_tau)
            covariance = variance * (vectors * shrunk) @ vectors.T
            mean = vectors @ (shrunk * sums)
            return Part(evidence(log_tau), mean, covariance, degrees, variance)

        return _parts(evidence, part, pairs.size)

    return parts


def _before(log_tau: float) -> float:
    """ln of half a Cauchy density, of ln tau."""
    return log_tau - math.log1p(math.exp(2 * log_tau) / _SCALE**2)


def _parts(
    evidence: Callable[[float], float], part: Callable[[float], Part], size: int
) -> tuple[Part, ...]:
    """What is known for each of some values of tau, around the best one."""
    seen = functools.cache(lambda place: evidence(_START + _STEP * place))
    best = 0
    while True:
        towards = max((best - 1, best, best + 1), key=seen)
        if towards == best or not _LEAST < _START + _STEP * towards < _MOST:
            break
        best = towards
    low, here, high = (seen(best + side) for side in (-1, 0, 1))
    bend = max((2 * here - low - high) / _STEP**2, 1e-9)
    middle = _START + _STEP * best + min(max((high - low) / (2 * _STEP * bend), -_STEP), _STEP)
    nodes = _NODES if size < _KNOWN else np.zeros(1)
    places = middle + nodes * min(bend**-0.5, _STEP)
    return tuple(map(part, places.tolist()))
