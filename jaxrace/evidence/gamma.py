"""Logarithms of factorials and their kin, by NumPy alone: a table needs no SciPy."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Stirling's series, from 1 / x on; arguments below 10 are moved there.
_SERIES = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)
_SHIFT = 10


def log_gamma(x: ArrayLike) -> NDArray[np.float64]:
    """ln of the gamma function, of x > 0; infinite at 0.

    >>> x = (0.5, 5, 1e6)
    >>> bool(np.allclose(log_gamma(x), [*map(math.lgamma, x)], rtol=1e-13))
    True
    """
    x = np.asarray(x, np.float64)
    moved = x + _SHIFT
    total = (moved - 0.5) * np.log(moved) - moved + 0.5 * math.log(2 * math.pi)
    total += sum(c / moved ** (2 * place + 1) for place, c in enumerate(_SERIES))
    with np.errstate(divide="ignore"):
        return total - np.log(math.prod(x + place for place in range(_SHIFT)))


def log_factorial(n: ArrayLike) -> NDArray[np.float64]:
    """ln n!; infinite for n = -1."""
    return log_gamma(np.asarray(n) + 1)


def log_choose(n: ArrayLike, k: ArrayLike) -> NDArray[np.float64]:
    """ln of n choose k, k at most n + 1; -inf for k = n + 1, as the number of ways is 0."""
    return log_factorial(n) - log_factorial(k) - log_factorial(np.asarray(n) - np.asarray(k))


def log_beta(a: ArrayLike, b: ArrayLike) -> NDArray[np.float64]:
    """ln of the beta function, of a, b > 0."""
    return log_gamma(a) + log_gamma(b) - log_gamma(np.asarray(a) + np.asarray(b))
