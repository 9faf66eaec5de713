"""Typed keys as plain numbers and back: no file format knows them."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def without_keys(tree: Any) -> Any:
    """The same pytree with the numbers behind its keys."""
    return jax.tree.map(lambda x: jax.random.key_data(x) if _is_key(x) else x, tree)


def with_keys(numbers: Any, like: Any) -> Any:
    """Undo ``without_keys``; ``like`` has keys, or the shapes of some, where they were.

    >>> with_keys(without_keys(jax.random.key(7)), jax.random.key(0))
    Array((), dtype=key<fry>) overlaying:
    [0 7]
    """

    def wrap(x: Any, like: Any) -> Any:
        return jax.random.wrap_key_data(jnp.asarray(x), impl=_kind(like)) if _is_key(like) else x

    return jax.tree.map(wrap, numbers, like)


def zeros(shapes: Any) -> Any:
    """Arrays of zeros for ``jax.ShapeDtypeStruct``s, which may be keys."""
    # Of NumPy: every shape of jnp.zeros is a program.
    numbers = jax.eval_shape(without_keys, shapes)
    return with_keys(jax.tree.map(lambda x: np.zeros(x.shape, x.dtype), numbers), shapes)


def _is_key(x: Any) -> bool:
    return hasattr(x, "dtype") and jnp.issubdtype(x.dtype, jax.dtypes.prng_key)


def _kind(key: Any) -> Any:
    found: list[Any] = []
    # key_impl wants an array or a tracer.
    jax.eval_shape(lambda x: found.append(jax.random.key_impl(x)), key)
    return found[0]
