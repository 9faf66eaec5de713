"""Quantiles of the normal distribution and of Student's t, in float64."""

import math
from statistics import NormalDist

_NORMAL = NormalDist()
_TERMS = 10_000  # of a continued fraction, of which it needs some square roots of the parameters
_EXACT = 1e-15
_HALVINGS = 200


def normal_quantile(share: float) -> float:
    """z with P(Z <= z) = ``share``, in (0, 1).

    >>> round(normal_quantile(0.95), 6)
    1.644854
    """
    return _NORMAL.inv_cdf(share)


def normal_share(z: float) -> float:
    """P(Z <= z).

    >>> round(normal_share(1.644854), 6)
    0.95
    """
    return math.erfc(-z / math.sqrt(2)) / 2


def student_quantile(tail: float, degrees: float) -> float:
    """t with P(T > t) = ``tail``, in (0, 1), for 1 degree of freedom or more.

    >>> round(student_quantile(0.05, 4), 4)  # tables: 2.1318
    2.1318
    """
    if tail > 0.5:
        return -student_quantile(1 - tail, degrees)
    # 2 P(T > t) = I_x(degrees / 2, 1 / 2) at x = degrees / (degrees + t^2), solved for ln t.
    low, high = -700 / degrees - 40.0, 700 / degrees + 40.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        # ln x and ln (1 - x), each with all its digits.
        odds = 2 * middle - math.log(degrees)
        is_far = odds > 0
        log_x = -odds - math.log1p(math.exp(-odds)) if is_far else -math.log1p(math.exp(odds))
        log_rest = log_x + odds
        is_above = _log_incomplete_beta(degrees / 2, 0.5, log_x, log_rest) > math.log(2 * tail)
        low, high = (middle, high) if is_above else (low, middle)
    return math.exp((low + high) / 2)


def _log_incomplete_beta(a: float, b: float, log_x: float, log_rest: float) -> float:
    """ln I_x(a, b), given ln x and ln (1 - x)."""
    if math.exp(log_x) > (a + 1) / (a + b + 2):
        rest = math.exp(_log_incomplete_beta(b, a, log_rest, log_x))
        return math.log1p(-rest) if rest < 1 else -math.inf
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * log_x + b * log_rest
    return front + math.log(_continued_fraction(a, b, math.exp(log_x)) / a)


def _continued_fraction(a: float, b: float, x: float) -> float:
    """That of the incomplete beta function (DLMF 8.17.22), by the algorithm of Lentz."""
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    found = d
    for m in range(1, _TERMS):
        for factor in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1 / (1 + factor * d), 1 + factor / c
            found *= c * d
        if abs(c * d - 1) < _EXACT:
            break
    return found
