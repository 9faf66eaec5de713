"""Success rates as curves: read, drawn, as a table. Axes: J selections, T points."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxrace.answers import style
from jaxrace.runs import plots
from jaxrace.runs.tables import markdown_table
from papers.workbench import Columns, band, mean_and_error, mean_columns, with_error

_MOST_NAMED, _LEADERS = 8, 3  # lines with a name in a figure; best ones of a panel


class Curve(NamedTuple):
    """How often the right k have been selected, or how many of them."""

    time: np.ndarray  # float64 [T], comparisons so far, or their mean where it varies
    correct: np.ndarray  # bool [J, T], or float64, see ``Task.judge``
    are_settings: bool = False  # of what ends by itself, a point each; else records of one run

    @property
    def success(self) -> tuple[np.ndarray, np.ndarray]:
        """The rate and its standard error, [T] each."""
        return mean_and_error(self.correct.T.astype(float))


def table_of(curves: dict[str, dict[str, Curve]]) -> list[Columns]:
    """Success rates as columns, by task and method."""
    return [
        {
            **{"task": task, "method": name, "replications": len(curve.correct)},
            **{"samples": curve.time, **mean_columns("success", curve.correct.T.astype(float))},
        }
        for task, found in curves.items()
        for name, curve in found.items()
    ]


def draw_curves(
    panel: "plots.Axes", curves: dict[str, Curve], title: str, names: Sequence[str] = ()
) -> None:
    """Success rate against samples, with two standard errors; the rest of ``names`` is grey."""
    order = list(names) or list(curves)
    for name, curve in curves.items():
        rate, error = curve.success
        if name not in order:
            panel.plot(curve.time, rate, color=style.FAINT, lw=0.8, zorder=1)
            continue
        place = order.index(name)
        mark = style.mark(place) if curve.are_settings else None
        looks = {"marker": mark, "ms": 4, "lw": 1.2, **style.line(place)}
        band(panel, curve.time, rate, 2 * error, name, **looks)
    is_share = any(curve.correct.dtype != bool for curve in curves.values())
    counted = "share of the best that is selected" if is_share else "share of correct selections"
    plots.tidy(panel, "x", title=title, xlabel="comparisons", ylabel=counted)


def figure_of(
    curves: dict[str, dict[str, Curve]],
    columns: int = 3,
    size: tuple[float, float] = (6, 4.2),
    before: str = "top ",
    **shared: bool,
) -> "plots.Figure":
    """A panel for each task; of many methods those have colours that lead most often."""
    figure, panels = plots.grid(len(curves), columns, size, (0, 0.6), **shared)
    names, every = leading(curves), {name for found in curves.values() for name in found}
    handles = {}
    for panel, (task, found) in zip(panels, curves.items(), strict=True):
        draw_curves(panel, found, f"{before}{task}", names)
        handles |= dict(zip(found, panel.get_lines(), strict=True))
        if shared:
            panel.label_outer()
    told = [*names]
    if others := every - {*names}:
        told.append(f"{len(others)} others" if len(others) > 1 else min(others))
        handles[told[-1]] = handles[others.pop()]
    shown = [handles[name] for name in told]
    wide = int(figure.get_figwidth() / 2.4)
    figure.legend(shown, told, loc="outside lower center", ncols=wide, frameon=False)
    return figure


def leading(curves: dict[str, dict[str, Curve]]) -> list[str]:
    """As many methods as lines stay apart, those which most often are among the best at the end."""
    names = list(dict.fromkeys(name for found in curves.values() for name in found))
    if len(names) <= _MOST_NAMED:
        return names
    leads = Counter()
    for found in curves.values():
        last = {name: curve.success[0][-1] for name, curve in found.items()}
        leads.update(sorted(last, key=lambda name, last=last: -last[name])[:_LEADERS])
    chosen = [name for name, _ in leads.most_common(_MOST_NAMED)]
    return [name for name in names if name in chosen]


def correct_at(curve: Curve, samples: float) -> np.ndarray:
    """Was each selection right after so many samples? float64 [J]; NaN before the first point.

    As in the last record until then, or between two settings on the straight line: who wants a
    number between them mixes both.
    """
    place = int(np.searchsorted(curve.time, samples, side="right")) - 1
    if place < 0:
        return np.full(len(curve.correct), np.nan)
    here = curve.correct[:, place].astype(float)
    if not curve.are_settings or place + 1 == len(curve.time):
        return here
    start, end = curve.time[place : place + 2]
    part = (samples - start) / (end - start)
    return here + part * (curve.correct[:, place + 1] - here)


def success_in_words(curve: Curve, samples: float) -> str:
    """The rate and its error after so many samples; nothing before the first point."""
    rate, error = mean_and_error(correct_at(curve, samples))
    return "" if np.isnan(rate) else with_error(rate, error, digits=3)


def success_table(curves: dict[str, Curve], looks: Sequence[int], unit: str = "samples") -> str:
    """The same of several methods, after some numbers of samples, in Markdown."""
    rows = [
        [name, *(success_in_words(one, look) for look in looks)] for name, one in curves.items()
    ]
    return markdown_table(("method", *(f"{look:,} {unit}" for look in looks)), rows)


def samples_until(curve: Curve, rate: float) -> float:
    """Samples of the first record with such a rate, or between two settings; inf if none has it."""
    reached = np.flatnonzero(curve.success[0] >= rate)
    if not reached.size:
        return float("inf")
    between = samples_between(curve, rate) if curve.are_settings else float("inf")
    return min(between, float(curve.time[reached[0]]))


def samples_between(curve: Curve, rate: float) -> float:
    """The same on the straight line from the record before; inf if there is none."""
    success = curve.success[0]
    reached = np.flatnonzero(success >= rate)
    if not reached.size or reached[0] == 0:
        return float("inf")
    last = reached[0] + 1
    return float(np.interp(rate, success[last - 2 : last], curve.time[last - 2 : last]))
