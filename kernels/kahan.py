"""Long sums of float32 numbers that do not drift. Axes: M sums, each one by one."""

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Total(NamedTuple):
    """A sum, and what its last rounding has left out."""

    value: jax.Array  # float32 [M]
    compensation: jax.Array  # float32 [M]


def zero(count: int) -> Total:
    """The sums [M] of no terms."""
    zeros = jnp.zeros(count, jnp.float32)
    return Total(zeros, zeros)


def add(total: Total, term: jax.Array) -> Total:
    """The sum with one more term, float32 [M] (Kahan 1965).

    A plain sum of n terms drifts with n, this one is off by a rounding or two.

    >>> total = zero(1)
    >>> for term in (2.0**24, 1.0, 1.0):  # a plain sum stays at 2^24
    ...     total = add(total, jnp.full(1, term))
    >>> int(total.value[0]) - 2**24
    2
    """
    term = term + total.compensation
    value = total.value + term
    # Infinite sums (regrets without a winner) need no compensation.
    compensation = jnp.where(jnp.isinf(value), 0, term - (value - total.value))
    return Total(value, compensation)
