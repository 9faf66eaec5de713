"""How near six methods come to what can be survived: survival against episodes. R searches."""

import dataclasses
from typing import Any

import numpy as np

from jaxrace.answers import style
from jaxrace.commands.train.config import TrainConfig
from jaxrace.commands.train.learning import make_search
from jaxrace.commands.train.tasks import medical_task
from jaxrace.runs import plots
from papers.preference_racing import medical_limits as limits
from papers.preference_racing import medical_runs as medical
from papers.preference_racing.learners import searches_by
from papers.workbench import Workbench, mean_and_error, mean_in_words, report_table

BUDGETS = (3_000, 5_000, 10_000, 30_000)  # of fast methods
_FAST = ("pb-edps-fast", "edps-fast")
_FIRST = 300  # episodes from which a curve is drawn

Ends = dict[tuple[str, str], dict[int, np.ndarray]]  # survival [R], by method, hazard and budget


def run(bench: Workbench) -> None:
    """Leaves limits.csv, survival.csv, survival.png and report.md."""
    reached = [limits.of_hazard(bench, hazard) for hazard in limits.HAZARDS]
    rows = [one._asdict() for some in reached for one in some]
    bench.write_table("limits.csv", rows)
    budgets, ends, curves = bench.few(BUDGETS, 2), {}, {}
    for hazard in limits.HAZARDS:
        # The sizes of a fast method go by its budget, so each budget has searches of its own.
        for method in _FAST:
            of_budget = {budget: _ends(bench, method, hazard, budget) for budget in budgets}
            ends[method, hazard] = of_budget
        for method in medical.LEARNERS:
            config = medical.paper_config(bench, method, hazard)
            config = dataclasses.replace(config, episodes=budgets[-1])
            searches = searches_by(method, config, medical_task(config))
            curves[hazard, method] = medical.learn(bench, config, f"{method} {hazard}", searches)
    last: dict[tuple[str, str], np.ndarray] = {
        (hazard, method): of_budget[budgets[-1]] for (method, hazard), of_budget in ends.items()
    }
    last |= {key: one.last["survival_rate"] for key, one in curves.items()}
    pieces = [
        {"hazard": hazard, "method": method, "budget": budget, "survival": survival}
        for (method, hazard), of_budget in ends.items()
        for budget, survival in of_budget.items()
    ]
    pieces += [
        {"hazard": hazard, "method": method, "budget": budgets[-1], "survival": survival}
        for (hazard, method), survival in last.items()
        if method not in _FAST
    ]
    bench.write_table("survival.csv", pieces)
    bench.write_figure("survival.png", _figure(ends, curves, reached))
    shown = [
        {"hazard": hazard, "method": method, "survival": mean_in_words(values.astype(float), 3)}
        for (hazard, method), values in last.items()
    ]
    bench.write_report(
        "A patient's start is all that is random before the last draw, which is of a known law: so "
        "survival is a mean of exp(-H) over starts. The class has downhill searches from "
        "random policies, and from one near the rule.",
        report_table(rows, "hazard policy survival how"),
        "![Survival](survival.png)",
        f"Learned with {budgets[-1]:,} episodes (PBPI ends before), ± one standard error:",
        report_table(shown, "hazard method survival"),
    )


def _ends(bench: Workbench, method: Any, hazard: Any, budget: int) -> np.ndarray:
    """The survival rates of what the command learns with a budget, [R]."""
    repeats = bench.size(100, 4)
    config = TrainConfig(
        method=method, hazard=hazard, episodes=budget, repeats=repeats, seed=bench.seed
    )
    work = make_search(config, medical_task(config))
    return limits.learned(bench, f"{method} {hazard} {budget}", work, config)


def _figure(ends: Ends, curves: medical.Findings, reached: list[list[limits.Limit]]) -> Any:
    figure, panels = plots.new_figure((10.5, 4.6), 1, 2)
    for panel, hazard, lines in zip(panels.flat, limits.HAZARDS, reached, strict=True):
        for number, method in enumerate(_FAST):
            budgets = sorted(ends[method, hazard])
            points = [mean_and_error(ends[method, hazard][budget]) for budget in budgets]
            means, errors = np.array(points).T
            panel.errorbar(
                budgets, means, errors, lw=1.7, marker="o", ms=4, label=method, **style.line(number)
            )
        for number, method in enumerate(medical.LEARNERS, len(_FAST)):
            episodes, means = medical.curve(curves, hazard, method, "survival_rate")
            late = episodes >= _FIRST
            panel.plot(episodes[late], means[late], lw=1.7, label=method, **style.line(number))
        for dashes, one in zip(("-.", "--", "-", ":"), lines, strict=True):
            panel.axhline(one.survival, color=style.EDGE, lw=1, ls=dashes, label=one.policy)
        panel.set_xscale("log")
        panel.xaxis.set_major_formatter("{x:,.0f}")
        plots.tidy(panel, title=f"hazard {hazard}", xlabel="episodes", ylabel="survival")
    figure.suptitle("Survival of what is learned: means of 100 searches")
    plots.legend_below(figure, 4)
    return figure
