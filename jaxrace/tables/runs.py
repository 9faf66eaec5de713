"""What the caller says of scores, the runs that a source has, and the scores made of them."""

import csv
import dataclasses
import itertools
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from jaxrace.core.validation import BadArgument
from jaxrace.tables.clusters import are_people, clusters_in_names
from jaxrace.tables.heads import names_group, names_place
from jaxrace.tables.run_folders import RunFolder
from jaxrace.tables.table import Place, Table, alike, is_blank, numbered, quoted

_PREFIX = re.compile(r"(.*[^\W\d_].*?)[ /:#_-]+\d+")  # of mmlu_anatomy 17, or gsm8k/12
_FEWEST = 5  # tasks of a group, on average, if names alone say that there are groups
_MOST_SAID = 12
# What a run that failed counts as; None if nothing says so.
Failed = Literal["worst", "drop"] | float | None


@dataclasses.dataclass(frozen=True)
class Asked:
    """What the caller has said; None, or empty, for what is to be guessed."""

    option: str | None = None
    score: str | None = None
    tasks: tuple[str, ...] = ()
    group: str | None = None
    cluster: str | None = None  # which is the only one of ``tasks`` then
    options: tuple[str, ...] = ()  # columns of a table that has one for each
    among: tuple[str, ...] = ()  # or names in a column of options
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
    cluster_column: str | None = None,
    options: str | Sequence[str] = (),
    failed: str | float | None = None,
    where: str | Sequence[str] | Mapping[str, object] = (),
    **written: Any,
) -> Asked:
    """What the arguments of ``read_scores`` say; ``written`` are the last four."""
    task_column = cluster_column or task_column
    tasks = (task_column,) if isinstance(task_column, str) else tuple(task_column or ())
    names = next(csv.reader(options.splitlines()), []) if isinstance(options, str) else options
    kept = tuple(name.strip() for name in names) if options else ()
    if len(set(kept)) < len(kept) or "" in kept:
        raise BadArgument("options", "different names of columns", quoted(kept))
    pairs, means = where_called(where), failed_called(failed)
    columns = option_column, score_column, tasks, group_column, cluster_column, kept
    return Asked(*columns, failed=means, where=pairs, **written)


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


@dataclasses.dataclass(frozen=True, eq=False)
class Scores:
    """The scores of named options."""

    names: tuple[str, ...]  # of the K options, as they come
    values: tuple[np.ndarray, ...]  # the scores of each, float64 [n_i], in the order of the source
    # The task of each score, int64 [n_i], a place in ``task_names``; None if nothing says so.
    tasks: tuple[np.ndarray, ...] | None
    task_names: tuple[str, ...]  # as they come
    said: tuple[str, ...] = ()  # what was guessed, in words
    smaller: bool = False  # does the source say that small scores are good, as of seconds?
    numbered: bool = False  # are the tasks only rows of a table, which may be runs as well?
    # The benchmark, subject or file of each of ``task_names``; () if nothing says so.
    groups: tuple[str, ...] = ()
    # What scores are called, or their columns: is smaller better?
    measures: tuple[str, ...] = ()
    failed: Failed = None  # "worst": infinite scores are those of runs that failed
    # Before which scores of each option its column was blank; () if nowhere.
    blanks: tuple[tuple[int, ...], ...] = ()
    asked_alike: bool = False  # as in ``SourceRuns``
    # What several tasks belong to, as passages: by column, and by name of a task.
    clusters: Mapping[str, Mapping[str, str]] = dataclasses.field(default_factory=dict)
    chosen: bool = False  # has the caller named the options?

    @property
    def fits_shared(self) -> bool:
        """Are the tasks known, and the same for all options?"""
        if self.tasks is None:
            return False
        first, *rest = map(np.unique, self.tasks)
        return all(np.array_equal(first, other) for other in rest)


@dataclasses.dataclass(frozen=True)
class SourceRuns(Place):
    """Runs in their order: the option, score and task of each."""

    options: Sequence[str]
    scores: Sequence[float]  # NaN of one that failed, until ``failures.settled``
    tasks: Sequence[str] | None = None
    said: tuple[str, ...] = ()
    smaller: bool = False  # this and the next as in ``Scores``
    numbered: bool = False
    groups: Sequence[str] | None = None  # of the task of each run, the benchmark or subject
    grouped_by: str = ""  # what says so
    measures: tuple[str, ...] = ()
    gaps: Sequence[int] = ()  # blank cells between a run and the one before in its column
    task_order: Sequence[str] = ()  # of a table with a row, or a column, for each task
    failures: str = ""  # what the source says of runs that failed
    again: Sequence[str] | None = None  # of each run, what tells runs of one task apart
    again_by: str = ""
    asked_alike: bool = False  # are tasks questions that all options are asked?
    alone: str = "the folder of several such files is read as one"  # what helps, of one option
    folder: RunFolder | None = None  # of one run of training
    env: str = ""  # its environment
    clusters: Mapping[str, Mapping[str, str]] = dataclasses.field(default_factory=dict)
    settings: Mapping[str, str] | None = None  # of an evaluation, as its log has them
    unlisted: float | None = None  # the score of a task that other files list, and this one not


def in_clusters(scores: Scores, cluster: str) -> Scores:
    """The same with one score of each option in each cluster, the mean of what it holds there."""
    assert scores.tasks is not None
    values, tasks, counts = [], [], np.zeros((len(scores.names), len(scores.task_names)), int)
    for option, (column, own) in enumerate(zip(scores.values, scores.tasks, strict=True)):
        numbers = column.astype(float)
        own, numbers = own[~np.isnan(numbers)], numbers[~np.isnan(numbers)]
        counts[option] = np.bincount(own, minlength=len(scores.task_names))
        first = own[np.sort(np.unique(own, return_index=True)[1])]  # as they come
        total = np.bincount(own, numbers, minlength=len(scores.task_names))
        values.append(total[first] / counts[option][first])
        tasks.append(first)
    kept = (counts > 0).any(0)
    said = f"each {cluster} counts once, by the mean of its rows: {kept.sum():,} of them"
    unlike = ((counts != counts.max(0)) & (counts > 0)).any(0).sum()
    more = f"; in {unlike:,} options have different numbers of rows, and the rest is left out"
    about = {"values": tuple(values), "tasks": tuple(tasks), "numbered": False, "blanks": ()}
    said += more if unlike else ""
    return dataclasses.replace(scores, **about, said=(*scores.said, said))


def joined(parts: Sequence[SourceRuns]) -> SourceRuns:
    """Several files as one; what is said by all is said once."""
    about: dict[str, Any] = {
        name: [one for part in parts for one in getattr(part, name) or ()]
        for name in ("options", "scores", "tasks", "groups", "task_order", "said", "measures")
    }
    about |= {name: tuple(dict.fromkeys(about[name])) for name in ("said", "measures")}
    if any(part.tasks is None for part in parts):
        about |= {"tasks": None, "groups": None}
    if about["groups"] is None or any(part.groups is None for part in parts):
        about |= {"groups": None, "grouped_by": ""}
    return dataclasses.replace(
        parts[0],
        **about,
        where=parts[0].where + (", ..." if len(parts) > 1 else ""),
        smaller=all(part.smaller for part in parts),
        numbered=any(part.numbered for part in parts),
        clusters=_joined_clusters(parts),
        gaps=[gap for part in parts for gap in part.gaps or [0] * len(part.options)],
        failures="",
    )


def _joined_clusters(parts: Sequence[SourceRuns]) -> dict[str, dict[str, str]]:
    """Those of several files; columns that only some of them have are of these."""
    found: dict[str, dict[str, str]] = {}
    for part in parts:
        for head, of_task in part.clusters.items():
            found.setdefault(head, {}).update(of_task)
    return found


def scores_of(runs: SourceRuns) -> Scores:
    """The scores by option; BadArgument if there are no runs, or of one option alone."""
    if not runs.options:
        raise runs.wrong("runs", "none")
    names, option_of = numbered(runs.options)
    if len(names) < 2:
        raise runs.wrong("two options or more", f"{''.join(names)!r} alone", hint=runs.alone)
    order = np.argsort(option_of, kind="stable")
    counts: np.ndarray = np.bincount(option_of)
    ends = np.cumsum(counts)[:-1]
    values = tuple(np.split(np.asarray(runs.scores, np.float64)[order], ends))
    if runs.tasks is None:
        said = (*runs.said, *alike("options", names))
        return Scores(names, values, None, (), said, runs.smaller, measures=runs.measures)
    first = runs.task_order or order_of_tasks(runs.options, runs.tasks)
    made = {*runs.tasks}
    task_names, task_of = numbered(runs.tasks, [task for task in first if task in made])
    tasks = tuple(np.split(task_of[order], ends))
    groups, said = groups_of(names, task_names, runs.tasks, runs.groups, runs.grouped_by)
    gaps = np.split(np.array(runs.gaps, int)[order], ends) if any(runs.gaps) else []
    return Scores(
        names,
        values,
        tasks,
        task_names,
        (*runs.said, *said),
        runs.smaller,
        runs.numbered,
        groups,
        runs.measures,
        blanks=tuple(tuple(np.repeat(np.arange(len(x)), x).tolist()) for x in gaps),
        asked_alike=runs.asked_alike,
        clusters=runs.clusters,
    )


def order_of_tasks(options: Sequence[str], tasks: Sequence[str]) -> list[str]:
    """The different tasks in one order, with those that an option lacks where others have them.

    In a stretch of rows of one option, a new task stands before the next known one, or at the end;
    rows that are added later move nothing.

    >>> order_of_tasks(["a", "a", "b", "b", "b", "a"], ["1", "3", "1", "2", "3", "2"])
    ['1', '2', '3']
    """
    before = {"": ""}  # the task before each; "" begins, and ends
    seen: set[str] = set()
    for option, rows in itertools.groupby(zip(options, tasks, strict=True), lambda row: row[0]):
        new: dict[str, None] = {}
        knows_one = option not in seen
        for _, task in (*rows, (option, "")):
            if task not in before:
                new[task] = None
                continue
            # What stands before all that a later stretch of an option knows is only appended.
            known = task if knows_one else ""
            for one in new:
                before[one], before[known] = before[known], one
            new, knows_one = {}, True
        seen.add(option)
    found = []
    while task := before[found[-1] if found else ""]:
        found.append(task)
    return found[::-1]


def are_groups(table: Table, head: str, is_one_of_several: bool = False) -> bool:
    """Does a column of words, which repeat, put tasks into groups, as its head says?"""
    if not (names_group(head) or (is_one_of_several and names_place(head))):
        return False
    if are_people(table, head):
        return False
    cells = table.column(head)
    is_full = table.kind(head) == "text" and not any(map(is_blank, cells))
    return is_full and 1 < len(set(cells)) < len(cells)


def without_groups(table: Table, heads: list[str]) -> list[str]:
    """Heads of tasks without those of groups, if others are left: groups stand before names."""
    return [head for head in heads if not are_groups(table, head)] or heads


def grouped(
    table: Table,
    heads: Sequence[str],
    labels: list[str] | None,
    options: Sequence[str] | None = None,
    several: bool = False,
    asked: str | None = None,
    again: Sequence[str] | None = None,
) -> tuple[list[str] | None, list[str] | None, str]:
    """The task and the group of each row, and what says so.

    The column of the fewest groups is taken, each task in one of them, or that ``asked`` for. Where
    only the group tells tasks apart, its name stands before theirs. Where ``several`` columns name
    a task together, environments are groups. ``again`` tells rows of one task apart.
    """
    height = len(table.lines)
    names = [*zip(options or [""] * height, again or [""] * height, strict=True)]
    best: tuple[list[str] | None, list[str] | None, str] = (labels, None, "")
    fewest = height
    for head in [asked] if asked else [h for h in heads if are_groups(table, h, several)]:
        groups, tasks = table.labels(head), labels
        table.require_full(head, "the group of a task")
        if tasks and len({*zip(tasks, groups, strict=True)}) > len({*tasks}):
            joined = [f"{group} {task}" for group, task in zip(groups, tasks, strict=True)]
            told = [len({*zip(names, one, strict=True)}) for one in (tasks, joined)]
            if not asked and not told[0] < told[1] == height:
                continue  # such as a kind of answer, another one for each option
            tasks = joined
        number = len({*groups})
        if number < min(fewest, len({*tasks}) if tasks else height):
            best, fewest = (tasks, groups, f"column {head!r}"), number
    return best


def groups_of(
    names: Sequence[str],
    task_names: Sequence[str],
    tasks: Sequence[str],
    groups: Sequence[str] | None,
    source: str,
) -> tuple[tuple[str, ...], list[str]]:
    """The group of each different task, by ``groups`` of each run or by names; and what is said."""
    known = dict(zip(tasks, groups, strict=True)) if groups else {}
    found = [known[task] for task in task_names] if known else _named_groups(task_names)
    said = [*alike("options", names), *alike("tasks", task_names)]
    sizes = Counter(found)
    if len(sizes) < 2:
        return (), said
    shown = ", ".join(f"{group} {size:,}" for group, size in [*sizes.items()][:_MOST_SAID])
    more = ", ..." if len(sizes) > _MOST_SAID else ""
    source = source or "the names of tasks"
    return tuple(found), [*said, f"{len(sizes)} groups of tasks from {source}: {shown}{more}"]


def _named_groups(tasks: Sequence[str]) -> list[str]:
    """The groups that names of tasks begin with, as "arc/1", "arc/2"; [] if these are not clear.

    Many numbers that they begin with are those of passages or the like, and no groups.
    """
    if clusters_in_names(tasks):
        return []
    groups = [match[1] for match in map(_PREFIX.fullmatch, tasks) if match]
    is_clear = len(groups) == len(tasks) and 2 <= len(set(groups)) <= len(tasks) / _FEWEST
    return groups if is_clear and min(Counter(groups).values()) > 1 else []
