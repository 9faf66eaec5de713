"""All learners on the medical task. Axes: R repetitions, n rows, one per R and generation."""

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from scipy import ndimage

from jaxrace.commands.train.config import METHODS, TrainConfig
from jaxrace.commands.train.learning import make_sweep
from jaxrace.commands.train.tasks import TASKS, evaluate_fixed
from jaxrace.runs import plots
from jaxrace.search import SearchWork
from papers.preference_racing.learners import searches_by
from papers.workbench import Workbench

LEARNERS = ("pb-edps", "edps", "pbpi", "sarsa")
EVOLUTION = ("pb-edps", "edps")  # their generations end after other numbers of episodes each time
HAZARDS = ("A", "B")  # two settings of the hazard: in B fewer patients die

# Of theta = 0, and the one that keeps most patients alive with hazard A; not in the paper.
START_DOSE, BEST_DOSE = 0.5, 0.55
OWN_DOSES = tuple(f"constant {dose:g}" for dose in (START_DOSE, BEST_DOSE))

# The clouds of the evolution strategies are smoothed by a normal kernel: its standard deviation, as
# a share of all episodes, and the cells of equal width on which it is computed.
KERNEL, _CELLS = 0.03, 400

Metrics = dict[str, np.ndarray]


class Learning(NamedTuple):
    """What a learner did."""

    repeat: np.ndarray  # int64 [n]
    episodes: np.ndarray  # int32 [n], used so far
    metrics: Metrics  # float32 [n], of the policy at that time
    numbers: Metrics  # [n], the rest of the learner's row
    is_last: np.ndarray  # bool [n], of its repetition

    @property
    def last(self) -> Metrics:
        """Of the policies that were learned, [R]."""
        return {name: values[self.is_last] for name, values in self.metrics.items()}


Findings = dict[tuple[str, str], Learning]  # by hazard and method
Policies = dict[str, Metrics]
Fixed = dict[str, Policies]  # by hazard and policy
Curve = tuple[np.ndarray, np.ndarray]


def without_own_doses(policies: Policies) -> Policies:
    """Those that the paper has."""
    return {name: metrics for name, metrics in policies.items() if name not in OWN_DOSES}


def labels() -> dict[str, str]:
    """What each metric is, in words."""
    return TASKS["medical"](TrainConfig()).labels


def paper_config(bench: Workbench, method: str, hazard: str) -> TrainConfig:
    """The paper's setting of a method, of full size or smaller; of the baselines the sizes."""
    known = method if method in METHODS else "constant"
    config = TrainConfig(
        method=known,  # pyright: ignore[reportArgumentType]
        hazard=hazard,  # pyright: ignore[reportArgumentType]
        episodes=bench.size(10_000, 2_000),
        repeats=bench.size(100, 10),
        seed=bench.seed,
    )
    # The others have no bound.
    return dataclasses.replace(config, bound="published") if method == "pb-edps" else config


def learn(bench: Workbench, config: TrainConfig, name: str, searches: SearchWork) -> Learning:
    """Run all repetitions of a learner, each with an evaluation after every generation."""
    task = TASKS[config.env](config)
    train_key, test_key = jax.random.split(jax.random.key(config.seed))
    work, jobs = make_sweep(config, task, searches, train_key, test_key)
    rows = bench.sweep(name, work, jobs).rows
    row = rows.row.search._asdict()
    numbers = {field: row[field] for field in row if field not in ("ran", "best", "valid")}
    return Learning(rows.job, row["episodes"], rows.row.metrics, numbers, rows.is_last)


def learn_all(bench: Workbench) -> Findings:
    """What every learner does with every hazard."""
    found = {}
    for hazard, method in itertools.product(HAZARDS, LEARNERS):
        config = paper_config(bench, method, hazard)
        searches = searches_by(method, config, TASKS[config.env](config))
        found[hazard, method] = learn(bench, config, f"{method} {hazard}", searches)
    return found


def fixed_all(bench: Workbench, doses: tuple[float, ...] = (START_DOSE,), **changed: Any) -> Fixed:
    """The constant policies, these doses too, and the random one, by a changed config."""
    found: Fixed = {}
    for hazard in HAZARDS:
        config = dataclasses.replace(paper_config(bench, "random", hazard), **changed)
        test_key = jax.random.split(jax.random.key(config.seed))[1]
        bench.job.on_stage(f"fixed policies {hazard}", 0, 1)
        task = TASKS[config.env](config)
        found[hazard] = evaluate_fixed(config, task, test_key, doses)
    return found


def panels_by_hazard(
    metrics: Sequence[str], title: str
) -> tuple["plots.Figure", dict[tuple[str, str], "plots.Axes"]]:
    """A figure with a panel for each hazard and metric; titles have the hazard and the figure."""
    figure, panels = plots.new_figure((10.5, 7.4), 2, 2, sharex=True)
    found = {}
    for row, number, hazard in zip(panels, (4, 6), HAZARDS, strict=True):
        for panel, metric in zip(row, metrics, strict=True):
            plots.tidy(panel, title=title.format(hazard, number), ylabel=labels()[metric])
            found[hazard, metric] = panel
    for panel in panels[-1]:
        panel.set_xlabel("training episodes")
        panel.xaxis.set_major_formatter("{x:,.0f}")
    return figure, found


def curve(found: Findings, hazard: str, method: str, metric: str) -> Curve:
    """The learning curve of a method: a mean, smoothed for the evolution strategies."""
    of = smoothed if method in EVOLUTION else averaged
    return of(found[hazard, method], metric)


def averaged(learning: Learning, metric: str) -> Curve:
    """The means of all repetitions; the last policy of one that has ended goes on counting."""
    places = np.unique(learning.episodes)
    curves = []
    for repeat in np.unique(learning.repeat):
        rows = learning.repeat == repeat
        before = np.searchsorted(learning.episodes[rows], places, side="right") - 1
        values = learning.metrics[metric][rows].astype(float)
        curves.append(np.where(before >= 0, values[before], np.nan))
    means = np.mean(curves, axis=0)
    # From where all have been evaluated.
    return places[np.isfinite(means)], means[np.isfinite(means)]


def smoothed(learning: Learning, metric: str) -> Curve:
    """Through all (episodes, performance), from where half of the repetitions are to their end."""
    episodes, values = learning.episodes, learning.metrics[metric]
    counts, edges = np.histogram(episodes, _CELLS)
    sums, _ = np.histogram(episodes, edges, weights=values)
    width = KERNEL * _CELLS
    # Not truncated: however long a gap between two generations, no place is without a weight.
    smooth_counts, smooth_sums = (
        ndimage.gaussian_filter1d(x.astype(float), width, mode="constant", truncate=1 / KERNEL)
        for x in (counts, sums)
    )
    middles = (edges[:-1] + edges[1:]) / 2
    is_first = np.append(True, np.diff(learning.repeat) != 0)
    first, last = np.median(episodes[is_first]), np.median(episodes[learning.is_last])
    chosen = (middles >= first) & (middles <= last)
    return middles[chosen], smooth_sums[chosen] / smooth_counts[chosen]


def mean_before(learning: Learning, metric: str, episodes: int) -> np.ndarray:
    """The mean of each repetition's first episodes [R]; a policy counts until the next one."""
    found = []
    for repeat in np.unique(learning.repeat):
        rows = (learning.repeat == repeat) & (learning.episodes < episodes)
        weights = np.diff(np.append(learning.episodes[rows], episodes))
        found.append(np.average(learning.metrics[metric][rows], weights=weights))
    return np.array(found)


def settled(curve: Curve, tolerance: float) -> float:
    """After how many episodes a curve stays as close to its end."""
    places, means = curve
    far = np.flatnonzero(np.abs(means - means[-1]) > tolerance)
    return float(places[far[-1] + 1 if far.size else 0])
