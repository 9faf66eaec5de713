"""Prefix win counts in JAX by broadcasting: all [K, K, n, n] comparisons in one expression."""

import jax
import jax.numpy as jnp


def prefix_wins(outcomes: jax.Array) -> jax.Array:
    """Half units int32 [n, K, K] of numbers [K, n], as ``jaxrace.kernels.prefix_wins``."""
    num_rounds = outcomes.shape[1]
    a, b = outcomes[:, None, :, None], outcomes[None, :, None, :]
    signs = (a > b).astype(jnp.int32) - (a < b).astype(jnp.int32)  # [K, K, n of i, n of j]
    later_of_j = jnp.triu(jnp.ones((num_rounds, num_rounds), bool), 1)
    gains = jnp.where(later_of_j, signs, 0).sum(2) + jnp.where(later_of_j.T, signs, 0).sum(3)
    gains = gains + jnp.diagonal(signs, axis1=2, axis2=3)
    squares = jnp.arange(1, num_rounds + 1, dtype=jnp.int32) ** 2
    return squares[:, None, None] + jnp.cumsum(jnp.moveaxis(gains, -1, 0), axis=0)
