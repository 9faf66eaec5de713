"""A sweep of the Thurstone model of scores, X_ij ~ N(gamma_i - gamma_j, sigma_ij^2).

Groves and Branke, "Exploiting transitivity for top-k selection with score-based dueling bandits",
eqs. 3 to 7. ``qualities`` gamma are float [..., K]; ``counts`` n_ij, int32 [K, K], symmetric with a
diagonal of 0; ``means`` m_ij, float [K, K], antisymmetric; ``variances`` v_ij = sum (x - m)^2 / n,
float [K, K], symmetric and positive. Axes: K options.
"""

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace.kernels.devices import sizes

_SMALLEST_PIVOT = 8  # machine epsilons of the largest number on the diagonal


def swept_qualities(counts: jax.Array, means: jax.Array, variances: jax.Array) -> jax.Array:
    """Qualities after a step from the mean scores (eq. 6), float [K] of mean 0, and likelier.

    >>> counts, means = jnp.array([[0, 5], [5, 0]]), jnp.array([[0.0, 1.0], [-1.0, 0.0]])
    >>> print(jax.jit(swept_qualities)(counts, means, jnp.ones((2, 2))).round(3))
    [ 0.5 -0.5]
    """
    qualities = means.sum(-1) / means.shape[-1]
    weights = counts.astype(means.dtype) / residual_variances(means, variances, qualities)
    gradient = (weights * residuals(means, qualities)).sum(-1)
    inverse, _ = definite_inverse(laplacian(weights))
    return qualities + centered_step(inverse, gradient)


def residual_variances(means: jax.Array, variances: jax.Array, qualities: jax.Array) -> jax.Array:
    """The likeliest sigma_ij^2 = v_ij + (m_ij - gamma_i + gamma_j)^2, float [..., K, K]."""
    return variances + residuals(means, qualities) ** 2


def residuals(means: jax.Array, qualities: jax.Array) -> jax.Array:
    """m_ij - gamma_i + gamma_j, float [..., K, K]."""
    return means - (qualities[..., :, None] - qualities[..., None, :])


def laplacian(weights: jax.Array) -> jax.Array:
    """Of weights [..., K, K], with a number added to all entries: regular, for centered steps."""
    sums = weights.sum(-1)
    added = jnp.abs(sums).mean(-1)[..., None, None] / sums.shape[-1]
    return sums[..., None] * jnp.eye(sums.shape[-1], dtype=sums.dtype) - weights + added


def centered_step(inverse: jax.Array, gradient: jax.Array) -> jax.Array:
    """The gradient [..., K] times an inverse [..., K, K], of mean 0."""
    step = (inverse * gradient[..., None, :]).sum(-1)
    return step - step.mean(-1, keepdims=True)


# Without LAPACK: programs that call it side by side on a CPU may wait for each other for ever.
def definite_inverse(matrix: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Inverses of symmetric float [..., K, K], and which are of positive definite ones, bool [...].

    Inverses of others mean nothing.

    >>> inverted, is_definite = definite_inverse(jnp.array([[2.0, 0.0], [0.0, 4.0]]))
    >>> print(inverted.diagonal(), is_definite)
    [0.5  0.25] True
    """
    size = matrix.shape[-1]
    numbers = jnp.arange(size)
    diagonal = jnp.abs(jnp.diagonal(matrix, axis1=-2, axis2=-1)).max(-1)
    least = _SMALLEST_PIVOT * jnp.finfo(matrix.dtype).eps * diagonal

    def sweep(place: jax.Array, carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        swept, definite = carry
        pivot = swept[..., place, place]
        row, column = swept[..., place, :], swept[..., :, place]
        # Chosen, not written: every write would be a kernel of its own.
        row, opposite = row / pivot[..., None], -column / pivot[..., None]
        in_row, in_column = (numbers == place)[:, None], numbers == place
        swept = swept - column[..., :, None] * row[..., None, :]
        swept = jnp.where(in_row, row[..., None, :], swept)
        swept = jnp.where(in_column, opposite[..., :, None], swept)
        swept = jnp.where(in_row & in_column, 1 / pivot[..., None, None], swept)
        return swept, definite & (pivot > least)

    start = matrix, jnp.ones(matrix.shape[:-2], bool)
    return lax.fori_loop(0, size, sweep, start, unroll=sizes().unrolls)
