"""Turns Python numbers and weakly typed arrays into strongly typed ones.

A weak type is part of an array's type: a loop whose carry starts weak and goes on strong fails or
compiles twice, and a weak float becomes a float64 wherever x64 is on.
"""

from typing import Any

import jax
import jax.numpy as jnp

from jaxrace.envs.held import require_held


def strongly_typed(tree: Any, name: str = "") -> Any:
    """Return the pytree with arrays for leaves, none of them weakly typed.

    Python floats become float32 and Python integers int32; arrays keep their shape and dtype.

    Args:
        tree: any pytree.
        name: what it is, for the message.

    Raises:
        ValueError: A number is out of the range of what it becomes.

    >>> import jax
    >>> strong = strongly_typed({"time": 0, "speed": 0.5, "done": False})
    >>> [str(leaf.dtype) for leaf in jax.tree.leaves(strong)]
    ['bool', 'float32', 'int32']
    """
    return jax.tree.map(lambda leaf: _strong_leaf(name, leaf), tree)


def _strong_leaf(name: str, leaf: Any) -> jax.Array:
    if type(leaf) is float:
        require_held(name, leaf, jnp.float32)
        return jnp.asarray(leaf, jnp.float32)
    if type(leaf) is int:
        require_held(name, leaf, jnp.int32)
        return jnp.asarray(leaf, jnp.int32)
    require_held(name, leaf)
    array = jnp.asarray(leaf)
    if not jax.typeof(array).weak_type:  # also random keys, which cannot be converted
        return array
    return jax.lax.convert_element_type(array, array.dtype)
