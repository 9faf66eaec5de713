"""Scores by name, as people have them. Axes: K options, n_i runs of option i, T tasks, R values."""

import dataclasses
import functools
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaxrace.answers.answer import listed
from jaxrace.core.validation import BadArgument
from jaxrace.evidence.groups import Lottery
from jaxrace.judging.in_memory import counted, in_memory, is_read, wrong
from jaxrace.tables import Scores, read_scores
from jaxrace.tables.failures import EXPECTED, HINT
from jaxrace.tables.frames import paired
from jaxrace.tables.numbers import PERCENTS
from jaxrace.tables.runs import Failed, asked_for

# Of a table; larger ones take minutes.
_MOST_OPTIONS, _MOST_SCORES = 5_000, 5_000_000

_TRIES = 199  # permutations, all of which an honest table is beyond once in 200
_LEAST_SPREAD = 2.0**-40  # of scores, in their range; rounding is 2**-53

WORST = sys.float_info.max  # of runs that failed, where no number says how bad that is
NUMBERED_ALIKE = (
    "seeds that each option has by itself may be numbered alike, before results are known"
)


@dataclasses.dataclass(frozen=True, eq=False)
class ScoreTable(Scores):
    """Scores of anything, checked; ``tasks`` are None of independent runs."""

    have_tasks_in_common: bool = False  # that the source names
    repeat_tasks: bool = False  # has an option several runs on one of these?
    lottery: Lottery | None = None  # of groups of tasks, in whose order they are

    @functools.cached_property
    def progress(self) -> NDArray[np.int64]:
        """Of each option the runs, or the different tasks that it has run: int [K]."""
        if self.tasks is None:
            return np.array([len(column) for column in self.values])
        return np.array([len(np.unique(tasks)) for tasks in self.tasks])

    @property
    def most_on_a_task(self) -> int:
        """The most scores that an option has on one shared task; 0 of independent runs."""
        return max((int(np.bincount(x).max(initial=0)) for x in self.tasks or ()), default=0)

    def in_order(self) -> NDArray[np.int64]:
        """Of each option the shared tasks before the first one that it lacks: int [K]."""
        number = len(self.task_names) + 1  # with one that no option has run
        there = [np.bincount(tasks, minlength=number) > 0 for tasks in self.tasks or ()]
        return np.array([of_one.argmin() for of_one in there])

    def in_task_order(self, names: Sequence[str]) -> "ScoreTable":
        """The same with its shared tasks in this order, which may have more of them."""
        place = {name: number for number, name in enumerate(names)}
        places = np.array([place[name] for name in self.task_names], np.int64)
        groups = dict(zip(self.task_names, self.groups, strict=False))
        return dataclasses.replace(
            self,
            task_names=tuple(names),
            tasks=tuple(places[tasks] for tasks in self.tasks or ()),
            groups=tuple(groups.get(name, "") for name in names) if groups else (),
        )

    def of_complete_tasks(self) -> "ScoreTable":
        """The same without the shared tasks that not all options have run; it says how many."""
        number = len(self.task_names)
        there = [np.bincount(tasks, minlength=number) > 0 for tasks in self.tasks or ()]
        kept = np.logical_and.reduce(there)
        if kept.all():
            return self
        left_out = (
            f"tasks that not all options have run are left out: {(~kept).sum():,} of {number:,}; "
            "gaps must not depend on scores, and must never be filled"
        )
        place, whole = kept.cumsum() - 1, [kept[tasks] for tasks in self.tasks or ()]
        names = (self.task_names, self.groups) if self.groups else (self.task_names,)
        names = [tuple(x for x, is_kept in zip(one, kept, strict=True) if is_kept) for one in names]
        pairs = zip(self.tasks or (), whole, strict=True)
        return dataclasses.replace(
            self,
            values=tuple(x[own] for x, own in zip(self.values, whole, strict=True)),
            tasks=tuple(place[tasks[own]] for tasks, own in pairs),
            task_names=names[0],
            groups=names[1] if self.groups else (),
            said=(*self.said, left_out),
        )

    def with_worst(self, worst: float | None, smaller: bool) -> "ScoreTable":
        """The same with ``worst``, or else the last of all floats, for runs that failed.

        ValueError if there are infinite scores, and nothing says that they failed.
        """
        odd = [column.dtype.kind == "f" and np.isinf(column).any() for column in self.values]
        if any(odd) and self.failed != "worst":
            raise wrong(EXPECTED, f"inf of {self.names[odd.index(True)]}", HINT)
        if worst is None:
            worst = WORST if smaller else -WORST
        pairs = zip(self.values, odd, strict=True)
        values = tuple(np.where(np.isinf(x), worst, x) if is_odd else x for x, is_odd in pairs)
        return dataclasses.replace(self, values=values)

    def where(self, option: int, run: int) -> str:
        """A run in words."""
        if self.tasks is None:
            return f"run {run + 1} of {self.names[option]}"
        return f"{self.names[option]} on task {self.task_names[self.tasks[option][run]]}"


def as_table(data: Any, *, shared: bool, of_numbers: bool = True, **columns: Any) -> ScoreTable:
    """The table of a mapping, a list, an array with a column for each option, or ``Scores``.

    Columns of numbers are options or tasks, as in a file; ``columns`` are the arguments of
    ``read_scores`` that say so. That reads anything else, such as paths, data frames or rows.

    Independent runs: of each option [n_i]. Shared tasks: of each option [T] or [T, R], NaN where it
    has not been run. In an array [T, K] or [n, K] NaN fills columns up. ValueError if it is none of
    these, too large, or has a NaN among independent runs.
    """
    asked = asked_for(**columns)
    if asked.cluster and not of_numbers:
        raise BadArgument("cluster_column", "numbers, which have means", "a race with compare")
    is_raw = isinstance(data, Mapping | np.ndarray | Sequence) and not isinstance(data, str)
    if shared and is_raw and not isinstance(data, np.ndarray):
        data = paired("data", data)  # series, by their index
    if is_raw and not (of_numbers and (asked.where or is_read(data))):
        data = in_memory(data, shared, of_numbers, asked)
    elif not isinstance(data, Scores):
        data = read_scores(data, **columns)
    table = _of_scores(data, shared, data.failed if asked.failed is None else asked.failed)
    table = dataclasses.replace(table, chosen=table.chosen or bool(asked.options))
    number, names = len(table.names), ", ".join(table.names)
    if number < 2:
        raise wrong("two options or more", names or "none")
    count = sum(map(np.size, table.values))
    for what, most, got in (("options", _MOST_OPTIONS, number), ("scores", _MOST_SCORES, count)):
        if got > most:
            raise wrong(f"at most {most:,} {what}", f"{got:,}")
    if len(set(table.names)) < number:
        raise wrong("different names", names)
    if of_numbers:
        _require_numbers(table)
    return table


def _require_like_groups(
    names: Sequence[str], made: Sequence[np.ndarray], groups: Sequence[str]
) -> None:
    """Raise if independent runs are in other groups, as environments, than those of others.

    ``made`` are the tasks of each option's runs, of ``groups``. What differs by group would decide
    between options whose runs are in other groups. Runs whose groups were drawn are as often in
    each but for chance, which permutations of all runs tell.
    """
    if not groups:
        return
    hint = "--where COLUMN=NAME takes one of them, --options those that ran in all"
    kinds, of_task = np.unique(groups, return_inverse=True)
    of_runs = of_task[np.concatenate(made)]
    options = np.repeat(np.arange(len(names)), [len(own) for own in made])

    def count(options: np.ndarray) -> np.ndarray:
        cells = np.bincount(options * len(kinds) + of_runs, minlength=len(names) * len(kinds))
        return cells.reshape(len(names), len(kinds))

    def unlike(counts: np.ndarray) -> float:  # Pearson's statistic, but for what is the same of all
        return (counts**2 / counts.sum(0) / counts.sum(1)[:, None]).sum()

    counts = count(options)
    for option, kind in np.argwhere(counts == 0):
        got = f"none of {names[option]} in {kinds[kind]}"
        raise wrong("runs of each option in each group", got, hint)
    rng, found = np.random.default_rng(0), unlike(counts) * (1 - 1e-9)
    if all(unlike(count(rng.permutation(options))) < found for _ in range(_TRIES)):
        shares = counts / counts.sum(1)[:, None]
        kind = np.ptp(shares, axis=0).argmax()
        most, least = shares[:, kind].argmax(), shares[:, kind].argmin()
        parts = [f"{counts[i, kind]} of {counts[i].sum()} of {names[i]}" for i in (most, least)]
        got = f"{parts[0]} in {kinds[kind]}, and {parts[1]}"
        raise wrong("the same share of each option's runs in each group", got, hint)


def _of_scores(data: Scores, shared: bool, failed: Failed) -> ScoreTable:
    names, values = tuple(map(str, data.names)), tuple(map(np.asarray, data.values))
    about: dict[str, Any] = vars(data) | {"names": names, "failed": failed}
    made = [np.unique(tasks) for tasks in data.tasks or ()]
    in_common = len(np.unique(np.concatenate([*made, []]))) < sum(map(len, made))
    if shared or (data.asked_alike and in_common):
        if data.tasks is None:
            hint = (
                "leave out shared=True (--shared) if runs have nothing in common; else it is in a "
                "column called task, seed, fold, question or the like, task_column (--task-column) "
                "names its column, or folders of runs are called seed_1, seed_2; numbers that are "
                "others in every row, as seeds of each option's own, are nothing in common"
            )
            raise wrong("the task of each score, for shared tasks", "none", hint)
        if sum(own.size > 0 for own in made) > 1 and not in_common:
            hint = (
                "task_column (--task-column) names the column of what is the same; "
                f"{NUMBERED_ALIKE}; reset_index(drop=True) drops the index of a series"
            )
            raise wrong("tasks that options have in common", "others for each", hint)
        there = [_are_there(x) for x in values]
        pairs = zip(data.tasks, there, strict=True)
        about["tasks"] = tuple(np.asarray(tasks)[kept] for tasks, kept in pairs)
        about["task_names"] = tuple(map(str, data.task_names))
    else:
        pairs = zip(values, made, strict=False)
        about["repeat_tasks"] = not data.numbered and any(len(own) < len(x) for x, own in pairs)
        about["have_tasks_in_common"] = in_common and (bool(data.groups) or not data.numbered)
        _require_like_groups(names, data.tasks or (), data.groups)
        about |= {"tasks": None, "task_names": (), "groups": ()}
        there = [_are_there(x) | (failed != "drop") for x in values]
        if failed != "drop" and any(data.blanks):
            values = _with_blanks(data, failed)
            there = [slice(None) for _ in values]
    about["values"] = tuple(x[kept] for x, kept in zip(values, there, strict=True))
    return ScoreTable(**about)


def _with_blanks(data: Scores, failed: Failed) -> tuple[np.ndarray, ...]:
    """Independent runs with scores at blank places between them; ValueError without ``failed``."""
    if failed is not None:
        pairs, score = zip(data.values, data.blanks, strict=True), counted(failed)
        return tuple(np.insert(x.astype(float), places, score) for x, places in pairs)
    pairs = zip(data.names, data.blanks, strict=True)
    counts = [f"{name} {len(places):,}" for name, places in pairs if places]
    hint = (
        "--failed drop (failed='drop') if there was no run; --failed worst, or a number as its "
        "score, if it failed; --shared if rows are tasks that all options run"
    )
    expected = "to be told what blank cells between the runs of an option are"
    raise wrong(expected, f"some of {listed(counts)}", hint)


def _are_there(rows: np.ndarray) -> NDArray[np.bool_]:
    """Where scores, or outcomes of any kind, are neither None nor NaN."""
    if rows.dtype.kind == "f":
        return ~np.isnan(rows)
    there = [one is not None and (not isinstance(one, float) or one == one) for one in rows.flat]
    return np.array(there, bool)


def _require_numbers(table: ScoreTable) -> None:
    for option, (name, column) in enumerate(zip(table.names, table.values, strict=True)):
        is_exact = column.dtype.kind == "O" and all(isinstance(x, int | float) for x in column)
        if column.dtype.kind not in "biuf" and column.size and not is_exact:
            raise wrong(f"numbers as scores of {name}", repr(column[:1].tolist()[0]))
        bad = np.flatnonzero(column != column)  # of NaN
        if bad.size:
            got = f"NaN for {table.where(option, int(bad[0]))}"
            raise wrong("a number as score", got, HINT)


def ranks(columns: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The place of each score among all different ones, float64: nothing but their order counts."""
    flat = [x if len(x) else x.astype(bool) for x in columns]
    if np.result_type(*flat).kind == "f" and any(x.dtype.kind in "iu" for x in flat):
        # Floats do not hold all integers. Python's numbers compare as they are.
        flat = [x.astype(object) for x in flat]
    places = np.unique(np.concatenate(flat), return_inverse=True)[1].astype(float)
    return np.split(places, np.cumsum([len(x) for x in flat])[:-1])


def scaled(table: ScoreTable, low: float, high: float) -> list[np.ndarray]:
    """Scores on the scale of 0 to 1; ValueError if one is out of the range [low, high]."""
    found, expected = [], f"scores from low {low:g} to high {high:g}"
    for option, column in enumerate(table.values):
        try:
            numbers = column.astype(float)
        except OverflowError as error:
            raise wrong(expected, str(error)) from error
        out = np.flatnonzero((numbers < low) | (numbers > high))
        if out.size:
            where = table.where(option, int(out[0]))
            raise wrong(expected, f"{numbers[out[0]]:g} for {where}")
        found.append(numbers)
    every = np.concatenate(found)
    if PERCENTS in table.said and high >= 10 and np.abs(every).max(initial=0) < high / 10:
        hint = ": 50% is read as 0.5: give high, and a tolerance or margin, as shares, too"
        raise BadArgument("low, high", "a range of shares", f"{low:g} to {high:g}", hint)
    if every.size and 0 < np.ptp(every) < (high - low) * _LEAST_SPREAD:
        raise BadArgument(
            *("low, high", "a range in which scores can be told apart"),
            f"{low:g} to {high:g} for scores from {every.min():g} to {every.max():g}",
        )
    return [(numbers - low) / (high - low) for numbers in found]


def padded(columns: Sequence[np.ndarray]) -> np.ndarray:
    """float64 [K, N], with NaN behind the runs of an option."""
    runs = [np.arange(len(column)) for column in columns]
    return by_task(columns, runs, max(map(len, columns), default=0))[..., 0]


def by_task(
    columns: Sequence[np.ndarray], tasks: Sequence[NDArray[np.int64]], num_tasks: int
) -> np.ndarray:
    """float64 [K, T, R], NaN where a value is missing."""
    places = []  # the number of a value among those of its option on its task
    for column in tasks:
        order = np.argsort(column, kind="stable")
        ordered = column[order]
        place = np.empty(len(column), int)
        place[order] = np.arange(len(column)) - np.searchsorted(ordered, ordered)
        places.append(place)
    most = max((int(place.max()) + 1 for place in places if place.size), default=1)
    found = np.full((len(columns), num_tasks, most), np.nan)
    for option, column in enumerate(columns):
        found[option, tasks[option], places[option]] = column
    return found
