"""Which axis of scores [T, R] is that of the tasks? Axes: T tasks, R values on each of them."""

import math
from collections.abc import Sequence

import numpy as np

from jaxrace.evidence.independence import REFUSED


def axes_of(names: Sequence[str], columns: Sequence[np.ndarray]) -> tuple[str, ...]:
    """What is said of the axes of options that have several values on a task.

    Raises:
        ValueError: Columns certainly differ, and rows do not: tasks are the columns.

    >>> axes_of(["a"], [np.zeros((3, 2))])
    ('scores [3, 2] of a: 3 tasks, with 2 values on each',)
    """
    wide = [(name, x) for name, x in zip(names, columns, strict=True) if _has_values(x)]
    if not wide:
        return ()
    name, (rows, values) = wide[0][0], wide[0][1].shape
    numbers = [x for _, x in wide if x.dtype.kind in "biuf"]
    if numbers:
        of_columns = np.mean([_evidence_of_unlike(x) for x in numbers])
        if of_columns >= 1 / REFUSED and np.mean([_evidence_of_unlike(x.T) for x in numbers]) < 1:
            raise ValueError(
                f"data: expected scores [T, R] of {name}, R values alike on each of T tasks, got "
                f"[{rows}, {values}] with columns that differ and rows that do not: where rows are "
                "runs and columns are tasks, array.T has the tasks first"
            )
    return (f"scores [{rows}, {values}] of {name}: {rows:,} tasks, with {values} values on each",)


def _has_values(column: np.ndarray) -> bool:
    return column.ndim == 2 and column.shape[1] > 1


def _evidence_of_unlike(values: np.ndarray) -> float:
    """An e-value of "the columns are alike", which has a mean of at most 1 if they are.

    In each row either of two columns is then as likely to be the larger one, also given all other
    pairs of columns that share none with them. A bet on each pair has a beta(1/2, 1/2) of its own.
    """
    log_e = 0.0
    for x, y in zip(values.T[::2], values.T[1::2], strict=False):
        won, lost = int((x > y).sum()), int((x < y).sum())
        log_e += math.lgamma(won + 0.5) + math.lgamma(lost + 0.5) - math.lgamma(won + lost + 1)
        log_e += (won + lost) * math.log(2) - math.log(math.pi)
    return math.exp(min(log_e, 700.0))
