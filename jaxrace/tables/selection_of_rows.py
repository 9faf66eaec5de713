"""Which rows of a table are raced: those of one quantity; and which columns only count rows."""

import dataclasses
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from shlex import quote

from jaxrace.tables.cells import counts, kind_of, label_of
from jaxrace.tables.heads import names_steps, words
from jaxrace.tables.table import Cell, Table, listed

# Of what was measured.
_MEASURES = frozenset(
    (
        *("metric", "metrics", "measure", "measurement", "quantity", "criterion", "scorer"),
        *("filter", "split", "phase", "statistic", "stat", "variable"),
    )
)
_SPLITS = re.compile(r"(train|test|val|valid|dev|eval|hold[ _-]?out)[a-z]*", re.IGNORECASE)
_COUNTS = frozenset(("index", "row", "run", "trial", "iteration"))  # rows, if they begin at 0 or 1
_MOST = 20  # quantities of one column


def where_called(where: str | Sequence[str] | Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """What an argument ``where`` says: pairs of a column and the value of the rows to take.

    >>> where_called("metric=auc,split=test")
    (('metric', 'auc'), ('split', 'test'))
    """
    if isinstance(where, Mapping):
        return tuple((str(head), str(value)) for head, value in where.items())
    parts = re.split(r",(?=[^,=]+=)", where) if isinstance(where, str) and where else [*where]
    pairs = [part.partition("=") for part in parts]
    for head, sign, _ in pairs:
        if not (head and sign):
            raise ValueError(f"where: expected COLUMN=VALUE, got {head!r}")
    return tuple((head.strip(), value.strip()) for head, _, value in pairs)


def selected(table: Table, where: Sequence[tuple[str, str]]) -> Table:
    """The rows that have some values in some columns, without these; it says how many they are."""
    for head, value in where:
        if head not in table.heads:
            raise table.wrong(f"a column {head!r}", listed(table.heads))
        labels = [label_of(cell) for cell in table.column(head)]
        rows = [row for row, label in enumerate(labels) if label == value]
        if not rows:
            raise table.wrong(f"{value!r} in column {head!r}", listed([*dict.fromkeys(labels)]))
        columns = tuple([column[row] for row in rows] for column in table.columns)
        lines = [table.lines[row] for row in rows]
        said = [f"rows where {head}={value}: {len(rows):,} of {len(labels):,}"]
        table = dataclasses.replace(table, columns=columns, lines=lines).without([head], said)
    return table


def names_measure(table: Table, head: str) -> bool:
    """Do words below a head say what was measured, as "metric", or "split" with train and test?"""
    found = words(head)
    if not found or found[-1] not in _MEASURES or kind_of(table.column(head)) != "text":
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

    Args:
        table: The table.
        heads: Columns that may say so.
        options: The option of each row.
        tasks: The task of each row.
        are_asked: Has the caller named the column of tasks, which may have several scores then?
    """
    runs = [*zip(options, tasks or options, strict=True)]
    for head in heads:
        cells = table.column(head)
        is_named = names_measure(table, head)
        if not is_named and (tasks is None or are_asked or kind_of(cells) != "text"):
            continue
        values = [label_of(cell) for cell in cells]
        different, seen = dict.fromkeys(values), {*zip(runs, values, strict=True)}
        several = len(seen) > len({*runs})
        if not is_named:  # are all of them there for each run?
            several &= len(seen) == len(values) == len({*runs}) * len(different)
            several &= len(different) <= _MOST
        if several:
            first = next(iter(different))
            hint = (
                f"--where {quote(f'{head}={first}')} (where={f'{head}={first}'!r}) takes its rows"
            )
            if not is_named:
                hint += "; --task-column with the name of the tasks takes all for one quantity"
            got = f"{listed([*different])} in column {head!r}"
            raise table.wrong("rows of one quantity", got, hint=hint)


def require_no_curves(table: Table, names: Sequence[str], tasks: list[str]) -> None:
    """Raise if an option has several steps, or samples, of one run: these are not so many runs."""
    sampled = [head for head in table.heads if words(head)[:1] in (["bootstrap"], ["resample"])]
    if sampled:
        hint = "leave that column out and keep one row of what was sampled"
        raise table.wrong("one row for each run", f"column {sampled[0]!r}", hint=hint)
    steps = [head for head in tasks if names_steps(head)]
    for step in steps:
        others = [table.column(head) for head in tasks if head not in steps]
        seen: dict[tuple[Cell, ...], Cell] = {}
        for row, cell in enumerate(table.column(step)):
            run = (names[row], *(str(column[row]) for column in others))
            if seen.setdefault(run, cell) != cell:
                raise table.wrong(
                    "one row for each run",
                    f"another {step} of the same run of {names[row]}",
                    row,
                    step,
                    "keep one row of a learning curve; --task-column says what tells the runs "
                    "apart",
                )


def without_counts(table: Table, tasks: Sequence[str], options: Sequence[str]) -> list[str]:
    """Columns of tasks but for those that count the rows of each option, on the other tasks.

    One that says the same in all rows, as that of an experiment, names none either.
    """
    kept = list(tasks)
    if len(options) > len({*options}):
        kept = [head for head in tasks if len({*map(label_of, table.column(head))}) > 1]
    for head in list(kept):
        if "_".join(words(head)) not in _COUNTS:
            continue
        others = [table.column(other) for other in kept if other != head]
        labels: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
        for row, cell in enumerate(table.column(head)):
            labels[options[row], *(label_of(column[row]) for column in others)].append(
                label_of(cell)
            )
        sorted_labels = [sorted(found, key=lambda x: (len(x), x)) for found in labels.values()]
        if all(map(counts, sorted_labels)):
            kept.remove(head)
    return kept
