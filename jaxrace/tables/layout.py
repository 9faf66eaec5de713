"""How a table lists scores: a column for each option, or a row for each run.

A BadArgument names the option of the command that settles what may be meant in two ways.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from shlex import quote

import numpy as np

from jaxrace.tables.clusters import clusters_of, clusters_said, labels_of_clusters
from jaxrace.tables.comparisons import require_no_comparisons, require_no_votes
from jaxrace.tables.failures import (
    HINT,
    kind_of_scores,
    numbers_made,
    settled,
    without_unfinished,
)
from jaxrace.tables.heads import (
    are_numbered_tasks,
    names_cluster,
    names_group,
    names_id,
    names_option,
    names_question,
    names_score,
    names_task,
    names_times,
    words,
)
from jaxrace.tables.leaderboard import benchmarks_of
from jaxrace.tables.marks import with_numbers_for_marks
from jaxrace.tables.numbers import labels_as_numbers
from jaxrace.tables.refusals import (
    among,
    names_measure,
    names_summary,
    note_on_options,
    require_no_clock,
    require_no_curves,
    require_no_names_below,
    require_no_outputs,
    require_no_tasks_as_options,
    require_one_measure,
    require_options,
    require_tasks,
    without_counts,
    without_properties,
)
from jaxrace.tables.repeats import notes_on, parted
from jaxrace.tables.runs import (
    Asked,
    SourceRuns,
    are_groups,
    grouped,
    without_groups,
)
from jaxrace.tables.table import Table, counts, is_blank, kind_of, quoted
from jaxrace.tables.wide import Wide

_NUMBERS_ALONE = (
    "with --no-header it is a run of options without names; --options names columns that are "
    "called by numbers"
)


def runs_of(table: Table, asked: Asked, option: str | None = None) -> SourceRuns:
    """The runs that a table lists, all of them of one ``option`` if that is given."""
    found = layout_of(table, asked, option)
    if isinstance(found, SourceRuns):
        return dataclasses.replace(found, measures=_with_units(table, found.measures))
    runs, said = found.runs(table), []
    if gaps := sum(runs.gaps):
        means = "no runs"
        if asked.failed not in (None, "drop"):
            means = "failed runs, but no runs of shared tasks, where a cell that failed says failed"
        said.append(f"blank cells between others, {means}: {gaps:,}")
    columns = zip(table.heads, table.columns, strict=True)
    empty = [head for head, column in columns if all(map(is_blank, column))]
    said += [f"left out, as they are empty: {quoted(empty)}"] if empty else []
    measures = _with_units(table, runs.measures)
    runs = dataclasses.replace(runs, said=(*runs.said, *said), measures=measures)
    return settled(runs, asked.failed)


def _with_units(table: Table, measures: Sequence[str]) -> tuple[str, ...]:
    units = table.units
    return tuple(f"{name} [{units[name]}]" if name in units else name for name in measures)


def layout_of(table: Table, asked: Asked, option: str | None = None) -> SourceRuns | Wide:
    """What a table lists: runs row by row, all of one ``option`` if it is given, or columns."""
    if asked.options and (asked.option or asked.score or not {*asked.options} & {*table.heads}):
        by_name = dataclasses.replace(asked, options=(), among=asked.options)
        found = layout_of(table, by_name, option)
        if isinstance(found, SourceRuns):
            return found
    table.require_heads(sorted(asked.columns))
    if table.heads[:3] == ("command", "mean", "stddev"):
        hint = "hyperfine --export-json has them"
        raise table.wrong("the times of all runs", "means alone", hint=hint)
    table = _without_row_numbers(table, asked)
    times = [head for head in table.heads if names_times(head) and head not in asked.columns]
    table = table.without(times, f"left out: {quoted(times)}") if times else table
    table = without_unfinished(table, asked.columns, bool(option or asked.option))
    if not table.lines:
        raise table.wrong("runs below the names of the columns", "none")
    are_numbers = all(kind_of([head]) in ("number", "blank") for head in table.heads)
    if asked.header and not (table.numbers or asked.options) and are_numbers:
        got = quoted(table.heads, 3)
        raise table.wrong("names of columns in the first row", got, hint=_NUMBERS_ALONE)
    table = with_numbers_for_marks(table, asked)
    kinds: dict[str, str] = {
        head: "number" if table.numbers else kind_of_scores(column)
        for head, column in zip(table.heads, table.columns, strict=True)
    }
    if asked.options:
        return _wide(table, asked, kinds)
    named = [head for head in table.heads if names_option(head)]
    if not any(map(names_score, table.heads)):  # numbers below may be scores of an option
        named = [head for head in named if kinds[head] != "number"]
    if option is not None:
        return _long(table, asked, kinds, None, option)
    have_opponents = "opponent" in map(str.lower, table.heads)  # of players, who are no options
    if asked.header and (have_opponents or not named) and asked.columns <= {asked.score}:
        require_no_votes(table, asked.score)
    if asked.option is not None or (asked.header and len(named) == 1):
        column = named[0] if asked.option is None else asked.option
        rest = [head for head in table.heads if head != column and head not in asked.tasks]
        are_scores = all(kinds[head] in ("number", "flag", "mixed") for head in rest)
        if not (asked.score or asked.tasks):
            if are_scores and are_numbered_tasks(rest):
                return _pivoted(table, asked, column)
            if benchmarks := benchmarks_of(table, column, rest, kinds):
                others = [head for head in rest if head not in benchmarks]
                said = [f"the tasks are the benchmarks {quoted(benchmarks, 12)}"]
                said += [f"left out, as no benchmarks: {quoted(others, 12)}"] if others else []
                return _pivoted(table.without(others, *said), asked, column)
        return _long(table, asked, kinds, column)
    if len(named) > 1:
        hint = "--option-column says which it is"
        raise table.wrong("one column of options", quoted(named), hint=hint)
    tasks = {*asked.tasks, asked.group, *filter(names_task, table.heads)}
    numeric = [head for head, kind in kinds.items() if kind in ("number", "flag")]
    values = [head for head in numeric if head not in tasks]
    texts = [head for head, kind in kinds.items() if kind == "text"]
    varied = [head for head in texts if len({*table.labels(head)}) > 1]
    texts = varied if len(table.lines) > 1 else texts
    # Words below "result" say how a run ended.
    free = [head for head in texts if head not in tasks and not names_score(head)]
    free = [h for h in free if not names_measure(table, h)] or free
    free = [h for h in free if not names_group(h)] or [h for h in free if h.lower() == "group"]
    if asked.score is not None or (asked.header and len(values) == 1 and len(free) == 1):
        if len(free) != 1:
            hint = "--option-column says which"
            raise table.wrong("one column of options", quoted(free) or "none", hint=hint)
        table = table.without([], f"the options are named in column {free[0]!r}")
        return _long(table, asked, kinds, free[0])
    if texts[:1] == list(table.heads[:1]) and are_numbered_tasks(table.heads[1:]):
        return _pivoted(table, asked, table.heads[0])
    return _wide(table, asked, kinds)


def _without_row_numbers(table: Table, asked: Asked) -> Table:
    """The table without a first column of row numbers and without empty columns without names."""
    table = table.without(
        [head for head in table.heads if not head and table.kind(head) == "blank"]
    )
    head = table.heads[0] if table.heads else ""
    is_unnamed = not head or head.lower().startswith("unnamed: 0")
    if is_unnamed and len(table.heads) > 1 and head not in asked.columns:
        if counts(table.columns[0]):
            return table.without([head], "the first column numbers the rows")
        if "index" not in table.heads:
            return dataclasses.replace(table, heads=("index", *table.heads[1:]))
    return table


def _long(
    table: Table, asked: Asked, kinds: Mapping[str, str], option: str | None, called: str = ""
) -> SourceRuns:
    """A row for each run, its option in a column, or ``called`` so."""
    table = among(table, asked, option)
    score = asked.score or _score_column(table, asked, kinds, option)
    rest = [head for head in table.heads if head not in (option, score)]
    tasks = list(asked.tasks) or [
        head
        for head in rest
        if names_task(head)
        and kinds[head] != "blank"
        and not names_measure(table, head)
        # One that is another in every row numbers the rows: no two options have it.
        and (option is None or len(set(table.labels(head))) < len(table.lines))
    ]
    tasks = (
        tasks
        or [
            head
            for head in rest
            if head == asked.group
            # A group of one option alone says nothing that options have in common.
            or (
                (are_groups(table, head) or names_cluster(head))
                and (option is None or _are_shared(table, head, option))
            )
        ][:1]
    )
    tasks = [*asked.tasks] or without_groups(table, tasks)
    names = [called] * len(table.lines) if option is None else table.labels(option)
    if option is not None:
        _require_names(table, option, names, "a name of an option")
    found, more, odd = numbers_made(table, [score], asked.failed, True, names)
    is_made = ~np.isnan(found[score]) | odd[score]
    expected = f"a number as score of {names[int(np.argmin(is_made))]}"
    table.require(score, is_made, expected, f"leave the row out if there was no run; {HINT}")
    if not asked.tasks:
        # Epochs of a question are its samples; those of a seed are steps of a curve. Below a plain
        # "id" is either: no curve of a training is of right and wrong alone.
        are_answers = bool(np.isin(found[score][is_made & ~odd[score]], (0, 1)).all())
        of_questions = any(names_question(h) or (are_answers and names_id(h)) for h in tasks)
        steps = [h for h in tasks if not (of_questions and words(h)[0] in ("epoch", "epochs"))]
        require_no_curves(table, names, steps)
        tasks = without_counts(table, tasks, names)
    tasks, repeats = parted(table, tasks, asked)
    told = [*table.said, *more]
    is_plain = option is None or option.lower() == "option"
    if not ((asked.option or is_plain) and (asked.score or score.lower() == "score")):
        options = "" if option is None else f"options from column {option!r}, "
        told.append(f"{options}scores from column {score!r}")
    labels = _task_labels(table, tasks, told, bool(asked.tasks))
    used = *tasks, *repeats.by, asked.group
    others = [h for h in rest if h not in used and not are_groups(table, h)]
    require_one_measure(table, others, names, labels, bool(asked.tasks))
    is_several = len(tasks) > 1
    rows = repeats.labels
    labels, groups, by = grouped(table, rest, labels, names, is_several, asked.group, rows)
    unused = [h for h in others if kinds[h] != "blank" and h != by]
    told += [f"not used: {quoted(unused)}"] if unused else []
    if labels and not (asked.tasks or asked.cluster):
        require_no_clock(table, unused, names, labels, repeats.column)
    told += [] if labels is None else notes_on(table, names, labels, repeats)
    clusters = clusters_of(table, [h for h in rest if h != asked.group], labels)
    if labels is not None and not (groups or asked.tasks):
        told += clusters_said(table, (*tasks, *unused), labels)
    about = table.argument, table.where, names, found[score].tolist(), labels, tuple(told)
    runs = SourceRuns(*about, groups=groups, grouped_by=by, measures=(score,), clusters=clusters)
    if any(kinds[head] == "text" and len({*table.labels(head)}) > 1 for head in rest):
        runs = dataclasses.replace(runs, alone="--option-column says which column names them")
    return settled(runs, asked.failed)


def _are_shared(table: Table, head: str, option: str) -> bool:
    """Does a label below a head stand beside several options?"""
    labels = table.labels(head)
    return len({*zip(labels, table.labels(option), strict=True)}) > len({*labels})


def _score_column(table: Table, asked: Asked, kinds: Mapping[str, str], option: str | None) -> str:
    heads = [head for head in table.heads if head != option]
    likely = [
        head
        for head in heads
        if head not in asked.tasks
        and kinds[head] in ("number", "flag", "mixed")
        and not names_task(head)
    ]
    named = [head for head in likely if names_score(head)]
    found = named if len(named) == 1 else likely
    blank = [head for head in heads if names_score(head)]
    if not found and len(blank) == 1:
        return blank[0]  # whose cells will be named
    if len(found) != 1:
        expected = "one column of scores" if found else "a column of scores"
        got = quoted(found or heads) or "no other column"
        may_be = found or any(kinds[head] in ("number", "flag", "mixed") for head in heads)
        hint = "--score-column says which it is" if may_be else ""
        raise table.wrong(expected, got, hint=hint)
    return found[0]


def _task_labels(
    table: Table, tasks: list[str], said: list[str], is_asked: bool
) -> list[str] | None:
    """The task of each row, of several columns together if no single one tells all apart."""
    if not tasks:
        return None
    columns = {head: table.labels(head) for head in tasks}
    for head, labels in columns.items():
        _require_names(table, head, labels, "the name of a task")
        table.require_full(head, "the name of a task")
        _require_no_summaries(table, head, labels, "task")
    together = list(zip(*columns.values(), strict=True))
    count = len(set(together))
    alone = [head for head, labels in columns.items() if len(set(labels)) == count]
    if alone:
        said += [] if is_asked else [f"tasks from column {alone[0]!r}"]
        return columns[alone[0]]
    said.append(f"tasks from columns {quoted(tasks)} together")
    return [" ".join(f"{h}={cell}" for h, cell in zip(tasks, row, strict=True)) for row in together]


def _require_names(table: Table, head: str, names: Sequence[str], expected: str) -> None:
    if "" in names:
        raise table.wrong(expected, "none", names.index(""), head)


def _require_no_summaries(table: Table, head: str, names: Sequence[str], what: str) -> None:
    """Raise if a name is that of a summary, such as "mean". ``what``: "task" or "option"."""
    a = "an" if what == "option" else "a"
    hint = f"leave out rows that summarise others; {a} {what} needs another name"
    table.require(head, [not names_summary(name) for name in names], f"{a} {what}", hint)


def _pivoted(table: Table, asked: Asked, option: str) -> SourceRuns:
    """A row for each option, a column for each task."""
    if asked.option is None:
        require_no_tasks_as_options(table, option, [h for h in table.heads if h != option])
    table = among(table, asked, option)
    names = table.labels(option)
    is_new = [bool(name) and name not in names[:row] for row, name in enumerate(names)]
    table.require(option, is_new, "different names of options, one in each row")
    _require_no_summaries(table, option, names, "option")
    heads = [head for head in table.heads if head != option]
    found, more, odd = numbers_made(table, heads, asked.failed, options=names)
    scores, failed = (
        dict(zip(names, np.array([of[head] for head in heads]).T, strict=True))
        for of in (found, odd)
    )
    said = f"a row for each option, from column {option!r}, and a column for each task"
    wide = Wide(scores, failed, heads, said=(*table.said, said, *more))
    runs = dataclasses.replace(wide.runs(table), measures=tuple(heads))
    return settled(runs, asked.failed)


def _wide(table: Table, asked: Asked, kinds: Mapping[str, str]) -> Wide:
    """A column for each option, a row for each run or task."""
    heads = [head for head in table.heads if kinds[head] != "blank"]
    tasks = list(asked.tasks)
    if not tasks and asked.header:
        tasks = [head for head in heads if names_task(head) and head not in asked.columns]
        # A benchmark of many rows is not a task, if nothing else names tasks.
        alike = all(are_groups(table, head) for head in tasks)
        tasks = [] if alike else without_groups(table, tasks)
    measures = [h for h in heads if h not in asked.columns and names_measure(table, h)]
    require_one_measure(table, measures, [""] * len(table.lines), None, False)
    groups = {asked.group} if asked.group else {h for h in heads if are_groups(table, h)}
    # Questions of passages are no options either.
    within = {*filter(names_task, heads)} if asked.cluster else {}
    others = [h for h in heads if h not in asked.columns]
    belong = labels_of_clusters(table, others, kinds, bool(asked.tasks))
    tasks = tasks or belong[: int(asked.header)]
    used = {*tasks, *groups, *within, *belong}
    tasks, repeats = parted(table, tasks, asked)
    rest = [head for head in heads if head not in used | {*repeats.by}]
    texts = [head for head in rest if kinds[head] == "text"]
    said = [*table.said, *[f"not used: {head!r}" for head in belong if head not in tasks]]
    options = list(asked.options) or [head for head in rest if head not in texts]
    if asked.options:
        left = [head for head in rest if head not in options]
        said += [f"left out, as --options does not name them: {quoted(left)}"] * bool(left)
        texts = [head for head in texts if head == rest[0] and head not in options]
    else:
        options = without_properties(options, said)
        require_no_comparisons(table, texts)
        require_no_outputs(table, texts, options)
        require_no_names_below(table, texts, options)
    if not tasks and len(texts) == 1 and texts == rest[:1] and len(options) > 1:
        tasks = texts
    elif texts and len(options) > 1 and not asked.options:
        said.append(f"left out, as nothing in them is a number: {quoted(texts)}")
        if any(len(set(table.column(head))) < len(table.lines) for head in texts):
            said[-1] += "; --group-column says if one has groups of tasks"
    elif texts and not asked.options:
        blank = [is_blank(cell) for cell in table.column(texts[0])]
        hint = f"if it names the options, --option-column {quote(texts[0])} says so"
        table.require(texts[0], blank, f"a number as score of {texts[0]}", hint * bool(options))
    if table.numbers is None:
        found, more, odd = numbers_made(table, options, asked.failed)
    else:
        found, more = {head: table.numbers[head] for head in options}, []
        odd = {head: np.zeros(len(found[head]), bool) for head in options}
    for head in asked.options:
        if not np.any(~np.isnan(found[head]) | odd[head]):
            raise table.wrong(f"scores of {head!r}", "none")
    if not asked.options:
        require_options(table, found, asked.header)
        said += note_on_options(found)
        guessed = [head for head in tasks if not asked.tasks and kinds[head] == "number"]
        require_tasks(table, {head: labels_as_numbers(table, head) for head in guessed}, found)
    named = _task_labels(table, tasks, said, bool(asked.tasks))
    heads, is_several, rows = [*tasks, *groups], len(tasks) > 1, repeats.labels
    named, of_rows, by = grouped(table, heads, named, None, is_several, asked.group, rows)
    scored = {*groups, *found}
    within = [h for h in table.heads if h not in scored]
    if named is not None and not of_rows:
        more += clusters_said(table, within, named)
    clusters = clusters_of(table, within, named)
    return Wide(found, odd, named, of_rows, by, (*said, *more), repeats, clusters)
