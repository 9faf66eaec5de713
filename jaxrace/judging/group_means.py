"""What options score in each group of tasks, and how a person reads it."""

import dataclasses
from collections.abc import Sequence

from jaxrace.answers.answer import Shown

_MOST_WRITTEN = 1e12  # numbers with all of their digits
_MOST_COLUMNS = 8  # options, in a table of groups


@dataclasses.dataclass(frozen=True)
class GroupMean:
    """An option on the tasks of one group."""

    option: str
    group: str
    weight: float
    tasks: int  # that it has run
    mean: float | None  # of its scores; None without any
    error: float | None = None  # the standard error of the mean, in one look


def groups_shown(means: Sequence[GroupMean], names: Sequence[str]) -> list[Shown]:
    """A table of means, a row for each group and a column for each of the first options."""
    if not means:
        return []
    found = {(one.group, one.option): one for one in means}
    columns = names[:_MOST_COLUMNS]
    rows = []
    for group, weight in dict.fromkeys((one.group, one.weight) for one in means):
        cells = [found[group, name].mean for name in columns]
        numbers = sorted({found[group, name].tasks for name in names})
        errors = [found[group, name].error for name in columns]
        shown = ["" if mean is None else short(mean) for mean in cells]
        if any(error is not None for error in errors):
            shown = [
                mean if error is None else f"{mean} ± {error:.2g}"
                for mean, error in zip(shown, errors, strict=True)
            ]
        rows.append([group, f"{weight:.3g}", _span(numbers), *shown])
    more = len(names) - len(columns)
    below = [f"and {more} more options"] * bool(more)
    if any(one.error is not None for one in means):
        below.append("±: the standard error of a mean over the tasks of a group")
    return [Shown.first(["group", "weight", "tasks", *columns], rows, *below)]


def short(value: float, digits: int = 3) -> str:
    """A number in so many digits, or all of a larger one's before the point.

    >>> short(0.23456), short(2764.8), short(12.0), short(1e15)
    ('0.235', '2,765', '12', '1e+15')
    """
    return f"{value:,.0f}" if 10**digits <= abs(value) < _MOST_WRITTEN else f"{value:.{digits}g}"


def _span(numbers: Sequence[int]) -> str:
    """From the fewest to the most."""
    return "-".join(f"{number:,}" for number in dict.fromkeys((numbers[0], numbers[-1])))
