"""What `jaxrace train holdem` prints and draws. Axes: R repeats, T generations, S matches."""

from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Column

from jaxrace import plots, runs
from jaxrace.commands.holdem.evaluation import Evaluation
from jaxrace.commands.printing import confidence_scale, numbers, print_table, say

CURVE = "learning_curve.png"
_PIPE_WIDTH = 120  # nothing is cut off where there is no screen


def statistic(winnings: np.ndarray) -> dict[str, Any]:
    """Mean, standard error and count of winnings [R, S] over the repeats; of one, over matches."""
    return runs.mean_and_stderr(winnings.mean(-1) if len(winnings) > 1 else winnings[0])


def curve_figure(evaluations: dict[str, Evaluation]) -> "plots.Figure":
    """Winnings against the hands played so far: a panel per opponent, a line per selection."""
    opponents = list(next(iter(evaluations.values())).scores)
    figure, panels = plots.grid(len(opponents), 2, (4.8, 3.1), (0, 0.6))
    for panel, opponent in zip(panels, opponents, strict=True):
        for number, (name, evaluation) in enumerate(evaluations.items()):
            found = [statistic(won) for won in evaluation.scores[opponent].swapaxes(0, 1)]
            mean = np.array([one["mean"] for one in found])
            half = np.array([_half_width(one) for one in found])
            hands = evaluation.course.hands.mean(0)
            plots.band(panel, hands, mean, half, f"C{number}", name, marker="o", ms=3)
        panel.set(title=f"against {opponent}", xlabel="hands played by a search")
        panel.set_ylabel("milli big blinds won per hand")
        panel.locator_params(axis="x", nbins=5)
        plots.tidy(panel, "xy")
    plots.legend_below(figure, 4)
    return figure


def print_evolution(console: Console, folder: Path) -> None:
    """Say of a run folder of ``train holdem`` what its players win."""
    if not console.is_terminal:
        console.width = _PIPE_WIDTH
    summary = runs.read_summary(folder)
    selections = summary["selections"]
    rows = []
    for opponent, start in summary["start"].items():
        ends = (found["opponents"][opponent] for found in selections.values())
        won = (f"{one['mean']:,.0f} ± {_half_width(one):,.0f}" for one in (start, *ends))
        rows.append([opponent, *won])
    generations = (f"{found['generations']['mean']:,.0f}" for found in selections.values())
    rows.append(["generations", "0", *generations])
    print_table(console, [Column("", no_wrap=True), *numbers("start", *selections)], rows)
    is_single = summary["repeats"] == 1
    count = f"{summary['matches']} matches" if is_single else f"{summary['repeats']} searches"
    say(
        console,
        "milli big blinds won per hand from opponents that are always the same; "
        f"95 % confidence intervals over {count}",
    )
    for name, found in selections.items():
        text = f"{name}: {found['matches_per_generation']:,.0f} matches per generation"
        if name == "race":
            text += f"; the better half was certain in {found['certified']:.0%} of them"
        say(console, text)
    say(console, f"{summary['hands']:,} hands by each search; {folder}")


def _half_width(found: dict[str, Any]) -> float:
    """Of the 95 % confidence interval."""
    return confidence_scale(found["count"]) * found["stderr"]
