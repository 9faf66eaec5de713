"""The paper's grid search (Busa-Fekete et al. 2014, section 6.2). Axes: R repetitions."""

import dataclasses
import itertools

import numpy as np

from jaxrace.commands.train.learning import make_search
from jaxrace.commands.train.tasks import TASKS
from jaxrace.runs import plots
from jaxrace.runs.tables import markdown_table
from papers.claims import NO, OPEN, YES, Claim, claims_table, verdict
from papers.preference_racing import medical_runs as medical
from papers.workbench import Columns, Workbench, mean_and_error, mean_columns, with_error

SIGMAS = (0.1, 1.0, 5.0, 10.0, 15.0, 25.0, 50.0, 100.0)
DELTAS = (0.01, 0.05, 0.1, 0.2, 0.5)
CHOSEN = (10.0, 0.2)  # what the paper has chosen
CRITERIA = ("mean_reward", "survival_rate")
METHODS = ("edps", "pb-edps")

Findings = dict[tuple[str, str], dict[str, np.ndarray]]  # by hazard and method: [8, 5, R] each


def run(bench: Workbench) -> None:
    """Leaves grid.csv, grid.png and report.md."""
    found: Findings = {}
    learned: medical.Findings = {}
    shape = (len(SIGMAS), len(DELTAS), -1)
    for method, hazard in itertools.product(METHODS, medical.HAZARDS):
        config = medical.paper_config(bench, method, hazard)
        config = dataclasses.replace(config, sigma=SIGMAS, delta=DELTAS)
        searches = make_search(config, TASKS[config.env](config))
        learning = medical.learn(bench, config, f"grid {method} {hazard}", searches)
        learned[hazard, method] = learning
        found[hazard, method] = {name: learning.last[name].reshape(shape) for name in CRITERIA}
    bench.write_table("grid.csv", _table(found))
    bench.write_figure("grid.png", _figure(found))
    count = next(iter(found.values()))[CRITERIA[0]].shape[-1]
    rows = [
        [method, hazard, medical.labels()[name], *_best(values)]
        for (hazard, method), criteria in found.items()
        for name, values in criteria.items()
    ]
    means = ("best", "its mean", f"that of {_in_words(CHOSEN)}", "difference")
    decisions = []
    for (hazard, method), learning in learned.items():
        decided, races = learning.numbers["options_decided"].sum(), len(learning.repeat)
        decisions.append([method, hazard, f"{races:,}", f"{decided:,} of {7 * races:,}"])
    bench.write_report(
        f"All {len(SIGMAS) * len(DELTAS)} settings (sigma, delta) of the paper, {count} searches "
        "each. The paper searches for EDPS, by expected utility, finds sigma 10 and delta 0.2, and "
        "runs PB-EDPS with the same. ± is one standard error, paired for the difference; the best "
        "of many settings is a lucky one, so its mean is biased upwards.",
        "![Grid](grid.png)",
        markdown_table(("method", "hazard", "criterion", *means), rows),
        "How many options are decided early, before a race has used all of its rounds:",
        markdown_table(("method", "hazard", "races", "options decided"), decisions),
        "Where none is decided, delta has no influence: columns of the figure are the same.",
        "## The paper's claim",
        claims_table(_claims(found)),
    )


def _table(found: Findings) -> list[Columns]:
    sigma, delta = (x.ravel() for x in np.meshgrid(SIGMAS, DELTAS, indexing="ij"))
    pieces = []
    for (hazard, method), criteria in found.items():
        columns = {"method": method, "hazard": hazard, "sigma": sigma, "delta": delta}
        for name, values in criteria.items():
            count = values.shape[-1]
            columns |= mean_columns(name, values.reshape(-1, count)) | {"repetitions": count}
        pieces.append(columns)
    return pieces


def _figure(found: Findings) -> "plots.Figure":
    figure, panels = plots.new_figure((10.5, 16.0), 4, 2)
    for row, ((hazard, method), criteria) in zip(panels, found.items(), strict=True):
        for panel, (name, values) in zip(row, criteria.items(), strict=True):
            plots.draw_heat(panel, values.mean(-1))
            panel.set(title=f"{method}, hazard {hazard}: {medical.labels()[name]}")
            panel.set(xlabel="delta of the races", ylabel="initial step size sigma")
            panel.set_xticks(range(len(DELTAS)), [f"{delta:g}" for delta in DELTAS])
            panel.set_yticks(range(len(SIGMAS)), [f"{sigma:g}" for sigma in SIGMAS])
    figure.suptitle("Means of the repetitions for each setting: more is better, the best in yellow")
    return figure


def _claims(found: Findings) -> list[Claim]:
    lines = []
    for hazard in medical.HAZARDS:
        values = found[hazard, METHODS[0]]["mean_reward"]
        setting, change, error = _lead(values)
        holds = YES if setting == CHOSEN else NO if verdict(change, error) == YES else OPEN
        claim = f"Hazard {hazard}: EDPS earns most with {_in_words(CHOSEN)}"
        here = f"{_in_words(setting)} earns {change:+.2f} ± {error:.2f} more"
        lines.append(Claim(claim, "section 6.2", here, holds))
    return lines


def _in_words(setting: tuple[float, float]) -> str:
    return "(" + ", ".join(f"{value:g}" for value in setting) + ")"


def _lead(values: np.ndarray) -> tuple[tuple[float, float], float, float]:
    """The best setting of [8, 5, R], its lead of the paper's, and the paired standard error."""
    sigma, delta = np.unravel_index(values.mean(-1).argmax(), values.shape[:2])
    change, error = mean_and_error(values[sigma, delta] - _of(values, CHOSEN))
    return (SIGMAS[sigma], DELTAS[delta]), float(change), float(error)


def _of(values: np.ndarray, setting: tuple[float, float]) -> np.ndarray:
    return values[SIGMAS.index(setting[0]), DELTAS.index(setting[1])]


def _best(values: np.ndarray) -> list[str]:
    setting, *lead = _lead(values)
    means = (*(mean_and_error(_of(values, one)) for one in (setting, CHOSEN)), lead)
    return [_in_words(setting), *(with_error(*one, digits=3) for one in means)]
