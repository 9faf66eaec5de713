"""The rows of a sweep, as bursts leave them, and in order. Axes: n rows."""

from typing import Any, NamedTuple

import jax
import numpy as np
from numpy.typing import NDArray


class Rows(NamedTuple):
    """Rows of jobs: NumPy arrays."""

    job: NDArray[np.int64]  # [n]
    step: NDArray[np.int64]  # [n], from 1
    row: Any  # what ``step`` returned, leaves [n, ...]


def taken_from(burst: Any, jobs: NDArray[np.int64], steps: NDArray[np.int64]) -> Rows:
    """The rows of a burst.

    Args:
        burst: A ``Burst`` of NumPy arrays.
        jobs: [W], the job of each lane.
        steps: [W], the steps that it had played before.
    """
    ran = burst.ran
    number = steps + np.cumsum(ran, axis=0)
    at = np.nonzero(ran)
    return Rows(
        np.broadcast_to(jobs, ran.shape)[at],
        number[at],
        jax.tree.map(lambda x: x[at], burst.rows),
    )


def in_order(parts: list[Rows]) -> Rows:
    """All rows, sorted by job and step; no columns where there are no parts.

    >>> part = Rows(np.array([1, 0]), np.array([1, 1]), {"left": np.array([8, 4])})
    >>> in_order([part]).row
    {'left': array([4, 8])}
    """
    if not parts:
        return Rows(np.zeros(0, np.int64), np.zeros(0, np.int64), ())
    together = jax.tree.map(lambda *x: np.concatenate(x), *parts)
    order = np.lexsort((together.step, together.job))
    return jax.tree.map(lambda x: x[order], together)
