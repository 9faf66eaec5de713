"""Figures of dueling bandits. Axes: R repeats, T records."""

import numpy as np

from jaxrace import plots

LABELS = {
    "weak": "weak regret so far",
    "strong": "strong regret so far",
    "copeland": "Copeland regret so far",
    "borda": "Borda regret so far",
}


def regret_figure(logs: dict[str, dict[str, np.ndarray]], measure: str) -> "plots.Figure":
    """Regret and accuracy over the duels, a curve for each algorithm.

    The logs have "repeat", "duels", "correct" and the measures of ``LABELS``, [R T] each.

    >>> log = {"repeat": np.array([0, 0]), "duels": np.array([5, 10]),
    ...        "correct": np.array([False, True]), "strong": np.array([1.0, 2.0])}
    >>> [panel.get_ylabel() for panel in regret_figure({"rucb": log}, "strong").axes]
    ['strong regret so far', 'share recommending a best arm']
    """
    figure, [panels] = plots.panels((10, 4.2), 1, 2)
    for number, (name, log) in enumerate(logs.items()):
        draw_runs(panels[0], log["duels"], log[measure], log["repeat"], name, f"C{number}")
        duels, correct = by_record(log["duels"], log["correct"], log["repeat"])
        panels[1].plot(duels, correct.mean(0), color=f"C{number}", label=name)
    panels[0].set(ylabel=LABELS[measure], title="mean of the repeats, and the middle half")
    panels[1].set(ylabel="share recommending a best arm", ylim=(-0.02, 1.02))
    for panel in panels:
        panel.set_xlabel("duels")
        plots.tidy(panel, "x")
    plots.legend_below(figure, 4)
    return figure


def draw_runs(
    panel: "plots.Axes",
    duels: np.ndarray,
    values: np.ndarray,
    repeats: np.ndarray,
    name: str,
    color: str,
) -> None:
    """The mean over the repeats, and a band with the middle half of them.

    Duels, values, and which repeat they are of: [R T] each.

    >>> _, [[panel]] = plots.panels((3, 2))
    >>> draw_runs(panel, np.array([5, 10]), np.array([1.0, 2.0]), np.array([0, 0]), "dts", "C0")
    >>> panel.lines[0].get_ydata().tolist()
    [1.0, 2.0]
    """
    grid, curves = by_record(duels, values, repeats)
    panel.plot(grid, curves.mean(0), color=color, label=name)
    if len(curves) > 1:
        low, high = np.quantile(curves, [0.25, 0.75], axis=0)
        panel.fill_between(grid, low, high, color=color, alpha=0.15, lw=0)


def by_record(
    duels: np.ndarray, values: np.ndarray, repeats: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Duels [T], and the values as [R, T]; rows come in the order of repeats and records.

    >>> by_record(np.array([5, 10, 5, 10]), np.array([1, 2, 3, 4]), np.array([0, 0, 1, 1]))[1]
    array([[1, 2],
           [3, 4]])
    """
    count = len(np.unique(repeats))
    return duels.reshape(count, -1)[0], values.reshape(count, -1)
