"""Arguments as NumPy arrays, checked."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

# Of actions and policies: they are kept as int32.
MOST = 2**31 - 1

# The numbers of float32 that devices do not take for infinite, or for 0.
LARGEST, SMALLEST = float(np.finfo(np.float32).max), float(np.finfo(np.float32).tiny)

# Of the spread of some numbers: what float32 may make of them is off by no more.
_MOST_ROUNDED = 1e-3


def as_integers(name: str, given: ArrayLike, shape: str) -> np.ndarray:
    """Integers; ``shape`` is for the message.

    Raises:
        ValueError: They are none.

    >>> as_integers("actions", [0.5], "[n, T]")
    Traceback (most recent call last):
    ValueError: actions: expected integers [n, T], got float64[1]
    """
    try:
        numbers = np.asarray(given)
    except ValueError:
        raise ValueError(f"{name}: expected integers {shape}, got rows of many lengths") from None
    if not np.issubdtype(numbers.dtype, np.integer):
        raise ValueError(
            f"{name}: expected integers {shape}, got {numbers.dtype}{[*numbers.shape]}"
        )
    return numbers


def as_rows(name: str, given: ArrayLike, count: int) -> np.ndarray:
    """An integer for each of so many rows.

    Raises:
        ValueError: There are others.

    >>> as_rows("lengths", [1, 2], 3)
    Traceback (most recent call last):
    ValueError: lengths: expected integers [3], got int64[2]
    """
    numbers = as_integers(name, given, f"[{count}]")
    if numbers.shape != (count,):
        raise ValueError(
            f"{name}: expected integers [{count}], got {numbers.dtype}{[*numbers.shape]}"
        )
    return numbers


def policy_numbers(name: str, given: ArrayLike | None, count: int) -> np.ndarray:
    """Which policy each of so many rows is by; one and the same if none are given.

    Raises:
        ValueError: They are no integers from 0 on, or not so many.

    >>> policy_numbers("behaviour", [0, -1], 2)
    Traceback (most recent call last):
    ValueError: behaviour[1]: expected a number from 0 to 2147483647, got -1
    """
    found = as_rows(name, np.zeros(count, int) if given is None else given, count)
    require_all(name, found, (found < 0) | (found > MOST), f"a number from 0 to {MOST}")
    return found


def as_numbers(name: str, given: Any, shape: tuple[int, ...] | None = None) -> np.ndarray:
    """In float32, as they will be kept: what is too large is infinite, what is too small is 0.

    Raises:
        ValueError: They are no real numbers, or have another shape.

    >>> as_numbers("rewards", np.array(["2024-01-01"], "datetime64"))
    Traceback (most recent call last):
    ValueError: rewards: expected numbers, got datetime64[D]
    """
    found = as_given(name, given)
    with np.errstate(over="ignore", under="ignore"):
        real = found.astype(np.float32)
    if shape is not None and real.shape != shape:
        raise ValueError(f"{name}: expected numbers {[*shape]}, got {[*real.shape]}")
    return real


def as_given(name: str, given: Any) -> np.ndarray:
    """Real numbers, in as many digits as they have.

    Raises:
        ValueError: They are none: texts, dates and complex numbers, too, become other numbers.

    >>> as_given("rewards", [[1], [1, 2]])
    Traceback (most recent call last):
    ValueError: rewards: expected numbers, in rows of one length
    """
    try:
        found = np.asarray(given)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: expected numbers, in rows of one length") from None
    # Those of few bits, such as bfloat16, have no kind of their own.
    is_real = found.dtype.kind in "biuf" or jnp.issubdtype(found.dtype, jnp.floating)
    if isinstance(found, np.ma.MaskedArray):
        raise ValueError(f"{name}: expected numbers, got a masked array")
    if not is_real:
        kind = "real numbers" if np.iscomplexobj(found) else "numbers"
        raise ValueError(f"{name}: expected {kind}, got {found.dtype}")
    return found


def require_digits(name: str, given: np.ndarray, counted: np.ndarray) -> None:
    """Raise unless float32 tells numbers apart: it has seven digits.

    Args:
        name: Of the argument.
        given: [n, T, ...], finite; the numbers at each place of the other axes are compared.
        counted: Which of them count, bool [n, T].

    Raises:
        ValueError: Rounding is no small part of what they differ by.

    >>> seconds = np.array([[1_700_000_000, 1_700_000_060]])
    >>> require_digits("observations", seconds, np.ones((1, 2), bool))
    Traceback (most recent call last):
    ValueError: observations: expected numbers that float32 tells apart, got 1700000000 to ...
    """
    if np.can_cast(given.dtype, np.float32, "safe"):
        return
    listed = given[counted].reshape(counted.sum(), -1)
    with np.errstate(under="ignore"):
        rounded = np.abs(listed.astype(np.float32).astype(np.float64) - listed).max(0)
    for low, high, most in zip(listed.min(0), listed.max(0), rounded, strict=True):
        # Of integers the difference may need more bits than they have.
        spread = float(high.item() - low.item())
        if most > _MOST_ROUNDED * spread > 0:
            raise ValueError(
                f"{name}: expected numbers that float32 tells apart, got {low} to {high}, which it "
                f"rounds by up to {most:.2g}: subtract what they have in common"
            )


def require_all(name: str, values: np.ndarray, is_bad: np.ndarray, expected: str) -> None:
    """Raise unless no value is bad.

    Raises:
        ValueError: One is; the message names the first.

    >>> require_all("rewards", np.array([1, 2]), np.array([False, True]), "less")
    Traceback (most recent call last):
    ValueError: rewards[1]: expected less, got 2
    """
    if is_bad.any():
        place = tuple(int(index) for index in np.argwhere(is_bad)[0])
        listed = ", ".join(map(str, place))
        raise ValueError(f"{name}[{listed}]: expected {expected}, got {values[place]}")
