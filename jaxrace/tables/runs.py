"""Runs one by one, and the scores of each option made of them."""

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from jaxrace.tables.groups import named_groups, said_of_groups
from jaxrace.tables.names import alike

# What a run that failed counts as; None if nothing says so.
Failed = Literal["worst", "drop"] | float | None


@dataclasses.dataclass(frozen=True, eq=False)
class Scores:
    """The scores of named options."""

    names: tuple[str, ...]  # of the K options, as they come
    values: tuple[np.ndarray, ...]  # the scores of each, float64 [n_i], in the order of the source
    # On which task each was made, int64 [n_i], a place in ``task_names``; None if nothing says so.
    tasks: tuple[np.ndarray, ...] | None
    task_names: tuple[str, ...]  # as they come
    said: tuple[str, ...] = ()  # what was guessed, in words
    smaller: bool = False  # does the source say that small scores are good, as of seconds?
    numbered: bool = False  # are the tasks but the rows of a table, that may be runs as well?
    # The benchmark, subject or file of each of ``task_names``; () if nothing says so.
    groups: tuple[str, ...] = ()
    # What scores are called, or their columns: is smaller better?
    measures: tuple[str, ...] = ()
    failed: Failed = None  # "worst": infinite scores are those of runs that failed
    # Of each option before which scores there was nothing in its column; () if nowhere.
    blanks: tuple[tuple[int, ...], ...] = ()

    @property
    def fits_shared(self) -> bool:
        """Are the tasks known, and the same for all options?"""
        if self.tasks is None:
            return False
        first, *rest = map(np.unique, self.tasks)
        return all(np.array_equal(first, other) for other in rest)


@dataclasses.dataclass(frozen=True)
class Runs:
    """Runs in their order: the option, score and task of each."""

    source: str  # what messages name
    options: Sequence[str]
    scores: Sequence[float]
    tasks: Sequence[str] | None = None
    said: tuple[str, ...] = ()
    smaller: bool = False  # this and the next as in ``Scores``
    numbered: bool = False
    groups: Sequence[str] | None = None  # of the task of each run, the benchmark or subject
    grouped_by: str = ""  # what says so
    measures: tuple[str, ...] = ()
    blanks: Mapping[str, Sequence[int]] = dataclasses.field(default_factory=dict)
    task_order: Sequence[str] = ()  # of a table with a row, or a column, for each task


def joined(parts: Sequence[Runs]) -> Runs:
    """Several files as one; what is said by all is said once."""
    tasks: list[str] = []
    for part in parts:
        tasks.extend(part.tasks or ())
    has_tasks = all(part.tasks is not None for part in parts)
    has_groups = has_tasks and all(part.groups is not None for part in parts)
    groups = [group for part in parts for group in part.groups or ()] if has_groups else None
    blanks: dict[str, list[int]] = {}
    before: Counter[str] = Counter()
    for part in parts:
        for name, places in part.blanks.items():
            blanks.setdefault(name, []).extend(before[name] + place for place in places)
        before.update(part.options)
    return Runs(
        parts[0].source + (", ..." if len(parts) > 1 else ""),
        [option for part in parts for option in part.options],
        [score for part in parts for score in part.scores],
        tasks if has_tasks else None,
        tuple(dict.fromkeys(line for part in parts for line in part.said)),
        all(part.smaller for part in parts),
        any(part.numbered for part in parts),
        groups,
        parts[0].grouped_by if groups else "",
        tuple(dict.fromkeys(name for part in parts for name in part.measures)),
        blanks,
        [task for part in parts for task in part.task_order],
    )


def scores_of(argument: str, runs: Runs) -> Scores:
    """The scores by option; ValueError if there are no runs, or of one option alone."""
    if not runs.options:
        raise ValueError(f"{argument}: expected runs in {runs.source}, got none")
    names, option_of = _places(runs.options)
    if len(names) < 2:
        got = f"{''.join(names)!r} alone: the folder of several such files is read as one"
        raise ValueError(f"{argument}: expected two options or more in {runs.source}, got {got}")
    order = np.argsort(option_of, kind="stable")
    counts: np.ndarray = np.bincount(option_of)
    ends = np.cumsum(counts)[:-1]
    values = tuple(np.split(np.asarray(runs.scores, np.float64)[order], ends))
    if runs.tasks is None:
        said = (*runs.said, *alike("options", names))
        return Scores(names, values, None, (), said, runs.smaller, measures=runs.measures)
    first = runs.task_order or order_of_tasks(runs.options, runs.tasks)
    made = {*runs.tasks}
    task_names, task_of = _places(runs.tasks, [task for task in first if task in made])
    tasks = tuple(np.split(task_of[order], ends))
    groups, said = groups_of(names, task_names, runs.tasks, runs.groups, runs.grouped_by)
    said = (*runs.said, *said)
    about = runs.smaller, runs.numbered, groups, runs.measures
    blanks = tuple(tuple(runs.blanks.get(name, ())) for name in names) if runs.blanks else ()
    return Scores(names, values, tasks, task_names, said, *about, blanks=blanks)


def groups_of(
    names: Sequence[str],
    task_names: Sequence[str],
    tasks: Sequence[str],
    groups: Sequence[str] | None,
    source: str,
) -> tuple[tuple[str, ...], list[str]]:
    """The group of each different task, () if all are of one; what to say of them, and of names.

    Args:
        names: Those of the options.
        task_names: The different tasks.
        tasks: That of each run, or of each row.
        groups: Of each of these the group, if that is known.
        source: What says so; without groups the names of tasks may.
    """
    known = dict(zip(tasks, groups, strict=True)) if groups else {}
    found = tuple(known[task] for task in task_names) if known else named_groups(task_names)
    said = [*alike("options", names), *alike("tasks", task_names)]
    if len(set(found)) < 2:
        return (), said
    return tuple(found), [*said, said_of_groups(found, source or "the names of tasks")]


def order_of_tasks(options: Sequence[str], tasks: Sequence[str]) -> list[str]:
    """The different tasks in one order, with those that an option lacks where others have them.

    Rows are read as stretches of one option. A task that is new stands before the next one in its
    stretch that is known, or at the end if there is none: where options come one after the other,
    the gaps of the first are between its tasks, and rows that are added later move nothing.

    >>> order_of_tasks(["a", "a", "b", "b", "b", "a"], ["1", "3", "1", "2", "3", "2"])
    ['1', '2', '3']
    """
    after: dict[str, str] = {}  # the next task of each; "" begins, and ends
    before = {"": ""}
    after[""] = ""
    new: dict[str, None] = {}
    seen: set[str] = set()

    def put(known: str) -> None:
        for task in new:
            last = before[known]
            after[last], before[task], after[task], before[known] = task, last, known, task
        new.clear()

    last_option, knows_one = "", False
    for option, task in zip(options, tasks, strict=True):
        if option != last_option:
            put("")
            seen.add(last_option)
            last_option, knows_one = option, False
        if task in before:
            # What stands before all that a later stretch of an option knows is but appended.
            put(task if knows_one or option not in seen else "")
            knows_one = True
        else:
            new[task] = None
    put("")
    found, task = [], after[""]
    while task:
        found.append(task)
        task = after[task]
    return found


def _places(labels: Sequence[str], first: Sequence[str] = ()) -> tuple[tuple[str, ...], np.ndarray]:
    """The different labels, ``first`` some and others as they come; the place of each, int64."""
    number = {label: place for place, label in enumerate(dict.fromkeys(first))}
    places = np.array([number.setdefault(label, len(number)) for label in labels], np.int64)
    return tuple(number), places
