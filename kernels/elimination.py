"""Inverses by elimination.

Without LAPACK: two programs with its calls that run side by side on a CPU, as blocks of a sweep do,
may wait for each other for ever.
"""

import jax
import jax.numpy as jnp
from jax import lax

_SMALLEST_PIVOT = 8  # machine epsilons of the largest number on the diagonal


def inverse(matrix: jax.Array) -> jax.Array:
    """The inverse of a regular float [K, K], by Gauss and Jordan with pivots from the column.

    >>> print(inverse(jnp.array([[0.0, 2.0], [4.0, 0.0]])))
    [[0.   0.25]
     [0.5  0.  ]]
    """
    size = matrix.shape[-1]
    numbers = jnp.arange(size)

    def eliminate(column: jax.Array, both: jax.Array) -> jax.Array:
        candidates = jnp.where(numbers >= column, jnp.abs(both[:, column]), -1.0)
        pivot = jnp.argmax(candidates)
        swapped = both.at[column].set(both[pivot]).at[pivot].set(both[column])
        row = swapped[column] / swapped[column, column]
        factors = swapped[:, column].at[column].set(0.0)
        return (swapped - factors[:, None] * row[None, :]).at[column].set(row)

    both = jnp.concatenate([matrix, jnp.eye(size, dtype=matrix.dtype)], axis=-1)
    return lax.fori_loop(0, size, eliminate, both)[:, size:]


def definite_inverse(matrix: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Inverses of symmetric float [..., K, K], and which are of definite matrices, bool [...].

    Positive definite are matrices with positive pivots alone; inverses of others mean nothing.

    >>> inverted, is_definite = definite_inverse(jnp.array([[2.0, 0.0], [0.0, 4.0]]))
    >>> print(inverted.diagonal(), is_definite)
    [0.5  0.25] True
    """
    size = matrix.shape[-1]
    numbers = jnp.arange(size)
    diagonal = jnp.abs(jnp.diagonal(matrix, axis1=-2, axis2=-1)).max(-1)
    least = _SMALLEST_PIVOT * jnp.finfo(matrix.dtype).eps * diagonal

    def sweep(place: jax.Array, carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        swept, definite = carry
        pivot = swept[..., place, place]
        row, column = swept[..., place, :], swept[..., :, place]
        # Chosen, not written: every write would be a kernel of its own.
        row, opposite = row / pivot[..., None], -column / pivot[..., None]
        in_row, in_column = (numbers == place)[:, None], numbers == place
        swept = swept - column[..., :, None] * row[..., None, :]
        swept = jnp.where(in_row, row[..., None, :], swept)
        swept = jnp.where(in_column, opposite[..., :, None], swept)
        swept = jnp.where(in_row & in_column, 1 / pivot[..., None, None], swept)
        return swept, definite & (pivot > least)

    start = matrix, jnp.ones(matrix.shape[:-2], bool)
    return lax.fori_loop(0, size, sweep, start)
