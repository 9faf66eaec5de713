"""How fast learners learn: Busa-Fekete et al. 2014, figures 4 and 6.

Axes: R repetitions, n rows, X numbers of episodes.
"""

import itertools
from typing import TYPE_CHECKING

import numpy as np
from scipy import ndimage

from jaxrace import plots
from jaxrace.experiments.config import EXPERIMENTS
from jaxrace.experiments.medical_runs import (
    HAZARDS,
    LEARNERS,
    Learning,
    Metrics,
    fixed_policies,
    labels,
    learn,
    paper_config,
)
from jaxrace.experiments.race_curves import mean_and_error
from jaxrace.experiments.workbench import Columns, Workbench, markdown_table, with_error

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHOWN = ("mean_reward", "survival_rate")

# The clouds of the evolution strategies are smoothed by a normal kernel: its standard deviation, as
# a share of all episodes, and the cells of equal width on which it is computed.
_KERNEL, _CELLS = 0.03, 400

# Numbers of episodes after which all repetitions of a learner are evaluated: more is a cloud.
_MOST_PLACES = 200

# The paper looks at learners with fewer training episodes than these.
_FEW = 4000

Findings = dict[tuple[str, str], Learning]  # by hazard and method


def run(bench: Workbench) -> None:
    """Leaves curves.csv, figure_4_and_6.png and report.md."""
    found: Findings = {
        (hazard, method): learn(bench, paper_config(bench, method, hazard))
        for hazard, method in itertools.product(HAZARDS, LEARNERS)
    }
    fixed = {hazard: fixed_policies(bench, hazard) for hazard in HAZARDS}
    bench.write_table("curves.csv", _table(found))
    bench.write_figure("figure_4_and_6.png", _figure(found, fixed))
    bench.write_report(EXPERIMENTS["medical-convergence"], _paragraphs(found))


def smoothed(learning: Learning, metric: str) -> tuple[np.ndarray, np.ndarray]:
    """A curve through the cloud of (episodes, performance) pairs of all repetitions.

    Learners that are evaluated after the same numbers of episodes in every repetition, which are
    few, are averaged there, with the last policy of those that have ended. Others are smoothed by
    a kernel, from where half of the repetitions have been evaluated to where half have ended.

    Returns:
        Episodes [X] and the means [X].
    """
    episodes, values = learning.episodes, learning.metrics[metric]
    places = np.unique(episodes)
    if len(places) <= _MOST_PLACES:
        means = _carried_forward(learning, metric, places).mean(0)
        return places[np.isfinite(means)], means[np.isfinite(means)]
    counts, edges = np.histogram(episodes, _CELLS)
    sums, _ = np.histogram(episodes, edges, weights=values)
    width = _KERNEL * _CELLS
    smooth_counts, smooth_sums = (
        ndimage.gaussian_filter1d(x.astype(float), width, mode="constant") for x in (counts, sums)
    )
    middles = (edges[:-1] + edges[1:]) / 2
    is_first = np.append(True, np.diff(learning.repeat) != 0)
    first, last = np.median(episodes[is_first]), np.median(episodes[learning.is_last])
    chosen = (middles >= first) & (middles <= last)
    return middles[chosen], smooth_sums[chosen] / smooth_counts[chosen]


def _carried_forward(learning: Learning, metric: str, places: np.ndarray) -> np.ndarray:
    """What each repetition has after so many episodes: [R, X]; NaN before its first evaluation."""
    curves = []
    for repeat in np.unique(learning.repeat):
        rows = learning.repeat == repeat
        before = np.searchsorted(learning.episodes[rows], places, side="right") - 1
        values = learning.metrics[metric][rows].astype(float)
        curves.append(np.where(before >= 0, values[before], np.nan))
    return np.stack(curves)


def mean_before(learning: Learning, metric: str, episodes: int) -> np.ndarray:
    """Of every repetition, the mean of a metric over the first training episodes [R].

    A policy counts from its evaluation to the next one; before the first, nothing counts.
    """
    found = []
    for repeat in np.unique(learning.repeat):
        rows = (learning.repeat == repeat) & (learning.episodes < episodes)
        ends = np.append(learning.episodes[rows], episodes)
        weights = np.diff(ends)
        found.append(np.average(learning.metrics[metric][rows], weights=weights))
    return np.array(found)


def _table(found: Findings) -> list[Columns]:
    pieces = []
    for (hazard, method), learning in found.items():
        count = len(learning.repeat)
        names = {"hazard": np.full(count, hazard), "method": np.full(count, method)}
        metrics = {name: learning.metrics[name] for name in SHOWN}
        own = {"repeat": learning.repeat, "episodes": learning.episodes}
        pieces.append({**names, **own, **metrics})
    return pieces


def _figure(found: Findings, fixed: dict[str, dict[str, Metrics]]) -> "Figure":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.5, 7.4), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True)
    for row, number, hazard in zip(panels, (4, 6), HAZARDS, strict=True):
        for panel, metric in zip(row, SHOWN, strict=True):
            for method in LEARNERS:
                panel.plot(*smoothed(found[hazard, method], metric), lw=1.7, label=method)
            _draw_fixed(panel, fixed[hazard], metric)
            panel.set_title(f"hazard {hazard} (figure {number} of the paper)")
            panel.set_ylabel(labels()[metric])
    for panel in panels[-1]:
        panel.set_xlabel("training episodes")
        panel.xaxis.set_major_formatter("{x:,.0f}")
    figure.suptitle("The policies of the learners while they learn, means of all repetitions")
    handles, names = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=5, frameon=False)
    return figure


def _draw_fixed(panel: "Axes", fixed: dict[str, Metrics], metric: str) -> None:
    for number, (name, metrics) in enumerate(fixed.items(), start=len(LEARNERS)):
        level = float(metrics[metric].mean())
        panel.axhline(level, color=f"C{number}", lw=1, ls=(0, (4, 2)), label=name)
    plots.tidy(panel)


def _paragraphs(found: Findings) -> list[str]:
    text = [
        "PB-EDPS and EDPS are evaluated after every generation, SARSA after every 100 episodes, "
        "PBPI after every iteration of 800, on 300 fresh patients each time. Curves of the "
        "evolution strategies are smoothed, by a normal kernel whose standard deviation is "
        f"{_KERNEL:.0%} of all episodes, unless all repetitions are evaluated after the same "
        "numbers of them. PBPI ends after ten iterations, or when its policy has settled. "
        "± is one standard error over the repetitions. The curves of the "
        "paper are not available as numbers.",
        "![Convergence](figure_4_and_6.png)",
    ]
    for hazard in HAZARDS:
        rows = []
        for method in LEARNERS:
            learning = found[hazard, method]
            early = [mean_before(learning, metric, _FEW) for metric in SHOWN]
            late = [learning.last[metric] for metric in SHOWN]
            rows.append([method, *(_in_words(values) for values in (*early, *late))])
        heads = [
            f"{labels()[metric]}, {when}" for when in ("early", "at the end") for metric in SHOWN
        ]
        text += [f"## Hazard {hazard}", markdown_table(["method", *heads], rows)]
    return [
        *text,
        f"Early: the mean over the first {_FEW:,} training episodes, from the first "
        "evaluation on, which comes after 21 episodes (ES), 100 (SARSA) or 800 (PBPI).",
        "The paper, hazard A: SARSA converges fastest, its reward is on a par with that of the "
        "others, PBPI earns least, and the preference-based methods have the better survival "
        f"below {_FEW:,} episodes. Hazard B: the preference-based methods earn as much as the "
        "fixed policies, and outperform all others in survival.",
    ]


def _in_words(values: np.ndarray) -> str:
    return with_error(*mean_and_error(values), digits=3)
