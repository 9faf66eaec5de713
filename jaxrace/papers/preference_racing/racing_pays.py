"""Does racing help PB-EDPS? Variants at equal budgets, on the medical task.

Axes: R repetitions, n rows (a row per repetition and generation).
"""

import dataclasses
import itertools

import numpy as np

from jaxrace import plots
from jaxrace.commands.train.tasks import TASKS
from jaxrace.commands.workbench import Columns, Workbench, mean_and_error
from jaxrace.papers.preference_racing import medical_runs as medical
from jaxrace.papers.preference_racing.medical_curves import smoothed
from jaxrace.papers.preference_racing.racing_answer import (
    FINAL,
    GENERATION,
    SHOWN,
    Findings,
    paragraphs,
)
from jaxrace.papers.preference_racing.racing_variants import FAST, PUBLISHED, VARIANTS


def within(learning: medical.Learning, budget: int) -> dict[str, np.ndarray]:
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
    learned: dict[tuple[str, str], medical.Learning] = {}
    # The first variants are the cheapest.
    for name, hazard in itertools.product(bench.few(VARIANTS, 2), medical.HAZARDS):
        config = dataclasses.replace(
            medical.paper_config(bench, "pb-edps", hazard), repeats=bench.size(1_000, 10)
        )
        searches = VARIANTS[name].searches(config, TASKS[config.env](config))
        learning = medical.learn(bench, config, f"{name} {hazard}", searches)
        learned[hazard, name] = learning
        found[hazard, name] = within(learning, config.episodes)
    generations = _generations(learned)
    bench.write_table("variants.csv", _table(found))
    bench.write_table("repetitions.csv", _repetitions(found))
    bench.write_table("generations.csv", generations)
    bench.write_figure("curves.png", _figure(learned, found))
    bench.write_report(paragraphs(found, generations))


def _table(found: Findings) -> list[Columns]:
    """A row per hazard and variant."""
    rows = []
    for (hazard, name), last in found.items():
        own = {"hazard": hazard, "variant": name, "repetitions": len(last["episodes"])}
        means = {metric: mean_and_error(last[metric]) for metric in SHOWN}
        own |= {"episodes": last["episodes"].mean()} | {m: one[0] for m, one in means.items()}
        rows.append(own | {f"{metric}_stderr": one[1] for metric, one in means.items()})
    return rows


def _repetitions(found: Findings) -> list[Columns]:
    """A row per hazard, variant and repetition."""
    return [
        {
            **{"hazard": hazard, "variant": name, "repeat": np.arange(len(last["episodes"]))},
            **{column: last[column] for column in ("episodes", *SHOWN)},
        }
        for (hazard, name), last in found.items()
    ]


def _generations(learned: dict[tuple[str, str], medical.Learning]) -> dict[str, np.ndarray]:
    """How many races end early, and how many options are decided, generation by generation.

    The final races, which are of other options, have rows of their own.
    """
    pieces = []
    for (hazard, name), learning in learned.items():
        is_final = learning.is_last & VARIANTS[name].is_final
        for race, chosen in ((GENERATION, ~is_final), (FINAL, is_final)):
            means = _by_generation(learning, chosen)
            length = len(means["generation"])
            names = {"hazard": hazard, "variant": name, "race": race}
            pieces.append({key: np.full(length, one) for key, one in names.items()} | means)
    return {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}


def _by_generation(learning: medical.Learning, chosen: np.ndarray) -> dict[str, np.ndarray]:
    """Means of the races that are chosen [n]."""
    generation = learning.numbers["generation"][chosen]
    searches = np.bincount(generation)
    present = np.flatnonzero(searches)
    means = {
        column: np.bincount(generation, learning.numbers[column][chosen])[present]
        / searches[present]
        for column in ("max_rounds", "simulated", "finished", "options_decided")
    }
    return {"generation": present, "searches": searches[present], **means}


# The variants that are drawn: all of them would hide each other.
_DRAWN = (
    *(PUBLISHED, "3 rollouts", "30 rollouts", "100 rollouts", "dominance race"),
    "population 14, 30 rollouts",
)


def _figure(learned: dict[tuple[str, str], medical.Learning], found: Findings) -> "plots.Figure":
    figure, panels = plots.panels((10.5, 7.4), 2, 2, sharex=True)
    for row, hazard in zip(panels, medical.HAZARDS, strict=True):
        for panel, metric in zip(row, SHOWN, strict=True):
            for number, name in enumerate(_DRAWN):
                if (hazard, name) in learned:
                    width = 2.4 if name == PUBLISHED else 1.2
                    curve = smoothed(learned[hazard, name], metric)
                    panel.plot(*curve, lw=width, color=f"C{number}", label=name)
            if (hazard, FAST) in found:
                # Before its final race it is a search like the one that is drawn.
                last = found[hazard, FAST]
                place = last["episodes"].mean(), last[metric].mean()
                panel.plot(*place, "k*", ms=10, ls="", label=FAST)
            panel.set(title=f"hazard {hazard}", ylabel=medical.labels()[metric])
            plots.tidy(panel)
    for panel in panels[-1]:
        panel.set_xlabel("training episodes")
        panel.xaxis.set_major_formatter("{x:,.0f}")
    figure.suptitle("PB-EDPS while it learns: the rank 1 of the last race")
    plots.legend_below(figure, 3)
    return figure
