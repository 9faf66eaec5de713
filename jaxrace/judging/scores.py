"""Scores by name, as people have them. Axes: K options, n_i runs of option i, T tasks, R values."""

import dataclasses
import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaxrace.answers.answer import listed
from jaxrace.evidence.levels import Gaps
from jaxrace.judging.axes import axes_of
from jaxrace.judging.failed import with_blanks, with_failures
from jaxrace.judging.in_memory import Columns, in_memory, is_read, wrong
from jaxrace.tables import Scores, read_scores
from jaxrace.tables.asked import Failed, failed_called
from jaxrace.tables.failures import HINT
from jaxrace.tables.frames import paired
from jaxrace.tables.heads import names_task, names_times
from jaxrace.tables.refusals import identifier
from jaxrace.tables.runs import groups_of
from jaxrace.tables.table import alike

# Of a table; larger ones take minutes.
MOST_OPTIONS, MOST_SCORES = 5_000, 5_000_000

_LEAST_SPREAD = 2.0**-40  # of scores, in their range; rounding is 2**-53
_FOLDS = re.compile(r"\b(cv|split|fold)(?![a-z])|fold_?\d", re.IGNORECASE)

NOTHING: Mapping[str, Any] = {}  # said of columns


@dataclasses.dataclass(frozen=True)
class Table:
    """Scores by name: ``Scores`` of anything."""

    names: tuple[str, ...]
    values: tuple[np.ndarray, ...]  # of each option [n_i]
    tasks: tuple[NDArray[np.int64], ...] | None = None
    task_names: tuple[str, ...] = ()
    smaller: bool = False  # are small scores good, as the source says?
    have_tasks_in_common: bool = False  # that the source names
    repeat_tasks: bool = False  # has an option several runs on one of these?
    groups: tuple[str, ...] = ()  # of each task its benchmark, subject or file; () if not known
    said: tuple[str, ...] = ()  # by its reader
    measures: tuple[str, ...] = ()  # as in ``Scores``
    failed: Failed = None  # as there

    @functools.cached_property
    def progress(self) -> NDArray[np.int64]:
        """Of each option the runs, or the different tasks that it has run: int [K]."""
        if self.tasks is None:
            return np.array([len(column) for column in self.values])
        return np.array([there.sum() for there in self._are_run()])

    def in_order(self) -> NDArray[np.int64]:
        """Of each option the shared tasks before the first one that it lacks: int [K]."""
        return np.array([there.argmin() for there in self._are_run()])

    def _are_run(self) -> Iterator[NDArray[np.bool_]]:
        """Of each option which shared tasks it has run, and of one more, which it has not."""
        assert self.tasks is not None
        for tasks in self.tasks:
            there = np.zeros(len(self.task_names) + 1, bool)
            there[tasks] = True
            yield there

    def where(self, option: int, run: int) -> str:
        """A run in words."""
        if self.tasks is None:
            return f"run {run + 1} of {self.names[option]}"
        return f"{self.names[option]} on task {self.task_names[self.tasks[option][run]]}"


def as_table(
    data: Any, *, shared: bool, of_numbers: bool = True, columns: Mapping[str, Any] = NOTHING
) -> Table:
    """The table of a mapping, a list, an array with a column for each option, or ``Scores``.

    What columns of numbers are, options or tasks, is judged as for a file; ``columns`` are the
    arguments of ``read_scores`` that say so. Shared tasks of series are paired by their index.
    Anything else, such as a path, a data frame, rows, columns of names and scores, or a path by the
    name of its option, is read by ``jaxrace.tables.read_scores``.

    Independent runs: of each option [n_i]. Shared tasks: of each option [T] or [T, R], NaN where it
    has not been run. In an array [T, K] or [n, K] NaN fills columns up.

    Raises:
        ValueError: It is none of these, has fewer than two options, equal names, or a NaN among
            independent runs; or it is too large.
    """
    is_raw = isinstance(data, Mapping | np.ndarray | Sequence) and not isinstance(data, str)
    if shared and is_raw and not isinstance(data, np.ndarray):
        data = paired("data", data)
    if not isinstance(data, Scores):
        as_file = not is_raw or (of_numbers and (is_read(data) or bool(columns.get("where"))))
        data = read_scores(data, **columns) if as_file else in_memory(data, of_numbers, columns)
    if isinstance(data, Scores):
        table = _of_scores(data, shared, failed_called(columns.get("failed", data.failed)))
    else:
        failed = failed_called(columns.get("failed"))
        kept = with_failures(data, shared, failed) if of_numbers else data
        table = dataclasses.replace(_of_columns(kept, shared), failed=failed)
    if len(table.names) < 2:
        raise wrong(f"two options or more, got {', '.join(table.names) or 'none'}")
    if len(table.names) > MOST_OPTIONS:
        raise wrong(f"at most {MOST_OPTIONS:,} options, got {len(table.names):,}")
    if (number := sum(map(np.size, table.values))) > MOST_SCORES:
        raise wrong(f"at most {MOST_SCORES:,} scores, got {number:,}")
    if len(set(table.names)) < len(table.names):
        raise wrong(f"different names, got {', '.join(table.names)}")
    if of_numbers:
        _require_numbers(table)
    return table


def _of_scores(data: Scores, shared: bool, failed: Failed) -> Table:
    tasks, names = data.tasks, tuple(map(str, data.names))
    values = tuple(map(np.asarray, data.values))
    about: Any = {"smaller": data.smaller, "said": data.said, "measures": data.measures}
    about["failed"] = failed
    if not shared and data.blanks:
        values = with_blanks(names, values, data.blanks, failed)
    if not shared:
        own = [] if tasks is None or data.numbered else zip(values, tasks, strict=False)
        about["repeat_tasks"] = any(len(np.unique(places)) < len(x) for x, places in own)
        return Table(names, values, have_tasks_in_common=_have_tasks_in_common(data), **about)
    if tasks is None:
        raise wrong(
            "the task of each score, for shared tasks, got none: task_column (--task-column) "
            "names its column, where it is not called task, seed, fold, question or the like"
        )
    made = [task for task in map(np.unique, tasks) if task.size]
    if len(made) > 1 and len(np.unique(np.concatenate(made))) == sum(map(len, made)):
        raise wrong(
            "tasks that options have in common, got others for each: task_column (--task-column) "
            "names the column of what is the same; reset_index(drop=True) drops that of a series"
        )
    places = tuple(map(np.asarray, tasks))
    table = _without_gaps(names, values, places, data.task_names)
    return dataclasses.replace(table, groups=data.groups, **about)


def _of_columns(data: Columns, shared: bool) -> Table:
    """Of shared tasks, or of independent runs."""
    if not shared:
        have = data.rows is not None or data.groups is not None
        said = (*data.said, *alike("options", data.names))
        return Table(
            data.names,
            tuple(data.values),
            have_tasks_in_common=have,
            said=said,
            measures=data.names,
        )
    most = max((len(column) for column in data.values if column.ndim), default=0)
    rows = data.rows or [str(row + 1) for row in range(most)]
    places: dict[str, int] = {}
    place = np.array([places.setdefault(row, len(places)) for row in rows], np.int64)
    values, tasks = [], []
    for name, column in zip(data.names, data.values, strict=True):
        if column.ndim not in (1, 2):
            raise wrong(f"scores [T] or [T, R] of {name}, got an array {list(column.shape)}")
        found = column if column.ndim == 2 else column[:, None]
        there = _are_there(found)
        values.append(found[there])
        tasks.append(place[np.nonzero(there)[0]])
    groups, said = groups_of(data.names, [*places], rows, data.groups, data.grouped_by)
    return Table(
        data.names,
        tuple(values),
        tuple(tasks),
        tuple(places),
        groups=groups,
        said=(*data.said, *axes_of(data.names, data.values), *said),
        measures=data.names,
    )


def _have_tasks_in_common(data: Scores) -> bool:
    if data.tasks is None or (data.numbered and not data.groups):
        return False
    different = list(map(np.unique, data.tasks))
    return len(np.unique(np.concatenate(different))) < sum(map(len, different))


def require_options(argument: str, columns: Mapping[str, np.ndarray]) -> None:
    """Raise ValueError if one of some samples by name is called like anything else."""
    others = [(head, "which names tasks") for head in columns if names_task(head)]
    others += [(head, "which says when") for head in columns if names_times(head)]
    numbers = {head: column.astype(float) for head, column in columns.items()}
    found = others[0] if others else identifier(numbers, by_name=True)
    if found is not None:
        raise ValueError(
            f"{argument}: expected those of an option below each name, got {found[0]!r}, "
            f"{found[1]}: a list, without names, is taken as it is"
        )


def notes_of(table: Table, gaps: Gaps) -> list[str]:
    """What a reader should know about shared tasks that were left out."""
    if table.tasks is None:
        return []
    last = [int(tasks.max(initial=-1)) + 1 for tasks in table.tasks]
    counts = zip(table.names, np.array(last) - table.progress, strict=True)
    lacking = [f"{name} {count:,}" for name, count in counts if count]
    if not lacking:
        return []
    means = (
        "each counts as lost until it is run; gaps=skip (--gaps skip) leaves them out, if they do "
        "not depend on scores and are never filled"
        if gaps == "lost"
        else "skipped: they must not depend on scores, and must never be filled"
    )
    return [f"tasks without a score before the last one: {listed(lacking)}; {means}"]


def overlap_of(table: Table) -> str | None:
    """Why shared tasks that are no list may not be independent: folds of one data set."""
    columns = " ".join(re.findall(r"tasks from columns? (.*)", "\n".join(table.said)))
    names = table.task_names[:1] if table.tasks is not None else ()
    if not any(_FOLDS.search(text) for text in (columns, *names)):
        return None
    return (
        "folds of one data set overlap, and are no independent tasks: of=N (--of N) asks about the "
        "list of all N folds, in an order drawn by lot"
    )


def _are_there(rows: np.ndarray) -> NDArray[np.bool_]:
    """Where scores, or outcomes of any kind, are neither None nor NaN."""
    if rows.dtype.kind == "f":
        return ~np.isnan(rows)
    there = [one is not None and (not isinstance(one, float) or one == one) for one in rows.flat]
    return np.array(there, bool).reshape(rows.shape)


def _without_gaps(
    names: tuple[str, ...], values: Sequence[Any], tasks: Sequence[Any], task_names: Sequence[str]
) -> Table:
    """A table that was read, without the scores that are NaN."""
    there = [_are_there(x) for x in values]
    kept = tuple(x[mask] for x, mask in zip(values, there, strict=True))
    places = tuple(x[mask] for x, mask in zip(tasks, there, strict=True))
    return Table(names, kept, places, tuple(map(str, task_names)))


def _require_numbers(table: Table) -> None:
    for option, column in enumerate(table.values):
        name = table.names[option]
        if column.ndim != 1:
            raise wrong(f"scores [n] of {name}, got an array {list(column.shape)}")
        is_exact = column.dtype.kind == "O" and all(isinstance(x, int | float) for x in column)
        if column.dtype.kind not in "biuf" and column.size and not is_exact:
            raise wrong(f"numbers as scores of {name}, got {column[:1].tolist()[0]!r}")
        if column.size and column.dtype.kind != "b":
            bad = np.flatnonzero(column != column)  # of NaN
            if bad.size:
                got = f"NaN for {table.where(option, int(bad[0]))}"
                raise wrong(f"a number as score, got {got}: {HINT}")


def ranks(columns: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The place of each score among all different ones, float64: nothing but their order counts."""
    flat = [x if len(x) else x.astype(bool) for x in columns]
    if np.result_type(*flat).kind == "f" and any(x.dtype.kind in "iu" for x in flat):
        # Floats do not hold all integers. Python's numbers compare as they are.
        flat = [x.astype(object) for x in flat]
    places = np.unique(np.concatenate(flat), return_inverse=True)[1].astype(float)
    return np.split(places, np.cumsum([len(x) for x in flat])[:-1])


def scaled(table: Table, low: float, high: float) -> list[np.ndarray]:
    """Scores on the scale of 0 to 1; ValueError if one is out of the range [low, high]."""
    found = []
    for option, column in enumerate(table.values):
        try:
            numbers = column.astype(float)
        except OverflowError as error:
            raise wrong(f"scores from low {low:g} to high {high:g}, got {error}") from error
        out = np.flatnonzero((numbers < low) | (numbers > high))
        if out.size:
            raise wrong(
                f"scores from low {low:g} to high {high:g}, got {numbers[out[0]]:g} for "
                f"{table.where(option, int(out[0]))}"
            )
        found.append((numbers - low) / (high - low))
    every = np.concatenate([column.astype(float) for column in table.values])
    if every.size and 0 < np.ptp(every) < (high - low) * _LEAST_SPREAD:
        raise ValueError(
            f"low, high: expected a range in which scores can be told apart, got {low:g} to "
            f"{high:g} for scores from {every.min():g} to {every.max():g}"
        )
    return found


def padded(columns: Sequence[np.ndarray]) -> np.ndarray:
    """float64 [K, N], with NaN behind the runs of an option."""
    found = np.full((len(columns), max(map(len, columns), default=0)), np.nan)
    for row, column in zip(found, columns, strict=True):
        row[: len(column)] = column
    return found


def by_task(
    columns: Sequence[np.ndarray], tasks: Sequence[NDArray[np.int64]], num_tasks: int
) -> np.ndarray:
    """float64 [K, T, R], NaN where there is no value."""
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
