"""A sampler of many options, run for those that ask only. Axes: W races (lanes), K options."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from jaxrace import kernels

# Up to so many options go one by one: an expensive simulator had better not run in vain.
_SINGLE_ROWS = 128


def map_rows(function: Callable[..., Any], wanted: jax.Array, args: Any, axis: int = 0) -> Any:
    """``function`` of the rows [W, K] that are wanted, and zeros for the others.

    Args:
        function: Of arguments with leading axis [rows], at any number of rows.
        wanted: bool [W, K].
        args: Pytrees with leading axes [W, K].
        axis: Where the rows are in what the function returns, 0 or 1.
    """
    num_rows = wanted.size
    args = jax.tree.map(lambda x: x.reshape(num_rows, *x.shape[2:]), args)

    def map_block(rows: jax.Array, results: Any) -> Any:
        own = jnp.minimum(rows, num_rows - 1)
        # There always is a first row, which the compiler does not know.
        part = kernels.with_operands_kept(
            function, rows[0] < num_rows, *jax.tree.map(lambda x: x[own], args)
        )
        at = (slice(None),) * axis + (rows,)
        return jax.tree.map(lambda x, y: x.at[at].set(y, mode="drop"), results, part)

    first = jax.eval_shape(function, *jax.tree.map(lambda x: x[:1], args))

    def empty_of(x: jax.ShapeDtypeStruct) -> jax.Array:
        return jnp.zeros((*x.shape[:axis], num_rows, *x.shape[axis + 1 :]), x.dtype)

    empty = jax.tree.map(empty_of, first)
    sizes = kernels.sizes()
    # The last block is filled up with an option that has not asked.
    few = num_rows <= _SINGLE_ROWS
    block = 1 if few else min(sizes.rows, num_rows // sizes.row_blocks)
    results = kernels.for_listed(wanted, block, map_block, empty)
    results = jax.tree.map(lambda x: jnp.moveaxis(x, axis, 0), results)
    return jax.tree.map(lambda x: x.reshape(*wanted.shape, *x.shape[1:]), results)
