"""Many selections in a sweep, judged. Axes: J selections, T records, K options."""

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import sweep
from jaxrace.selection import (
    HybridPocbam,
    KnowledgeGradient,
    MlPocbam,
    Pocbam,
    ScoreSelector,
    SelectionJob,
    SelectionWork,
    Selector,
    Top,
    Uniform,
)
from jaxrace.selection.driver import Compare, first_record, fitting_interval
from papers.selections.curves import Curve
from papers.top_k.stationary import StationaryMlPocbam
from papers.workbench import Workbench, rows_of_jobs

# Those that estimate variances of pairs, by what commands call them.
BY_SCORES: dict[str, Callable[..., ScoreSelector]] = {
    "pocbam": Pocbam,
    "ml-pocbam": MlPocbam,
    "ml-pocbam-stationary": functools.partial(StationaryMlPocbam, follows=True),
    "hybrid": HybridPocbam,
    "pkg": KnowledgeGradient,
    "uniform": Uniform,
}

# Selections of a block: fits in lanes wait for each other, and arrays stay in the cache.
_WIDTH = 32
TOP_POINTS = 6  # numbers of repetitions of TOP, which ends by itself, for so many points of a curve
_LOOK = 100  # comparisons between two looks at whether TOP has ended


@dataclasses.dataclass(frozen=True)
class Task:
    """What is selected from, again and again."""

    name: str  # for figures and tables
    compare: Compare  # see ``selection.run``
    problems: Any  # what it is given, leaves [J, ...]
    truth: np.ndarray  # bool [J, K], who is best
    budget: int  # comparisons of each selection
    interval: int  # comparisons from one record to the next, about
    shared: Any = None  # what all problems have in common, see ``SelectionWork``
    kind: type[SelectionWork] = SelectionWork
    # Count the share of the best that is selected, not only whether all of them are.
    by_share: bool = False

    @property
    def num_options(self) -> int:
        """K."""
        return self.truth.shape[-1]

    @property
    def top(self) -> int:
        """k."""
        return int(self.truth[0].sum())

    def judge(self, num_found: np.ndarray) -> np.ndarray:
        """Is it right to have found so many of the best, int [...]? bool, or a share."""
        return num_found / self.top if self.by_share else num_found == self.top


def run_selector(
    bench: Workbench, task: Task, name: str, selector: Selector, params: Any = None, batch: int = 1
) -> Curve:
    """The curve of a selector; comparison n of a pair comes out the same for all selectors."""
    time, row = run_rows(bench, task, name, selector, task.kind, params, batch)
    return Curve(time, task.judge((row.selected & task.truth[:, None]).sum(-1)))


def run_rows(
    bench: Workbench,
    task: Task,
    name: str,
    selector: Selector,
    kind: type[SelectionWork],
    params: Any = None,
    batch: int = 1,
) -> tuple[np.ndarray, Any]:
    """Comparisons so far, [T], and the rows of all selections, of a ``kind``: [J, T, ...]."""
    first = first_record(selector)
    rest = task.budget - first
    interval = fitting_interval(rest, task.interval, batch)
    params = selector.params() if params is None else params
    work = kind(selector, task.compare, task.budget, interval, params, batch, task.shared)
    records = 1 + rest // interval
    log = bench.sweep(f"{task.name}, {name}", work, _jobs(bench, task), _WIDTH, records)
    rows, _ = rows_of_jobs(log, len(task.truth), records)
    return first + interval * np.arange(records, dtype=float), rows


def run_top(bench: Workbench, task: Task, points: int = TOP_POINTS, least: float = 0.1) -> Curve:
    """The curve of TOP, which ends by itself, from several numbers of repetitions.

    The largest number costs the task's budget on average, the smallest the share ``least`` of it.
    Times are mean numbers of comparisons.
    """
    matches = _ended(bench, task, "TOP, matches", 1, 1)[0].mean()
    most = task.budget / matches
    numbers = np.geomspace(max(most * least, 1), most, points)
    repetitions = sorted({min(round(nu), math.floor(most)) for nu in numbers})
    ends = [_ended(bench, task, f"TOP, {nu} per match", nu, repetitions[-1]) for nu in repetitions]
    times = np.array([time.mean() for time, _ in ends])
    return Curve(times, np.stack([correct for _, correct in ends], axis=1), are_settings=True)


def _ended(
    bench: Workbench, task: Task, name: str, repetitions: int, most: int
) -> tuple[np.ndarray, np.ndarray]:
    """Comparisons of each selection, and whether it was right, [J]; compiled for ``most``."""
    selector = Top(task.num_options, task.top)
    budget = _LOOK * -(-match_bounds(selector)[1] * most // _LOOK)
    params = selector.params(repetitions)
    work = task.kind(selector, task.compare, budget, _LOOK, params, shared=task.shared)
    log = bench.sweep(f"{task.name}, {name}", work, _jobs(bench, task), _WIDTH)
    last = np.cumsum(np.bincount(log.rows.job, minlength=len(task.truth))) - 1
    num_found = (log.rows.row.selected[last] & task.truth).sum(-1)
    return log.rows.row.time[last], task.judge(num_found)


def match_bounds(selector: Top) -> tuple[int, int]:
    """How many matches TOP has at least and at most.

    The first tournaments take K - k. The m-th winner on the heap meets 1 to log2 m others
    (rounded down). After each of the k found but the last, two matches for every level of the
    heap sink its last member, the found one's group plays without it, and its winner rises.

    >>> match_bounds(Top(num_options=10, top=1)), match_bounds(Top(num_options=10, top=4))
    ((9, 9), (15, 25))
    """
    options, top = selector.num_options, selector.top
    small, large = options // top, -(-options // top)
    levels = [size.bit_length() - 1 for size in range(1, top + 1)]  # of a heap below its root
    least, most = options - 1, options - top + sum(levels)
    for found in range(1, top):
        # Groups of which all were found have nobody on the heap.
        heap_size = top - 1 - (found - 1) // small
        least += min(heap_size - 1, 2) + max(small - found - 1, 0) + (small > found)
        most += 2 * levels[-2] + max(large - 2, 0) + levels[-1]
    return least, most


def _jobs(bench: Workbench, task: Task) -> sweep.Jobs:
    # Not those that the problems are made from.
    key = jax.random.fold_in(jax.random.key(np.uint32(bench.seed)), jnp.uint32(1))
    keys = jax.random.split(key, len(task.truth))
    return sweep.stacked(SelectionJob(keys, task.problems))


def problem_keys(seed: int, count: int) -> jax.Array:
    """A key for each problem, [J]."""
    return jax.random.split(jax.random.key(np.uint32(seed)), count)
