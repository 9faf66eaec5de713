"""Arguments as NumPy arrays, checked."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

# Of actions and policies: they are kept as int32.
MOST = 2**31 - 1


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

    >>> as_numbers("rewards", ["a"])
    Traceback (most recent call last):
    ValueError: rewards: expected numbers, in rows of one length
    """
    try:
        found = np.asarray(given)
        is_complex = np.iscomplexobj(found)
        with np.errstate(over="ignore", under="ignore"):
            real = np.real(found).astype(np.float32)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: expected numbers, in rows of one length") from None
    if is_complex:
        raise ValueError(f"{name}: expected real numbers, got {found.dtype}")
    if shape is not None and real.shape != shape:
        raise ValueError(f"{name}: expected numbers {[*shape]}, got {[*real.shape]}")
    return real


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
