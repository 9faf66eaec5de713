"""Turns Python numbers and weakly typed arrays into strongly typed ones.

A weak type is part of an array's type: a loop whose carry starts weak and goes on strong fails or
compiles twice, and a weak float becomes a float64 wherever x64 is on.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def strongly_typed(tree: Any) -> Any:
    """Return the pytree with arrays for leaves, none of them weakly typed.

    Python floats become float32 and Python integers int32; arrays keep their shape and dtype.

    Raises:
        ValueError: A number is out of the range of what it becomes.

    >>> import jax
    >>> strong = strongly_typed({"time": 0, "speed": 0.5, "done": False})
    >>> [str(leaf.dtype) for leaf in jax.tree.leaves(strong)]
    ['bool', 'float32', 'int32']
    """
    return jax.tree.map(_strong_leaf, tree)


def _strong_leaf(leaf: Any) -> jax.Array:
    if type(leaf) is float:
        _require_held(np.asarray(leaf), jnp.float32)
        return jnp.asarray(leaf, jnp.float32)
    if type(leaf) is int:
        _require_held(np.asarray(leaf), jnp.int32)
        return jnp.asarray(leaf, jnp.int32)
    if isinstance(leaf, np.ndarray | np.generic):
        _require_held(np.asarray(leaf), jax.dtypes.canonicalize_dtype(leaf.dtype))
    array = jnp.asarray(leaf)
    if not jax.typeof(array).weak_type:  # also random keys, which cannot be converted
        return array
    return jax.lax.convert_element_type(array, array.dtype)


def _require_held(values: np.ndarray, dtype: Any) -> None:
    """Raise ValueError if a number would become infinite, or lose its upper bits."""
    with np.errstate(over="ignore", invalid="ignore"):
        kept = values.astype(dtype)
    is_lost = kept != values if values.dtype.kind in "iuO" else np.isinf(kept) & np.isfinite(values)
    if is_lost.any():
        name = jnp.dtype(dtype).name
        article = "an" if name.startswith("int") else "a"
        raise ValueError(
            f"expected numbers that {article} {name} holds, got {values[is_lost].flat[0]}"
        )
