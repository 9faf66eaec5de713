"""States as plain numbers: typed keys are arrays of their own kind, which no file format knows."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def bare(tree: Any) -> Any:
    """The same pytree with the numbers behind its keys.

    >>> bare((jax.random.key(7), jnp.float32(1.5)))
    (Array([0, 7], dtype=uint32), Array(1.5, dtype=float32))
    """
    return jax.tree.map(lambda x: jax.random.key_data(x) if _is_key(x) else x, tree)


def dressed(numbers: Any, like: Any) -> Any:
    """Undo ``bare``.

    Args:
        numbers: What ``bare`` returned.
        like: A pytree of arrays or ``jax.ShapeDtypeStruct``s that has keys where they were.

    >>> dressed(bare(jax.random.key(7)), jax.random.key(0))
    Array((), dtype=key<fry>) overlaying:
    [0 7]
    """

    def dress(x: Any, like: Any) -> Any:
        return jax.random.wrap_key_data(jnp.asarray(x), impl=_kind(like)) if _is_key(like) else x

    return jax.tree.map(dress, numbers, like)


def zeros(shapes: Any) -> Any:
    """A pytree of zeros.

    Args:
        shapes: ``jax.ShapeDtypeStruct``s, keys among them perhaps.

    >>> zeros(jax.eval_shape(lambda: (jax.random.key(7), jnp.ones(2, jnp.int32))))[1]
    Array([0, 0], dtype=int32)
    """
    # Of NumPy: every shape of jnp.zeros or jnp.array is a program.
    numbers = jax.eval_shape(bare, shapes)
    numbers = jax.tree.map(lambda x: jnp.asarray(np.zeros(x.shape, x.dtype)), numbers)
    return dressed(numbers, shapes)


def _is_key(x: Any) -> bool:
    return hasattr(x, "dtype") and jnp.issubdtype(x.dtype, jax.dtypes.prng_key)


def _kind(key: Any) -> Any:
    found: list[Any] = []
    # key_impl wants an array or a tracer.
    jax.eval_shape(lambda x: found.append(jax.random.key_impl(x)), key)
    return found[0]
