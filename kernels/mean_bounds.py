"""Confidence radii of means of numbers in a range of width R, and quantiles of Student's t.

Of ``rounds`` n values, float32 of any shape; ``delta`` is shared by ``events`` u_b two-sided
statements; a radius is infinite for n = 0. Sources: Maron and Moore 1994, 1997; Heidrich-Meisner
and Igel 2009 (u_b, and the Bernstein race of Mnih et al. 2008); Audibert et al. 2007 (the empirical
Bernstein bound).
"""

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy.special import betainc, ndtri


def hoeffding_radius(
    rounds: jax.Array, value_range: jax.Array, events: jax.Array, delta: jax.Array
) -> jax.Array:
    """R sqrt(ln(2 u_b / delta) / (2 n)), float32.

    >>> print(hoeffding_radius(jnp.float32(50), 1.0, 1.0, 0.05).round(3))
    0.192
    """
    return value_range * jnp.sqrt(jnp.log(2 * events / delta) / (2 * rounds))


def bernstein_radius(
    rounds: jax.Array,
    deviation: jax.Array,
    value_range: jax.Array,
    events: jax.Array,
    delta: jax.Array,
) -> jax.Array:
    """sd sqrt(2 ln(3 u_b / delta) / n) + 3 R ln(3 u_b / delta) / n, float32.

    ``deviation`` is sd, the empirical standard deviation with divisor n.

    >>> print(bernstein_radius(jnp.float32(50), jnp.float32(0.1), 1.0, 1.0, 0.05).round(3))
    0.286
    """
    level = jnp.log(3 * events / delta)
    return deviation * jnp.sqrt(2 * level / rounds) + 3 * value_range * level / rounds


_STEPS = 6  # of Newton's method, from above; rounding is left


def kl_upper(mean: jax.Array, level: jax.Array) -> jax.Array:
    """max {q in [0, 1] : kl(p, q) <= level} for p = ``mean`` in [0, 1], float32; shapes broadcast.

    The level is at least 0, usually ln(t) / n.

    >>> [f"{upper:.4f}" for upper in kl_upper(jnp.array([0.0, 0.5, 1.0]), jnp.float32(0.1))]
    ['0.0952', '0.7129', '1.0000']
    """
    mean, level = jnp.broadcast_arrays(mean, level)
    # The formula has no value at 0 and 1, which are mended at the end.
    p = jnp.clip(mean, 1.2e-7, 1 - 1.2e-7)
    rest = 1 - p
    entropy = -p * jnp.log(p) - rest * jnp.log1p(-p)
    # Two bounds of the root from above: Pinsker's, and kl(p, q) >= -(1 - p) ln(1 - q) - H(p).
    gap = jnp.minimum(jnp.sqrt(level / 2), rest - jnp.exp(-(level + entropy) / rest))
    # At q = 1 the formula is infinite.
    most = rest * (1 - 6e-8)
    gap = jnp.clip(gap, 0, most)  # q - p
    for _ in range(_STEPS):
        # The gap keeps its digits where q is close to p.
        excess = -p * jnp.log1p(gap / p) - rest * jnp.log1p(-gap / rest) - level
        slope = gap / ((p + gap) * (rest - gap))
        gap = jnp.clip(gap - excess / jnp.maximum(slope, 1e-12), 0, most)
    upper = jnp.where(mean <= 0, 1 - jnp.exp(-level), p + gap)
    return jnp.where(mean >= 1, 1.0, jnp.clip(upper, mean, 1))


_MANY = 60  # degrees of freedom from which on the expansion is as good as float32
_HALVINGS = 40


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
    low, high = lax.fori_loop(0, _HALVINGS, halve, (low, jnp.zeros_like(low)))
    return jnp.sqrt(degrees * jnp.expm1(-(low + high) / 2))
