"""Preferences between outcomes: the relations of ``kernels``, composed.

A preference is a pure, antisymmetric function ``compare(a, b)`` of two outcomes. It returns an int8
sign: +1 where a is preferred, -1 where b is, 0 where they tie or are incomparable. Those made here
are frozen dataclasses, so that equal ones share one compilation.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import kernels
from jaxrace.core.float32 import require_held
from jaxrace.core.validation import BadArgument

Preference = Callable[[Any, Any], jax.Array]


@dataclasses.dataclass(frozen=True)
class _OfNumbers:
    field: str | int | None = None  # the outcome's attribute or key; itself unless given
    only_orders = True  # see ``kernels.only_orders``

    def _of(self, outcome: Any) -> Any:
        if isinstance(self.field, str) and not isinstance(outcome, dict):
            return getattr(outcome, self.field)
        return outcome if self.field is None else outcome[self.field]


class Larger(_OfNumbers):
    """The outcome with the larger number is preferred; booleans count as 0 and 1.

    >>> print(Larger("score")({"score": 2.0}, {"score": 1.0}))
    1
    """

    def __call__(self, a: Any, b: Any) -> jax.Array:
        """int8 sign of the broadcast shape."""
        return _order(self._of(a), self._of(b))


class Smaller(_OfNumbers):
    """The outcome with the smaller number is preferred."""

    def __call__(self, a: Any, b: Any) -> jax.Array:
        """int8 sign of the broadcast shape."""
        return _order(self._of(b), self._of(a))


@dataclasses.dataclass(frozen=True, init=False)
class _Composed:
    criteria: tuple[Preference, ...]  # at least one

    def __init__(self, *criteria: Preference) -> None:
        name = type(self).__name__
        if not criteria:
            raise BadArgument(name, "at least one criterion", "none")
        for criterion in criteria:
            if not callable(criterion):
                raise BadArgument(name, "preferences (functions)", repr(criterion))
        object.__setattr__(self, "criteria", criteria)

    @property
    def only_orders(self) -> bool:
        """See ``kernels.only_orders``."""
        return all(map(kernels.only_orders, self.criteria))

    def _signs(self, a: Any, b: Any) -> list[jax.Array]:
        return [compare(a, b) for compare in self.criteria]


class Pareto(_Composed):
    """Preferred when no criterion objects and at least one agrees; else incomparable.

    >>> cheap_and_good = Pareto(Smaller("cost"), Larger("quality"))
    >>> print(cheap_and_good({"cost": 1.0, "quality": 5.0}, {"cost": 2.0, "quality": 5.0}))
    1
    """

    def __call__(self, a: Any, b: Any) -> jax.Array:
        """int8 sign of the broadcast shape."""
        return kernels.pareto(*self._signs(a, b))


class Lexicographic(_Composed):
    """The first criterion that does not tie decides, the most important being the first.

    >>> safe_then_good = Lexicographic(Larger("alive"), Larger("score"))
    >>> print(safe_then_good({"alive": True, "score": 1.0}, {"alive": True, "score": 2.0}))
    -1
    """

    def __call__(self, a: Any, b: Any) -> jax.Array:
        """int8 sign of the broadcast shape."""
        return kernels.lexicographic(*self._signs(a, b))


def _order(a: Any, b: Any) -> jax.Array:
    """The larger number is preferred; numbers of the host are compared as they are."""
    if isinstance(a, jax.Array) or isinstance(b, jax.Array):
        return kernels.total_order(_held(a), _held(b))
    x, y = _real(a), _real(b)
    return jnp.asarray(np.greater(x, y).astype(np.int8) - np.less(x, y).astype(np.int8))


def _held(number: Any) -> jax.Array:
    """As JAX has it; ValueError if it is too large for that, or not real."""
    if not isinstance(number, jax.Array):
        require_held("outcome", _real(number))
    elif jnp.issubdtype(number.dtype, jnp.complexfloating):
        raise BadArgument("outcome", "real numbers", str(number.dtype))
    return jnp.asarray(number)  # numbers of Python stay weakly typed


def _real(number: Any) -> np.ndarray:
    found = np.asarray(number)
    if found.dtype.kind in "cMmSU":
        raise BadArgument("outcome", "real numbers", str(found.dtype))
    return found
