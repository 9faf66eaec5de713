"""Checks of arguments at the Python boundary: each raises ValueError or does nothing.

Messages name the argument, what was expected and what came.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike


def require_integer(name: str, value: Any, least: int) -> None:
    """Raise unless ``value`` is an integer of at least ``least``.

    Raises:
        ValueError: It is not.

    >>> require_integer("top", 0, least=1)
    Traceback (most recent call last):
    ValueError: top: expected an integer of at least 1, got 0
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name}: expected an integer of at least {least}, got {value!r}")


def require_positive(name: str, value: ArrayLike) -> None:
    """Raise unless ``value`` is a finite number above 0.

    Raises:
        ValueError: It is not.

    >>> require_positive("sigma0", -1.0)
    Traceback (most recent call last):
    ValueError: sigma0: expected a positive number, got -1.0
    """
    if not 0 < _as_float(value) < float("inf"):
        raise ValueError(f"{name}: expected a positive number, got {value!r}")


def require_probability(name: str, value: ArrayLike) -> None:
    """Raise unless ``value`` is a number strictly between 0 and 1.

    Raises:
        ValueError: It is not.

    >>> require_probability("delta", 1.0)
    Traceback (most recent call last):
    ValueError: delta: expected a number between 0 and 1, exclusive, got 1.0
    """
    if not 0 < _as_float(value) < 1:
        raise ValueError(f"{name}: expected a number between 0 and 1, exclusive, got {value!r}")


def require_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise unless ``value`` is one of ``choices``.

    Raises:
        ValueError: It is not; the message lists them.

    >>> require_choice("rule", "blunt", ("sharp", "printed"))
    Traceback (most recent call last):
    ValueError: rule: expected one of sharp, printed, got 'blunt'
    """
    if value not in choices:
        raise ValueError(f"{name}: expected one of {', '.join(choices)}, got {value!r}")


def _as_float(value: ArrayLike) -> float:
    """The number, or NaN for what is none: it fails every comparison."""
    try:
        return float(np.asarray(value))
    except (TypeError, ValueError):
        return float("nan")
