"""Which rows of a table are raced: those of one quantity; and which columns only count rows."""

import re
from collections import defaultdict
from collections.abc import Sequence
from shlex import quote

from jaxrace.tables.cells import Cell, counts
from jaxrace.tables.heads import names_steps, words
from jaxrace.tables.table import Table, listed

# What was measured.
_MEASURES = frozenset(
    (
        *("metric", "metrics", "measure", "measurement", "quantity", "criterion", "scorer"),
        *("filter", "split", "phase", "statistic", "stat", "variable"),
    )
)
_SPLITS = re.compile(r"(train|test|val|valid|dev|eval|hold[ _-]?out)[a-z]*", re.IGNORECASE)
_COUNTS = frozenset(("index", "row", "run", "trial", "iteration"))  # rows, if they begin at 0 or 1
_MOST = 20  # quantities of one column


def selected(table: Table, where: Sequence[tuple[str, str]]) -> Table:
    """The rows with these values in these columns, without the columns; it says how many."""
    for head, value in where:
        table.require_heads([head])
        labels = table.labels(head)
        rows = [row for row, label in enumerate(labels) if label == value]
        if not rows:
            raise table.wrong(f"{value!r} in column {head!r}", listed([*dict.fromkeys(labels)]))
        said = f"rows where {head}={value}: {len(rows):,} of {len(labels):,}"
        table = table.without([head]).rows(rows, said)
    return table


def names_measure(table: Table, head: str) -> bool:
    """Do words below a head say what was measured, as "metric", or "split" with train and test?"""
    found = words(head)
    if not found or found[-1] not in _MEASURES or table.kind(head) != "text":
        return False
    return found != ["split"] or all(_SPLITS.fullmatch(str(x)) for x in table.column(head))


def require_one_measure(
    table: Table,
    heads: Sequence[str],
    options: Sequence[str],
    tasks: Sequence[str] | None,
    are_asked: bool,
) -> None:
    """Raise if rows of an option, and of a task if these are known, are several quantities.

    ``heads`` are columns that may say so, ``options`` and ``tasks`` those of each row. A task of a
    column that the caller has named, ``are_asked``, may have several scores.
    """
    runs = [*zip(options, tasks or options, strict=True)]
    num_runs = len({*runs})
    for head in heads:
        is_named = names_measure(table, head)
        if not is_named and (tasks is None or are_asked or table.kind(head) != "text"):
            continue
        values = table.labels(head)
        different, seen = [*dict.fromkeys(values)], {*zip(runs, values, strict=True)}
        several = len(seen) > num_runs
        if not is_named:  # are all of them there for each run?
            several &= len(seen) == len(values) == num_runs * len(different)
            several &= len(different) <= _MOST
        if several:
            pair = f"{head}={different[0]}"
            hint = f"--where {quote(pair)} (where={pair!r}) takes its rows"
            if not is_named:
                hint += "; --task-column with the name of the tasks takes all for one quantity"
            got = f"{listed(different)} in column {head!r}"
            raise table.wrong("rows of one quantity", got, hint=hint)


def require_no_curves(table: Table, names: Sequence[str], tasks: Sequence[str]) -> None:
    """Raise if an option has several steps, or samples, of one run: these are not so many runs."""
    expected = "one row for each run"
    sampled = [head for head in table.heads if words(head)[:1] in (["bootstrap"], ["resample"])]
    if sampled:
        hint = "leave that column out and keep one row of what was sampled"
        raise table.wrong(expected, f"column {sampled[0]!r}", hint=hint)
    others = [table.column(head) for head in tasks if not names_steps(head)]
    for step in filter(names_steps, tasks):
        seen: dict[tuple[Cell, ...], Cell] = {}
        for row, cell in enumerate(table.column(step)):
            run = (names[row], *(str(column[row]) for column in others))
            if seen.setdefault(run, cell) != cell:
                got = f"another {step} of the same run of {names[row]}"
                hint = "keep one row of a learning curve; --task-column says what tells the runs "
                raise table.wrong(expected, got, row, step, hint=hint + "apart")


def without_counts(table: Table, tasks: Sequence[str], options: Sequence[str]) -> list[str]:
    """Columns of tasks but for those that count rows of each option, or are the same in all."""
    labels = {head: table.labels(head) for head in tasks}
    if len(options) > len({*options}):
        labels = {head: column for head, column in labels.items() if len({*column}) > 1}
    for head in [head for head in labels if "_".join(words(head)) in _COUNTS]:
        others = [options, *(column for other, column in labels.items() if other != head)]
        counted: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
        for label, *run in zip(labels[head], *others, strict=True):
            counted[tuple(run)].append(label)
        if all(counts(sorted(found, key=lambda x: (len(x), x))) for found in counted.values()):
            del labels[head]
    return [*labels]
