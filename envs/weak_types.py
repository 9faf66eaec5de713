"""Turns Python numbers and weakly typed arrays into strongly typed ones.

A weak type is part of an array's type: a loop whose carry starts weak and goes on strong fails or
compiles twice, and a weak float becomes a float64 wherever x64 is on.
"""

from typing import Any

import jax
import jax.numpy as jnp


def strongly_typed(tree: Any) -> Any:
    """Return the pytree with arrays for leaves, none of them weakly typed.

    Python floats become float32 and Python integers int32; arrays keep their shape and dtype.

    >>> import jax
    >>> strong = strongly_typed({"time": 0, "speed": 0.5, "done": False})
    >>> [str(leaf.dtype) for leaf in jax.tree.leaves(strong)]
    ['bool', 'float32', 'int32']
    """
    return jax.tree.map(_strong_leaf, tree)


def _strong_leaf(leaf: Any) -> jax.Array:
    if type(leaf) is float:
        return jnp.asarray(leaf, jnp.float32)
    if type(leaf) is int:
        return jnp.asarray(leaf, jnp.int32)
    array = jnp.asarray(leaf)
    if not jax.typeof(array).weak_type:  # also random keys, which cannot be converted
        return array
    return jax.lax.convert_element_type(array, array.dtype)
