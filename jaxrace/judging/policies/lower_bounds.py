"""Lower confidence bounds of a mean that may have a heavy upper tail, in NumPy and float64.

For importance-weighted returns X >= 0, ``values`` [L, n], of which those of ``rows``, bool [L, n],
count. What is predicted, of m = ``number`` values like these, has slopes. ``cap`` is c. Sources:
Thomas et al. 2015 (AAAI and ICML); Maurer and Pontil 2009; Waudby-Smith and Ramdas 2024.
"""

import math
from typing import Any, NamedTuple

import numpy as np

_GOLDEN = 0.618034
_GRID, _STEPS = 33, 16  # of the search for a cap: points, and steps between three of them
_BOLDEST = 0.75  # bets stay below this share of what would risk the whole capital
_HALVINGS = 60
_ROOT_STEPS, _EXACT = 40, 1e-12
_TINY = float(np.finfo(np.float64).tiny)


class Predicted(NamedTuple):
    """Bounds of candidates, [L], and how they change with each of their values, [L, n]."""

    lower: np.ndarray
    slopes: np.ndarray


class Moments(NamedTuple):
    """Of the values that count."""

    size: np.ndarray  # [L, 1], as are the others but one
    mean: np.ndarray
    apart: np.ndarray  # [L, n], X - mean; 0 in other rows
    variance: np.ndarray  # with divisor n - 1


def moments(values: np.ndarray, rows: np.ndarray) -> Moments:
    """How many there are, their mean and variance, and how far they are from it."""
    count = rows.sum(-1, keepdims=True, dtype=np.float64)
    mean = np.where(rows, values, 0).sum(-1, keepdims=True) / count
    apart = np.where(rows, values - mean, 0)
    return Moments(count, mean, apart, (apart**2).sum(-1, keepdims=True) / (count - 1))


def below_mean(values: np.ndarray, rows: np.ndarray, deviations: Any) -> Predicted:
    """Mean less so many standard deviations of single values."""
    count, mean, apart, variance = moments(values, rows)
    spread = np.sqrt(variance)
    slopes = rows / count - deviations * apart / np.maximum((count - 1) * spread, _TINY)
    return Predicted((mean - deviations * spread)[..., 0], slopes)


def capped_bound(
    values: np.ndarray, rows: np.ndarray, cap: Any, delta: float, number: Any
) -> Predicted:
    """The empirical Bernstein bound of min(X, c) in [0, c] (AAAI 2015, equation 7).

    >>> values = np.arange(1, 21) / 10
    >>> f"{capped_bound(values, values > 0, 1.0, 0.05, 20).lower:.4f}"
    '0.1331'
    """
    level = math.log(2 / delta)
    lower, slopes = below_mean(np.minimum(values, cap), rows, np.sqrt(2 * level / number))
    off = np.asarray(7 * cap * level / (3 * (number - 1)))
    return Predicted(
        lower - off.reshape(lower.shape if off.size > 1 else ()), slopes * (values < cap)
    )


def best_cap(values: np.ndarray, rows: np.ndarray, delta: float, number: Any) -> np.ndarray:
    """The c >= 1 with the largest ``capped_bound``, [L]: a grid of ratios, then golden sections.

    Beyond the largest value the bound falls with c. Sums of the smaller values are made once.

    >>> values = np.array([[100.0] + 49 * [3.0]])
    >>> best_cap(values, values > 0, 0.05, 1000).round(2)
    array([3.])
    """
    count, level = rows.sum(-1, keepdims=True, dtype=np.float64), math.log(2 / delta)
    number = np.asarray(number, np.float64).reshape(-1, 1)
    ordered = np.sort(np.where(rows, values, 0), axis=-1)
    sums = np.zeros((2, len(values), values.shape[-1] + 1))
    np.cumsum(ordered, axis=-1, out=sums[0, :, 1:])
    np.cumsum(ordered**2, axis=-1, out=sums[1, :, 1:])

    def quality(log_caps: np.ndarray) -> np.ndarray:  # [L, c]
        caps = np.exp(log_caps)
        below = np.stack([np.searchsorted(*pair) for pair in zip(ordered, caps, strict=True)])
        above = values.shape[-1] - below
        first, second = (np.take_along_axis(one, below, -1) for one in sums)
        mean = (first + caps * above) / count
        variance = np.maximum(second + caps**2 * above - count * mean**2, 0) / (count - 1)
        found = (
            mean - 7 * caps * level / (3 * (number - 1)) - np.sqrt(2 * level * variance / number)
        )
        return np.where(np.isnan(found), -np.inf, found)

    largest = np.maximum(ordered[:, -1:], 1)
    log_caps = np.linspace(0, 1, _GRID) * np.log(largest)
    best = quality(log_caps).argmax(-1)[:, None]
    low, middle, high = (
        np.take_along_axis(log_caps, np.clip(best + by, 0, _GRID - 1), -1) for by in (-1, 0, 1)
    )
    for _ in range(_STEPS):
        width = _GOLDEN * (high - low)
        left, right = high - width, low + width
        of_both = quality(np.concatenate([left, right], -1))
        is_left = of_both[:, :1] > of_both[:, 1:]
        low, high = np.where(is_left, low, left), np.where(is_left, right, high)
    choices = np.concatenate([(low + high) / 2, middle], -1)
    return np.exp(np.take_along_axis(choices, quality(choices).argmax(-1)[:, None], -1))[:, 0]


def betting_bound(values: np.ndarray, cap: float, delta: float, anytime: bool = False) -> float:
    """The means that no gambler betting on larger values could refute, from below.

    The capital of a bet against the mean mu grows by 1 + lambda_t (Y_t - mu), Y = min(X, c) / c,
    with lambda_t from the values before t; by Ville's inequality it ever reaches 1 / delta with
    probability delta if mu is the mean. In an order that depends on the values the bound is wrong.

    >>> f"{betting_bound(np.full(100, 0.5), 1.0, 0.05):.2f}"
    '0.48'
    """
    shares, seen = np.minimum(values, cap) / cap, np.arange(1.0, len(values) + 1)
    # Waudby-Smith and Ramdas, equation 15: half a success and a quarter of a variance beforehand.
    means = (0.5 + np.cumsum(shares)) / (seen + 1)
    variances = (0.25 + np.cumsum((shares - means) ** 2)) / (seen + 1)
    before = np.append(0.25, variances[:-1])
    # Their equations 24 and 26.
    horizon = seen * np.log1p(seen) if anytime else len(values)
    boldness = np.sqrt(-2 * math.log(delta) / (horizon * before))
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        gains = np.log1p(np.minimum(boldness, _BOLDEST / middle) * (shares - middle))
        is_refuted = np.cumsum(gains).max() >= -math.log(delta)
        low, high = (middle, high) if is_refuted else (low, middle)
    return cap * low


def predicted_betting_bound(
    values: np.ndarray, rows: np.ndarray, cap: Any, delta: float, number: Any, anytime: bool = False
) -> Predicted:
    """What ``betting_bound`` may come to with m values like these.

    A bet that is always the same, made for m values, on the sample m / n times. What would be below
    0, and says nothing, is not cut off there: a search sees where it rises.

    >>> values = np.full((1, 100), 0.5)
    >>> bool(0.49 < predicted_betting_bound(values, values > 0, 1.0, 0.05, 400).lower < 0.5)
    True
    """
    shares, goal = np.minimum(values, cap) / cap, -math.log(delta)
    count, mean, apart, variance = moments(shares, rows)
    # As if the prior quarter of a variance were among the m values.
    variance = variance + 0.25 / number
    horizon = number * np.log1p(number) if anytime else number
    boldness = np.sqrt(2 * goal / (horizon * variance))
    repeats = rows * (number / count)

    def against(mu: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The bets against a mean, how they change with it, and what they win: [L, 1 or n]."""
        is_bold = boldness * mu > _BOLDEST
        safe = np.where(is_bold, mu, 1)
        bet = np.where(is_bold, _BOLDEST / safe, boldness)
        factors = 1 + bet * (shares - mu)
        return bet, np.where(is_bold, -bet / safe, 0), factors, repeats / factors

    # The capital falls with the mean. Below the low end every value alone wins enough.
    low, high, mu = -np.expm1(goal / number) / boldness, np.ones_like(mean), mean
    bet, by_mu, factors, inverse = against(mu)
    slope = np.ones_like(mean)
    for _ in range(_ROOT_STEPS):
        slope = (inverse * (by_mu * (shares - mu) - bet)).sum(-1, keepdims=True)
        missing = (repeats * np.log(factors)).sum(-1, keepdims=True) - goal
        low, high = np.where(missing >= 0, mu, low), np.where(missing >= 0, high, mu)
        ahead = mu - missing / slope
        ahead = np.where((ahead > low) & (ahead < high), ahead, (low + high) / 2)
        step, mu = np.abs(ahead - mu), ahead
        bet, by_mu, factors, inverse = against(mu)
        if not (step > _EXACT).any():
            break
    by_boldness = (
        boldness / ((count - 1) * variance) * (inverse * (shares - mu)).sum(-1, keepdims=True)
    )
    by_variance = np.where(by_mu < 0, 0, by_boldness)
    slopes = (by_variance * apart - bet * inverse) / slope
    return Predicted((cap * mu)[..., 0], slopes * (values < cap))
