"""What comparisons come to, pair by pair. Axes: K options, n comparisons, P pairs that have met."""

from typing import NamedTuple

import numpy as np

from jaxrace.tables import Votes


class Pairs(NamedTuple):
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

    def variances(self, covariance: np.ndarray) -> np.ndarray:
        """Those of the differences, [P]."""
        own = np.diagonal(covariance)
        return own[self.first] + own[self.second] - 2 * covariance[self.first, self.second]

    def slopes(self, numbers: np.ndarray) -> np.ndarray:
        """Of numbers [P] what is for an option less what is against it, [K]."""
        size = self.size
        return np.bincount(self.first, numbers, size) - np.bincount(self.second, numbers, size)

    def laplacian(self, weights: np.ndarray, own: float = 0.0) -> np.ndarray:
        """The matrix [K, K] whose quadratic form is the weighted sum of squared differences.

        ``own`` is added to its diagonal.
        """
        found = np.zeros((self.size, self.size))
        found[self.first, self.second] = found[self.second, self.first] = -weights
        np.fill_diagonal(found, own - found.sum(1))
        return found

    def is_connected(self) -> bool:
        """Does a chain of comparisons connect every two options?"""
        met = self.laplacian(np.ones(len(self.first))) != 0
        reached, ahead = np.zeros((2, self.size), bool)
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


def pairs_of(votes: Votes) -> Pairs:
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
    return Pairs(size, met // size, met % size, counts[met].astype(float), means, squares)
