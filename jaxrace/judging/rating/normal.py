"""Tails of the normal law, and what is expected beyond them: their logarithms, however small."""

import math

import numpy as np

# With Q(b) = P(Z > b), 1 - b Q(b) / phi(b) is the mean of t^2 / (b^2 / 2 + t^2) by the weights
# exp(-t^2). The trapezoidal rule at these t, and what the pole at t = i b / sqrt(2) adds (Hunter
# and Regan 1972), are exact to 1e-15; no term cancels another.
_STEP = 0.5
_PLACES = ((np.arange(13) + 0.5) * _STEP) ** 2
_WEIGHTS = 2 * _STEP / math.sqrt(math.pi) * np.exp(-_PLACES) * _PLACES
_POLE = math.pi / _STEP  # from here on the pole adds nothing
_LOG_ROOT = math.log(2 * math.pi) / 2
_NEAR = 5.0  # so far math.erfc is exact, too


def log_loss(b: np.ndarray) -> np.ndarray:
    """ln E max(Z - b, 0) of Z ~ N(0, 1), for b from 0 to 1e150.

    >>> log_loss(np.array([0.0, 40.0])).round(3).tolist()
    [-0.919, -808.299]
    """
    return np.log(_rest(b)) - b**2 / 2 - _LOG_ROOT


def log_tail(b: float) -> float:
    """ln P(Z > b) of Z ~ N(0, 1), for b from 0.

    >>> round(log_tail(40.0), 3)
    -804.608
    """
    if b < _NEAR:
        return math.log(math.erfc(b / math.sqrt(2)) / 2)
    return math.log1p(-float(_rest(np.array(b)))) - math.log(b) - b * b / 2 - _LOG_ROOT


def _rest(b: np.ndarray) -> np.ndarray:
    """1 - b Q(b) / phi(b), which is 1 / b^2 where b is large."""
    x, found = b / math.sqrt(2), np.zeros(np.shape(b))
    for weight, place in zip(_WEIGHTS.tolist(), _PLACES.tolist(), strict=True):
        found += weight / (x * x + place)
    near = np.minimum(x, _POLE)
    pole = np.exp(near**2) / (1 + np.exp(2 * _POLE * near))
    return found - 2 * math.sqrt(math.pi) * (near < _POLE) * near * pole
