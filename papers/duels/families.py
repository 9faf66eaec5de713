"""More families of preference matrices, beside ``jaxrace.dueling.matrices``.

Axes: K arms. Entry p_ij is the probability that arm i beats arm j; p_ji = 1 - p_ij, p_ii = 1/2.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.stats import norm
from numpy.typing import ArrayLike, NDArray

from jaxrace.core.validation import BadArgument, require_integer, require_number
from jaxrace.dueling.matrices import from_upper


def linear_order(key: jax.Array, num_arms: int) -> jax.Array:
    """p_ij uniform in [1/2, 1] for i < j: arm 0 is best, then arm 1, and so on. float32 [K, K].

    >>> bool((jnp.triu(linear_order(jax.random.key(0), 5), 1)[0, 1:] >= 0.5).all())
    True
    """
    require_integer("num_arms", num_arms, 2)
    upper = jax.random.uniform(key, (num_arms, num_arms), jnp.float32, minval=0.5)
    return from_upper(upper)


def cyclic(num_arms: int, probability: float = 0.6) -> jax.Array:
    """Arms in a circle, each beats the half that follows it; opposite arms tie. float32 [K, K].

    >>> cyclic(3, 0.75).tolist()
    [[0.5, 0.75, 0.25], [0.25, 0.5, 0.75], [0.75, 0.25, 0.5]]
    """
    require_integer("num_arms", num_arms, 3)
    require_number("probability", probability, least=0.5, below=1)
    place = jnp.arange(num_arms, dtype=jnp.int32)
    ahead = (place - place[:, None]) % num_arms  # how far j follows i
    gain = jnp.where(2 * ahead < num_arms, probability, 1 - probability)
    tied = (ahead == 0) | (2 * ahead == num_arms)
    return jnp.where(tied, 0.5, gain).astype(jnp.float32)


def plackett_luce(weights: ArrayLike) -> jax.Array:
    """p_ij = w_i / (w_i + w_j), float32 [K, K], from positive weights [K].

    >>> plackett_luce([3.0, 1.0]).tolist()
    [[0.5, 0.75], [0.25, 0.5]]
    """
    from scipy.special import expit  # late: it takes a quarter of a second

    values = _numbers("weights", weights)
    if (values <= 0).any():
        raise BadArgument("weights", "positive numbers", str(values.min()))
    # Of logarithms: the sum of two weights may be infinite.
    logs = np.log(values)
    return jnp.asarray(expit(logs[:, None] - logs), jnp.float32)


def thurstone(means: ArrayLike, scale: float = 1.0) -> jax.Array:
    """p_ij = Phi((m_i - m_j) / (sqrt(2) scale)), float32 [K, K], from means [K].

    >>> thurstone([1.0, 1.0]).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    found = _numbers("means", means)
    require_number("scale", scale, least=1e-6)
    with np.errstate(over="ignore"):  # a certain win
        ahead = (found[:, None] / 2 - found / 2) * (np.sqrt(2) / scale)
        return norm.cdf(jnp.asarray(ahead.astype(np.float32)))


def _numbers(name: str, values: ArrayLike) -> NDArray[np.float64]:
    found = np.asarray(values, np.float64)
    if found.ndim != 1 or len(found) < 2 or not np.isfinite(found).all():
        raise BadArgument(name, "at least two finite numbers [K]", repr(values))
    return found
