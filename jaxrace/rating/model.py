"""One model of all comparisons: qualities around their mean, of a spread that is estimated, too.

A share of a win has the mean 1 / (1 + exp(q_j - q_i)) (Bradley and Terry 1952; a tie is half a
win), a margin q_i - q_j. Qualities are N(0, tau^2): without that, an option that has won all of its
three games would be infinitely good. What is not known of tau stays in the answer: it is a mixture
over tau, by the evidence for each. Of margins everything is in closed form, given tau over the
noise; of wins the posterior is the normal one that is nearest to it (Opper and Archambeau 2009,
"The variational Gaussian approximation revisited"), which is less timid than Laplace's where there
are few votes. Axes: K options, P pairs that have met, T values of tau.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from jaxrace.data import Votes
from jaxrace.rating.pairs import Pairs, pairs_of

# What tau may be, beforehand: half a Cauchy law of this scale, of log-odds or of the noise of one
# comparison: next to nothing.
_SCALE = 3.0
_START, _STEP, _LEAST, _MOST = -0.5, 0.8, -5.0, 6.0  # of ln tau, where its best value is looked for
_NODES = 0.8 * np.arange(-3, 4)  # in standard deviations of ln tau
_KNOWN = 400  # so many options tell tau well enough: its best value will do
_MOST_STEPS = 50  # of a fit
_NEAR, _CLOSE = 0.01, 1e-4  # log-odds, to which it goes while tau is looked for, and at last
# The noise of margins is mixed with one of the mean square of all scores; how much wins disagree
# with an order is compared with pairs that would not.
_POOLED, _POOLED_PAIRS = 1.0, 30.0
_LEAST_DISPERSION = 0.01


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
    pairs: Pairs

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
        """What an option scores against the average other, [K], and how that moves, [K, K].

        Of wins it is the expected share, in log-odds; its slopes are those by the qualities.
        """
        size = len(self.qualities)
        if self.kind == "margin":
            slopes = (np.full((size, size), -1.0) + size * np.eye(size)) / (size - 1)
            return slopes @ self.qualities, slopes
        chances = chance(self.qualities[:, None] - self.qualities)
        shares = (chances.sum(1) - 0.5) / (size - 1)
        slopes = -chances * (1 - chances)
        np.fill_diagonal(slopes, 0)
        np.fill_diagonal(slopes, -slopes.sum(1))
        scale = (size - 1) * shares * (1 - shares)
        return np.log(shares / (1 - shares)), slopes / scale[:, None]


def chance(differences: np.ndarray) -> np.ndarray:
    """The expected share of a win, of a difference of qualities."""
    return 1 / (1 + np.exp(-np.clip(differences, -700, 700)))


def rate(votes: Votes) -> Rating:
    """What comparisons say of the qualities."""
    pairs, dispersion = pairs_of(votes), 1.0
    rating = _rated(votes.kind, pairs, dispersion)
    for _ in range(2):  # it hardly changes after the first
        before, dispersion = dispersion, _dispersion(rating, rating.noise / dispersion)
        if abs(dispersion - before) <= 0.01 * before:
            break
        rating = _rated(votes.kind, pairs, dispersion)
    return rating


def _rated(kind: str, pairs: Pairs, dispersion: float) -> Rating:
    parts = (_of_wins if kind == "win" else _of_margins)(pairs, dispersion)
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


def _dispersion(rating: Rating, noise: float) -> float:
    """The variance of a score beside that of the model, of which a margin has ``noise``.

    Ties and shares are less noisy than coins: E (y - p)^2 = p (1 - p) - E y (1 - y). Pairs that
    disagree with an order of all, as in a circle, are more so, and what they say together is less.
    """
    pairs = rating.pairs
    expected, (counts, means) = pairs.differences(rating.qualities), (pairs.counts, pairs.means)
    variances, own = np.full(len(counts), noise), 1.0
    if rating.kind == "win":
        expected = chance(expected)
        variances = expected * (1 - expected)
        of_shares = float((counts * means).sum()) - pairs.squares
        own = max(1 - of_shares / float((counts * variances).sum()), _LEAST_DISPERSION)
    free = len(counts) - pairs.size + 1
    if free <= 0:
        return own
    square = float((counts * (means - expected) ** 2).sum() / (own * variances.mean()))
    square -= math.sqrt(2 * free)  # chance alone does as much: what is beyond it counts
    return own * max((square + _POOLED_PAIRS) / (free + _POOLED_PAIRS), 1.0)


def _of_wins(pairs: Pairs, dispersion: float) -> tuple[Part, ...]:
    """By variational steps: E chance(N(m, v)) is nearly chance(m / sqrt(1 + pi v / 8))."""
    size, counts, means = pairs.size, pairs.counts / dispersion, pairs.means
    start = np.zeros(size), np.zeros((size, size))

    def part(log_tau: float, close: float) -> Part:
        nonlocal start
        (mean, covariance), precision = start, math.exp(-2 * log_tau)
        for number in range(_MOST_STEPS):
            flatter = 1 / np.sqrt(1 + np.pi / 8 * pairs.variances(covariance))
            expected = chance(flatter * pairs.differences(mean))
            slopes = pairs.slopes(counts * (means - expected)) - precision * mean
            hessian = pairs.laplacian(counts * flatter * expected * (1 - expected))
            hessian[np.diag_indices(size)] += precision
            covariance = np.linalg.inv(hessian)
            step = covariance @ slopes
            most = float(np.abs(step).max())
            mean = mean + step * (2 / max(most, 2))
            if number and most < close:
                break
        covariance = (covariance + covariance.T) / 2
        start = mean, covariance
        flatter = 1 / np.sqrt(1 + np.pi / 8 * pairs.variances(covariance))
        apart = pairs.differences(mean)
        fits = counts * (means * apart - np.logaddexp(0, flatter * apart) / flatter)
        around = precision * (mean @ mean + np.trace(covariance))
        spread = np.linalg.slogdet(covariance)[1] - 2 * size * log_tau
        evidence = float(fits.sum() - around / 2 + spread / 2)
        return Part(evidence + _before(log_tau), mean, covariance, math.inf)

    return _parts(part, size)


def _of_margins(pairs: Pairs, dispersion: float) -> tuple[Part, ...]:
    """Least squares with a prior, and a variance of its own inverse chi-squared law."""
    counts, number = pairs.counts / dispersion, float(pairs.counts.sum())
    values, vectors = np.linalg.eigh(pairs.laplacian(counts))
    values = np.maximum(values, 0)
    sums = vectors.T @ pairs.slopes(counts * pairs.means)
    square = pairs.squares / number or 1.0
    degrees, squares = number / dispersion + _POOLED, pairs.squares / dispersion + _POOLED * square

    def part(log_tau: float, _: float) -> Part:
        inverse = 1 / (values + math.exp(-2 * log_tau))
        variance = (squares - float((inverse * sums**2).sum())) / degrees
        evidence = -np.log1p(math.exp(2 * log_tau) * values).sum() - degrees * math.log(variance)
        covariance = variance * (vectors * inverse) @ vectors.T
        mean = vectors @ (inverse * sums)
        return Part(float(evidence) / 2 + _before(log_tau), mean, covariance, degrees, variance)

    return _parts(part, pairs.size)


def _before(log_tau: float) -> float:
    """ln of half a Cauchy density, of ln tau."""
    return log_tau - math.log1p(math.exp(2 * log_tau) / _SCALE**2)


def _parts(part: Callable[[float, float], Part], size: int) -> tuple[Part, ...]:
    """What is known for each of some values of tau, around the best one."""
    seen: dict[float, float] = {}

    def evidence(place: int) -> float:
        if place not in seen:
            seen[place] = part(_START + _STEP * place, _NEAR).evidence
        return seen[place]

    best = 0
    while True:
        towards = max((best - 1, best, best + 1), key=evidence)
        if towards == best or not _LEAST < _START + _STEP * towards < _MOST:
            break
        best = towards
    low, here, high = (evidence(best + side) for side in (-1, 0, 1))
    bend = max((2 * here - low - high) / _STEP**2, 1e-9)
    middle = _START + _STEP * best + min(max((high - low) / (2 * _STEP * bend), -_STEP), _STEP)
    nodes = _NODES if size < _KNOWN else np.zeros(1)
    places = middle + nodes * min(bend**-0.5, _STEP)
    return tuple(part(place, _CLOSE) for place in places.tolist())
