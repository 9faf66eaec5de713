"""The paper's grid search: step sizes and deltas of PB-EDPS (Busa-Fekete et al. 2014, 6.2).

Axes: S settings, R repetitions.
"""

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from jaxrace import plots
from jaxrace.experiments.config import EXPERIMENTS
from jaxrace.experiments.medical_runs import HAZARDS, Learning, labels, learn, paper_config
from jaxrace.experiments.race_curves import mean_and_error
from jaxrace.experiments.workbench import Workbench, markdown_table, with_error

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIGMAS = (0.1, 1.0, 5.0, 10.0, 15.0, 25.0, 50.0, 100.0)
DELTAS = (0.01, 0.05, 0.1, 0.2, 0.5)

# What the paper has chosen.
CHOSEN = (10.0, 0.2)

CRITERIA = ("mean_reward", "survival_rate")

Findings = dict[str, dict[str, np.ndarray]]  # by hazard and criterion: [8, 5, R]


def run(bench: Workbench) -> None:
    """Leaves grid.csv, grid.png and report.md."""
    found: Findings = {}
    finished = {}
    for hazard in HAZARDS:
        config = dataclasses.replace(
            paper_config(bench, "pb-edps", hazard), sigma=SIGMAS, delta=DELTAS
        )
        learning = learn(bench, config, f"grid {hazard}")
        shape = (len(SIGMAS), len(DELTAS), config.repeats)
        found[hazard] = {name: learning.last[name].reshape(shape) for name in CRITERIA}
        finished[hazard] = learning
    bench.write_table("grid.csv", _table(found))
    bench.write_figure("grid.png", _figure(found))
    bench.write_report(EXPERIMENTS["medical-grid"], _paragraphs(found, finished))


def _table(found: Findings) -> dict[str, np.ndarray]:
    sigma, delta = (x.ravel() for x in np.meshgrid(SIGMAS, DELTAS, indexing="ij"))
    pieces = []
    for hazard, criteria in found.items():
        columns = {"hazard": np.full(sigma.size, hazard), "sigma": sigma, "delta": delta}
        for name, values in criteria.items():
            count = values.shape[-1]
            columns[name] = values.mean(-1).ravel()
            columns[f"{name}_stderr"] = values.std(-1, ddof=1).ravel() / np.sqrt(count)
            columns["repetitions"] = np.full(sigma.size, count)
        pieces.append(columns)
    return {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}


def _figure(found: Findings) -> "Figure":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.5, 8.6), layout="constrained")
    panels = figure.subplots(2, 2)
    for row, (hazard, criteria) in zip(panels, found.items(), strict=True):
        for panel, (name, values) in zip(row, criteria.items(), strict=True):
            plots.draw_heat(panel, values.mean(-1))
            panel.set(title=f"hazard {hazard}: {labels()[name]}")
            panel.set(xlabel="delta of the races", ylabel="initial step size sigma")
            panel.set_xticks(range(len(DELTAS)), [f"{delta:g}" for delta in DELTAS])
            panel.set_yticks(range(len(SIGMAS)), [f"{sigma:g}" for sigma in SIGMAS])
    figure.suptitle("PB-EDPS: means of the repetitions for each setting")
    return figure


def _paragraphs(found: Findings, learnings: dict[str, Learning]) -> list[str]:
    count = next(iter(found["A"].values())).shape[-1]
    rows = [
        [hazard, labels()[name], *_best(values)]
        for hazard, criteria in found.items()
        for name, values in criteria.items()
    ]
    heads = ("hazard", "criterion", "best setting", "its mean", "that of (10, 0.2)", "difference")
    decided = sum(int(one.numbers["options_decided"].sum()) for one in learnings.values())
    races = sum(len(one.repeat) for one in learnings.values())
    return [
        f"All {len(SIGMAS) * len(DELTAS)} settings of the paper, {count} searches each, with the "
        "published bound. The paper has chosen sigma 10 and delta 0.2, and does not say by which "
        "criterion. ± is one standard error; the best of many settings is a lucky one, so its mean "
        "is biased upwards.",
        "![Grid](grid.png)",
        markdown_table(heads, rows),
        f"In all {races:,} races {decided:,} of {7 * races:,} options were decided early. With the "
        "published bound and at most 100 rounds hardly any pair of seven options can be decided, "
        "so that delta has next to no influence: columns of the figure differ by chance, or not "
        "at all where the searches are the same.",
    ]


def _best(values: np.ndarray) -> list[str]:
    """The best setting, its mean, the paper's, and how far apart they are; in words."""
    sigma, delta = np.unravel_index(values.mean(-1).argmax(), values.shape[:2])
    own = values[sigma, delta]
    paper = values[SIGMAS.index(CHOSEN[0]), DELTAS.index(CHOSEN[1])]
    # The same random numbers in every setting.
    texts = [with_error(*mean_and_error(one), digits=3) for one in (own, paper, own - paper)]
    return [f"({SIGMAS[sigma]:g}, {DELTAS[delta]:g})", *texts]
