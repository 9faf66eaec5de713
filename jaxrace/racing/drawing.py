"""Drawing the next samples of the options of races, from keys that tell option and sample.

Axes: B lanes (races that run side by side), K options, R rows: options of races, n rounds of a
chunk.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import kernels
from jaxrace.compilation import bounded_jit, brief

Sample = Callable[[jax.Array, Any], Any]
# Keys and options, leaves [B, K, ...], and the samples that each has drawn so far.
Rows = tuple[jax.Array, Any, jax.Array | np.ndarray]

# Options of a batch from which on it pays to draw only for those that ask, once they are few.
_LISTED_ROWS = 256
# So many rounds fill the vector registers as the innermost axis; fewer leave it to the options.
_FEW_ROUNDS = 16
# Up to so many options go one by one: an expensive simulator had better not run in vain.
SINGLE_ROWS = 128


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
        return _draw_asked(functools.partial(_draw_sample, sample), num_rounds, rows, asked)
    return jax.vmap(jax.vmap(lambda *row: draw_row(sample, num_rounds, row)))(*rows)


def draw_row(sample: Sample, num_rounds: int, row: Rows) -> Any:
    """The next samples [n, ...] of one option: leaves as those of ``Rows``, without [B, K]."""
    option_key, option, drawn = row
    draw = functools.partial(_draw_sample, sample)
    # The rounds are the innermost axis: they fill the vector registers.
    return jax.vmap(draw, (None, None, 0))(option_key, option, _numbers(drawn, num_rounds))


def draw_rows(sample: Sample, num_rounds: int, rows: Rows, asked: np.ndarray) -> Any:
    """The next samples [B, K, n, ...] of those that ask, for plain Python; zeros for the others.

    All are NumPy arrays. One small program draws any number of options, so many at once.
    """
    keys, options, drawn = rows
    leaves, structure = jax.tree.flatten((jax.random.key_data(keys), options, drawn))
    leaves = [np.asarray(x).reshape(-1, *x.shape[2:]) for x in leaves]
    wanted, size = np.flatnonzero(asked), kernels.sizes().rows
    pieces = [wanted[start : start + size] for start in range(0, len(wanted), size)]
    found = []
    for piece in pieces:
        block = np.resize(piece, size)  # filled up with options that are drawn already
        own = [x[block] for x in leaves]
        found.append(_draw_block(sample, num_rounds, jax.random.key_impl(keys), structure, own))

    def together(*parts: jax.Array) -> np.ndarray:
        drawn = np.zeros((asked.size, *parts[0].shape[1:]), parts[0].dtype)
        for piece, part in zip(pieces, parts, strict=True):
            drawn[piece] = np.asarray(part)[: len(piece)]
        return drawn.reshape(*asked.shape, *drawn.shape[1:])

    return jax.tree.map(together, *found)


@bounded_jit(4, work=brief, level=lambda sample, *_: getattr(sample, "level", 1))
def _draw_block(
    sample: Sample, num_rounds: int, kind: Any, structure: Any, leaves: list[jax.Array]
) -> Any:
    """Samples [R, n, ...] of R options, by the numbers behind their keys."""
    keys, options, drawn = jax.tree.unflatten(structure, leaves)
    keys = jax.random.wrap_key_data(keys, impl=kind)
    return jax.vmap(lambda *row: draw_row(sample, num_rounds, row))(keys, options, drawn)


def _draw_sample(
    sample: Sample, option_key: jax.Array, option: Any, sample_number: jax.Array
) -> Any:
    return sample(jax.random.fold_in(option_key, sample_number), option)


def _draw_asked(draw: Callable[..., Any], num_rounds: int, rows: Rows, asked: jax.Array) -> Any:
    """Samples [B, K, n, ...] of the options that ask; of the others nothing is drawn."""
    axis = 1 if num_rounds < _FEW_ROUNDS else 0

    def draw_block(option_keys: jax.Array, options: Any, drawn: jax.Array) -> Any:
        numbers = _numbers(drawn, num_rounds)  # [R, n]
        if num_rounds < min(_FEW_ROUNDS, drawn.size):
            return jax.vmap(jax.vmap(draw), (None, None, 0))(option_keys, options, numbers.T)
        return jax.vmap(jax.vmap(draw, (None, None, 0)), out_axes=axis)(
            option_keys, options, numbers
        )

    return map_rows(draw_block, asked, rows, axis=axis)


def _numbers(drawn: jax.Array | np.ndarray, num_rounds: int) -> jax.Array:
    """uint32 [..., n], of the samples that follow so many."""
    return (jnp.asarray(drawn)[..., None] + jnp.arange(num_rounds, dtype=jnp.int32)).astype(
        jnp.uint32
    )


def map_rows(function: Callable[..., Any], wanted: jax.Array, args: Any, axis: int = 0) -> Any:
    """``function`` of the rows [B, K] that are wanted, and zeros for the others.

    The function takes ``args`` of any number of rows, [rows, ...]; the rows of what it returns are
    on ``axis``, 0 or 1.
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
    few = num_rows <= SINGLE_ROWS
    block = 1 if few else min(sizes.rows, num_rows // sizes.row_blocks)
    results = kernels.for_listed(wanted, block, map_block, empty)
    results = jax.tree.map(lambda x: jnp.moveaxis(x, axis, 0), results)
    return jax.tree.map(lambda x: x.reshape(*wanted.shape, *x.shape[1:]), results)
