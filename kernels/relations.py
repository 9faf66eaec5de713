"""Order relations between outcomes, as signs: +1 (first preferred), -1 (second preferred), 0.

A sign is an int8 array. 0 is a tie or incomparability, half a win for each (Hemelrijk's correction;
Busa-Fekete et al. 2014, section 4.2). All functions broadcast; they keep antisymmetry.
"""

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
