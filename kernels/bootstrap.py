"""Resamples of a bootstrap, which serve any number of samples, and quantiles without sorting.

Of n values those that are ``used``, bool [n], count; a resample has m = ``number`` values, int32
[]. Axes: n values, B resamples.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace.kernels.draws import draw_below
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
    # Resample by resample, less the mean: for any m up to 2^24 that fits into int16.
    mean = number // used.sum(dtype=jnp.int32)

    def count(drawn: jax.Array, counted: jax.Array, counts: jax.Array) -> jax.Array:
        added = jnp.broadcast_to(counted.astype(jnp.int16), drawn.shape)
        return counts.at[first + drawn].add(added, mode="promise_in_bounds")

    start = jnp.full(resamples * size, -mean, jnp.int16)
    counts = _over_draws(key, used, number, resamples, count, start).reshape(resamples, size)
    found = counts.T[jnp.cumsum(used, dtype=jnp.int32) - 1].astype(jnp.int32)
    return jnp.where(used[:, None], (found + mean).astype(jnp.float32), 0)


def _over_draws(
    key: jax.Array,
    used: jax.Array,
    number: jax.Array,
    resamples: int,
    add: Callable[[jax.Array, jax.Array, jax.Array], jax.Array],
    start: jax.Array,
) -> jax.Array:
    """Draw the resamples, some values of all of them at a time.

    ``add`` takes the values' numbers among the used ones, int32 [B, some], which of these count,
    float32 [some], and the result so far.
    """
    shape, count = (resamples, _DRAWN_AT_ONCE), used.sum(dtype=jnp.int32)

    def draw_some(part: jax.Array, so_far: jax.Array) -> jax.Array:
        drawn = draw_below(jax.random.fold_in(key, part), shape, count, used.shape[0])
        numbers = part * _DRAWN_AT_ONCE + jnp.arange(_DRAWN_AT_ONCE, dtype=jnp.int32)
        return add(drawn, (numbers < number).astype(jnp.float32), so_far)

    return lax.fori_loop(0, -(-number // _DRAWN_AT_ONCE), draw_some, start)


def resampled_sums(
    key: jax.Array, values: jax.Array, used: jax.Array, number: jax.Array, resamples: int
) -> jax.Array:
    """The sums of the resamples of ``resampling_counts`` with this key, float32 [B].

    >>> values = jnp.arange(20, dtype=jnp.float32)
    >>> sums = resampled_sums(jax.random.key(0), values, values >= 0, jnp.int32(20), 500)
    >>> 180 < float(sums.mean()) < 200
    True
    """
    listed = values[jnp.argsort(~used, stable=True)]

    def add(drawn: jax.Array, counted: jax.Array, sums: jax.Array) -> jax.Array:
        def add_values(drawn: jax.Array) -> jax.Array:
            values_drawn = listed.at[drawn].get(mode="promise_in_bounds")
            return sums + jnp.matmul(values_drawn, counted, precision=lax.Precision.HIGHEST)

        # Merged into the gather, the generator would make every number anew, one by one.
        return with_operands_kept(add_values, number > 0, drawn)

    return _over_draws(key, used, number, resamples, add, jnp.zeros(resamples, jnp.float32))


class _Search(NamedTuple):
    """Two of the numbers, between which (both included) the wanted one is. All float32 []."""

    low: jax.Array
    high: jax.Array
    below: jax.Array  # how many are below low
    upto: jax.Array  # and up to high; the wanted one is high itself, if that many are wanted
    # In low .. high, to be looked at next. Kept from pass to pass, as XLA may compute what it can
    # again for each of its uses, and round it differently.
    at: jax.Array


def neighbours(
    values: jax.Array, place: jax.Array, guess: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """The number at a place, counted from 1, and the next one in order, float32 [] each.

    Every pass counts the numbers up to a point, interpolated between two of them, and moves one of
    these to its nearest number beyond the point. The first point is ``guess``: a bad one costs
    passes only. There are at most 2^24 numbers, float32 [B], and the place is 1 .. B - 1.

    >>> values = jnp.array([4.0, 1.0, 3.0, 1.0, 2.0])
    >>> lower, upper = neighbours(values, jnp.int32(3), guess=values.mean())
    >>> float(lower), float(upper)
    (2.0, 3.0)
    """
    # Counts are sums of float32, for which XLA has a fast kernel on a CPU.
    wanted = place.astype(jnp.float32)

    def is_within(point: jax.Array, low: jax.Array, high: jax.Array) -> jax.Array:
        return (point >= low) & (point < high)

    def between(low: jax.Array, high: jax.Array, below: jax.Array, upto: jax.Array) -> jax.Array:
        point = low + (wanted - below) / (upto - below) * (high - low)
        return jnp.where(is_within(point, low, high), point, low)

    def look(carry: jax.Array) -> jax.Array:
        search = _Search(*carry)
        is_upto = values <= search.at
        count = is_upto.astype(jnp.float32).sum()
        is_low = count < wanted
        # The least number above the point, or the largest up to it: the largest of one sign.
        sign = jnp.where(is_low, -1, 1).astype(jnp.float32)
        nearest = sign * jnp.where(is_upto ^ is_low, sign * values, -jnp.inf).max()
        ends = (
            jnp.where(is_low, nearest, search.low),
            jnp.where(is_low, search.high, nearest),
            jnp.where(is_low, count, search.below),
            jnp.where(is_low, search.upto, count),
        )
        return jnp.stack(_Search(*ends, between(*ends)))

    def goes_on(carry: jax.Array) -> jax.Array:
        search = _Search(*carry)
        return (search.upto != wanted) & (search.low < search.high)

    low, high = values.min(), values.max()
    ends = low, high, jnp.zeros_like(wanted), jnp.full_like(wanted, values.shape[0])
    first = jnp.where(is_within(guess, low, high), guess, between(*ends))
    # One array: every one that a loop carries costs a kernel in each pass.
    found = _Search(*lax.while_loop(goes_on, look, jnp.stack(_Search(*ends, first))))
    following = jnp.where(values > found.high, values, jnp.inf).min()
    # Where the ends have met, there are several of that number.
    return found.high, jnp.where(found.upto == wanted, following, found.high)
