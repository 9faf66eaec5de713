"""What the caller says of scores: their columns, and how they are written."""

import dataclasses
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from jaxrace.core.validation import BadArgument
from jaxrace.tables.table import listed

# What a run that failed counts as; None if nothing says so.
Failed = Literal["worst", "drop"] | float | None


@dataclasses.dataclass(frozen=True)
class Asked:
    """What the caller has said; None, or empty, for what is to be guessed."""

    option: str | None = None
    score: str | None = None
    tasks: tuple[str, ...] = ()
    group: str | None = None
    options: tuple[str, ...] = ()  # columns of a table that has one for each
    failed: Failed = None
    where: tuple[tuple[str, str], ...] = ()
    header: bool = True
    decimal: str = "auto"
    delimiter: str = "auto"
    argument: str = "scores"

    @property
    def columns(self) -> set[str]:
        """All that are named."""
        return {*self.tasks, *self.options, self.option, self.score, self.group} - {None}


def asked_for(
    option_column: str | None = None,
    score_column: str | None = None,
    task_column: str | Sequence[str] | None = None,
    group_column: str | None = None,
    options: str | Sequence[str] = (),
    failed: str | float | None = None,
    where: str | Sequence[str] | Mapping[str, object] = (),
    **written: Any,
) -> Asked:
    """What the arguments of ``read_scores`` say; ``written`` are the last four."""
    tasks = (task_column,) if isinstance(task_column, str) else tuple(task_column or ())
    names = options.split(",") if isinstance(options, str) else options
    kept = tuple(name.strip() for name in names) if options else ()
    if kept and (option_column or score_column):
        got = "option_column or score_column (--option-column, --score-column), too"
        raise BadArgument("options", "columns of scores, one for each option", got)
    if len(set(kept)) < len(kept) or "" in kept:
        raise BadArgument("options", "different names of columns", listed(kept))
    pairs, means = where_called(where), failed_called(failed)
    columns = option_column, score_column, tasks, group_column, kept
    return Asked(*columns, means, pairs, **written)


def failed_called(failed: str | float | None) -> Failed:
    """What an argument ``failed`` says: "worst", "drop", or a score; None if nothing."""
    if failed is None or failed in ("worst", "drop"):
        return failed
    try:
        score = math.nan if isinstance(failed, bool) else float(failed)
    except (OverflowError, TypeError, ValueError):
        score = math.nan
    if not math.isfinite(score):
        raise BadArgument("failed", "'worst', 'drop' or a number", repr(failed))
    return score


def where_called(where: str | Sequence[str] | Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """What ``where`` says, as "metric=auc,split=test": pairs of a column and a value."""
    if isinstance(where, Mapping):
        return tuple((str(head), str(value)) for head, value in where.items())
    parts = re.split(r",(?=[^,=]+=)", where) if isinstance(where, str) and where else [*where]
    pairs = [part.partition("=") for part in parts]
    for head, sign, _ in pairs:
        if not (head and sign):
            raise BadArgument("where", "COLUMN=VALUE", repr(head))
    return tuple((head.strip(), value.strip()) for head, _, value in pairs)
