"""Lower confidence bounds of a mean that may have a heavy upper tail; all are float32 [].

For importance-weighted returns X >= 0 with one common mean. Every function takes one sample and is
batched with ``vmap``: ``values`` X, float32 [n], of which those with ``used``, bool [n], count.
``cap`` is c, chosen without these values; ``number`` is m, of values like these that a bound is
predicted for, or n itself. Sources: Thomas, Theocharous and Ghavamzadeh 2015, "High confidence
off-policy evaluation" (AAAI) and "High confidence policy improvement" (ICML); Maurer and Pontil
2009; Waudby-Smith and Ramdas 2024.
"""

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy.special import betainc, ndtri

_GOLDEN = 0.618034
_GRID, _STEPS = 33, 16  # of the search for a cap: points, and steps between three of them
_BOLDEST = 0.75  # bets stay below this share of what would risk the whole capital
_HALVINGS = 26
_MANY = 60  # degrees of freedom from which on the expansion is as good as float32
_QUANTILE_HALVINGS = 40


def mean_and_variance(values: jax.Array, used: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Mean and variance (divisor n - 1) of the values that count, float32 [] each.

    >>> numbers = mean_and_variance(jnp.array([1.0, 3.0, 9.0]), jnp.array([True, True, False]))
    >>> print(*numbers)
    2.0 2.0
    """
    count = used.sum(dtype=jnp.float32)
    mean = jnp.where(used, values, 0).sum() / count
    squares = jnp.where(used, values - mean, 0) ** 2
    return mean, squares.sum() / (count - 1)


def student_bound(
    values: jax.Array, used: jax.Array, delta: jax.Array, number: jax.Array
) -> jax.Array:
    """Mean - s t_{1 - delta, m - 1} / sqrt(m) (ICML 2015, Algorithm 2).

    >>> values = jnp.arange(1, 21) / 10
    >>> f"{student_bound(values, values > 0, 0.05, 20.0):.4f}"
    '0.8213'
    """
    mean, variance = mean_and_variance(values, used)
    return mean - jnp.sqrt(variance / number) * student_quantile(delta, number - 1)


def student_quantile(tail: jax.Array, degrees: jax.Array) -> jax.Array:
    """t with P(T > t) = ``tail``, float32, relative error below 5e-5 for tails of .4 to 1e-5.

    ``tail`` is in (0, 1/2], and there is at least 1 degree of freedom; float32 [] each.

    >>> f"{student_quantile(jnp.float32(0.05), jnp.float32(4)):.4f}"  # tables: 2.1318
    '2.1318'
    """
    z = -ndtri(tail)
    square = z * z
    # Abramowitz and Stegun 26.7.5: what is to be added to z, in powers of 1 / degrees.
    terms = (
        z * (square + 1) / 4,
        z * ((5 * square + 16) * square + 3) / 96,
        z * (((3 * square + 19) * square + 17) * square - 15) / 384,
        z * ((((79 * square + 776) * square + 1482) * square - 1920) * square - 945) / 92160,
    )
    expanded = z
    for power, term in enumerate(terms, 1):
        expanded = expanded + term / degrees**power
    return jnp.where(degrees < _MANY, _by_halving(tail, jnp.minimum(degrees, _MANY)), expanded)


def _by_halving(tail: jax.Array, degrees: jax.Array) -> jax.Array:
    """2 P(T > t) = I_x(degrees / 2, 1 / 2) at x = degrees / (degrees + t^2), solved for ln x."""

    def halve(_: int, ends: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        low, high = ends
        middle = (low + high) / 2
        is_below = betainc(degrees / 2, jnp.float32(0.5), jnp.exp(middle)) < 2 * tail
        return jnp.where(is_below, middle, low), jnp.where(is_below, high, middle)

    # I_x <= x^(d / 2) up to a factor below 2 / B(d / 2, 1 / 2), so that ln x is above this end.
    low = 2 * (jnp.log(2 * tail) - 4) / degrees
    low, high = lax.fori_loop(0, _QUANTILE_HALVINGS, halve, (low, jnp.zeros_like(low)))
    return jnp.sqrt(degrees * jnp.expm1(-(low + high) / 2))


def capped_bound(
    values: jax.Array, used: jax.Array, cap: jax.Array, delta: jax.Array, number: jax.Array
) -> jax.Array:
    """The empirical Bernstein bound of min(X, c) in [0, c] (AAAI 2015, equation 7).

    >>> values = jnp.arange(1, 21) / 10
    >>> f"{capped_bound(values, values > 0, 1.0, 0.05, 20.0):.4f}"
    '0.1331'
    """
    level = jnp.log(2 / delta)
    mean, variance = mean_and_variance(jnp.minimum(values, cap), used)
    return mean - 7 * cap * level / (3 * (number - 1)) - jnp.sqrt(2 * level * variance / number)


def best_cap(values: jax.Array, used: jax.Array, delta: jax.Array, number: jax.Array) -> jax.Array:
    """The c >= 1 with the largest ``capped_bound``: a grid of ratios, then golden sections.

    Beyond the largest value the bound falls with c. Take other values than for the bound itself.

    >>> values = jnp.array([100.0] + 49 * [3.0])
    >>> f"{best_cap(values, values > 0, 0.05, 1000.0):.2f}"
    '3.00'
    """

    def quality(cap: jax.Array) -> jax.Array:
        found = capped_bound(values, used, cap, delta, number)
        return jnp.where(jnp.isnan(found), -jnp.inf, found)

    largest = jnp.maximum(jnp.where(used, values, 1).max(), 1)
    log_caps = jnp.linspace(0, 1, _GRID, dtype=jnp.float32) * jnp.log(largest)
    best = jnp.argmax(jax.vmap(quality)(jnp.exp(log_caps)))
    low, high = log_caps[jnp.maximum(best - 1, 0)], log_caps[jnp.minimum(best + 1, _GRID - 1)]

    def narrow(_: int, ends: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        low, high = ends
        width = _GOLDEN * (high - low)
        left, right = high - width, low + width
        of_left, of_right = jax.vmap(quality)(jnp.exp(jnp.stack([left, right])))
        is_left = of_left > of_right
        return jnp.where(is_left, low, left), jnp.where(is_left, right, high)

    low, high = lax.fori_loop(0, _STEPS, narrow, (low, high))
    choices = jnp.exp(jnp.stack([(low + high) / 2, log_caps[best]]))
    return choices[jnp.argmax(jax.vmap(quality)(choices))]


def betting_bound(
    values: jax.Array, used: jax.Array, cap: jax.Array, delta: jax.Array, anytime: bool = False
) -> jax.Array:
    """The means that no gambler betting on larger values could refute, from below.

    The capital of a bet against the mean mu grows by 1 + lambda_t (Y_t - mu), Y = min(X, c) / c,
    with lambda_t from the values before t; by Ville's inequality it ever reaches 1 / delta with
    probability delta if mu is the mean. In an order that depends on the values the bound is wrong.
    With ``anytime`` it is a confidence sequence: the bounds for all n hold together, if values are
    added at the end and looked at again and again with the same cap. Otherwise the bets are those
    for just so many values, and the bound, which is nearer to the mean, holds once.

    >>> values, used = jnp.full(100, 0.5), jnp.ones(100, bool)
    >>> f"{jax.jit(betting_bound)(values, used, 1.0, 0.05):.2f}"
    '0.48'
    """
    shares = jnp.where(used, jnp.minimum(values, cap) / cap, 0)
    count = used.sum(dtype=jnp.float32)
    seen = jnp.cumsum(used.astype(jnp.float32))
    # Waudby-Smith and Ramdas, equation 15: half a success and a quarter of a variance beforehand.
    means = (0.5 + jnp.cumsum(shares)) / (seen + 1)
    deviations = jnp.where(used, (shares - means) ** 2, 0)
    variances = (0.25 + jnp.cumsum(deviations)) / (seen + 1)
    before = jnp.concatenate([jnp.full(1, 0.25, jnp.float32), variances[:-1]])
    # Their equations 24 and 26.
    horizon = jnp.maximum(seen, 1) * jnp.log1p(jnp.maximum(seen, 1)) if anytime else count
    boldness = jnp.sqrt(-2 * jnp.log(delta) / (horizon * before))

    def log_capital(mean: jax.Array) -> jax.Array:
        bets = jnp.minimum(boldness, _BOLDEST / mean)
        gains = jnp.where(used, jnp.log1p(bets * (shares - mean)), 0)
        return _largest_prefix_sum(gains)

    return cap * _largest_refuted(log_capital, delta)


def _largest_prefix_sum(values: jax.Array) -> jax.Array:
    """``jnp.cumsum(values).max()`` of [n], which XLA makes a window over all values for each.

    Pieces are joined two by two: of each its sum, and the largest sum of its first values.
    """
    total = largest = values
    while total.size > 1:
        if total.size % 2:
            total, largest = jnp.append(total, 0), jnp.append(largest, -jnp.inf)
        largest = jnp.maximum(largest[0::2], total[0::2] + largest[1::2])
        total = total[0::2] + total[1::2]
    return largest[0]


def predicted_betting_bound(
    values: jax.Array,
    used: jax.Array,
    cap: jax.Array,
    delta: jax.Array,
    number: jax.Array,
    anytime: bool = False,
) -> jax.Array:
    """What ``betting_bound`` may come to with m values like these.

    A bet that is always the same, made for m values, on the sample m / n times.

    >>> values = jnp.full(100, 0.5)
    >>> 0.49 < float(predicted_betting_bound(values, values > 0, 1.0, 0.05, 400.0)) < 0.5
    True
    """
    shares = jnp.where(used, jnp.minimum(values, cap) / cap, 0)
    count = used.sum(dtype=jnp.float32)
    _, variance = mean_and_variance(shares, used)
    # As if the prior quarter of a variance were among the m values.
    variance = variance + 0.25 / number
    horizon = number * jnp.log1p(number) if anytime else number
    boldness = jnp.sqrt(-2 * jnp.log(delta) / (horizon * variance))

    def log_capital(mean: jax.Array) -> jax.Array:
        bet = jnp.minimum(boldness, _BOLDEST / mean)
        gains = jnp.where(used, jnp.log1p(bet * (shares - mean)), 0)
        return number / count * gains.sum()

    return cap * _largest_refuted(log_capital, delta)


def _largest_refuted(log_capital, delta: jax.Array) -> jax.Array:
    """The largest mean in [0, 1] whose capital reaches 1 / delta; the capital falls with it."""
    goal = -jnp.log(delta)

    def halve(_: int, ends: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        low, high = ends
        middle = (low + high) / 2
        is_refuted = log_capital(middle) >= goal
        return jnp.where(is_refuted, middle, low), jnp.where(is_refuted, high, middle)

    ends = jnp.zeros((), jnp.float32), jnp.ones((), jnp.float32)
    return lax.fori_loop(0, _HALVINGS, halve, ends)[0]
