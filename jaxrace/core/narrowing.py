"""Numbers on their way to a device, where they have 32 bits: none silently becomes another one.

The last digits of a float may go. A number out of range is refused, and so are different numbers
that come out equal. With ``jax_enable_x64`` a device holds 64 bits. Arrays of JAX pass unchecked.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from jaxrace.core.validation import BadArgument

_MOST_TIED = 1e-3  # the share of pairs of different numbers that rounding may make equal


def as_arrays(name: str, tree: Any) -> Any:
    """A pytree of arrays, numbers or keys with arrays of JAX as leaves, none out of range."""

    def convert(leaf: Any) -> jax.Array:
        array = as_host_array(name, leaf)
        if isinstance(array, jax.Array | Tracer):
            return array
        require_range(name, array, dtype_of(array))
        return jnp.asarray(array)

    return jax.tree.map(convert, tree)


def as_host_array(name: str, leaf: Any) -> Any:
    """An array of NumPy that JAX can take over; arrays of JAX stay.

    Refused are texts, dates, rows of unequal lengths and masked arrays.
    """
    if isinstance(leaf, jax.Array | Tracer):
        return leaf
    if isinstance(leaf, np.ma.MaskedArray):
        raise BadArgument(name, "arrays or numbers", "a masked array")
    try:
        array = np.asarray(leaf)
        jax.dtypes.canonicalize_dtype(array.dtype)
    except (TypeError, ValueError) as error:
        raise BadArgument(name, "arrays or numbers", repr(leaf)) from error
    is_known = array.dtype.kind in "biufcV"  # V: of few bits, such as bfloat16; or records
    most_bytes = 16 if array.dtype.kind == "c" else 8  # of JAX's dtypes
    is_known &= array.dtype.names is None and array.dtype.itemsize <= most_bytes
    if not is_known:
        got = f"an array of {array.dtype}" if isinstance(leaf, np.ndarray | list) else repr(leaf)
        raise BadArgument(name, "arrays or numbers", got)
    return array


def dtype_of(array: Any) -> Any:
    """The dtype of an array once it is JAX's."""
    if isinstance(array, jax.Array | Tracer):
        return array.dtype
    return jax.dtypes.canonicalize_dtype(array.dtype)


def are_kept(values: np.ndarray, dtype: Any) -> bool:
    """Does a dtype hold all of these numbers exactly? Devices take subnormal ones for 0."""
    if not np.can_cast(values.dtype, dtype, "safe"):
        return False
    if values.dtype != dtype or values.dtype.kind != "f" or not values.size:
        return True
    tiny = np.finfo(values.dtype).tiny
    return not ((values != 0) & (np.abs(values) < tiny)).any()


def require_range(name: str, values: np.ndarray, dtype: Any) -> None:
    """Raise unless a dtype holds all numbers but for the last digits of floats."""
    dtype = jnp.dtype(dtype)
    if np.can_cast(values.dtype, dtype, "safe"):
        return
    if jnp.issubdtype(dtype, jnp.complexfloating):
        values, dtype = np.stack([np.real(values), np.imag(values)], -1), jnp.finfo(dtype).dtype
    if jnp.issubdtype(dtype, jnp.integer):
        limits = jnp.iinfo(dtype)
        # Compared with Python's integers, which have no range.
        is_out = ~((values >= int(limits.min)) & (values <= int(limits.max)))
        if values.dtype.kind == "f":
            is_out |= values != np.floor(values)
    else:
        size = np.abs(values)
        is_out = (size > float(jnp.finfo(dtype).max)) & (size < np.inf)
    if np.any(is_out):
        article = "an" if dtype.name.startswith("int") else "a"
        got = str(values[is_out].flat[0])
        raise BadArgument(name, f"numbers that {article} {dtype} holds", got)


def require_told_apart(name: str, values: np.ndarray, dtype: Any) -> None:
    """Raise unless a dtype keeps different numbers different, but for a thousandth of pairs.

    Compared are the n numbers of ``values`` [n, ...] at each index of the other axes.
    """
    dtype = jnp.dtype(dtype)
    if are_kept(values, dtype):
        return
    if values.dtype.kind == "c":
        values, dtype = np.stack([np.real(values), np.imag(values)], -1), jnp.finfo(dtype).dtype
    require_range(name, values, dtype)
    if jnp.issubdtype(dtype, jnp.integer) or len(values) < 2:
        return
    for column in values.reshape(len(values), -1).T:
        ordered = np.sort(column)
        kept = _rounded(ordered, dtype)
        equal = _equal_pairs(ordered)
        different = len(column) * (len(column) - 1) / 2 - equal
        if _equal_pairs(kept) - equal > _MOST_TIED * different:
            row = np.flatnonzero((ordered[1:] != ordered[:-1]) & (kept[1:] == kept[:-1]))[0]
            hint = (
                "; subtract what they have in common, or hand over ranks if only the order counts"
            )
            got = f"{ordered[row]} and {ordered[row + 1]}"
            raise BadArgument(name, f"numbers that a {dtype} tells apart", got, hint)


def _rounded(values: np.ndarray, dtype: Any) -> np.ndarray:
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        kept = values.astype(dtype)
    if jnp.issubdtype(dtype, jnp.inexact):
        kept = np.where(np.abs(kept) < jnp.finfo(dtype).tiny, kept.dtype.type(0), kept)
    return kept


def _equal_pairs(numbers: np.ndarray) -> float:
    counts = np.unique(numbers, return_counts=True)[1]
    return float((counts * (counts - 1) / 2).sum())


def require_rows_apart(name: str, given: Any, kept: Any) -> None:
    """Raise unless rows that differ in what was given differ in what is kept.

    ``given`` has leaves [K, ...], NumPy's or JAX's; ``kept`` has JAX's.
    """
    olds, news = jax.tree.leaves(given), jax.tree.leaves(kept)
    narrowed = [new.dtype for old, new in zip(olds, news, strict=True) if old.dtype != new.dtype]
    if not narrowed or any(isinstance(new, Tracer) for new in news):
        return
    before, after = _row_codes(olds), _row_codes(news)
    first: dict[Any, int] = {}
    for row, code in enumerate(after):
        other = first.setdefault(code, row)
        if before[other] != before[row]:
            expected, got = f"rows that {narrowed[0]} tells apart", f"{other} and {row}"
            raise BadArgument(name, expected, got, ", which it does not")


def _row_codes(leaves: list[Any]) -> list[tuple[bytes, ...]]:
    """The bytes of each row."""
    of_keys = jax.dtypes.prng_key
    numbers = (jax.random.key_data(x) if jnp.issubdtype(x.dtype, of_keys) else x for x in leaves)
    arrays = map(np.asarray, numbers)
    return list(zip(*([row.tobytes() for row in array] for array in arrays), strict=True))
