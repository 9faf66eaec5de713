"""Numbers on their way to a device, where they have 32 bits: none becomes another one unsaid.

Python's and NumPy's numbers have 64 bits. JAX makes them int32 and float32, unless
``jax_enable_x64`` is on, and cuts off the upper bits of integers. The last digits of a float may
go. A number that is out of range is refused, and so are different numbers that come out equal.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

# Of all pairs of different numbers so many may tie for being rounded, as a few of many thousands
# of random numbers do. It is as good as nothing for a comparison of which the sign is averaged.
_MOST_TIED = 1e-3


def as_arrays(name: str, tree: Any) -> Any:
    """A pytree with arrays of JAX as leaves.

    Args:
        name: Of the argument, for messages.
        tree: With arrays, numbers or keys as leaves; arrays of JAX stay what they are.

    Raises:
        ValueError: A leaf is no array of numbers, or one of its numbers is out of range.

    >>> as_arrays("options", [1, 2, 2**32])
    Traceback (most recent call last):
    ValueError: options: expected numbers that an int32 holds, got 4294967296
    """
    return jax.tree.map(lambda leaf: _as_array(name, as_host_array(name, leaf)), tree)


def as_host_array(name: str, leaf: Any) -> Any:
    """An array of NumPy, if it is none of JAX, or traced; of numbers that an array of JAX may have.

    Raises:
        ValueError: It is of something else, such as texts, dates or rows of many lengths, or
            masked: what is masked would count.

    >>> as_host_array("outcomes", [np.datetime64("2024-01-01")])
    Traceback (most recent call last):
    ValueError: outcomes: expected arrays or numbers, got an array of datetime64[D]
    """
    if isinstance(leaf, jax.Array | Tracer):
        return leaf
    if isinstance(leaf, np.ma.MaskedArray):
        raise ValueError(f"{name}: expected arrays or numbers, got a masked array")
    try:
        array = np.asarray(leaf)
        jax.dtypes.canonicalize_dtype(array.dtype)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: expected arrays or numbers, got {leaf!r}") from error
    is_known = array.dtype.kind in "biufcV"  # V: of few bits, such as bfloat16; or records
    most_bytes = 16 if array.dtype.kind == "c" else 8  # JAX has no longer ones
    is_known &= array.dtype.names is None and array.dtype.itemsize <= most_bytes
    if not is_known:
        got = f"an array of {array.dtype}" if isinstance(leaf, np.ndarray | list) else repr(leaf)
        raise ValueError(f"{name}: expected arrays or numbers, got {got}")
    return array


def _as_array(name: str, array: Any) -> jax.Array:
    if isinstance(array, jax.Array | Tracer):
        return array
    require_range(name, array, dtype_of(array))
    return jnp.asarray(array)


def require_held(name: str, tree: Any) -> None:
    """Raise unless JAX holds the numbers of a pytree that is handed to it as it is.

    Args:
        name: Of the argument.
        tree: Leaves that are numbers of Python, or arrays of NumPy, are looked at.

    Raises:
        ValueError: It does not.

    >>> require_held("option", {"steps": np.array(2**40)})
    Traceback (most recent call last):
    ValueError: option: expected numbers that an int32 holds, got 1099511627776
    """
    for leaf in jax.tree.leaves(tree):
        if isinstance(leaf, int | float | complex | np.ndarray | np.generic):
            array = as_host_array(name, leaf)
            require_range(name, array, dtype_of(array))


def dtype_of(array: Any) -> Any:
    """The dtype that an array has as one of JAX.

    >>> dtype_of(np.zeros(3, np.int16)), dtype_of(jnp.zeros(3, jnp.float32))
    (dtype('int16'), dtype('float32'))
    """
    if isinstance(array, jax.Array | Tracer):
        return array.dtype  # also those of keys
    return jax.dtypes.canonicalize_dtype(array.dtype)


def are_kept(values: np.ndarray, dtype: Any) -> bool:
    """Does a dtype hold all of these numbers as they are, whatever they are?

    Numbers that are so small that devices take them for 0 are not held.

    >>> are_kept(np.ones(3, np.int8), np.float32), are_kept(np.ones(3, np.int32), np.float32)
    (True, False)
    """
    if not np.can_cast(values.dtype, dtype, "safe"):
        return False
    if values.dtype != dtype or values.dtype.kind != "f" or not values.size:
        return True
    tiny = np.finfo(values.dtype).tiny
    return not ((values != 0) & (np.abs(values) < tiny)).any()


def require_range(name: str, values: np.ndarray, dtype: Any) -> None:
    """Raise unless all numbers are in the range of a dtype, or infinite, or NaN.

    Args:
        name: Of the argument.
        values: Any shape.
        dtype: Of what they will be kept in; integers if they are integers, or floats.

    Raises:
        ValueError: It does not.

    >>> require_range("outcomes", np.array([1.0, 1e39]), np.float32)
    Traceback (most recent call last):
    ValueError: outcomes: expected numbers that a float32 holds, got 1e+39
    """
    dtype = jnp.dtype(dtype)
    if np.can_cast(values.dtype, dtype, "safe"):
        return
    if jnp.issubdtype(dtype, jnp.integer):
        limits = jnp.iinfo(dtype)
        # Compared with Python's integers, which have no range.
        is_out = (values < int(limits.min)) | (values > int(limits.max))
    else:
        is_out = np.isfinite(values) & ~np.isfinite(_rounded(values, dtype))
    if is_out.any():
        article = "an" if jnp.issubdtype(dtype, jnp.integer) else "a"
        raise ValueError(
            f"{name}: expected numbers that {article} {dtype} holds, got {values[is_out].flat[0]}"
        )


def require_told_apart(name: str, values: np.ndarray, dtype: Any) -> None:
    """Raise unless a dtype keeps different numbers different.

    Args:
        name: Of the argument.
        values: [n, ...]; the n numbers at each place of the other axes are compared.
        dtype: Of what they will be kept in.

    Raises:
        ValueError: One is out of range, or more than one of a thousand pairs of different ones
            would tie.

    >>> require_told_apart("outcomes", np.array([1.0, 1.0 + 1e-9]), np.float32)
    Traceback (most recent call last):
    ValueError: outcomes: expected numbers that a float32 tells apart, got 1.0 and 1.000000001; ...
    """
    dtype = jnp.dtype(dtype)
    if are_kept(values, dtype):
        return
    if values.dtype.kind == "c":
        for part in (np.real(values), np.imag(values)):
            require_told_apart(name, part, jnp.finfo(dtype).dtype)
        return
    require_range(name, values, dtype)
    if jnp.issubdtype(dtype, jnp.integer) or len(values) < 2:
        return
    ordered = np.sort(values.reshape(len(values), -1), axis=0)
    kept = _rounded(ordered, dtype)
    new, new_kept = (ordered[1:] != ordered[:-1], kept[1:] != kept[:-1])
    tied = _equal_pairs(new_kept) - _equal_pairs(new)
    different = len(ordered) * (len(ordered) - 1) / 2 - _equal_pairs(new)
    if (tied > _MOST_TIED * different).any():
        row, column = np.argwhere(new & ~new_kept)[0]
        pair = (ordered[row, column], ordered[row + 1, column])
        raise ValueError(
            f"{name}: expected numbers that a {dtype} tells apart, got {pair[0]} and {pair[1]}; "
            "subtract what they have in common, or hand over their ranks if only the order counts"
        )


def _rounded(values: np.ndarray, dtype: Any) -> np.ndarray:
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        kept = values.astype(dtype)
    if jnp.issubdtype(dtype, jnp.inexact):
        kept = np.where(np.abs(kept) < jnp.finfo(dtype).tiny, kept.dtype.type(0), kept)
    return kept


def _equal_pairs(is_new: np.ndarray) -> np.ndarray:
    """Pairs of equal ones in each column of sorted numbers, given where others begin: [d]."""
    length, count = is_new.shape[0] + 1, is_new.shape[1]
    starts = np.concatenate([np.ones((1, count), bool), is_new]).T.reshape(-1)
    sizes = np.diff(np.append(np.flatnonzero(starts), starts.size))
    columns = np.flatnonzero(starts) // length
    return np.bincount(columns, sizes * (sizes - 1) / 2, count)


def require_rows_apart(name: str, given: Any, kept: Any) -> None:
    """Raise unless rows that differ in what was given differ in what is kept.

    Args:
        name: Of the argument.
        given: Leaves [K, ...], NumPy's, or JAX's that are kept as they are.
        kept: The same as arrays of JAX.

    Raises:
        ValueError: Two rows became equal.

    >>> given = np.array([1.0, 1.0 + 1e-9])
    >>> require_rows_apart("options", given, jnp.asarray(given, jnp.float32))
    Traceback (most recent call last):
    ValueError: options: expected rows that float32 tells apart, got 0 and 1, which it does not
    """
    pairs = list(zip(jax.tree.leaves(given), jax.tree.leaves(kept), strict=True))
    if any(isinstance(new, Tracer) for _, new in pairs):
        return
    narrowed = [old.dtype != new.dtype for old, new in pairs]
    if not any(narrowed):
        return
    before = _row_codes([old for old, _ in pairs])
    after = _row_codes([new for _, new in pairs])
    first: dict[Any, int] = {}
    for row, code in enumerate(after):
        other = first.setdefault(code, row)
        if before[other] != before[row]:
            dtype = pairs[narrowed.index(True)][1].dtype
            raise ValueError(
                f"{name}: expected rows that {dtype} tells apart, got {other} and {row}, which it "
                "does not"
            )


def _row_codes(leaves: list[Any]) -> list[tuple[bytes, ...]]:
    """The bytes of each row."""
    arrays = [
        np.asarray(jax.random.key_data(x) if jnp.issubdtype(x.dtype, jax.dtypes.prng_key) else x)
        for x in leaves
    ]
    return list(zip(*([row.tobytes() for row in array] for array in arrays), strict=True))
