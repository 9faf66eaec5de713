"""Drawing the next samples of the options of races, from keys that tell option and sample.

Axes: B lanes (races that run side by side), K options, R rows: options of races, n rounds of a
chunk.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import kernels

Sample = Callable[[jax.Array, Any], Any]
# Keys and options, leaves [B, K, ...], and the samples that each has drawn so far.
Rows = tuple[jax.Array, Any, jax.Array | np.ndarray]

# Options of a batch from which on it pays to draw only for those that ask, once they are few.
_LISTED_ROWS = 256
# Up to so many options go one by one: an expensive simulator had better not run in vain.
_SINGLE_ROWS = 128


def option_keys(keys: jax.Array, num_options: int, common_random_numbers: bool) -> jax.Array:
    """The key of each option of B races, [B, K], from those of the races, [B]."""
    numbers = jnp.arange(num_options, dtype=jnp.uint32)
    if common_random_numbers:
        numbers = jnp.zeros_like(numbers)
    return jax.vmap(jax.vmap(jax.random.fold_in, (None, 0)), (0, None))(keys, numbers)


def draw_next(sample: Sample, num_rounds: int, unequal: bool, rows: Rows, asked: jax.Array) -> Any:
    """The next samples [B, K, n, ...], from where those of each option end.

    Where options advance ``unequal``ly only those that ask, bool [B, K], are drawn.
    """
    if unequal or asked.size >= _LISTED_ROWS:
        return map_rows(of_rows(sample, num_rounds), asked, rows)
    return jax.vmap(of_rows(sample, num_rounds))(*rows)


def of_rows(sample: Sample, num_rounds: int) -> Callable[..., Any]:
    """A function of keys, options and samples drawn so far, of R options: the next [R, n, ...]."""

    def draw(option_key: jax.Array, option: Any, sample_number: jax.Array) -> Any:
        return sample(jax.random.fold_in(option_key, sample_number), option)

    def draw_row(option_key: jax.Array, option: Any, drawn: jax.Array) -> Any:
        numbers = (drawn + jnp.arange(num_rounds, dtype=jnp.int32)).astype(jnp.uint32)
        # The rounds are the innermost axis: they fill the vector registers.
        return jax.vmap(draw, (None, None, 0))(option_key, option, numbers)

    return jax.vmap(draw_row)


def map_rows(function: Callable[..., Any], wanted: jax.Array, args: Any) -> Any:
    """``function`` of the rows [B, K] that are wanted, and zeros for the others.

    The function takes ``args`` of any number of rows, [rows, ...], and returns as many.
    """
    num_rows = wanted.size
    args = jax.tree.map(lambda x: x.reshape(num_rows, *x.shape[2:]), args)

    def map_block(rows: jax.Array, results: Any) -> Any:
        own = jnp.minimum(rows, num_rows - 1)
        # Always true, but unknown at compile time: XLA keeps the conditional.
        part = kernels.with_operands_kept(
            function, rows[0] < num_rows, *jax.tree.map(lambda x: x[own], args)
        )
        return jax.tree.map(lambda x, y: x.at[rows].set(y, mode="drop"), results, part)

    first = jax.eval_shape(function, *jax.tree.map(lambda x: x[:1], args))
    empty = jax.tree.map(lambda x: jnp.zeros((num_rows, *x.shape[1:]), x.dtype), first)
    sizes = kernels.sizes()
    # The last block is filled up with an option that has not asked.
    few = num_rows <= _SINGLE_ROWS
    block = 1 if few else min(sizes.rows, num_rows // sizes.row_blocks)
    results = kernels.for_listed(wanted, block, map_block, empty)
    return jax.tree.map(lambda x: x.reshape(*wanted.shape, *x.shape[1:]), results)
