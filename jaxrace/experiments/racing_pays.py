"""Does racing help PB-EDPS? Variants at equal budgets, on the medical task.

Axes: R repetitions, n rows (a row per repetition and generation).
"""

import dataclasses
import itertools
from typing import TYPE_CHECKING

import numpy as np

from jaxrace import plots
from jaxrace.experiments.config import EXPERIMENTS
from jaxrace.experiments.medical_convergence import smoothed
from jaxrace.experiments.medical_runs import HAZARDS, Learning, labels, learn, paper_config
from jaxrace.experiments.race_curves import mean_and_error
from jaxrace.experiments.racing_variants import PUBLISHED, VARIANTS
from jaxrace.experiments.tasks import TASKS
from jaxrace.experiments.workbench import Columns, Workbench, as_columns, markdown_table, with_error

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = ("survival_rate", "mean_reward")

Findings = dict[tuple[str, str], dict[str, np.ndarray]]  # by hazard and variant, see `within`


def within(learning: Learning, budget: int) -> dict[str, np.ndarray]:
    """The last policy of every repetition that took at most so many episodes: its metrics [R].

    The race in which a budget is used up is finished, and a race of many policies takes long: to
    compare what each learner has in the end would favour large populations.
    """
    affordable = np.flatnonzero(learning.episodes <= budget)
    ends = np.append(np.diff(learning.repeat[affordable]) != 0, True)
    chosen = affordable[ends]
    found = {"episodes": learning.episodes, **learning.metrics}
    return {name: values[chosen] for name, values in found.items()}


def run(bench: Workbench) -> None:
    """Leaves variants.csv, repetitions.csv, generations.csv, curves.png and report.md."""
    found: Findings = {}
    learned: dict[tuple[str, str], Learning] = {}
    # To see that it works, the cheapest variants will do.
    names = list(VARIANTS)[: bench.size(len(VARIANTS), 2)]
    for name, hazard in itertools.product(names, HAZARDS):
        config = dataclasses.replace(
            paper_config(bench, "pb-edps", hazard), repeats=bench.size(1_000, 10)
        )
        searches = VARIANTS[name].searches(config, TASKS[config.env](config))
        learning = learn(bench, config, f"{name} {hazard}", searches)
        learned[hazard, name] = learning
        found[hazard, name] = within(learning, config.episodes)
    generations = _generations(learned)
    bench.write_table("variants.csv", _table(found))
    bench.write_table("repetitions.csv", _repetitions(found))
    bench.write_table("generations.csv", generations)
    bench.write_figure("curves.png", _figure(learned))
    bench.write_report(EXPERIMENTS["racing-pays"], _paragraphs(found, generations))


def _table(found: Findings) -> dict[str, np.ndarray]:
    """A row per hazard and variant."""
    rows = []
    for (hazard, name), last in found.items():
        statistics = {metric: mean_and_error(last[metric]) for metric in SHOWN}
        means = {metric: mean for metric, (mean, _) in statistics.items()}
        errors = {f"{metric}_stderr": error for metric, (_, error) in statistics.items()}
        own = {"hazard": hazard, "variant": name, "repetitions": len(last["episodes"])}
        rows.append({**own, "episodes": last["episodes"].mean(), **means, **errors})
    return as_columns(rows)


def _repetitions(found: Findings) -> list[Columns]:
    """A row per hazard, variant and repetition."""
    pieces = []
    for (hazard, name), last in found.items():
        count = len(last["episodes"])
        names = {"hazard": np.full(count, hazard), "variant": np.full(count, name)}
        numbers = {column: last[column] for column in ("episodes", *SHOWN)}
        pieces.append({**names, "repeat": np.arange(count), **numbers})
    return pieces


def _generations(learned: dict[tuple[str, str], Learning]) -> dict[str, np.ndarray]:
    """How many races end early, and how many options are decided, generation by generation."""
    pieces = []
    for (hazard, name), learning in learned.items():
        generation = learning.numbers["generation"]
        searches = np.bincount(generation)[1:]
        columns = ("max_rounds", "simulated", "finished", "options_decided")
        means = {
            column: np.bincount(generation, learning.numbers[column])[1:] / np.maximum(searches, 1)
            for column in columns
        }
        length = len(searches)
        names = {"hazard": np.full(length, hazard), "variant": np.full(length, name)}
        own = {"generation": np.arange(1, length + 1), "searches": searches}
        pieces.append({**names, **own, **means})
    return {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}


# The variants that are drawn: all of them would hide each other.
_DRAWN = (
    *(PUBLISHED, "3 rollouts", "30 rollouts", "100 rollouts", "dominance race"),
    "population 14, 30 rollouts",
)


def _figure(learned: dict[tuple[str, str], Learning]) -> "Figure":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.5, 7.4), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True)
    for row, hazard in zip(panels, HAZARDS, strict=True):
        for panel, metric in zip(row, SHOWN, strict=True):
            for number, name in enumerate(_DRAWN):
                if (hazard, name) in learned:
                    width = 2.4 if name == PUBLISHED else 1.2
                    curve = smoothed(learned[hazard, name], metric)
                    panel.plot(*curve, lw=width, color=f"C{number}", label=name)
            panel.set(title=f"hazard {hazard}", ylabel=labels()[metric])
            plots.tidy(panel)
    for panel in panels[-1]:
        panel.set_xlabel("training episodes")
        panel.xaxis.set_major_formatter("{x:,.0f}")
    figure.suptitle("PB-EDPS while it learns: the rank 1 of the last race")
    handles, names = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3, frameon=False)
    return figure


def _paragraphs(found: Findings, generations: dict[str, np.ndarray]) -> list[str]:
    count = len(found["A", PUBLISHED]["episodes"])
    comparisons = [(f"## Hazard {hazard}", _comparison(found, hazard)) for hazard in HAZARDS]
    return [
        f"Every variant has {count:,} searches per hazard, and counts with the last policy that "
        "it had found within the budget: the race in which a budget is used up is finished, and "
        "what comes of it does not count here, which leaves large populations with fewer episodes "
        "than others. ± is one standard error; differences are paired, since a repetition has the "
        "same random numbers in all variants. Step size 10, delta 0.2.",
        "![Curves](curves.png)",
        *itertools.chain(*comparisons),
        "## What the races decide",
        _decisions(generations),
        "Where nothing is decided early, the published schedule is a fixed one: n_max grows by a "
        "quarter from generation to generation, from 3 to 100.",
        "## The answer",
        *_answers(found),
    ]


def _difference(found: Findings, hazard: str, name: str, metric: str) -> tuple[float, float]:
    """To its base, with the standard error: a repetition has the same random numbers in both."""
    base = VARIANTS[name].base
    mean, error = mean_and_error(found[hazard, name][metric] - found[hazard, base][metric])
    return float(mean), float(error)


def _names(found: Findings) -> list[str]:
    """The variants that were run."""
    return [name for name in VARIANTS if ("A", name) in found]


def _comparison(found: Findings, hazard: str) -> str:
    rows = []
    for name in _names(found):
        cells = [f"{found[hazard, name]['episodes'].mean():,.0f}"]
        for metric in SHOWN:
            cells.append(with_error(*mean_and_error(found[hazard, name][metric]), digits=3))
            change, error = _difference(found, hazard, name, metric)
            shown = f"{change:+.3f} ({change / max(error, 1e-9):+.1f} SE)"
            cells.append("" if name == PUBLISHED else shown)
        rows.append([name, *cells, "" if name == PUBLISHED else VARIANTS[name].base])
    heads = [part for metric in SHOWN for part in (labels()[metric], "difference")]
    return markdown_table(["variant", "episodes", *heads, "difference to"], rows)


def _decisions(generations: dict[str, np.ndarray]) -> str:
    rows = []
    for name, hazard in itertools.product(VARIANTS, HAZARDS):
        chosen = (generations["variant"] == name) & (generations["hazard"] == hazard)
        searches = generations["searches"][chosen]
        if searches.size:
            means = [
                np.average(generations[column][chosen], weights=searches)
                for column in ("finished", "options_decided")
            ]
            decided = f"{means[1]:.2f} of {VARIANTS[name].population}"
            rows.append([name, hazard, f"{searches.sum():,}", f"{means[0]:.1%}", decided])
    heads = ("variant", "hazard", "races", "ended early", "options decided in a race")
    return markdown_table(heads, rows)


def _answers(found: Findings) -> list[str]:
    """Which variants are better, and worse, than their bases by two standard errors."""
    text = []
    for hazard, metric in itertools.product(HAZARDS, SHOWN):
        others = [name for name in _names(found) if name != PUBLISHED]
        changes = {name: _difference(found, hazard, name, metric) for name in others}
        better = [name for name, (change, error) in changes.items() if change > 2 * error]
        worse = [name for name, (change, error) in changes.items() if change < -2 * error]
        text.append(
            f"Hazard {hazard}, {labels()[metric]}: better than what it is compared with, by more "
            "than two standard errors: "
            f"{'; '.join(better) or 'none'}. Worse: {'; '.join(worse) or 'none'}."
        )
    return text
