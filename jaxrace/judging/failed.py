"""Runs that failed among the scores of a race. Axes: n_i runs of option i, T tasks, R values."""

import math
import sys
from collections.abc import Sequence

import numpy as np

from jaxrace.answers.answer import listed
from jaxrace.judging.in_memory import Columns, wrong
from jaxrace.tables.asked import Failed
from jaxrace.tables.failures import HINT, sentinels


def with_failures(data: Columns, shared: bool, failed: Failed) -> Columns:
    """Scores in memory with a score for runs that failed.

    These are infinite ones, a -1 among what is never below 0, and among independent runs NaN.

    Raises:
        ValueError: There are some, and ``failed`` does not say what they count as.
    """
    columns = [_floats(column) for column in data.values]
    if any(column is None for column in columns):
        return data  # what is wrong is said of a table
    found = [column for column in columns if column is not None]
    below = None if failed == -1 else sentinels(found, data.names)
    kept, counts = list(data.values), []
    for place, (name, column) in enumerate(zip(data.names, found, strict=True)):
        is_odd = np.isinf(column) if below is None else np.isinf(column) | below[place]
        if not shared and failed is not None:
            is_odd |= np.isnan(column)
        elif not shared and np.isnan(column).any():
            kept[place] = column  # which is refused, by its place
        if not is_odd.any():
            continue
        if failed is None:
            got = f"{column[is_odd].flat[0]:g} of {name}"
            raise wrong(f"to be told what a run that failed counts as, got {got}: {HINT}")
        counts.append(f"{name} {int(is_odd.sum()):,}")
        if failed == "drop":
            kept[place] = np.where(is_odd, math.nan, column) if shared else column[~is_odd]
        else:
            kept[place] = np.where(is_odd, -math.inf if failed == "worst" else failed, column)
    said = [f"runs that failed ({failed}): {listed(counts)}"] if counts else []
    return data._replace(values=kept, said=(*data.said, *said))


def _floats(column: np.ndarray) -> np.ndarray | None:
    try:
        return column.astype(float)
    except (TypeError, ValueError, OverflowError):
        return None


def with_blanks(
    names: Sequence[str],
    values: Sequence[np.ndarray],
    blanks: Sequence[Sequence[int]],
    failed: Failed,
) -> tuple[np.ndarray, ...]:
    """The scores of independent runs, with those of blank cells between them.

    Raises:
        ValueError: Nothing says what they count as.
    """
    if failed is None:
        counts = [f"{name} {len(x):,}" for name, x in zip(names, blanks, strict=True) if x]
        raise wrong(
            "to be told what blank cells between the runs of an option are, got some of "
            f"{listed(counts)}: --failed drop (failed='drop') if there was no run, worst or a "
            "number as its score if it failed; --shared takes rows for tasks that all options run"
        )
    if failed == "drop":
        return tuple(values)
    score = -math.inf if failed == "worst" else failed
    pairs = zip(values, blanks, strict=True)
    return tuple(np.insert(x.astype(float), list(places), score) for x, places in pairs)


def with_worst(
    names: Sequence[str],
    values: Sequence[np.ndarray],
    failed: Failed,
    worst: float | None,
    smaller: bool,
) -> tuple[np.ndarray, ...]:
    """The scores with the worst one for runs that failed, which is known only now.

    It is ``worst``, if there is one, or else the end of all floats: a file of looks holds these.

    Raises:
        ValueError: There are infinite scores, and nothing says that they failed.
    """
    is_infinite = [column.dtype.kind == "f" and np.isinf(column).any() for column in values]
    if any(is_infinite) and failed != "worst":
        name = names[is_infinite.index(True)]
        raise wrong(f"to be told what a run that failed counts as, got inf of {name}: {HINT}")
    if worst is None:
        worst = sys.float_info.max if smaller else -sys.float_info.max
    return tuple(
        np.where(np.isinf(column), worst, column) if odd else column
        for column, odd in zip(values, is_infinite, strict=True)
    )
