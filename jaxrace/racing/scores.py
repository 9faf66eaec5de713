"""Scores with a known range, as races by mean have them. Axes: K options, r samples or tasks."""

import math
from typing import Any

import jax
import numpy as np

from jaxrace.compilation import is_traced
from jaxrace.judging.levels import By
from jaxrace.racing import base

# A range is at least so many times wider than what float32 rounds its ends by.
_FINE = 1e6


def require_scale(by: By, low: float | None, high: float | None) -> None:
    """Raise ValueError unless a race by mean has a range of scores, and one by wins none."""
    if by == "wins":
        if low is not None or high is not None:
            raise ValueError("low, high: expected none for a race by wins")
        return
    if low is None or high is None:
        raise ValueError("low, high: expected the range of the scores for a race by mean")
    if not -math.inf < low < high < math.inf:
        raise ValueError(f"low, high: expected low < high, got {low}, {high}")
    if (high - low) * 2.0**24 < _FINE * max(abs(low), abs(high)):
        raise ValueError(
            f"low, high: expected a range in which float32 tells scores apart, got {low} to "
            f"{high}; subtract what scores have in common"
        )


def bad_scores(outcomes: Any, low: float | None, high: float | None) -> jax.Array:
    """Which outcomes, leaves [K, r, ...], are not finite or out of their range: bool [K, r]."""
    bad = ~base.finite_rounds(outcomes)
    if low is not None and high is not None:
        first = jax.tree.leaves(outcomes)[0]
        is_out = (first < low) | (first > high)
        bad |= is_out.any(tuple(range(2, first.ndim)))
    return bad


def raise_if_bad(
    invalid: jax.Array, low: float | None, high: float | None, where: str = "in round"
) -> None:
    """Raise for the first outcome that is none: int32 [..., K], its number, 0 where there is none.

    Not under a trace.
    """
    if is_traced(invalid) or not np.asarray(invalid).any():
        return
    if low is None or high is None:
        base.raise_if_invalid(invalid)
    numbers = np.asarray(invalid)
    *_, option = place = tuple(int(axis) for axis in np.argwhere(numbers > 0)[0])
    raise ValueError(
        f"outcomes: expected scores from {low} to {high}, got another one for option {option} "
        f"{where} {numbers[place]}"
    )
