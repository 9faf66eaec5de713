"""Confidence radii of means of numbers in a range of width R.

Of ``rounds`` n values, float32 of any shape; ``delta`` is shared by ``events`` u_b two-sided
statements; a radius is infinite for n = 0. Sources: Maron and Moore 1994, 1997; Heidrich-Meisner
and Igel 2009 (u_b, and the Bernstein race of Mnih et al. 2008); Audibert et al. 2007 (the empirical
Bernstein bound).
"""

import jax
import jax.numpy as jnp


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
