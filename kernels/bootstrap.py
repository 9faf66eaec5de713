"""Bootstrap bounds of a mean: one set of resamples serves any number of samples.

Written for one sample and batched with ``vmap``: the means of all resamples of all samples are
then one matrix product. Axes: n values, of which some may not count, B resamples.

Source: Efron 1987; Carpenter and Bithell 2000; Thomas et al. 2015 (ICML), Algorithm 3, whose last
line is misprinted.
"""

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy.special import ndtri
from jax.scipy.stats import norm

from jaxrace.kernels.uniforms import draw_uniforms

# Values of each resample.
_DRAWN_AT_ONCE = 128


def resampling_counts(
    key: jax.Array, used: jax.Array, number: jax.Array, resamples: int
) -> jax.Array:
    """How often each value is in every resample, float32 [B, n].

    Args:
        key: Used once.
        used: bool [n], the values to draw from, with replacement.
        number: m, how many a resample has, int32 [].
        resamples: B.

    >>> counts = resampling_counts(jax.random.key(0), jnp.arange(5) < 3, jnp.int32(8), 2)
    >>> counts.shape, counts.sum(1).tolist(), float(counts[:, 3:].sum())
    ((2, 5), [8.0, 8.0], 0.0)
    """
    size = used.shape[0]
    listed = jnp.argsort(~used, stable=True).astype(jnp.int32)
    count = used.sum(dtype=jnp.int32)
    rows = jnp.arange(resamples, dtype=jnp.int32)[:, None]

    def draw_some(part: jax.Array, counts: jax.Array) -> jax.Array:
        # With multiples of 2^-23 the chances of n values differ by n 2^-23 of themselves at most.
        uniforms = draw_uniforms(jax.random.fold_in(key, part), (resamples, _DRAWN_AT_ONCE))
        drawn = listed[jnp.minimum((uniforms * count).astype(jnp.int32), count - 1)]
        numbers = part * _DRAWN_AT_ONCE + jnp.arange(_DRAWN_AT_ONCE, dtype=jnp.int32)
        counted = (numbers < number).astype(jnp.float32)
        return counts.at[rows, drawn].add(jnp.broadcast_to(counted, drawn.shape))

    parts = -(-number // _DRAWN_AT_ONCE)
    return lax.fori_loop(0, parts, draw_some, jnp.zeros((resamples, size), jnp.float32))


def bootstrap_bound(
    values: jax.Array,
    used: jax.Array,
    counts: jax.Array,
    delta: jax.Array,
    corrected: bool = True,
) -> jax.Array:
    """The lower end of a one-sided bootstrap interval of the mean, float32 [].

    Args:
        values: float32 [n].
        used: bool [n].
        counts: float32 [B, n], from ``resampling_counts``.
        delta: Error probability.
        corrected: BCa: corrected for bias and acceleration; else the plain percentile.

    >>> values, used = jnp.arange(20, dtype=jnp.float32), jnp.ones(20, bool)
    >>> counts = resampling_counts(jax.random.key(0), used, jnp.int32(20), 2000)
    >>> bool(6.5 < bootstrap_bound(values, used, counts, jnp.float32(0.05)) < 8.5)
    True
    """
    values = jnp.where(used, values, 0)
    # Sums of cubes would leave the range of float32.
    scale = jnp.maximum(abs(values).max(), jnp.finfo(jnp.float32).tiny)
    values = values / scale
    count = used.sum(dtype=jnp.float32)
    mean = values.sum() / count
    # A GPU would round the values to 10 bits otherwise.
    sums = jnp.matmul(counts, values, precision=lax.Precision.HIGHEST)
    number = counts[0].sum()
    means = sums / number  # xi
    resamples = counts.shape[0]
    z = -ndtri(delta)
    if corrected:
        # Of values 0 and 1 (times the largest) many resamples have the very sum of the values, and
        # are not below. Sums of ones are exact, means are not.
        is_below = sums < values.sum() * (number / count)
        share = is_below.sum(dtype=jnp.float32) / resamples
        z0 = ndtri(jnp.clip(share, 1 / (resamples + 1), resamples / (resamples + 1)))
        # Leaving out X_i moves the mean by -(X_i - mean) / (n - 1); the divisor cancels.
        apart = jnp.where(used, values - mean, 0)
        squares = jnp.maximum((apart**2).sum(), jnp.finfo(jnp.float32).tiny)
        acceleration = (apart**3).sum() / (6 * squares**1.5)
        z_low = z0 - (z - z0) / (1 + acceleration * (z - z0))
    else:
        z_low = -z
    place = (resamples + 1) * norm.cdf(z_low)  # Q
    below = jnp.clip(jnp.floor(place), 1, resamples - 1)  # l
    left, right = ndtri(below / (resamples + 1)), ndtri((below + 1) / (resamples + 1))
    share = jnp.clip((z_low - left) / (right - left), 0, 1)
    lower, upper = _neighbours(means, below.astype(jnp.int32))
    is_constant = jnp.where(used, values, mean).max() == jnp.where(used, values, mean).min()
    return scale * jnp.where(is_constant, mean, lower + share * (upper - lower))


def _neighbours(values: jax.Array, place: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The values [B] at a place, counted from 1, and the next one if they were sorted.

    By halving the range of their bits: 32 passes take a fraction of the time of sorting.
    """
    bits = lax.bitcast_convert_type(values, jnp.int32)
    # Integers in the order of the numbers: those below 0 are stored by sign and size.
    ordered = jnp.where(bits < 0, bits ^ 0x7FFFFFFF, bits)

    def halve(_: int, ends: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        low, high = ends  # the wanted one is above low, and at most high
        middle = (low & high) + ((low ^ high) >> 1)  # their mean, without an overflow
        is_enough = (ordered <= middle).sum(dtype=jnp.int32) >= place
        return jnp.where(is_enough, low, middle), jnp.where(is_enough, middle, high)

    ends = ordered.min() - 1, ordered.max()
    found = lax.fori_loop(0, 32, halve, ends)[1]
    has_next = (ordered <= found).sum(dtype=jnp.int32) > place
    following = jnp.where(ordered > found, ordered, jnp.iinfo(jnp.int32).max).min()
    both = jnp.stack([found, jnp.where(has_next, found, following)])
    lower, upper = lax.bitcast_convert_type(
        jnp.where(both < 0, both ^ 0x7FFFFFFF, both), jnp.float32
    )
    return lower, upper
