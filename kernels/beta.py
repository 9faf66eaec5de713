"""Beta distributions of win probabilities, for many pairs at once."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.stats import norm
from numpy.typing import NDArray
from scipy.special import betainc

from jaxrace.kernels.uniforms import draw_uniforms

# From so many duels on an expansion is used instead of a table.
_MANY = 100

_SQRT_2 = 1.4142135

# Of so many numbers the few rejected ones are drawn again one by one; of more, all side by side.
_FEW = 256

# In place of 0, which has no logarithm, half of the least number above it that can be drawn.
_LEAST = 2.0**-24


def sample_beta(key: jax.Array, a: jax.Array, b: jax.Array) -> jax.Array:
    """Independent draws of Beta(a, b), float32, of the shape of ``a`` and ``b``, both at least 1.

    X / (X + Y) of two gamma variates by the rejection algorithm of Marsaglia and Tsang (2000). It
    rejects one attempt in twenty at most. ``jax.random.beta`` takes any positive parameters, and
    splits a key for every number.

    >>> a, b = jnp.full(10_000, 3.0), jnp.full(10_000, 1.0)
    >>> draws = jax.jit(sample_beta)(jax.random.key(0), a, b)
    >>> bool(abs(draws.mean() - 0.75) < 0.01)
    True
    """
    variates = _sample_gamma(key, jnp.stack([a, b]).reshape(-1)).reshape(2, *a.shape)
    return variates[0] / (variates[0] + variates[1])


def _sample_gamma(key: jax.Array, shape: jax.Array) -> jax.Array:
    """Gamma variates, float32 [n], for shape parameters [n] of at least 1."""
    count = shape.shape[0]

    def draw(number: jax.Array | int, size: int) -> jax.Array:
        return draw_uniforms(jax.random.fold_in(key, number), (2, size))

    def retry_first(carry: tuple) -> tuple:
        number, variates, accepted = carry
        place = jnp.where(accepted, count - 1, jnp.arange(count, dtype=jnp.int32)).min()
        made, is_good = _attempt(draw(number, 1), shape[place])
        was_good = accepted[place]
        variates = variates.at[place].set(jnp.where(was_good, variates[place], made[0]))
        return number + 1, variates, accepted.at[place].set(was_good | is_good[0])

    def retry_all(carry: tuple) -> tuple:
        number, variates, accepted = carry
        made, is_good = _attempt(draw(number, count), shape)
        return number + 1, jnp.where(accepted, variates, made), accepted | is_good

    retry = retry_first if count <= _FEW else retry_all
    start = (jnp.ones((), jnp.int32), *_attempt(draw(0, count), shape))
    return lax.while_loop(lambda carry: ~carry[2].all(), retry, start)[1]


def _attempt(uniforms: jax.Array, shape: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Proposals [n] and whether they are accepted, from uniform numbers [2, n]."""
    size = shape - 1 / 3  # d
    normal = _SQRT_2 * lax.erf_inv(jnp.maximum(2 * uniforms[0] - 1, _LEAST - 1))
    y = normal / jnp.sqrt(9 * size)  # c x, and v = (1 + y)^3
    is_possible = y > -1
    y = jnp.where(is_possible, y, 0.0)
    # d - d v + d ln v without the loss of digits where y is small.
    gain = size * (3 * jnp.log1p(y) - y * (3 + y * (3 + y)))
    log_uniform = jnp.log(jnp.maximum(uniforms[1], _LEAST))
    return size * (1 + y) ** 3, is_possible & (log_uniform < normal**2 / 2 + gain)


def above_half(wins: jax.Array, losses: jax.Array) -> jax.Array:
    """P(theta > 1/2) for theta ~ Beta(wins + 1, losses + 1), float32, to 1e-5; counts are int32.

    It is the distribution function of m + 1 = wins + losses + 1 fair coins. Few coins have a table.
    Many have the normal distribution with Edgeworth's next term (the skewness is 0) and the
    variance corrected for the lattice: ``betainc`` in float32 is .03 off for 100,000 duels.

    >>> print(f"{jax.jit(above_half)(1, 0):.4f}")  # 1 - 1/4
    0.7500
    """
    number = wins + losses + 1
    few = number < _MANY
    scale = jnp.where(few, 1, number).astype(jnp.float32)
    z = (wins - losses).astype(jnp.float32) / jnp.sqrt(scale - 1 / 3)
    many = norm.cdf(z) + norm.pdf(z) * (z**3 - 3 * z) / (12 * scale)
    exact = jnp.asarray(_above_half_of_few())[jnp.where(few, wins, 0), jnp.where(few, losses, 0)]
    return jnp.where(few, exact, many)


@functools.cache
def _above_half_of_few() -> NDArray[np.float32]:
    """P(theta > 1/2) of fewer than ``_MANY`` wins and as many losses, [wins, losses]."""
    counts = np.arange(_MANY)
    return betainc(counts + 1, counts[:, None] + 1, 0.5).astype(np.float32)
