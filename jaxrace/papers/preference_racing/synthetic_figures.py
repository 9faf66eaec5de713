"""The figures of races on synthetic tasks."""

import itertools

import numpy as np

from jaxrace import plots
from jaxrace.commands.workbench import mean_and_error
from jaxrace.papers.preference_racing import races

# Label, colour and marker of the races of the paper's figure.
_PAPER = {
    "HR": ("tab:blue", "s"),
    "PBR, printed rule": ("tab:red", "o"),
    "PBR, sharp rule": ("tab:orange", "^"),
}


def accuracy_against_draws(curves: races.Curves) -> "plots.Figure":
    """Figure 2 of the paper: accuracy against draws, a panel for each task and variant."""
    figure, panels = plots.panels((9.2, 7.0), 2, 2, sharex=True, sharey="row")
    places = itertools.product(("normal", "bernoulli, drift k/10"), ("plain", "improved"))
    for letter, panel, (task, variant) in zip("abcd", panels.flat, places, strict=True):
        for label, name in races.races_of_the_paper(task, variant).items():
            _draw_against_draws(panel, curves[name], label, *_PAPER[label])
        panel.set_title(f"({letter}) {task}, {variant}")
    _finish(figure, panels, "draws of a race", "accuracy")
    figure.suptitle("Accuracy and cost for k = 1 (small marks) to 10 (large marks)")
    return figure


def _draw_against_draws(
    panel: "plots.Axes", curve: races.Curve, label: str, color: str, marker: str
) -> None:
    (draws, draws_error), (accuracy, error) = map(mean_and_error, (curve.draws, curve.accuracies))
    panel.errorbar(draws, accuracy, error, draws_error, color=color, lw=1, alpha=0.8, zorder=2)
    sizes = 8 + 6 * np.array(races.COMPLEXITIES)
    panel.scatter(draws, accuracy, sizes, color, marker=marker, label=label, zorder=3)


def draws_of_bounds(curves: races.Curves) -> "plots.Figure":
    """What every bound costs, task by task."""
    figure, panels = plots.panels((9.2, 7.4), 2, 2, sharex=True, sharey=True)
    for panel, task in zip(panels.flat, races.TASKS, strict=True):
        shown = {
            "HR": races.hoeffding(task),
            "published race (printed rule)": races.preference(task, rule="printed"),
            **{
                f"sharp rule, {bound} bound": races.preference(task, bound=bound)
                for bound in races.BOUNDS
            },
            "dominance race": races.dominance(task),
        }
        for number, (label, name) in enumerate(shown.items()):
            draws, error = mean_and_error(curves[name].draws)
            style = "-" if number in (1, len(shown) - 1) else "--"
            panel.errorbar(
                races.COMPLEXITIES, draws, error, label=label, ls=style, color=f"C{number}"
            )
        panel.set_title(task)
    _finish(figure, panels, "complexity k", "draws of a race")
    panels[0, 0].set_ylim(bottom=0)
    figure.suptitle("Draws until a race ends: top 5 of 10, at most 300 per option, delta 0.05")
    return figure


def _finish(figure: "plots.Figure", panels: np.ndarray, xlabel: str, ylabel: str) -> None:
    """Labels, grids, and one legend for all panels."""
    for panel in panels.flat:
        plots.tidy(panel)
    for panel in panels[-1]:
        panel.set_xlabel(xlabel)
    for panel in panels[:, 0]:
        panel.set_ylabel(ylabel)
    plots.legend_below(figure, 3)
