"""Lower confidence bounds of a mean that may have a heavy upper tail, for NumPy and JAX alike.

For importance-weighted returns X >= 0 with one common mean: ``values`` [..., n], of which those
with ``used``, bool [..., n], count. ``cap`` is c, chosen without these values, and ``number`` is m:
a number each, or [..., 1]. A prediction is the bound that m values like these would give. Sources:
Thomas, Theocharous and Ghavamzadeh 2015, "High confidence off-policy evaluation" (AAAI) and "High
confidence policy improvement" (ICML); Maurer and Pontil 2009; Waudby-Smith and Ramdas 2024; Efron
1987; Carpenter and Bithell 2000; Hall 1992.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from jaxrace.judging.policies.trajectories import Array

_GOLDEN = 0.618034
_GRID, _STEPS = 33, 16  # of the search for a cap: points, and steps between three of them
_BOLDEST = 0.75  # bets stay below this share of what would risk the whole capital
_ROOT_STEPS, _EXACT = 40, 1e-12


class Sloped(NamedTuple):
    """Bounds [...], and how they change with each of the values, [..., n]; in JAX perhaps None."""

    lower: Array
    slopes: Array


class SampleMoments(NamedTuple):
    """Of the values that count: [..., 1] each, but for one."""

    size: Array
    mean: Array
    apart: Array  # [..., n], X - mean; 0 for other values
    variance: Array  # with divisor n - 1

    def slopes(self, used: Array, deviations: Array) -> Array:
        """Of the mean less so many standard deviations, by each value."""
        xp = self.apart.__array_namespace__()
        scale = (self.size - 1) * xp.sqrt(self.variance)
        scale = xp.maximum(scale, np.finfo(self.apart.dtype).tiny)
        return used / self.size - deviations * self.apart / scale


def moments(values: Array, used: Array) -> SampleMoments:
    """How many there are, their mean and variance, and how far they are from the mean."""
    xp = values.__array_namespace__()
    count = used.sum(-1, keepdims=True, dtype=values.dtype)
    mean = xp.where(used, values, 0).sum(-1, keepdims=True) / count
    apart = xp.where(used, values - mean, 0)
    return SampleMoments(count, mean, apart, (apart**2).sum(-1, keepdims=True) / (count - 1))


def student_bound(values: Array, used: Array, quantile: Array, number: Array) -> Sloped:
    """Mean - s t / sqrt(m), t being a quantile with m - 1 degrees (ICML 2015, Algorithm 2)."""
    xp, found = values.__array_namespace__(), moments(values, used)
    lower = found.mean - xp.sqrt(found.variance / number) * quantile
    return Sloped(lower[..., 0], found.slopes(used, quantile / xp.sqrt(number)))


def capped_bound(values: Array, used: Array, cap: Array, delta: Array, number: Array) -> Sloped:
    """The empirical Bernstein bound of min(X, c) in [0, c] (AAAI 2015, equation 7).

    >>> values = np.arange(1, 21) / 10
    >>> f"{capped_bound(values, values > 0, 1.0, 0.05, 20).lower:.4f}"
    '0.1331'
    """
    xp = values.__array_namespace__()
    level, found = xp.log(2 / delta), moments(xp.minimum(values, cap), used)
    lower = found.mean - 7 * cap * level / (3 * (number - 1))
    lower = lower - xp.sqrt(2 * level * found.variance / number)
    slopes = found.slopes(used, xp.sqrt(2 * level / number))
    return Sloped(lower[..., 0], slopes * (values < cap))


def best_cap(values: Array, used: Array, delta: Array, number: Array) -> Array:
    """The c >= 1 with the largest ``capped_bound``, [...]: a grid of ratios, then golden sections.

    Beyond the largest value the bound falls with c. Take other values than for the bound itself.

    >>> values = np.array([[100.0] + 49 * [3.0]])
    >>> best_cap(values, values > 0, 0.05, 1000).round(2)
    array([3.])
    """
    xp = values.__array_namespace__()
    if xp is np:
        at = _bounds_by_sums(values, used, delta, number)
    else:  # float32 would not hold differences of large sums
        given = values[..., None, :], used[..., None, :]
        at = lambda caps: capped_bound(*given, caps[..., None], delta, number).lower  # noqa: E731

    def quality(log_caps: Array) -> Array:  # [..., c]
        found = at(xp.exp(log_caps))
        return xp.where(xp.isnan(found), -xp.inf, found)

    def best_of(log_caps: Array) -> Array:
        return quality(log_caps).argmax(-1, keepdims=True)

    largest = xp.maximum(xp.where(used, values, 1).max(-1, keepdims=True), 1)
    log_caps = xp.linspace(0, 1, _GRID, dtype=values.dtype) * xp.log(largest)
    best = best_of(log_caps)
    low, middle, high = (
        xp.take_along_axis(log_caps, xp.clip(best + by, 0, _GRID - 1), -1) for by in (-1, 0, 1)
    )

    def narrow(ends: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = ends
        width = _GOLDEN * (high - low)
        left, right = high - width, low + width
        of_both = quality(xp.concatenate([left, right], -1))
        is_left = of_both[..., :1] > of_both[..., 1:]
        return xp.where(is_left, low, left), xp.where(is_left, right, high)

    low, high = _repeated(xp, _STEPS, narrow, (low, high))
    choices = xp.concatenate([(low + high) / 2, middle], -1)
    return xp.exp(xp.take_along_axis(choices, best_of(choices), -1))[..., 0]


def _bounds_by_sums(
    values: np.ndarray, used: np.ndarray, delta: float, number: float
) -> Callable[[np.ndarray], np.ndarray]:
    """``capped_bound`` by caps, [L, c], of values [L, n]: sums of smaller ones are made once."""
    count, level = used.sum(-1, keepdims=True, dtype=np.float64), np.log(2 / delta)
    ordered = np.sort(np.where(used, values, 0), axis=-1)
    sums = np.zeros((2, len(values), values.shape[-1] + 1))
    np.cumsum(ordered, axis=-1, out=sums[0, :, 1:])
    np.cumsum(ordered**2, axis=-1, out=sums[1, :, 1:])

    def at(caps: np.ndarray) -> np.ndarray:
        below = np.stack([np.searchsorted(*pair) for pair in zip(ordered, caps, strict=True)])
        above = values.shape[-1] - below
        first, second = (np.take_along_axis(one, below, -1) for one in sums)
        mean = (first + caps * above) / count
        variance = np.maximum(second + caps**2 * above - count * mean**2, 0) / (count - 1)
        deviation = np.sqrt(2 * level * variance / number)
        return mean - 7 * caps * level / (3 * (number - 1)) - deviation

    return at


def betting_bound(
    values: Array, used: Array, cap: Array, delta: Array, anytime: bool = False
) -> Array:
    """A lower bound of the mean of one sample: the smallest that no bet on larger values refutes.

    The capital of a bet against the mean mu grows by 1 + lambda_t (Y_t - mu), Y = min(X, c) / c,
    with lambda_t from the values before t; by Ville's inequality it ever reaches 1 / delta with
    probability delta if mu is the mean. In an order that depends on the values the bound is wrong.
    With ``anytime`` it is a confidence sequence: the bounds for all n hold together, if values are
    added at the end and looked at again and again with the same cap. Otherwise the bets are those
    for just so many values, and the bound, which is nearer to the mean, holds once.

    >>> values = np.full(100, 0.5)
    >>> f"{betting_bound(values, values > 0, 1.0, 0.05):.2f}"
    '0.48'
    """
    xp = values.__array_namespace__()
    shares = xp.where(used, xp.minimum(values, cap) / cap, 0)
    seen = xp.cumsum(used.astype(values.dtype))
    # Waudby-Smith and Ramdas, equation 15: half a success and a quarter of a variance beforehand.
    means = (0.5 + xp.cumsum(shares)) / (seen + 1)
    variances = (0.25 + xp.cumsum(xp.where(used, (shares - means) ** 2, 0))) / (seen + 1)
    before = xp.concatenate([xp.full(1, 0.25, values.dtype), variances[:-1]])
    # Their equations 24 and 26.
    many = xp.maximum(seen, 1)
    horizon = many * xp.log1p(many) if anytime else used.sum(dtype=values.dtype)
    boldness = xp.sqrt(-2 * xp.log(delta) / (horizon * before))

    def log_capital(mean: Array) -> Array:
        bets = xp.minimum(boldness, _BOLDEST / mean)
        return xp.cumsum(xp.where(used, xp.log1p(bets * (shares - mean)), 0)).max()

    return cap * _largest_refuted(log_capital, delta, values)


def _largest_refuted(log_capital: Callable[[Array], Array], delta: Array, values: Array) -> Array:
    """The largest mean in [0, 1] whose capital reaches 1 / delta; the capital falls with it."""
    xp, dtype = values.__array_namespace__(), values.dtype
    goal = -xp.log(delta)

    def halve(ends: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = ends
        middle = (low + high) / 2
        is_refuted = log_capital(middle) >= goal
        return xp.where(is_refuted, middle, low), xp.where(is_refuted, high, middle)

    ends = xp.zeros((), dtype), xp.ones((), dtype)
    return _repeated(xp, np.finfo(dtype).nmant + 3, halve, ends)[0]


def _repeated(xp: Any, count: int, step: Callable[[Array], Array], start: Array) -> Array:
    """``step`` so many times; in JAX a loop of the compiled program."""
    if xp is not np:
        from jax import lax  # late: tables need no JAX

        return lax.fori_loop(0, count, lambda _, found: step(found), start)
    for _ in range(count):
        start = step(start)
    return start


def predicted_betting_bound(
    values: Array, used: Array, cap: Array, delta: Array, number: Array, anytime: bool = False
) -> Sloped:
    """What ``betting_bound`` may come to with m values like these.

    A bet that is always the same, made for m values, on the sample m / n times. NumPy finds slopes,
    and does not cut off at 0, where a bound says nothing: a search sees where it rises.
    """
    xp = values.__array_namespace__()
    shares, goal = xp.where(used, xp.minimum(values, cap) / cap, 0), -xp.log(delta)
    count, mean, apart, variance = moments(shares, used)
    # As if the prior quarter of a variance were among the m values.
    variance = variance + 0.25 / number
    horizon = number * xp.log1p(number) if anytime else number
    boldness = xp.sqrt(2 * goal / (horizon * variance))
    if xp is not np:

        def log_capital(mean: Array) -> Array:
            bet = xp.minimum(boldness, _BOLDEST / mean)
            gains = xp.where(used, xp.log1p(bet * (shares - mean)), 0)
            return number / count[0] * gains.sum()

        return Sloped(cap * _largest_refuted(log_capital, delta, values), None)
    repeats = used * (number / count)

    def against(mu: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The bets against a mean, how they change with it, and what they win: [L, 1 or n]."""
        is_bold = boldness * mu > _BOLDEST
        safe = np.where(is_bold, mu, 1)
        bet = np.where(is_bold, _BOLDEST / safe, boldness)
        factors = 1 + bet * (shares - mu)
        return bet, np.where(is_bold, -bet / safe, 0), factors, repeats / factors

    # Newton's steps, between two ends: the capital falls with the mean, and below the low end every
    # value alone wins enough.
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
    by_boldness = boldness / ((count - 1) * variance)
    by_boldness = by_boldness * (inverse * (shares - mu)).sum(-1, keepdims=True)
    by_variance = np.where(by_mu < 0, 0, by_boldness)
    slopes = (by_variance * apart - bet * inverse) / slope
    return Sloped((cap * mu)[..., 0], slopes * (values < cap))


class Normal(NamedTuple):
    """What a bootstrap needs besides sums; of numbers of Python, or of arrays of JAX."""

    quantile: Callable[[Array], Array]  # of the normal distribution
    share: Callable[[Array], Array]  # P(Z <= z)
    # Of numbers [B] the one at a place, counted from 1, and the next if they were sorted; from a
    # guess of the first.
    neighbours: Callable[[Array, Array, Array], tuple[Array, Array]]


def bootstrap_bound(
    values: Array,
    used: Array,
    resampled: Callable[[Array], tuple[Array, Array]],
    delta: Array,
    corrected: bool,
    normal: Normal,
) -> Array:
    """The lower end of a one-sided 1 - delta bootstrap interval of the mean, for one sample.

    ``resampled`` gives the sums, [B], of resamples of values, and how many values each has.
    ``corrected`` for bias and acceleration (BCa: ICML 2015, Algorithm 3, whose last line is
    misprinted), or the plain percentile.
    """
    xp, dtype = values.__array_namespace__(), values.dtype
    # Over the largest: sums of cubes would leave the range of floats.
    values = xp.where(used, values, 0)
    scale = xp.maximum(abs(values).max(), np.finfo(dtype).tiny)
    values = values / scale
    sums, number = resampled(values)
    count, resamples = used.sum(dtype=dtype), sums.shape[0]
    mean = values.sum() / count
    apart = xp.where(used, values - mean, 0)
    # Of equal values 0, by which nothing is to be divided.
    squares = xp.maximum((apart**2).sum(), np.finfo(dtype).tiny ** 0.6)
    z_low = normal.quantile(delta)
    if corrected:
        # Of values 0 and 1 (times the largest) many resamples have the very sum of the values, and
        # are not below. Sums of ones are exact, means are not.
        is_below = sums < values.sum() * (number / count)
        share = is_below.sum(dtype=dtype) / resamples
        z0 = normal.quantile(xp.clip(share, 1 / (resamples + 1), resamples / (resamples + 1)))
        # Leaving out X_i moves the mean by -(X_i - mean) / (n - 1); the divisor cancels.
        acceleration = (apart**3).sum() / (6 * squares**1.5)
        z_low = z0 + (z0 + z_low) / (1 - acceleration * (z0 + z_low))
    place = (resamples + 1) * normal.share(z_low)  # Q
    below = xp.clip(xp.floor(place), 1, resamples - 1)  # l
    left, right = (normal.quantile(place / (resamples + 1)) for place in (below, below + 1))
    share = xp.clip((z_low - left) / (right - left), 0, 1)
    # The sums are nearly normal, with the variance of the values times the number of them.
    guess = mean * number + left * xp.sqrt(number * squares / count)
    lower, upper = normal.neighbours(sums, below.astype(np.int32), guess)  # of xi, times m
    is_constant = xp.where(used, values, mean).max() == xp.where(used, values, mean).min()
    return scale * xp.where(is_constant, mean, (lower + share * (upper - lower)) / number)
