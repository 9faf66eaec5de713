"""Scores whose means are perturbed: Groves and Branke, figures 5 and 6. Axes: J selections."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxrace import selection
from jaxrace.answers import style
from jaxrace.runs import plots
from papers.selections.curves import Curve, correct_at, draw_curves, table_of
from papers.selections.runs import Task, run_rows, run_selector
from papers.selections.tasks import Plan, thurstone_task
from papers.top_k.stationary import StationaryMlPocbam
from papers.top_k.thurstone_topk import said_of
from papers.workbench import Workbench, as_columns, mean_and_error, report_table

NOISES = (0.0, 0.1, 0.2, 0.3, 0.4)
NUM_OPTIONS, TOP, BUDGET, INTERVAL = 10, 4, 1_000, 5
_LOOK = 250  # comparisons after which figure 6 looks
PUBLISHED_CROSSING = 0.17  # of the index, where both methods do equally well (figure 6)
FITS: dict[str, Callable[..., selection.MlPocbam]] = {
    "one sweep": selection.MlPocbam,
    "stationary": functools.partial(StationaryMlPocbam, follows=True),
}


class Found(NamedTuple):
    """At one noise."""

    curves: dict[str, Curve]
    indices: dict[str, np.ndarray]  # by fit, of every record: [J, T]


class IndexRow(NamedTuple):
    """A record with the intransitivity index: how badly the Thurstone model fits."""

    time: jax.Array  # int32 []
    selected: jax.Array  # bool [K]
    intransitivity: jax.Array  # float [], II
    valid: jax.Array  # bool [], see ``selection.SelectionRecord``


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class IndexWork(selection.SelectionWork):
    """A selection by ``MlPocbam``, or the hybrid, with the index that the latter goes by."""

    def step(self, state: Any) -> tuple[Any, Any]:
        """See ``SelectionWork``."""
        selector, own = self.selector, state.selector
        assert isinstance(selector, selection.MlPocbam)
        then, record = super().step(state)
        pooled = selector.pooled_samples
        index = selection.intransitivity_index(
            selection.observed_moments(own.scores, pooled),
            selection.fitted_moments(own.scores, selector.qualities(own), pooled),
        )
        return then, IndexRow(record.time, record.selected, index, record.valid)


def run_with_index(
    bench: Workbench, task: Task, name: str, selector: selection.MlPocbam, params: Any = None
) -> tuple[Curve, np.ndarray]:
    """A selector's curve, and the intransitivity index of its records, [J, T]."""
    time, row = run_rows(bench, task, name, selector, IndexWork, params)
    return Curve(time, (row.selected == task.truth[:, None]).all(-1)), row.intransitivity


def run(bench: Workbench) -> None:
    """Leaves success.csv, index.csv, success.png, index.png and report.md."""
    repeats = bench.num_problems(10_000, 48)
    noises = NOISES if not bench.quick else (0.0, 0.4)
    found: dict[float, Found] = {}
    for noise in noises:
        plan = Plan(bench.seed, repeats, NUM_OPTIONS, TOP, bench.size(BUDGET, 255), INTERVAL)
        task = thurstone_task(f"d = {noise}", plan, noise, uniform=bench.uniform)
        found[noise] = _run_all(bench, task)
    curves = {f"d = {noise}": each.curves for noise, each in found.items()}
    bench.write_table("success.csv", table_of(curves))
    pieces = [
        {"d": noise, "samples": each.curves["POCBAm"].time}
        | {f"index_{fit.replace(' ', '_')}": x.mean(0) for fit, x in each.indices.items()}
        for noise, each in found.items()
    ]
    bench.write_table("index.csv", pieces)
    bench.write_figure("success.png", _success_figure(found))
    bench.write_figure("index.png", _index_figure(found))
    rows, crossings = [], []
    for fit in FITS:
        own = []
        for noise, each in found.items():
            gain, error = advantage(each, fit)
            one = {"fit": fit, "d": noise, "gain": gain, "gain_stderr": error}
            own.append(one | {"index": float(_index(each, fit).mean())})
        table = as_columns(own)
        at = crossing(table["index"], table["gain"])
        crossings.append(f"{fit}: {'no crossing' if at is None else f'{at:.3f}'}")
        rows += own
    bench.write_report(
        f"Top {TOP} of {NUM_OPTIONS}, mu_ij = gamma_i - gamma_j + epsilon_ij with epsilon ~ "
        f"N(0, d^2), {said_of(bench)}, {repeats:,} problems for each d, the same for all "
        f"methods. Gain: ML-POCBAm minus POCBAm, and index: of intransitivity, after {_LOOK} "
        "samples. ± is one standard error of the paired difference.",
        "![Success rate](success.png)",
        "![Intransitivity index](index.png)",
        report_table(rows, "fit d gain index"),
        f"Mean index at which both do equally well: {'; '.join(crossings)}; the paper has about "
        f"{PUBLISHED_CROSSING}.",
    )


def _run_all(bench: Workbench, task: Task) -> Found:
    sizes, curves, indices = (NUM_OPTIONS, TOP), {}, {}
    for label, kind in FITS.items():
        selector = kind(*sizes)
        name = f"ML-POCBAm, {label}"
        curves[name], indices[label] = run_with_index(bench, task, name, selector)
    curves["POCBAm"] = run_selector(bench, task, "POCBAm", selection.Pocbam(*sizes))
    hybrid = selection.HybridPocbam(*sizes)
    curves["hybrid, one sweep"] = run_selector(bench, task, "hybrid, one sweep", hybrid)
    return Found(curves, indices)


def _index(found: Found, fit: str) -> np.ndarray:
    place = np.searchsorted(found.curves["POCBAm"].time, _LOOK, side="right") - 1
    return found.indices[fit][:, place]


def advantage(found: Found, fit: str) -> tuple[float, float]:
    """By how much ML-POCBAm is right more often than POCBAm after 250 samples; paired error."""
    ours, theirs = found.curves[f"ML-POCBAm, {fit}"], found.curves["POCBAm"]
    mean, error = mean_and_error(correct_at(ours, _LOOK) - correct_at(theirs, _LOOK))
    return float(mean), float(error)


def crossing(index: np.ndarray, gain: np.ndarray) -> float | None:
    """The index at which the gain changes its sign, on a straight line; None if it does not."""
    places = np.flatnonzero((gain[:-1] > 0) & (gain[1:] <= 0))
    if not places.size:
        return None
    place = int(places[0])
    share = gain[place] / (gain[place] - gain[place + 1])
    return float(index[place] + share * (index[place + 1] - index[place]))


def _success_figure(found: dict[float, Found]) -> "plots.Figure":
    names = ["ML-POCBAm, one sweep", "ML-POCBAm, stationary", "POCBAm"]
    figure, panels = plots.new_figure((15, 8.4), 2, 3)
    for panel, name in zip(panels[0], names, strict=True):
        curves = {f"d = {noise}": each.curves[name] for noise, each in found.items()}
        draw_curves(panel, curves, name)
    for panel, fit in zip(panels[1], FITS, strict=False):
        for number, (noise, each) in enumerate(found.items()):
            ours, theirs = each.curves[f"ML-POCBAm, {fit}"], each.curves["POCBAm"]
            gain = ours.success[0] - theirs.success[0]
            panel.plot(ours.time, gain, lw=1.2, label=f"d = {noise}", **style.line(number))
        panel.set(title=f"ML-POCBAm, {fit}, minus POCBAm", ylabel="difference of the shares")
        panel.set_xlabel("comparisons")
        panel.axhline(0, color=style.GREY, lw=0.8)
        plots.tidy(panel)
    hybrid = {f"d = {noise}": each.curves["hybrid, one sweep"] for noise, each in found.items()}
    draw_curves(panels[1, 2], hybrid, "hybrid, one sweep")
    shown = [*panels[0], panels[1, 2]]
    lowest, highest = zip(*(panel.get_ylim() for panel in shown), strict=True)
    for panel in shown:
        panel.set_ylim(min(lowest), max(highest))
    plots.legend_below(figure, 5)
    return figure


def _index_figure(found: dict[float, Found]) -> "plots.Figure":
    figure, [panels] = plots.new_figure((15, 4.4), 1, 3)
    for number, fit in enumerate(FITS):
        gains = np.array([advantage(each, fit) for each in found.values()])
        index = [_index(each, fit) for each in found.values()]
        shown = gains.T, mean_and_error(np.array(index))
        for panel, (means, errors) in zip(panels, shown, strict=False):
            panel.errorbar(
                list(found), means, 2 * errors, color=style.colour(number), label=fit, capsize=2
            )
    panels[0].axhline(0, color=style.GREY, lw=0.8)
    panels[0].set(ylabel=f"ML-POCBAm minus POCBAm after {_LOOK} comparisons", xlabel="d")
    panels[1].axhline(
        PUBLISHED_CROSSING, color=style.GREY, lw=0.8, ls="--", label="limit of the paper"
    )
    panels[1].set(ylabel=f"intransitivity index after {_LOOK} comparisons", xlabel="d")
    for number, (noise, each) in enumerate(found.items()):
        time, index = each.curves["POCBAm"].time, each.indices["one sweep"].mean(0)
        panels[2].plot(time, index, label=f"d = {noise}", **style.line(number))
    panels[2].set(xlabel="comparisons", ylabel="intransitivity index, one sweep")
    for panel in panels:
        plots.tidy(panel)
        panel.legend(frameon=False)
    return figure
