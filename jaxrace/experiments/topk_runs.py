"""Many selections, as curves of the success rate. Axes: J selections, T records."""

import dataclasses
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import plots, sweep
from jaxrace.experiments.race_curves import mean_and_error
from jaxrace.experiments.workbench import Columns, Workbench
from jaxrace.selection import (
    NormalScores,
    SelectionJob,
    SelectionWork,
    Selector,
    Top,
    borda_top,
)
from jaxrace.selection.driver import Compare, first_record, fitting_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Selections of a block: fits in lanes wait for each other, and arrays stay in the cache.
_WIDTH = 32

# Numbers of repetitions of TOP, which ends by itself, for so many points of a curve.
TOP_POINTS = 6

# Comparisons between two looks at whether TOP has ended.
_LOOK = 100


@dataclasses.dataclass(frozen=True)
class Task:
    """What is selected from, again and again.

    Attributes:
        name: For figures and tables.
        compare: See ``selection.run``.
        problems: What it is given, leaves [J, ...].
        truth: bool [J, K], who is best.
        budget: Comparisons of each selection.
        interval: Comparisons from one record to the next, about.
        shared: What all problems have in common, see ``SelectionWork``.
        by_share: Count the share of the best that is selected, not only whether all of them are.
    """

    name: str
    compare: Compare
    problems: Any
    truth: np.ndarray
    budget: int
    interval: int
    shared: Any = None
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
        """What selections count that have found so many of the best, int [...]: bool, or a share.

        >>> from jaxrace.selection import win
        >>> task = Task("2 of 3", win, None, np.array([[True, True, False]]), 9, 3)
        >>> task.judge(np.array([1, 2])).tolist()
        [False, True]
        >>> dataclasses.replace(task, by_share=True).judge(np.array([1, 2])).tolist()
        [0.5, 1.0]
        """
        return num_found / self.top if self.by_share else num_found == self.top


def judged_by_wins(task: Task) -> Task:
    """The same for selectors that count wins alone: who wins most often is best.

    Args:
        task: Of normal scores; of anything else it remains as it is.

    >>> from jaxrace.selection import NormalScores, normal_score
    >>> means = jnp.array([[0.0, 9.0, -1.0], [-9.0, 0.0, -1.0], [1.0, 1.0, 0.0]])
    >>> problems = NormalScores(means[None], jnp.ones((1, 3, 3)))
    >>> task = Task("1 of 3", normal_score, problems, np.array([[True, False, False]]), 30, 3)
    >>> judged_by_wins(task).truth.tolist()
    [[False, False, True]]
    """
    if not isinstance(task.problems, NormalScores):
        return task
    chances = jax.scipy.stats.norm.cdf(task.problems.means / task.problems.deviations)
    best = jax.vmap(functools.partial(borda_top, top=task.top))(chances)
    return dataclasses.replace(task, truth=np.asarray(best))


class Curve(NamedTuple):
    """How often the right k have been selected, or how many of them."""

    time: np.ndarray  # float64 [T], comparisons so far, or their mean where it varies
    correct: np.ndarray  # bool [J, T], or float64, see ``Task.judge``

    @property
    def success(self) -> tuple[np.ndarray, np.ndarray]:
        """The rate and its standard error, [T] each."""
        return mean_and_error(self.correct.T.astype(float))


def run_selector(
    bench: Workbench, task: Task, name: str, selector: Selector, params: Any, batch: int = 1
) -> Curve:
    """A curve of one selector; selections that have ended stay what they were.

    Comparison number n of a pair comes out the same for all selectors and batches.
    """
    time, row = run_rows(bench, task, name, selector, SelectionWork, params, batch)
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
    """Comparisons so far, [T], and the rows of all selections, leaves [J, T, ...].

    Args:
        bench: Where.
        task: What.
        name: Of the stage.
        selector: Which.
        kind: What makes the rows.
        params: Of the selector; its own defaults unless given.
        batch: See ``selection.run``.
    """
    first = first_record(selector)
    rest = task.budget - first
    interval = fitting_interval(rest, task.interval, batch)
    params = selector.params() if params is None else params
    work = kind(selector, task.compare, task.budget, interval, params, batch, task.shared)
    records = 1 + rest // interval
    log = bench.sweep(f"{task.name}, {name}", work, _jobs(bench, task), _WIDTH, records)
    lengths = np.bincount(log.rows.job, minlength=len(task.truth))
    # Where a selection has ended early, its last row.
    place = np.minimum(np.arange(records), lengths[:, None] - 1)
    places = (np.cumsum(lengths) - lengths)[:, None] + place
    rows = jax.tree.map(lambda x: x[places], log.rows.row)
    return first + interval * np.arange(records, dtype=float), rows


def run_top(bench: Workbench, task: Task, points: int = TOP_POINTS, least: float = 0.1) -> Curve:
    """The curve of TOP, which ends by itself, from several numbers of repetitions.

    Its time is the mean number of comparisons.

    Args:
        bench: Where.
        task: What; its budget is that of the largest number of repetitions.
        points: How many numbers.
        least: The smallest number as a part of the largest.
    """
    matches = _ended(bench, task, "TOP, matches", 1, 1)[0].mean()
    most = max(task.budget / matches, 1)
    repetitions = sorted({round(nu) for nu in np.geomspace(max(most * least, 1), most, points)})
    ends = [_ended(bench, task, f"TOP, {nu} per match", nu, repetitions[-1]) for nu in repetitions]
    times = np.array([time.mean() for time, _ in ends])
    return Curve(times, np.stack([correct for _, correct in ends], axis=1))


def _ended(
    bench: Workbench, task: Task, name: str, repetitions: int, most: int
) -> tuple[np.ndarray, np.ndarray]:
    """Comparisons of each selection, and whether it was right, [J] each.

    ``most`` repetitions are the most of those that are compiled for.
    """
    selector = Top(task.num_options, task.top)
    # Far more matches than it can take.
    matches = selector.num_options * 2 * (2 + selector.top.bit_length())
    budget = _LOOK * -(-matches * most // _LOOK)
    params = selector.params(repetitions)
    work = SelectionWork(selector, task.compare, budget, _LOOK, params, shared=task.shared)
    log = bench.sweep(f"{task.name}, {name}", work, _jobs(bench, task), _WIDTH)
    last = np.cumsum(np.bincount(log.rows.job, minlength=len(task.truth))) - 1
    if not log.rows.row.done[last].all():
        raise RuntimeError(f"{name}: not over after {budget:,} comparisons")
    num_found = (log.rows.row.selected[last] & task.truth).sum(-1)
    return log.rows.row.time[last], task.judge(num_found)


def _jobs(bench: Workbench, task: Task) -> sweep.Jobs:
    keys = _keys(np.uint32(bench.seed), len(task.truth))
    return sweep.stacked(SelectionJob(keys, task.problems))


def _keys(seed: np.uint32, count: int) -> jax.Array:
    # Not those that the problems are made from.
    return jax.random.split(jax.random.fold_in(jax.random.key(seed), jnp.uint32(1)), count)


def problem_keys(seed: int, count: int) -> jax.Array:
    """A key for each problem, [J].

    >>> problem_keys(0, 3).shape
    (3,)
    """
    return jax.random.split(jax.random.key(np.uint32(seed)), count)


def table_of(curves: dict[str, dict[str, Curve]]) -> list[Columns]:
    """Success rates as columns, by task and method.

    >>> curve = Curve(np.array([10.0]), np.array([[True], [True]]))
    >>> table_of({"1 of 2": {"uniform": curve}})[0]["success"].tolist()
    [1.0]
    """
    pieces = []
    for task, found in curves.items():
        for name, curve in found.items():
            rate, error = curve.success
            count = len(rate)
            names = {"task": np.full(count, task), "method": np.full(count, name)}
            numbers = {"samples": curve.time, "success": rate, "success_stderr": error}
            repeats = np.full(count, len(curve.correct))
            pieces.append({**names, "replications": repeats, **numbers})
    return pieces


def draw_curves(
    panel: "Axes", curves: dict[str, Curve], title: str, names: Sequence[str] = ()
) -> None:
    """Success rate against samples, with two standard errors.

    Args:
        panel: Where.
        curves: By name.
        title: Of the panel.
        names: All names of the figure, if there are more: each has its own colour.

    >>> from matplotlib.figure import Figure
    >>> panel = Figure().subplots()
    >>> draw_curves(panel, {"uniform": Curve(np.ones(1), np.ones((2, 1), bool))}, "1 of 2")
    >>> panel.get_title()
    '1 of 2'
    """
    order = list(names) or list(curves)
    for name, curve in curves.items():
        rate, error = curve.success
        place = order.index(name)
        color, style = f"C{place % 10}", ("-", "--")[place // 10]
        # Few points are settings, not a course.
        mark = "o" if len(rate) <= TOP_POINTS else None
        panel.plot(curve.time, rate, style, color=color, label=name, marker=mark, ms=3, lw=1.2)
        low, high = rate - 2 * error, rate + 2 * error
        panel.fill_between(curve.time, low, high, color=color, alpha=0.15, lw=0)
    is_share = any(curve.correct.dtype != bool for curve in curves.values())
    counted = "share of the best that is selected" if is_share else "share of correct selections"
    panel.set(title=title, xlabel="comparisons", ylabel=counted)
    panel.xaxis.set_major_formatter("{x:,.0f}")
    plots.tidy(panel)


def success_at(curve: Curve, samples: float) -> tuple[float, float]:
    """The rate and its error at the last record of at most so many samples; NaN before the first.

    >>> success_at(Curve(np.array([10.0, 20.0]), np.array([[False, True], [True, True]])), 15)[0]
    0.5
    """
    place = int(np.searchsorted(curve.time, samples, side="right")) - 1
    if place < 0:
        return float("nan"), float("nan")
    rate, error = curve.success
    return float(rate[place]), float(error[place])


def samples_until(curve: Curve, rate: float) -> float:
    """Samples after which the success rate first is as large; infinite if it never is.

    >>> samples_until(Curve(np.array([10.0, 20.0]), np.array([[False, True], [True, True]])), 0.8)
    20.0
    """
    reached = np.flatnonzero(curve.success[0] >= rate)
    return float(curve.time[reached[0]]) if reached.size else float("inf")


def samples_between(curve: Curve, rate: float) -> float:
    """The same, on the straight line from the record before; infinite if that is the first.

    >>> curve = Curve(np.array([10.0, 20.0]), np.array([[False, True], [True, True]]))
    >>> samples_between(curve, 0.8)
    16.0
    """
    success = curve.success[0]
    reached = np.flatnonzero(success >= rate)
    if not reached.size or reached[0] == 0:
        return float("inf")
    last = reached[0] + 1
    return float(np.interp(rate, success[last - 2 : last], curve.time[last - 2 : last]))
