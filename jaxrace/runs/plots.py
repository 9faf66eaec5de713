"""Figures of runs. matplotlib, slow to import, is imported where it is used."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxrace import runs
from jaxrace.answers import style
from jaxrace.answers.answer import draw_heat, drawn
from jaxrace.answers.style import Size, new_figure
from jaxrace.runs import files

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_POINTS = 200  # of a curve
_COLUMNS = 2  # of panels


def learning_curve(folder: files.StrPath) -> "Figure":
    """Every metric of a run over the training episodes used, with the baselines beside it.

    A repeat's value after e episodes is that of its last row of the log with at most e episodes.
    """
    log, summary = runs.read_log(folder), runs.read_summary(folder)
    labels = summary["metrics"]
    figure, shown = grid(len(labels), _COLUMNS, (4.6, 3.1), (0, 0.9), sharex=True)
    for panel, (metric, label) in zip(shown, labels.items(), strict=True):
        episodes, curves = _on_one_grid(log["repeat"], log["episodes"], log[metric])
        mean = curves.mean(0)
        panel.plot(episodes, mean, color=style.BLUE, lw=1.8, zorder=3, label="mean of the repeats")
        if len(curves) > 1:
            stderr = curves.std(0, ddof=1) / np.sqrt(len(curves))
            bands = {
                "its standard error": (mean - stderr, mean + stderr, 0.45),
                "middle half of the repeats": (*np.quantile(curves, [0.25, 0.75], axis=0), 0.13),
            }
            for what, (low, high, alpha) in bands.items():
                panel.fill_between(
                    episodes, low, high, color=style.BLUE, alpha=alpha, lw=0, label=what
                )
        for number, (name, means) in enumerate(summary["baselines"].items(), start=1):
            level = means[metric]["mean"]
            panel.axhline(level, lw=1.3, label=name, **style.line(number + 2))
        is_smaller = metric in summary.get("smaller", ())
        panel.set_ylabel(f"{label}\n(less is better)" if is_smaller else label)
        tidy(panel, "x")
    for panel in shown[-_COLUMNS:]:
        panel.set_xlabel("training episodes used by a search")
        panel.tick_params(labelbottom=True)
    figure.suptitle(f"{summary['env']}: {summary['method']}, {summary['repeats']} repeats")
    legend_below(figure, 4)
    return figure


def heat_map(folder: files.StrPath) -> "Figure":
    """The metrics of all settings of a grid, means over the repeats; yellow is good in all."""
    summary = runs.read_summary(folder)
    labels, settings = summary["metrics"], summary["settings"]
    # A step size that is None is the strategy's own.
    sigmas = sorted({one["sigma"] for one in settings}, key=lambda x: (x is not None, x))
    deltas = sorted({one["delta"] for one in settings})
    size = max(float(len(deltas)), 3.4), 0.5 * len(sigmas) + 1.3
    figure, shown = grid(len(labels), _COLUMNS, size, (1, 0.6))
    for panel, (metric, label) in zip(shown, labels.items(), strict=True):
        means = np.full((len(sigmas), len(deltas)), np.nan)
        for one in settings:
            mean = one[metric]["mean"]
            if mean is not None:
                means[sigmas.index(one["sigma"]), deltas.index(one["delta"])] = mean
        is_smaller = metric in summary.get("smaller", ())
        draw_heat(panel, means, is_smaller)
        title = f"{label} ({'less' if is_smaller else 'more'} is better)"
        panel.set(title=title, xlabel="delta of the races", ylabel="initial step size sigma")
        panel.set_xticks(range(len(deltas)), [f"{delta:g}" for delta in deltas])
        names = ["default" if sigma is None else f"{sigma:g}" for sigma in sigmas]
        panel.set_yticks(range(len(sigmas)), names)
    most = "up to " if "race" in summary else ""
    means = f"means of {most}{summary['repeats']} repeats, the best in yellow"
    figure.suptitle(f"{summary['env']}: {summary['method']}, {means}")
    return figure


def grid(
    count: int, most_columns: int, size: Size, rest: Size, **shared: Any
) -> tuple["Figure", list[Any]]:
    """A new figure of ``count`` panels, row by row; ``rest`` is added to the size of all panels."""
    columns = min(most_columns, count)
    rows = -(-count // columns)
    (width, height), (more, above) = size, rest
    figure, found = new_figure(
        (width * columns + more, height * rows + above), rows, columns, **shared
    )
    for unused in found.flat[count:]:
        unused.remove()
    return figure, list(found.flat[:count])


def tidy(panel: "Axes", thousands: str = "", **texts: Any) -> None:
    """Texts, and commas in the numbers of some axes."""
    panel.set(**texts)
    for axis in thousands:
        getattr(panel, f"{axis}axis").set_major_formatter("{x:,.0f}")


def legend_below(figure: "Figure", columns: int) -> None:
    """One legend for all panels: that of the first one."""
    handles, names = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=columns, frameon=False)


def save(figure: "Figure", path: files.StrPath) -> None:
    """Write a figure as PNG or SVG, by the ending of the path, as a whole or not at all."""
    files.write_file(path, drawn(figure, Path(path).suffix.lower().removeprefix(".")))


def save_twice(figure: "Figure", path: Path) -> bytes:
    """Write a figure as PNG, and beside it as SVG, whose content is returned."""
    save(figure, path.with_suffix(".png"))
    vector = drawn(figure, "svg")
    files.write_file(path.with_suffix(".svg"), vector)
    return vector


def _on_one_grid(
    repeats: np.ndarray, episodes: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of episodes [X], from where every repeat has a value, and the values [repeats, X]."""
    order = np.argsort(repeats, kind="stable")
    chosen = np.split(order, np.flatnonzero(np.diff(repeats[order])) + 1)
    grid = np.unique(episodes)
    grid = grid[grid >= max(episodes[rows].min() for rows in chosen)]
    count = min(len(grid), _MOST_POINTS)
    grid = grid[np.linspace(0, len(grid) - 1, count).round().astype(int)]
    curves = [
        values[rows][np.searchsorted(episodes[rows], grid, side="right") - 1] for rows in chosen
    ]
    return grid, np.stack(curves)
