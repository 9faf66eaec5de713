"""Functions of one lane, which vmaps compute with functions of many."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from jaxrace.kernels import map_blocks, merge_vmaps


def one_lane(of_lanes: Callable[..., Any]) -> Callable[..., Any]:
    """A function of one lane that vmaps compute with a function of lanes.

    >>> jax.vmap(one_lane(lambda x: x.cumsum()))(jnp.arange(4)).tolist()  # along the lanes
    [0, 1, 3, 6]
    """
    merged = merge_vmaps(of_lanes)

    def of_one(*args: Any) -> Any:
        found = merged(*jax.tree.map(lambda x: jnp.asarray(x)[None], args))
        return jax.tree.map(lambda x: x[0], found)

    return of_one


def in_blocks(function: Callable[..., Any], width: int) -> Callable[..., Any]:
    """A function of one lane that vmaps compute with ``map_blocks``.

    >>> jax.vmap(in_blocks(lambda x: x.sum(), 4))(jnp.arange(10).reshape(5, 2)).tolist()
    [1, 5, 9, 13, 17]
    """
    return one_lane(map_blocks(jax.vmap(function), width))
