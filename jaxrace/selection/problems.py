"""Random problems of Groves and Branke, and who is best in them. Axes: K options."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from numpy.typing import ArrayLike

from jaxrace import kernels
from jaxrace.selection.comparisons import NormalScores
from jaxrace.validation import require_integer, require_keys, require_number


def thurstone(
    key: jax.Array, num_options: int, noise: float | jax.Array = 0.0, first: float | None = None
) -> NormalScores:
    """mu_ij = gamma_i - gamma_j + epsilon_ij with gamma, sigma_ij^2 ~ U[0, 1], section 5.1 and 6.

    Args:
        key: Used once; with the same one all else is the same, whatever ``noise`` and ``first``.
        num_options: K, at least 2.
        noise: d, the standard deviation of epsilon_ij = -epsilon_ji; 0: transitive.
        first: gamma_0, if it is not random (section 5.1.1 has 1.2).

    >>> problem = thurstone(jax.random.key(0), 3, first=1.2)
    >>> print(borda_top(problem.means, 1))
    [ True False False]
    """
    require_keys("key", key, ndim=0)
    require_integer("num_options", num_options, 2)
    if first is not None:
        require_number("first", first, -math.inf)
    if not isinstance(noise, Tracer):
        require_number("noise", noise, 0)
    keys = jax.random.split(key, 3)
    upper = jnp.triu(jnp.ones((num_options, num_options), bool), 1)
    qualities = jax.random.uniform(keys[0], (num_options,), jnp.float32)
    if first is not None:
        qualities = qualities.at[0].set(first)
    variances = jax.random.uniform(keys[1], upper.shape, jnp.float32)
    variances = jnp.where(upper, variances, 0)
    errors = jnp.where(upper, noise * jax.random.normal(keys[2], upper.shape, jnp.float32), 0)
    means = qualities[:, None] - qualities[None, :] + errors - errors.T
    return NormalScores(means, jnp.sqrt(variances + variances.T))


def borda_top(means: ArrayLike, top: int) -> jax.Array:
    """The k options of the largest S_i = sum_j mu_ij, bool [K].

    The means are float [K, K], of wins the chances. ValueError if they are not, or if ``top`` is
    out of its range.

    >>> print(borda_top(jnp.array([[0.0, 1.0], [-1.0, 0.0]]), 1))
    [ True False]
    """
    if not isinstance(means, jax.Array):
        means = np.asarray(means)
        if means.dtype.kind not in "biuf":
            raise ValueError(f"means: expected numbers, got {means.dtype}")
    if means.ndim != 2 or means.shape[0] != means.shape[1]:
        raise ValueError(f"means: expected a matrix [K, K], got {list(means.shape)}")
    require_integer("top", top, 1)
    if top >= means.shape[-1]:
        raise ValueError(f"top: expected less than the {means.shape[-1]} options, got {top}")
    apart = ~np.eye(means.shape[-1], dtype=bool)
    if not isinstance(means, Tracer) and jnp.isnan(jnp.where(apart, means, 0)).any():
        raise ValueError("means: expected numbers, got nan")
    if isinstance(means, jax.Array):
        return kernels.in_top(jnp.where(apart, means, 0).sum(-1), top)
    # By the places of sums in float64: JAX might not tell them apart.
    totals = np.where(apart, means, 0).astype(np.float64).sum(-1)
    places = np.unique(totals, return_inverse=True)[1]
    return kernels.in_top(jnp.asarray(places, jnp.int32), top)
