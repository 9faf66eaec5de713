"""Batches that a program lays out itself, whatever is vmapped over it."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.custom_batching import custom_vmap


def merge_vmaps(of_lanes: Callable[..., Any]) -> Callable[..., Any]:
    """Let every vmap add to the lane axis of a function of leaves [lanes, ...].

    >>> shapes = []
    >>> double = merge_vmaps(lambda x: shapes.append(x.shape) or 2 * x)
    >>> jax.vmap(double)(jnp.ones((3, 4))).shape, shapes[-1]
    ((3, 4), (12,))
    """
    merged = custom_vmap(of_lanes)

    @merged.def_vmap
    def _merge(axis_size: int, in_batched: Any, *args: Any) -> tuple[Any, Any]:
        def with_axis(is_batched: bool, x: jax.Array) -> jax.Array:
            wide = x if is_batched else jnp.broadcast_to(x, (axis_size, *x.shape))
            return wide.reshape(-1, *wide.shape[2:])

        lanes = jax.tree.map(with_axis, tuple(in_batched), args)
        out = merged(*lanes)
        split = jax.tree.map(lambda x: x.reshape(axis_size, -1, *x.shape[1:]), out)
        return split, jax.tree.map(lambda _: True, split)

    return merged


def map_blocks(of_lanes: Callable[..., Any], width: int) -> Callable[..., Any]:
    """A function of leaves [lanes, ...], ``width`` at a time; the last lane fills the last block.

    >>> map_blocks(lambda x: x - x[0], 4)(jnp.arange(6)).tolist()
    [0, 1, 2, 3, 0, 1]
    """

    def of_blocks(*args: Any) -> Any:
        lanes = jax.tree.leaves(args)[0].shape[0]
        if lanes <= width:
            return of_lanes(*args)
        places = jnp.minimum(jnp.arange(lanes + -lanes % width), lanes - 1).reshape(-1, width)
        found = lax.map(lambda own: of_lanes(*jax.tree.map(lambda x: x[own], args)), places)
        return jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:])[:lanes], found)

    return of_blocks
