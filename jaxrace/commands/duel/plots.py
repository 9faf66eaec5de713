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

    The logs have "repeat", "duels", "correct" and the measures of ``LABELS``, [R T] each, in the
    order of repeats and records.
    """
    figure, [panels] = plots.panels((10, 4.2), 1, 2)
    for number, (name, log) in enumerate(logs.items()):
        shape = len(np.unique(log["repeat"])), -1
        duels, regrets, correct = (log[key].reshape(shape) for key in ("duels", measure, "correct"))
        panels[0].plot(duels[0], regrets.mean(0), color=f"C{number}", label=name)
        if len(regrets) > 1:
            middle = np.quantile(regrets, [0.25, 0.75], axis=0)
            panels[0].fill_between(duels[0], *middle, color=f"C{number}", alpha=0.15, lw=0)
        panels[1].plot(duels[0], correct.mean(0), color=f"C{number}", label=name)
    panels[0].set(ylabel=LABELS[measure], title="mean of the repeats, and the middle half")
    panels[1].set(ylabel="share recommending a best arm", ylim=(-0.02, 1.02))
    for panel in panels:
        panel.set_xlabel("duels")
        plots.tidy(panel, "x")
    plots.legend_below(figure, 4)
    return figure
