"""Which columns of a leaderboard, a row for each option, are benchmarks."""

from collections.abc import Mapping, Sequence

import numpy as np

from jaxrace.tables.heads import (
    names_option,
    names_quantity,
    names_score,
    names_smaller,
    names_task,
    word_set,
    words,
)
from jaxrace.tables.numbers import numbers_of
from jaxrace.tables.refusals import SUMMARIES
from jaxrace.tables.table import Table, quoted

_LEAST_BENCHMARKS = 3  # columns of a leaderboard
_MADE = SUMMARIES | {"overall", "rank"}  # of the others
_OF_RUNS = names_score, names_task, names_quantity, names_option, names_smaller
# Of a model, beside its benchmarks.
_SIZES = word_set(
    "params param parameters likes hub downloads context size sizes tokens memory cost price "
    "available license released year layers vocab window votes flops gpu gpus epoch epochs"
)


def benchmarks_of(
    table: Table, option: str, heads: Sequence[str], kinds: Mapping[str, str]
) -> list[str]:
    """Columns of a leaderboard, a row for each option; [] if it may be another table.

    Words, flags, sizes and counts are none, nor is what is made of others. Where there is an
    average, it has to be that of the benchmarks.
    """
    labels = table.labels(option)
    numbers = [head for head in heads if kinds[head] == "number"]
    made = [head for head in numbers if _MADE & {*words(head)[:1]}]
    kept = [h for h in numbers if h not in made and not _SIZES & {*words(h)}]
    are_runs = any(name(head) for head in kept for name in _OF_RUNS)
    if are_runs or len({*labels}) < len(labels) or len(kept) < _LEAST_BENCHMARKS:
        return []
    means = [head for head in made if words(head)[0] in ("average", "avg", "mean", "overall")]
    if len(means) == 1:
        found, _ = numbers_of(table, [*means, *kept])
        average, columns = found.pop(means[0]), np.stack([*found.values()], 1)
        if not np.allclose(columns.mean(1), average, atol=1e-2 * max(1.0, abs(average).max() / 50)):
            got = f"{quoted(kept)}, whose mean is another"
            hint = "leave out columns that are no benchmarks, or the average"
            raise table.wrong(f"benchmarks of which {means[0]!r} is the mean", got, hint=hint)
    return kept
