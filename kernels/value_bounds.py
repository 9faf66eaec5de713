"""Confidence radii of the value-based races, whose outcomes are numbers in a known range.

For means of ``rounds`` n values, float32 of any shape, with support of width R; ``delta`` is shared
by ``events`` u_b two-sided statements. A radius is infinite for n = 0. Sources: Maron and Moore
1994, 1997; Heidrich-Meisner and Igel 2009 (Hoeffding race, its counter u_b and the Bernstein race
of Mnih et al. 2008); Audibert et al. 2007 (the empirical Bernstein bound).
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
