"""Bandits that recommend: Urvoy et al. 2013, section 5.1 (figure 3) and supplement B.5."""

import dataclasses
from typing import Any

import jax
import numpy as np

from jaxrace import dueling
from jaxrace.answers import style
from jaxrace.runs import plots
from papers.duels.lineup import Entrant
from papers.duels.runs import Runs, run_entrant, stack_problems
from papers.savage import arms, questions
from papers.workbench import Columns, Workbench, mean_columns, report_table

NUM_ARMS = len(arms.URVOY_MEANS)

DECISIONS: dict[str, dueling.Decision] = {
    "rigged": questions.NextBest(NUM_ARMS, skipped=4),
    "best arm": questions.Best(NUM_ARMS),
    "counting": questions.Counting(NUM_ARMS),
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
    sampled = dueling.Savage(count, decision, dueling.Introspection())
    elimination = arms.ActionElimination(count, decision)
    plain = {
        "uniform": arms.UniformArms(count, decision),
        "UCB1": arms.Ucb1(count, decision),
        "KL-UCB": arms.KlUcb(count, decision),
    }
    found = {
        "SAVAGE": Entrant(savage, savage.params(delta, horizon)),
        **{name: Entrant(one, one.params()) for name, one in plain.items()},
        "elimination": Entrant(elimination, elimination.params(delta)),
    }
    if isinstance(decision, questions.NextBest):
        ucb = arms.Ucb1(count, decision, wrapped=True)
        elimination = dataclasses.replace(elimination, wrapped=True)
        found["UCB1, wrapped"] = Entrant(ucb, ucb.params())
        found["elimination, wrapped"] = Entrant(elimination, elimination.params(delta))
    found["SAVAGE, sampled"] = Entrant(sampled, sampled.params(delta, horizon, key=key))
    return found


def problem_of(task: str, order: np.ndarray) -> dueling.Problem:
    """The arms in an order, and what it costs to decide for each; a task of ``DECISIONS``."""
    means = np.array(arms.URVOY_MEANS, np.float32)[order]
    if task == "best arm":
        return dueling.arms(means, means)
    return {"rigged": arms.rigged_bandit, "counting": arms.counting_bandit}[task](means)


def run(bench: Workbench) -> None:
    """Leaves bandits.csv, curves.csv, regret.png and report.md."""
    runs, horizon = bench.size(_RUNS, 8), bench.size(_HORIZON, 4_000)
    # Every run has the arms in another order: ties go to the first one.
    generator = np.random.default_rng(bench.seed)
    orders = [generator.permutation(NUM_ARMS) for _ in range(runs)]
    key = jax.random.key(np.uint32(bench.seed))
    found: Found = {}
    for task in bench.few(DECISIONS, 1):
        problems = stack_problems([problem_of(task, order) for order in orders])
        found[task] = {
            name: run_entrant(bench, f"{task} {name}", one, problems, 1, horizon, _RECORDS)
            for name, one in bench.few(lineup(DECISIONS[task], horizon, key).items(), 2)
        }
    rows, curves, sections = [], [], []
    for task, logs in found.items():
        ends = []
        for name, log in logs.items():
            own, regret = {"decision": task, "algorithm": name}, log.regret[:, 0, :, 0]
            curves.append({**own, "time": log.time, **mean_columns("regret", regret.T)})
            end = {**mean_columns("regret", regret[:, -1]), **ended_columns(log)}
            ends.append({**own, "runs": len(log.decided_at), **end})
        rows += ends
        published = PUBLISHED if task == "rigged" else {}
        shown = [without_end(row) | {"published": published.get(row["algorithm"])} for row in ends]
        table = report_table(shown, "algorithm regret published ended decided_at")
        sections += [f"## {task[0].upper()}{task[1:]}", table]
    bench.write_table("bandits.csv", rows)
    bench.write_table("curves.csv", curves)
    bench.write_figure("regret.png", _figure(found))
    bench.write_report(
        f"100 arms that pay with probabilities .95, .9 (3), .55, .5 (5) and 0 (90), {runs:,} runs "
        f"(the paper has 1,000) of {horizon:,} choices. Regret is that of the arm that would be "
        "recommended after every choice; counting: by how much the number of arms between .4 and "
        ".6 is wrong. ± is one standard error; published numbers are read off figure 3.",
        "![Regret](regret.png)",
        *sections,
    )


def ended_columns(log: Runs) -> Columns:
    """The share of runs in which exploration has ended, and after how many samples on average."""
    settled = log.decided_at[log.decided_at > 0]
    after = float(settled.mean()) if settled.size else 0.0
    return {"ended": settled.size / log.decided_at.size, "decided_at": after}


def without_end(row: Columns) -> dict[str, Any]:
    """A row for people, who are not told of an end that there was not."""
    return {**row, "decided_at": row["decided_at"] or None}


def _figure(found: Found) -> "plots.Figure":
    figure, [panels] = plots.new_figure((12.5, 4.8), 1, len(found))
    names = list(dict.fromkeys(name for logs in found.values() for name in logs))
    for panel, (task, logs) in zip(panels, found.items(), strict=True):
        for name, log in logs.items():
            curve = log.regret[:, 0, :, 0].mean(0)
            panel.plot(log.time, curve, label=name, **style.line(names.index(name)))
        is_count = task == "counting"
        told = "arms miscounted so far" if is_count else "regret of what is recommended, so far"
        panel.set(title=task, xlabel="choices", ylabel=told)
        panel.tick_params(axis="x", labelrotation=20)
        plots.tidy(panel, "xy")
    plots.legend_below(figure, 4)
    return figure
