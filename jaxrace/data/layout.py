"""How a table lists scores: a column for each option, or a row for each run.

What can only be meant in one way is taken so, and said. Else a ValueError names the option of the
command (and of ``read_scores``) that settles it.
"""

import dataclasses
from collections.abc import Sequence
from shlex import quote

import numpy as np

from jaxrace.data.cells import counts, is_blank, kind_of, label_of, numbers_of
from jaxrace.data.heads import (
    are_numbered_runs,
    are_numbered_tasks,
    names_option,
    names_score,
    names_steps,
    names_task,
    names_times,
)
from jaxrace.data.runs import Runs
from jaxrace.data.sides import sides_of
from jaxrace.data.table import Cell, Table, listed

_NUMBERS_ALONE = (
    "with --no-header it is a run of options without names; a name that is a number needs a letter"
)
# Of rows and columns that are made of others; "All" is that of pandas.
_SUMMARIES = frozenset(("all", "average", "avg", "mean", "median", "std", "sum", "total"))
_LEAST_COUNTED = 6  # rows, from which on a column 0, 1, 2, ... is hardly one of scores


@dataclasses.dataclass(frozen=True)
class Asked:
    """What the caller has said about the columns; None, or empty, for what is to be guessed."""

    option: str | None = None
    score: str | None = None
    tasks: tuple[str, ...] = ()
    decimal: str | None = None
    header: bool = True


def runs_of(table: Table, asked: Asked, option: str | None = None) -> Runs:
    """The runs that a table lists, all of them of one ``option`` if that is given."""
    for head in (asked.option, asked.score, *asked.tasks):
        if head is not None and head not in table.heads:
            raise table.wrong(f"a column {head!r}", listed(table.heads))
    if table.heads[:3] == ("command", "mean", "stddev"):
        hint = "hyperfine --export-json has them"
        raise table.wrong("the times of all runs", "means alone", hint=hint)
    table = _without_times(_without_row_numbers(table, asked), asked)
    if not table.lines:
        raise table.wrong("runs below the names of the columns", "none")
    if asked.header and all(kind_of([head]) in ("number", "blank") for head in table.heads):
        got = listed(table.heads, 3)
        raise table.wrong("names of columns in the first row", got, hint=_NUMBERS_ALONE)
    kinds = {head: kind_of(table.column(head)) for head in table.heads}
    named = [head for head in table.heads if names_option(head)]
    if not any(map(names_score, table.heads)):  # numbers below may be scores of an option
        named = [head for head in named if kinds[head] != "number"]
    if option is not None:
        return _long(table, asked, kinds, None, option)
    if asked.option is not None or (asked.header and len(named) == 1):
        return _by_option(table, asked, kinds, asked.option or named[0])
    if len(named) > 1:
        raise table.wrong(
            "one column of options", listed(named), hint="--option-column says which it is"
        )
    numeric = [head for head, kind in kinds.items() if kind in ("number", "flag")]
    values = [head for head in numeric if head not in asked.tasks and not names_task(head)]
    texts = [head for head, kind in kinds.items() if kind == "text"]
    free = [head for head in texts if head not in asked.tasks and not names_task(head)]
    if asked.score is not None or (asked.header and len(values) == 1 and len(free) == 1):
        if len(free) != 1:
            raise table.wrong(
                "one column of options", listed(free) or "none", hint="--option-column says which"
            )
        said = f"the options are named in column {free[0]!r}"
        return _by_option(table, asked, kinds, free[0], (said,))
    if texts[:1] == list(table.heads[:1]) and are_numbered_tasks(table.heads[1:]):
        return _pivoted(table, asked, table.heads[0])
    return _wide(table, asked, kinds)


def _without_row_numbers(table: Table, asked: Asked) -> Table:
    """The table without a first column of row numbers and without empty columns without names."""
    kept = {asked.option, asked.score, *asked.tasks}
    blank = [h for h in table.heads if not h and kind_of(table.column(h)) == "blank"]
    table = table.without(blank)
    if len(table.heads) < 2:
        return table
    head = table.heads[0]
    is_unnamed = not head or head.lower().startswith("unnamed: 0")
    if is_unnamed and head not in kept:
        if counts(table.columns[0]):
            return table.without([head], ["the first column numbers the rows"])
        heads = ("index", *table.heads[1:])
        if "index" not in table.heads:
            return dataclasses.replace(table, heads=heads)
    return table


def _without_times(table: Table, asked: Asked) -> Table:
    asked_for = {asked.option, asked.score, *asked.tasks}
    times = [head for head in table.heads if names_times(head) and head not in asked_for]
    return table.without(times, [f"left out: {listed(times)}"]) if times else table


def _by_option(
    table: Table, asked: Asked, kinds: dict[str, str], option: str, said: Sequence[str] = ()
) -> Runs:
    rest = [head for head in table.heads if head != option and head not in asked.tasks]
    numbers = [head for head in rest if kinds[head] in ("number", "flag", "mixed")]
    is_pivoted = asked.score is None and numbers == rest and are_numbered_tasks(rest)
    if is_pivoted and not asked.tasks:
        return _pivoted(table, asked, option)
    return _long(table, asked, kinds, option, None, said)


def _long(
    table: Table,
    asked: Asked,
    kinds: dict[str, str],
    option: str | None,
    called: str | None,
    said: Sequence[str] = (),
) -> Runs:
    """A row for each run, its option in a column, or ``called`` so."""
    score = asked.score or _score_column(table, asked, kinds, option)
    tasks = list(asked.tasks) or [
        head
        for head in table.heads
        if head not in (option, score)
        and names_task(head)
        and kinds[head] != "blank"
        # One that is another in every row numbers the rows: no two options have it.
        and (option is None or len(set(map(label_of, table.column(head)))) < len(table.lines))
    ]
    if option is None:
        names = [str(called)] * len(table.lines)
    else:
        names = [label_of(cell) for cell in table.column(option)]
        _require_names(table, option, names, "a name of an option")
    found, more = numbers_of(table, [score], asked.decimal)
    hint = "leave the row out if there was no run; a run that failed needs a score"
    is_made = ~np.isnan(found[score])
    expected = f"a number as score of {names[int(np.argmin(is_made))]}"
    table.require(score, is_made, expected, hint)
    if not asked.tasks:
        _require_no_curves(table, names, tasks)
    told = [*table.said, *said, *more, *_said_of_columns(asked, option, score)]
    labels = _task_labels(table, tasks, told, bool(asked.tasks))
    return Runs(table.where, names, found[score].tolist(), labels, tuple(told))


def _score_column(table: Table, asked: Asked, kinds: dict[str, str], option: str | None) -> str:
    numbers = [
        head
        for head, kind in kinds.items()
        if head != option and head not in asked.tasks and kind in ("number", "flag", "mixed")
    ]
    likely = [head for head in numbers if not names_task(head)]
    named = [head for head in likely if names_score(head)]
    found = named if len(named) == 1 else likely
    if not found:
        blank = [head for head, kind in kinds.items() if names_score(head) and head != option]
        if len(blank) == 1:
            return blank[0]  # whose cells will be named
        got = listed([head for head in table.heads if head != option]) or "no other column"
        raise table.wrong("a column of scores", got, hint="--score-column says which it is")
    if len(found) > 1:
        raise table.wrong(
            "one column of scores", listed(found), hint="--score-column says which it is"
        )
    return found[0]


def _said_of_columns(asked: Asked, option: str | None, score: str) -> list[str]:
    is_plain = option is None or option.lower() == "option"
    if (asked.option or is_plain) and (asked.score or score.lower() == "score"):
        return []
    options = "" if option is None else f"options from column {option!r}, "
    return [f"{options}scores from column {score!r}"]


def _require_no_curves(table: Table, names: Sequence[str], tasks: list[str]) -> None:
    """Raise if an option has several steps of one run: so many rows are not so many runs."""
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


def _task_labels(
    table: Table, tasks: list[str], said: list[str], is_asked: bool
) -> list[str] | None:
    """The task of each row, of several columns together if no one of them tells all apart."""
    if not tasks:
        return None
    columns = {head: [label_of(cell) for cell in table.column(head)] for head in tasks}
    hint = "leave out rows that summarise others; a task needs another name"
    for head, labels in columns.items():
        _require_names(table, head, labels, "the name of a task")
        table.require(head, [not is_blank(label) for label in labels], "the name of a task")
        table.require(head, [one.lower() not in _SUMMARIES for one in labels], "a task", hint)
    together = list(zip(*columns.values(), strict=True))
    count = len(set(together))
    alone = [head for head, labels in columns.items() if len(set(labels)) == count]
    if alone:
        said.append(f"tasks from column {alone[0]!r}") if not is_asked else None
        return columns[alone[0]]
    said.append(f"tasks from columns {listed(tasks)} together")
    return [" ".join(f"{h}={cell}" for h, cell in zip(tasks, row, strict=True)) for row in together]


def _require_names(table: Table, head: str, names: Sequence[str], expected: str) -> None:
    if "" in names:
        raise table.wrong(expected, "none", names.index(""), head)


def _pivoted(table: Table, asked: Asked, option: str) -> Runs:
    """A row for each option, a column for each task."""
    names = [label_of(cell) for cell in table.column(option)]
    is_new = [bool(name) and name not in names[:row] for row, name in enumerate(names)]
    table.require(option, is_new, "different names of options, one in each row")
    hint = "leave out rows that summarise others; an option needs another name"
    table.require(option, [one.lower() not in _SUMMARIES for one in names], "an option", hint)
    heads = [head for head in table.heads if head != option]
    found, more = numbers_of(table, heads, asked.decimal)
    options, scores, tasks = [], [], []
    for row, name in enumerate(names):
        for head in heads:
            if not np.isnan(found[head][row]):
                options.append(name)
                scores.append(float(found[head][row]))
                tasks.append(head)
    said = f"a row for each option, from column {option!r}, and a column for each task"
    return Runs(table.where, options, scores, tasks, (*table.said, said, *more))


def _wide(table: Table, asked: Asked, kinds: dict[str, str]) -> Runs:
    """A column for each option, a row for each run or task."""
    heads = [head for head in table.heads if kinds[head] != "blank"]
    tasks = list(asked.tasks)
    if not tasks and asked.header:
        tasks = [head for head in heads if names_task(head)]
        _require_labels(table, asked, [head for head in tasks if kinds[head] == "number"])
    rest = [head for head in heads if head not in tasks]
    texts = [head for head in rest if kinds[head] == "text"]
    _require_no_comparisons(table, texts)
    said = list(table.said)
    options = [head for head in rest if head not in texts]
    _require_no_names_below(table, texts, options)
    if not tasks and len(texts) == 1 and texts == heads[:1] and len(options) > 1:
        tasks = texts
    elif texts and len(options) > 1:
        said.append(f"left out, as nothing in them is a number: {listed(texts)}")
    elif texts:
        blank = [is_blank(cell) for cell in table.column(texts[0])]
        table.require(texts[0], blank, f"a number as score of {texts[0]}")
    _require_options(table, asked, options)
    found, more = numbers_of(table, options, asked.decimal)
    _require_no_summaries(table, found)
    named = _task_labels(table, tasks, said, bool(asked.tasks))
    labels = named or [str(row + 1) for row in range(len(table.lines))]
    made = {head: np.flatnonzero(~np.isnan(numbers)) for head, numbers in found.items()}
    gaps = sum(int(rows[-1]) + 1 - len(rows) for rows in made.values())
    if gaps:
        said.append(f"blank cells between others, no runs: {gaps:,}")
    empty = [head for head in table.heads if kinds[head] == "blank"]
    if empty:
        said.append(f"left out, as they are empty: {listed(empty)}")
    return Runs(
        table.where,
        [head for head, rows in made.items() for _ in rows],
        [score for head, rows in made.items() for score in found[head][rows].tolist()],
        [labels[row] for rows in made.values() for row in rows],
        (*said, *more),
        numbered=named is None,
    )


def _require_no_summaries(table: Table, found: dict[str, np.ndarray]) -> None:
    for head, numbers in found.items():
        if head.lower() in _SUMMARIES and len(found) > 2:
            others = np.stack([found[other] for other in found if other != head])
            if any(np.allclose(numbers, made(others, axis=0)) for made in (np.mean, np.sum)):
                hint = "leave out what is made of the others"
                raise table.wrong("a column for each option", repr(head), hint=hint)


def _require_no_names_below(table: Table, texts: list[str], options: list[str]) -> None:
    """Raise if words that repeat may name options, and columns of numbers be none.

    So it may be with one or two columns of numbers, or where one of them counts the runs of each
    word: read as options, a column of seeds or sizes would win.
    """
    for head in texts:
        names = [*map(label_of, table.column(head))]
        if 2 * len(set(names)) > len(names):
            continue
        seen = ({*zip(names, map(label_of, table.column(one)), strict=True)} for one in options)
        counts = any(
            len(pairs) == len(names) == len(set(names)) * len({label for _, label in pairs})
            for pairs in seen
        )
        if counts or len(options) <= 2:
            hint = (
                f"if they name the options, --option-column {quote(head)} and --score-column NAME "
                f"say so; if not, --task-column {quote(head)}"
            )
            got = f"words that repeat in column {head!r}"
            raise table.wrong("scores below the names of options", got, hint=hint)


def _require_no_comparisons(table: Table, texts: list[str]) -> None:
    try:
        sides = sides_of(table, None, None, None)
    except ValueError:
        return
    if {sides.first, sides.second} <= {*texts}:
        got = f"comparisons of {sides.first!r} and {sides.second!r}"
        hint = "`jaxrace select` ranks by these"
        raise table.wrong("scores of options", got, hint=hint)


def _require_labels(table: Table, asked: Asked, tasks: list[str]) -> None:
    """Raise if a column that is called like one of tasks has fractions: it may be an option."""
    found, _ = numbers_of(table, tasks, asked.decimal)
    hint = "--task-column says which column names the tasks; an option needs another name"
    for head, numbers in found.items():
        table.require(head, ~(numbers % 1 > 0), "the name of a task", hint)


def _require_options(table: Table, asked: Asked, options: list[str]) -> None:
    """Raise unless columns can only be options."""
    settled = "--option-column and --score-column say so if there is a row for each run; else "
    if len(options) < 2:
        hint = "if there is a row for each run, --option-column says which column names the options"
        raise table.wrong("two columns of scores or more", listed(options) or "none", hint=hint)
    if are_numbered_runs(options) and asked.header:
        got = f"{listed(options)}, which seem to be runs of options without names"
        hint = "name the options in a first column, or in the columns"
        raise table.wrong("a column for each option", got, hint=hint)
    scores = [head for head in options if names_score(head)]
    if scores and asked.header:
        hint = settled + "a name that says which option it is settles it"
        raise table.wrong("a column for each option", repr(scores[0]), hint=hint)
    counted = [head for head in options if counts(table.column(head))]
    if counted and len(table.lines) >= _LEAST_COUNTED:
        said = f"--task-column {quote(counted[0])} says so"
        hint = f"{said}; the scores of an option are in random order"
        got = f"{counted[0]!r}, which seems to number the rows"
        raise table.wrong("a column for each option", got, hint=hint)
