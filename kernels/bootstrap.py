"""Bootstrap bounds of a mean: one set of resamples serves any number of samples.

Written for one sample and batched with ``vmap``: the means of all resamples of all samples are then
one matrix product. ``values`` are float32 [n], of which those with ``used``, bool [n], count;
``counts`` are of ``resampling_counts``; a resample has ``number`` values, int32 []. Axes: n values,
B resamples. Source: Efron 1987; Carpenter and Bithell 2000; Thomas et al. 2015 (ICML), Algorithm 3,
whose last line is misprinted.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy.special import ndtri
from jax.scipy.stats import norm

from jaxrace.kernels.draws import draw_below
from jaxrace.kernels.order_statistics import neighbours
from jaxrace.kernels.sparse import with_operands_kept

_DRAWN_AT_ONCE = 128  # values of each resample


def resampling_counts(
    key: jax.Array, used: jax.Array, number: jax.Array, resamples: int
) -> jax.Array:
    """How often each used value is in every resample of m values, float32 [n, B].

    >>> draw = jax.jit(resampling_counts, static_argnums=3)
    >>> used = jnp.array([True, True, True, False, False])
    >>> counts = draw(jax.random.key(0), used, jnp.int32(8), 2)
    >>> counts.shape, counts.sum(0).tolist(), float(counts[3:].sum())
    ((5, 2), [8.0, 8.0], 0.0)
    """
    size = used.shape[0]
    first = size * jnp.arange(resamples, dtype=jnp.int32)[:, None]

    def count(drawn: jax.Array, counted: jax.Array, counts: jax.Array) -> jax.Array:
        added = jnp.broadcast_to(counted, drawn.shape)
        return counts.at[first + drawn].add(added, mode="promise_in_bounds")

    # A resample after the other, each in as few lines of a cache as it takes.
    nothing = jnp.zeros(resamples * size, jnp.float32)
    counts = _over_draws(key, used, number, resamples, count, nothing).reshape(resamples, size)
    # Drawn are numbers among the values that are used.
    number_of = jnp.cumsum(used, dtype=jnp.int32) - 1
    return jnp.where(used[:, None], counts.T[number_of], 0)


def _over_draws(
    key: jax.Array,
    used: jax.Array,
    number: jax.Array,
    resamples: int,
    add: Callable[[jax.Array, jax.Array, jax.Array], jax.Array],
    start: jax.Array,
) -> jax.Array:
    """Draw the resamples, some values of all of them at a time.

    ``add`` takes the numbers of the values drawn, among the used ones, int32 [B, some], which of
    these count, float32 [some], and the result so far.
    """
    count = used.sum(dtype=jnp.int32)
    shape = resamples, _DRAWN_AT_ONCE

    def draw_some(part: jax.Array, so_far: jax.Array) -> jax.Array:
        drawn = draw_below(jax.random.fold_in(key, part), shape, count, used.shape[0])
        numbers = part * _DRAWN_AT_ONCE + jnp.arange(_DRAWN_AT_ONCE, dtype=jnp.int32)
        return add(drawn, (numbers < number).astype(jnp.float32), so_far)

    return lax.fori_loop(0, -(-number // _DRAWN_AT_ONCE), draw_some, start)


def bootstrap_bound(
    values: jax.Array, used: jax.Array, counts: jax.Array, delta: jax.Array, corrected: bool = True
) -> jax.Array:
    """The lower end of a one-sided 1 - delta bootstrap interval of the mean, float32 [].

    ``corrected`` for bias and acceleration (BCa), or the plain percentile.

    >>> values, used = jnp.arange(20, dtype=jnp.float32), jnp.ones(20, bool)
    >>> counts = resampling_counts(jax.random.key(0), used, jnp.int32(20), 500)
    >>> 6.5 < float(bootstrap_bound(values, used, counts, jnp.float32(0.05))) < 8.5
    True
    """
    values, scale = _scaled(values, used)
    # A GPU would round the values to 10 bits otherwise.
    sums = jnp.matmul(values, counts, precision=lax.Precision.HIGHEST)
    return scale * _bound(values, used, sums, counts[:, 0].sum(), delta, corrected)


def bootstrap_bound_of_one(
    key: jax.Array,
    values: jax.Array,
    used: jax.Array,
    number: jax.Array,
    resamples: int,
    delta: jax.Array,
    corrected: bool = True,
) -> jax.Array:
    """``bootstrap_bound`` for resamples that serve one sample only: they are summed, not counted.

    With the same key the resamples are those of ``resampling_counts``.

    >>> values, key = jnp.arange(20, dtype=jnp.float32), jax.random.key(0)
    >>> number, delta = jnp.int32(20), jnp.float32(0.05)
    >>> 6.5 < float(bootstrap_bound_of_one(key, values, values >= 0, number, 500, delta)) < 8.5
    True
    """
    values, scale = _scaled(values, used)
    listed = values[jnp.argsort(~used, stable=True)]

    def add(drawn: jax.Array, counted: jax.Array, sums: jax.Array) -> jax.Array:
        def add_values(drawn: jax.Array) -> jax.Array:
            values_drawn = listed.at[drawn].get(mode="promise_in_bounds")
            return sums + jnp.matmul(values_drawn, counted, precision=lax.Precision.HIGHEST)

        # Merged into the gather, the generator would make every number anew, one by one.
        return with_operands_kept(add_values, number > 0, drawn)

    start = jnp.zeros(resamples, jnp.float32)
    sums = _over_draws(key, used, number, resamples, add, start)
    return scale * _bound(values, used, sums, number.astype(jnp.float32), delta, corrected)


def _scaled(values: jax.Array, used: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The values over the largest, and that: sums of cubes would leave the range of float32."""
    values = jnp.where(used, values, 0)
    scale = jnp.maximum(abs(values).max(), jnp.finfo(jnp.float32).tiny)
    return values / scale, scale


def _bound(
    values: jax.Array,
    used: jax.Array,
    sums: jax.Array,
    number: jax.Array,
    delta: jax.Array,
    corrected: bool,
) -> jax.Array:
    """The bound from the sums [B] of resamples."""
    count = used.sum(dtype=jnp.float32)
    mean = values.sum() / count
    resamples = sums.shape[0]
    z = -ndtri(delta)
    apart = jnp.where(used, values - mean, 0)
    squares = jnp.maximum((apart**2).sum(), jnp.finfo(jnp.float32).tiny)
    if corrected:
        # Of values 0 and 1 (times the largest) many resamples have the very sum of the values, and
        # are not below. Sums of ones are exact, means are not.
        is_below = sums < values.sum() * (number / count)
        share = is_below.sum(dtype=jnp.float32) / resamples
        z0 = ndtri(jnp.clip(share, 1 / (resamples + 1), resamples / (resamples + 1)))
        # Leaving out X_i moves the mean by -(X_i - mean) / (n - 1); the divisor cancels.
        acceleration = (apart**3).sum() / (6 * squares**1.5)
        z_low = z0 - (z - z0) / (1 + acceleration * (z - z0))
    else:
        z_low = -z
    place = (resamples + 1) * norm.cdf(z_low)  # Q
    below = jnp.clip(jnp.floor(place), 1, resamples - 1)  # l
    left, right = ndtri(below / (resamples + 1)), ndtri((below + 1) / (resamples + 1))
    share = jnp.clip((z_low - left) / (right - left), 0, 1)
    # The sums are nearly normal, with the variance of the values times the number of them.
    guess = mean * number + left * jnp.sqrt(number * squares / count)
    lower, upper = neighbours(sums, below.astype(jnp.int32), guess)  # of xi, times their number
    is_constant = jnp.where(used, values, mean).max() == jnp.where(used, values, mean).min()
    return jnp.where(is_constant, mean, (lower + share * (upper - lower)) / number)
