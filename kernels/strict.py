"""Preferences between outcomes that never tie, as continuous numbers do not.

A sign takes two comparisons: is a preferred to b, or b to a? Without ties the first tells both.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp


@dataclasses.dataclass(frozen=True)
class Strict:
    """A preference between outcomes that never tie, and are never incomparable.

    Preference races count it by one comparison of two samples instead of two, and so do
    ``round_gains`` and what is built on it. Should two samples tie all the same, they count for the
    option whose sample came later, or as a tie if they were drawn in the same round: the counts
    stay antisymmetric, and favour no option.

    Attributes:
        prefers: ``prefers(a, b)`` of two single outcomes: is a preferred to b? One bool, in pure
            JAX; no outcome is preferred to itself.

    Raises:
        ValueError: ``prefers`` is no function, or returns no bool when it is called.

    >>> import jax.numpy as jnp
    >>> cheaper = Strict(lambda a, b: a["cost"] < b["cost"])
    >>> print(cheaper({"cost": jnp.float32(1.0)}, {"cost": jnp.float32(2.0)}))
    1
    """

    prefers: Callable[[Any, Any], jax.Array]

    def __post_init__(self) -> None:
        if not callable(self.prefers):
            raise ValueError(f"prefers: expected a function, got {self.prefers!r}")

    def __call__(self, a: Any, b: Any) -> jax.Array:
        """int8 sign of the broadcast shape; 0 if there is a tie."""
        return self.won(a, b) - self.won(b, a)

    def won(self, a: Any, b: Any) -> jax.Array:
        """int8 of the broadcast shape: 1 where a is preferred, else 0."""
        found = jnp.asarray(self.prefers(a, b))
        if found.dtype != jnp.bool_:
            raise ValueError(f"prefers: expected a bool, got {found.dtype}")
        return found.astype(jnp.int8)


def _is_larger(a: jax.Array, b: jax.Array) -> jax.Array:
    return jnp.greater(a, b)


strict_order = Strict(_is_larger)
"""``total_order`` of numbers that never tie: the larger is preferred."""


def one_way(
    compare: Callable[[Any, Any], jax.Array],
) -> tuple[Callable[[Any, Any], jax.Array], int]:
    """What to sum over pairs of samples instead of their signs, and what its unit is.

    Sums over pairs (a, b), less sums over as many pairs (b, a), differ by as many units as the sums
    of their signs do by ones.

    >>> one_way(strict_order)[1], one_way(lambda a, b: jnp.int8(0))[1]
    (2, 1)
    """
    return (compare.won, 2) if isinstance(compare, Strict) else (compare, 1)
