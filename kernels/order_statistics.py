"""The l-th smallest of many numbers and the one after it, without sorting. Axes: B numbers."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax


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

    Of at most 2^24 numbers, float32 [B]; the place is 1 .. B - 1. Every pass counts the numbers up
    to a point, interpolated between two of them, and moves one of these to its nearest number
    beyond the point. The first point is ``guess``: a bad one costs passes only.

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
