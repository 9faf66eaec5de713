"""Bandits that recommend: Urvoy et al. 2013, section 5.1 (figure 3) and supplement B.5.

Axes: R runs, T records of a run.
"""

import dataclasses
from typing import Any

import jax
import numpy as np

from jaxrace import dueling, plots
from jaxrace.commands.duel.lineup import Entrant
from jaxrace.commands.duel.runs import Runs, run_entrant, stacked
from jaxrace.commands.workbench import Columns, Workbench, mean_columns, with_error
from jaxrace.dueling.problems import URVOY_MEANS
from jaxrace.tables import markdown_table

NUM_ARMS = len(URVOY_MEANS)

DECISIONS: dict[str, dueling.Decision] = {
    "rigged": dueling.NextBest(NUM_ARMS, skipped=4),
    "best arm": dueling.Best(NUM_ARMS),
    "counting": dueling.Counting(NUM_ARMS),
}

# Regret of the rigged bandit in the end, read off figure 3.
PUBLISHED = {
    "SAVAGE, sampled": 600,
    "SAVAGE": 950,
    "elimination, wrapped": 1250,
    "uniform": 1600,
    "UCB1, wrapped": 3350,
}

_RUNS, _HORIZON, _RECORDS = 20, 200_000, 100  # the paper has 1,000 runs
Found = dict[str, dict[str, Runs]]  # by decision and algorithm


def lineup(decision: dueling.Decision, horizon: int, key: jax.Array) -> dict[str, Entrant]:
    """The algorithms of the figure; the wrapped ones play for what the decision is worth."""
    count, delta = decision.num_arms, 1 / horizon
    savage = dueling.Savage(count, decision)
    found = {"SAVAGE": Entrant(savage, savage.params(delta, horizon))}
    found["uniform"] = _plain(dueling.UniformArms(count, decision))
    found["UCB1"] = _plain(dueling.Ucb1(count, decision))
    found["KL-UCB"] = _plain(dueling.KlUcb(count, decision))
    elimination = dueling.ActionElimination(count, decision)
    found["elimination"] = Entrant(elimination, elimination.params(delta))
    if isinstance(decision, dueling.NextBest):
        found["UCB1, wrapped"] = _plain(dueling.Ucb1(count, decision, wrapped=True))
        elimination = dataclasses.replace(elimination, wrapped=True)
        found["elimination, wrapped"] = Entrant(elimination, elimination.params(delta))
    sampled = dueling.Savage(count, decision, dueling.Introspection())
    found["SAVAGE, sampled"] = Entrant(sampled, sampled.params(delta, horizon, key=key))
    return found


def _plain(algorithm: Any) -> Entrant:
    return Entrant(algorithm, algorithm.params())


def problem_of(task: str, order: np.ndarray) -> dueling.Problem:
    """The arms in an order, and what it costs to decide for each; a task of ``DECISIONS``."""
    means = np.array(URVOY_MEANS, np.float32)[order]
    makers = {
        "rigged": dueling.rigged_bandit,
        "best arm": lambda means: dueling.arms(means, means),
        "counting": dueling.counting_bandit,
    }
    return makers[task](means)


def run(bench: Workbench) -> None:
    """Leaves bandits.csv, curves.csv, regret.png and report.md."""
    runs, horizon = bench.size(_RUNS, 8), bench.size(_HORIZON, 4_000)
    # Every run has the arms in another order: ties go to the first one.
    generator = np.random.default_rng(bench.seed)
    orders = [generator.permutation(NUM_ARMS) for _ in range(runs)]
    key = jax.random.key(np.uint32(bench.seed))
    found: Found = {}
    for task in bench.few(DECISIONS, 1):
        decision = DECISIONS[task]
        entrants = lineup(decision, horizon, key)
        names = bench.few(entrants, 2)
        problems = stacked([problem_of(task, order) for order in orders])
        found[task] = {
            name: run_entrant(
                bench, f"{task} {name}", entrants[name], problems, 1, horizon, _RECORDS
            )
            for name in names
        }
    table = _table(found)
    bench.write_table("bandits.csv", table)
    bench.write_table("curves.csv", _curves(found))
    bench.write_figure("regret.png", _figure(found))
    bench.write_report(_paragraphs(table, runs, horizon))


def _table(found: Found) -> list[Columns]:
    """A row for each decision and algorithm; exploration has ended in a share of the runs."""
    rows = []
    for task, logs in found.items():
        for name, log in logs.items():
            settled = log.settled_at[:, 0]
            own = {"decision": task, "algorithm": name, "runs": len(settled)}
            after = float(settled[settled > 0].mean()) if settled.any() else 0.0
            ended = {"ended": (settled > 0).mean(), "settled_at": after}
            rows.append({**own, **mean_columns("regret", log.regret[:, 0, -1, 0]), **ended})
    return rows


def _curves(found: Found) -> list[Columns]:
    return [
        {
            **{"decision": task, "algorithm": name, "time": log.time},
            **mean_columns("regret", log.regret[:, 0, :, 0].T),
        }
        for task, logs in found.items()
        for name, log in logs.items()
    ]


def _figure(found: Found) -> "plots.Figure":
    figure, [panels] = plots.panels((12.5, 4.8), 1, len(found))
    names = list(dict.fromkeys(name for logs in found.values() for name in logs))
    for panel, (task, logs) in zip(panels, found.items(), strict=True):
        for name, log in logs.items():
            curve = log.regret[:, 0, :, 0].mean(0)
            panel.plot(log.time, curve, color=f"C{names.index(name)}", label=name)
        unit = "arms miscounted" if task == "counting" else "regret"
        panel.set(title=task, xlabel="choices", ylabel=f"{unit} of what is recommended, so far")
        for axis in (panel.xaxis, panel.yaxis):
            axis.set_major_formatter("{x:,.0f}")
        panel.tick_params(axis="x", labelrotation=20)
        plots.tidy(panel)
    plots.legend_below(figure, 4)
    return figure


def _paragraphs(table: list[Columns], runs: int, horizon: int) -> list[str]:
    heads = ("algorithm", "regret", "published", "exploration ended", "after")
    sections = []
    for task in dict.fromkeys(row["decision"] for row in table):
        rows = [
            [
                *(row["algorithm"], with_error(row["regret"], row["regret_stderr"])),
                f"{PUBLISHED[row['algorithm']]:,}"
                if task == "rigged" and row["algorithm"] in PUBLISHED
                else "",
                *(f"{row['ended']:.0%}", f"{row['settled_at']:,.0f}" if row["ended"] else ""),
            ]
            for row in table
            if row["decision"] == task
        ]
        sections += [f"## {task[0].upper()}{task[1:]}", markdown_table(heads, rows)]
    return [
        f"100 arms that pay with probabilities .95, .9 (3), .55, .5 (5) and 0 (90), {runs:,} runs "
        f"(the paper has 1,000) of {horizon:,} choices, the arms in another order in each. "
        "Rigged: the four best arms are worth nothing, the fifth is the one to find. Regret is "
        "that of the arm that would be recommended after every choice, whatever is played; "
        "counting: by how much the number of arms between .4 and .6 is wrong. ± is one standard "
        "error.",
        "![Regret](regret.png)",
        *sections,
        "The published numbers are read off a figure whose horizon we do not know: the order of "
        "the algorithms can be compared, the numbers hardly.",
    ]
