"""Families of preference matrices.

Axes: K arms. Entry p_ij is the probability that arm i beats arm j; p_ji = 1 - p_ij, p_ii = 1/2.
"""

import jax
import jax.numpy as jnp
from numpy.typing import ArrayLike

from jaxrace.core.validation import require_integer, require_number


def from_upper(upper: ArrayLike) -> jax.Array:
    """The matrix with the entries of ``upper`` [K, K] above the diagonal, float32 [K, K].

    >>> from_upper(jnp.full((2, 2), 0.75)).tolist()
    [[0.5, 0.75], [0.25, 0.5]]
    """
    above = jnp.triu(jnp.asarray(upper, jnp.float32) - 0.5, 1)
    return 0.5 + above - above.T


def random(key: jax.Array, num_arms: int) -> jax.Array:
    """p_ij uniform in [0, 1] for i < j, float32 [K, K].

    >>> random(jax.random.key(0), 5).shape
    (5, 5)
    """
    require_integer("num_arms", num_arms, 2)
    return from_upper(jax.random.uniform(key, (num_arms, num_arms), jnp.float32))


def hard_condorcet(num_arms: int) -> jax.Array:
    """p_ij = 1/2 + j / (2 K) for i < j, j from 1 (Urvoy et al. 2013): near arms are alike.

    >>> hard_condorcet(4)[0].tolist()
    [0.5, 0.75, 0.875, 1.0]
    """
    require_integer("num_arms", num_arms, 2)
    loser = jnp.arange(1, num_arms + 1, dtype=jnp.float32)
    return from_upper(jnp.broadcast_to(0.5 + loser / (2 * num_arms), (num_arms, num_arms)))


def flat(num_arms: int, probability: float = 0.6) -> jax.Array:
    """p_ij the same for all i < j, float32 [K, K].

    >>> flat(2, 0.75).tolist()
    [[0.5, 0.75], [0.25, 0.5]]
    """
    require_integer("num_arms", num_arms, 2)
    require_number("probability", probability, least=0.5, below=1)
    return from_upper(jnp.full((num_arms, num_arms), probability))
