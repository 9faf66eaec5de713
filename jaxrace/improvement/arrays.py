"""Arguments as NumPy arrays; ValueError, with the argument's name, where they cannot be used."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from jaxrace.narrowing import as_host_array

# Of actions and policies: they are kept as int32.
MOST = 2**31 - 1

# Of the positive float32 numbers that devices do not take for 0.
SMALLEST = float(np.finfo(np.float32).tiny)


def as_integers(name: str, given: ArrayLike, count: int | None = None) -> np.ndarray:
    """An integer for each of so many rows; or without a count a table of them, [n, T]."""
    expected = f"{name}: expected integers {'[n, T]' if count is None else [count]}"
    try:
        numbers = np.asarray(given)
    except ValueError:
        raise ValueError(f"{expected}, got rows of many lengths") from None
    has_shape = (
        numbers.shape == (count,) if count is not None else numbers.ndim == 2 and numbers.size > 0
    )
    if not (has_shape and np.issubdtype(numbers.dtype, np.integer)):
        raise ValueError(f"{expected}, got {numbers.dtype}{[*numbers.shape]}")
    return numbers


def policy_numbers(name: str, given: ArrayLike | None, count: int) -> np.ndarray:
    """Which policy each of so many rows is by, from 0 on; one and the same if none are given."""
    found = as_integers(name, np.zeros(count, int) if given is None else given, count)
    require_all(name, found, (found < 0) | (found > MOST), f"a number from 0 to {MOST}")
    return found


def as_numbers(name: str, given: Any, shape: tuple[int, ...] | None = None) -> np.ndarray:
    """In float32, as they will be kept: what is too large is infinite, what is too small is 0."""
    found = as_given(name, given)
    with np.errstate(over="ignore", under="ignore"):
        real = found.astype(np.float32)
    if shape is not None and real.shape != shape:
        raise ValueError(f"{name}: expected numbers {[*shape]}, got {[*real.shape]}")
    return real


def as_given(name: str, given: Any) -> np.ndarray:
    """Real numbers, in as many digits as they have; no texts, dates or complex numbers."""
    found = np.asarray(as_host_array(name, given))
    if np.iscomplexobj(found):
        raise ValueError(f"{name}: expected real numbers, got {found.dtype}")
    return found


def require_all(name: str, values: np.ndarray, is_bad: np.ndarray, expected: str) -> None:
    """Raise, and name the first, if a value is bad."""
    if is_bad.any():
        place = tuple(int(index) for index in np.argwhere(is_bad)[0])
        listed = ", ".join(map(str, place))
        raise ValueError(f"{name}[{listed}]: expected {expected}, got {values[place]}")
