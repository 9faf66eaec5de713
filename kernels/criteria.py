"""Preferences from several criteria, as signs; see ``relations``. All functions broadcast."""

import functools

import jax
import jax.numpy as jnp

from jaxrace.core.validation import BadArgument


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
        raise BadArgument(name, "at least one criterion", "none")
