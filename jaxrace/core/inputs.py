"""Checks of what a command or a table brings: addresses, files, matrices, words of the user."""

import os
import re
import stat
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from jaxrace.core.validation import BadArgument

_ADDRESS = re.compile(r"auto|local|ray://.+|([\w.-]+|\[[\da-fA-F:.]+\]):\d+")


def is_address(word: str) -> bool:
    """Does it look like the address of a cluster of Ray?

    >>> [is_address(word) for word in ("auto", "head-1:6379", "ray://head:10001", "medical")]
    [True, True, True, False]
    """
    return _ADDRESS.fullmatch(word) is not None


def require_address(name: str, value: str) -> None:
    """Raise unless ``value`` looks like the address of a cluster of Ray."""
    if not is_address(value):
        raise BadArgument(name, "auto, local, HOST:PORT or ray://HOST:PORT", repr(value))


# How far rounding may take p_ij + p_ji from 1.
_PREFERENCE_TOLERANCE = 1e-6


def require_preferences(name: str, value: ArrayLike) -> None:
    """Raise unless ``value`` [K, K], K >= 2, holds probabilities with p_ij + p_ji = 1."""
    found = as_reals(name, value, "[K, K]")
    if found.ndim != 2 or found.shape[0] != found.shape[1]:
        raise BadArgument(name, "a square", f"shape {list(found.shape)}")
    if len(found) < 2:
        raise BadArgument(name, "at least 2 rows", str(len(found)))
    for i, j in np.argwhere(~((found >= 0) & (found <= 1))):
        raise BadArgument(name, "probabilities", f"{found[i, j]} for {i} against {j}")
    for i, j in np.argwhere(abs(found + found.T - 1) > _PREFERENCE_TOLERANCE):
        got = f"{found[i, j]} + {found[j, i]} for {i} and {j}"
        raise BadArgument(name, "p_ij + p_ji = 1", got)


def as_reals(name: str, value: Any, shape: str) -> np.ndarray:
    """The numbers as float64; ``shape`` is for the message.

    Refused are texts, dates, truth values, complex and masked numbers: NumPy would convert them.
    """
    try:
        found = np.asarray(value)
    except ValueError:
        found = np.asarray(None)
    is_real = found.dtype.kind in "iu" or "float" in found.dtype.name  # bfloat16 is of no kind
    if not is_real or np.ma.is_masked(value):
        raise BadArgument(name, f"numbers {shape}", repr(value))
    return found.astype(np.float64)


def require_default(name: str, config: Any, why: str) -> None:
    """Raise unless an attribute of a dataclass, which has no effect here, is its default.

    ``why`` there is to be none completes the sentence "expected none ...".
    """
    value = getattr(config, name)
    if value != type(config).__dataclass_fields__[name].default:
        raise BadArgument(name, f"none {why}", repr(value))


def require_plain_file(name: str, path: str | os.PathLike[str]) -> None:
    """Raise for a pipe, a socket or a device: opening it may wait, or reading it never end."""
    mode = Path(path).stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # opening says the latter
        expected = f"a plain file in {os.fspath(path)!r}"
        raise BadArgument(name, expected, "a pipe, a socket or a device")


def require_truth(name: str, value: Any) -> None:
    """Raise unless it is True or False: "no" would be taken for True."""
    if not isinstance(value, bool | np.bool_):
        raise BadArgument(name, "True or False", repr(value))


def require_direction(smaller: Any, larger: Any) -> None:
    """Raise unless both are truth values, not both true."""
    require_truth("smaller", smaller)
    require_truth("larger", larger)
    if smaller and larger:
        raise BadArgument("larger", "one of smaller and larger", "both")
