"""Choosing among options. Axes: K options."""

import jax
import jax.numpy as jnp
from jax import lax


def pick(marked: jax.Array, uniform: jax.Array) -> jax.Array:
    """One of the marked options, each with the same probability, int32 []; 0 if none is.

    ``marked`` is bool [K], and ``uniform`` a float32 [] uniform in [0, 1).

    >>> [int(pick(jnp.array([True, False, True]), jnp.float32(u))) for u in (0.1, 0.6)]
    [0, 2]
    """
    place = jnp.cumsum(marked.astype(jnp.int32))  # from 1, of the marked ones
    count = place[-1]
    chosen = jnp.minimum((uniform * count.astype(jnp.float32)).astype(jnp.int32), count - 1) + 1
    return jnp.argmax(marked & (place == chosen)).astype(jnp.int32)


def first_best(values: jax.Array) -> jax.Array:
    """The place of the largest of values float32 [K], the first one of several: int32 [].

    ``argmax`` on a CPU takes pairs of value and place one by one, with all that was fused into it.

    >>> int(first_best(jnp.array([0.1, 0.7, 0.7])))
    1
    """
    values = lax.optimization_barrier(values)
    count = values.shape[0]
    places = jnp.arange(count, dtype=jnp.int32)
    return jnp.where(values == values.max(), places, count - 1).min()
