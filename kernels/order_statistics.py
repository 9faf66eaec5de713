"""The l-th smallest of many numbers and the one after it, without sorting. Axes: B numbers."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax


class _Search(NamedTuple):
    """Two of the numbers, between which (both included) the wanted one is."""

    low: jax.Array  # float32 []
    high: jax.Array  # float32 []
    below: jax.Array  # int32 [], how many are below low
    upto: jax.Array  # int32 [], and up to high
    # float32 [], in low .. high, to be looked at next. Kept from pass to pass, as XLA may compute
    # what it can again for each of its uses, and round it differently.
    at: jax.Array
    is_cut: jax.Array  # bool [], are as many as wanted up to high?


def neighbours(values: jax.Array, place: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The number at a place, counted from 1, and the next one if they were sorted, float32 [] each.

    Every pass counts the numbers up to a point, interpolated between two of them, and moves one of
    these to its nearest number beyond the point. Of 2,000 means of a bootstrap that takes eight
    passes where they are spread and no more where they come in lumps, a twentieth of the time of
    sorting.

    Args:
        values: float32 [B].
        place: int32 [], 1 .. B - 1.

    >>> lower, upper = neighbours(jnp.array([4.0, 1.0, 3.0, 1.0, 2.0]), jnp.int32(3))
    >>> float(lower), float(upper)
    (2.0, 3.0)
    """

    def between(low: Any, high: Any, below: Any, upto: Any) -> jax.Array:
        share = (place - below).astype(jnp.float32) / (upto - below).astype(jnp.float32)
        guess = low + share * (high - low)
        return jnp.where((guess >= low) & (guess < high), guess, low)

    def look(search: _Search) -> _Search:
        is_upto = values <= search.at
        count = is_upto.sum(dtype=jnp.int32)
        is_low = count < place
        # The least number above the point, or the largest up to it: the largest of one sign.
        sign = jnp.where(is_low, -1, 1).astype(jnp.float32)
        nearest = sign * jnp.where(is_upto ^ is_low, sign * values, -jnp.inf).max()
        ends = (
            jnp.where(is_low, nearest, search.low),
            jnp.where(is_low, search.high, nearest),
            jnp.where(is_low, count, search.below),
            jnp.where(is_low, search.upto, count),
        )
        return _Search(*ends, between(*ends), count == place)

    nothing, no = jnp.zeros_like(place), jnp.zeros_like(place, bool)
    ends = (values.min(), values.max(), nothing, jnp.full_like(place, values.shape[0]))
    start = _Search(*ends, between(*ends), no)
    found = lax.while_loop(lambda s: ~s.is_cut & (s.low < s.high), look, start)
    following = jnp.where(values > found.high, values, jnp.inf).min()
    # Where the ends have met, there are several of that number.
    return found.high, jnp.where(found.is_cut, following, found.high)
