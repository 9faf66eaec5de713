"""Products with a matrix whose last rows may be empty, which most of the time they are.

A set that grows has room for all that will come. With the first quarter, half and three quarters of
the rows at hand as matrices of their own, a product takes the shortest one that has all that is
filled. Axes: n rows, B columns.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.custom_batching import custom_vmap

_PARTS = 4

# Numbers of a matrix, above which memory (two and a half times as much) counts more than time.
_MOST_NUMBERS = 4_000_000


class RowPrefixes(NamedTuple):
    """The first rows of a matrix."""

    prefixes: tuple[jax.Array, ...]  # float32 [some rows, B] each; the last one has all n
    filled: jax.Array  # int32 [], rows up to the last that is not empty

    @property
    def whole(self) -> jax.Array:
        """The matrix, float32 [n, B]."""
        return self.prefixes[-1]


def row_prefixes(matrix: jax.Array, used: jax.Array) -> RowPrefixes:
    """Prefixes of a matrix, on a CPU; elsewhere, where products are batched, the matrix alone.

    Args:
        matrix: float32 [n, B].
        used: bool [n]; the other rows are zeros.

    >>> found = row_prefixes(jnp.eye(8), jnp.arange(8) < 3)
    >>> found.whole.shape, int(found.filled)
    ((8, 8), 3)
    """
    size = len(used)
    filled = jnp.where(used, jnp.arange(1, size + 1, dtype=jnp.int32), 0).max()
    is_worth_it = (
        jax.default_backend() == "cpu" and _PARTS <= size <= _MOST_NUMBERS / matrix.shape[1]
    )
    parts = _PARTS if is_worth_it else 1
    ends = [-(-size * part // parts) for part in range(1, parts + 1)]
    return RowPrefixes(tuple(matrix[:end] for end in ends), filled)


def prefix_product(values: jax.Array, rows: RowPrefixes) -> jax.Array:
    """``values @ matrix``, float32 [B].

    Batched with vmap over values that share the matrix, it is one product of matrices.

    Args:
        values: float32 [n].
        rows: From ``row_prefixes``.

    >>> rows = row_prefixes(jnp.eye(8), jnp.arange(8) < 3)
    >>> print(prefix_product(jnp.arange(8.0), rows)[:3])
    [0. 1. 2.]
    """
    return _product(values, rows)


def _matmul(values: jax.Array, matrix: jax.Array) -> jax.Array:
    # A GPU would round the values to 10 bits otherwise.
    return jnp.matmul(values, matrix, precision=lax.Precision.HIGHEST)


@custom_vmap
def _product(values: jax.Array, rows: RowPrefixes) -> jax.Array:
    """Of values [..., n]."""

    def of_prefix(number: int) -> Callable[[jax.Array, tuple[jax.Array, ...]], jax.Array]:
        size = len(rows.prefixes[number])
        return lambda values, prefixes: _matmul(values[..., :size], prefixes[number])

    ends = jnp.array([len(prefix) for prefix in rows.prefixes[:-1]], jnp.int32)
    choice = (rows.filled > ends).sum(dtype=jnp.int32)
    branches = [of_prefix(number) for number in range(len(rows.prefixes))]
    return lax.switch(choice, branches, values, rows.prefixes)


@_product.def_vmap
def _batched_product(
    axis_size: int, is_batched: Any, values: jax.Array, rows: RowPrefixes
) -> tuple[jax.Array, bool]:
    """The branch stays one while the rows are the same for all; of several, all would be played."""
    del axis_size
    of_values, of_rows = is_batched
    if not any(jax.tree.leaves(of_rows)):
        return _product(values, rows), True
    axes = 0 if of_values else None, 0 if of_rows.whole else None
    if axes == (None, None):
        return _matmul(values, rows.whole), False
    return jax.vmap(_matmul, axes)(values, rows.whole), True
