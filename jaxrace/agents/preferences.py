"""When is one outcome preferred to another: the relations of ``kernels``, composed.

A preference is any function ``compare(a, b)`` of two outcomes that returns an int8 sign: +1
where a is preferred, -1 where b is, 0 for a tie or for incomparable outcomes; it must be
antisymmetric and pure JAX. Those made here are frozen dataclasses, so that equal ones share one
compilation. Those of numbers compare the outcome itself, or its attribute or key ``field``.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import kernels
from jaxrace.core.narrowing import require_held

Preference = Callable[[Any, Any], jax.Array]


@dataclasses.dataclass(frozen=True)
class Larger:
    """The outcome with the larger number is preferred; booleans count as 0 and 1.

    >>> print(Larger("score")({"score": 2.0}, {"score": 1.0}))
    1
    """

    field: str | int | None = None

    def __call__(self, a: Any, b: Any) -> jax.Array:
        """int8 sign of the broadcast shape."""
        return _order(_field(a, self.field), _field(b, self.field))


@dataclasses.dataclass(frozen=True)
class Smaller:
    """The outcome with the smaller number is preferred.

    >>> print(Smaller()(2.0, 1.0))
    -1
    """

    field: str | int | None = None

    def __call__(self, a: Any, b: Any) -> jax.Array:
        """int8 sign of the broadcast shape."""
        return _order(_field(b, self.field), _field(a, self.field))


@dataclasses.dataclass(frozen=True, init=False)
class _Composed:
    criteria: tuple[Preference, ...]  # at least one

    def __init__(self, *criteria: Preference) -> None:
        name = type(self).__name__
        if not criteria:
            raise ValueError(f"{name}: expected at least one criterion, got none")
        for criterion in criteria:
            if not callable(criterion):
                raise ValueError(f"{name}: expected preferences (functions), got {criterion!r}")
        object.__setattr__(self, "criteria", criteria)

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

    >>> first_alive = Lexicographic(Larger("alive"), Smaller("cost"))
    >>> print(first_alive({"alive": True, "cost": 9.0}, {"alive": False, "cost": 1.0}))
    1
    """

    def __call__(self, a: Any, b: Any) -> jax.Array:
        """int8 sign of the broadcast shape."""
        return kernels.lexicographic(*self._signs(a, b))


def only_orders(compare: Preference) -> bool:
    """Does a preference see nothing of numbers but which is larger, so that ranks would do?

    That is known only of ``kernels.total_order``, ``Larger``, ``Smaller`` and what is composed of
    them.

    >>> only_orders(Pareto(Smaller("cost"), Larger("quality"))), only_orders(lambda a, b: 0)
    (True, False)
    """
    if isinstance(compare, _Composed):
        return all(map(only_orders, compare.criteria))
    return compare is kernels.total_order or isinstance(compare, Larger | Smaller)


def _field(outcome: Any, field: str | int | None) -> Any:
    if field is None:
        return outcome
    if isinstance(field, str) and not isinstance(outcome, dict):
        return getattr(outcome, field)
    return outcome[field]


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
    found = jnp.asarray(number)  # numbers of Python stay weakly typed
    if jnp.issubdtype(found.dtype, jnp.complexfloating):
        raise ValueError(f"outcome: expected real numbers, got {found.dtype}")
    return found


def _real(number: Any) -> np.ndarray:
    found = np.asarray(number)
    if found.dtype.kind in "cMmSU":
        raise ValueError(f"outcome: expected real numbers, got {found.dtype}")
    return found
