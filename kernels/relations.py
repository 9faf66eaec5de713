"""Order relations between outcomes, as signs: +1 (first preferred), -1 (second preferred), 0.

A sign is an int8 array. 0 is a tie or incomparability, half a win for each (Hemelrijk's correction;
Busa-Fekete et al. 2014, section 4.2). All functions broadcast; they keep antisymmetry.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp


def total_order(a: jax.Array, b: jax.Array) -> jax.Array:
    """The larger number is preferred: int8 signs, 0 beside a NaN.

    >>> print(total_order(jnp.array([1.0, 2.0, 3.0]), 2.0))
    [-1  0  1]
    """
    return jnp.greater(a, b).astype(jnp.int8) - jnp.less(a, b).astype(jnp.int8)


def only_orders(compare: Any) -> bool:
    """Does a preference see nothing of numbers but which is larger, so that ranks would do?

    True of ``total_order``, and of preferences with a true attribute ``only_orders``.

    >>> only_orders(total_order), only_orders(lambda a, b: 0)
    (True, False)
    """
    return compare is total_order or getattr(compare, "only_orders", False)


def pareto(*signs: jax.Array) -> jax.Array:
    """Pareto dominance: preferred when no criterion objects and at least one agrees.

    Of int8 signs, one array per criterion; 0 where all tie or two disagree.

    >>> print(pareto(jnp.int8([1, 1, 0, 0]), jnp.int8([1, -1, 0, -1])))
    [ 1  0  0 -1]
    """
    _require_criteria("pareto", signs)
    best = functools.reduce(jnp.maximum, signs)
    worst = functools.reduce(jnp.minimum, signs)
    agreed, refused = (best > 0) & (worst >= 0), (worst < 0) & (best <= 0)
    return agreed.astype(jnp.int8) - refused.astype(jnp.int8)


def lexicographic(*signs: jax.Array) -> jax.Array:
    """The first criterion that does not tie decides; int8 signs, the most important first.

    >>> print(lexicographic(jnp.int8([1, 0, 0]), jnp.int8([-1, -1, 0])))
    [ 1 -1  0]
    """
    _require_criteria("lexicographic", signs)
    return functools.reduce(lambda first, later: jnp.where(first != 0, first, later), signs)


def _require_criteria(name: str, signs: tuple[jax.Array, ...]) -> None:
    if not signs:
        raise ValueError(f"{name}: expected at least one criterion, got none")
