"""How fast learners learn: Busa-Fekete et al. 2014, figures 4 and 6."""

import numpy as np

from jaxrace.answers import style
from jaxrace.runs import plots
from papers.claims import claims_table
from papers.preference_racing import medical_runs as medical
from papers.preference_racing.medical_claims import FEW, convergence_claims
from papers.workbench import Columns, Workbench, mean_columns, report_table

SHOWN = ("mean_reward", "survival_rate")


def run(bench: Workbench) -> None:
    """Leaves curves.csv, figure_4_and_6.png and report.md."""
    found, fixed = medical.learn_all(bench), medical.fixed_all(bench)
    pieces = []
    for (hazard, method), learning in found.items():
        own = {"repeat": learning.repeat, "episodes": learning.episodes}
        metrics = {name: learning.metrics[name] for name in SHOWN}
        pieces.append({"hazard": hazard, "method": method, **own, **metrics})
    bench.write_table("curves.csv", pieces)
    bench.write_figure("figure_4_and_6.png", _figure(found, fixed))
    sections = []
    for hazard in medical.HAZARDS:
        rows = []
        for method in medical.LEARNERS:
            learning = found[hazard, method]
            row: dict[str, object] = {"method": method}
            for name in SHOWN:
                row |= mean_columns(f"early_{name}", medical.mean_before(learning, name, FEW))
            rows.append({**row, **_means({name: learning.last[name] for name in SHOWN})})
        names = " ".join(("method", *(f"early_{name}" for name in SHOWN), *SHOWN))
        sections += [f"## Hazard {hazard}", report_table(rows, names)]
    bench.write_report(
        "PB-EDPS and EDPS are evaluated after every generation, SARSA after every 100 episodes, "
        "PBPI after every iteration of 800, on 300 fresh patients each time. Curves of the "
        "evolution strategies are smoothed, by a normal kernel whose standard deviation is "
        f"{medical.KERNEL:.0%} of all episodes; the others are means. ± is one standard error.",
        "![Convergence](figure_4_and_6.png)",
        *sections,
        f"Early: the mean over the first {FEW:,} training episodes, from the first evaluation on.",
        "## The paper's claims",
        claims_table(convergence_claims(found, fixed)),
        "## PBPI, iteration by iteration",
        "Means of the repetitions that are still learning (C_S, C_X):",
        *(_iterations(found[hazard, "pbpi"], hazard) for hazard in medical.HAZARDS),
    )


def _means(columns: medical.Metrics) -> Columns:
    means: dict[str, object] = {}
    for name, values in columns.items():
        means |= mean_columns(name, values.astype(float))
    return means


def _figure(found: medical.Findings, fixed: medical.Fixed) -> "plots.Figure":
    figure, panels = medical.panels_by_hazard(SHOWN, "hazard {} (figure {} of the paper)")
    for (hazard, metric), panel in panels.items():
        for number, method in enumerate(medical.LEARNERS):
            looks = style.line(number)
            panel.plot(*medical.curve(found, hazard, method, metric), lw=1.7, label=method, **looks)
        for number, (name, metrics) in enumerate(fixed[hazard].items(), len(medical.LEARNERS)):
            level = float(metrics[metric].mean())
            panel.axhline(level, lw=1, label=name, **style.line(number))
    figure.suptitle("The policies of the learners while they learn, means of all repetitions")
    plots.legend_below(figure, 5)
    return figure


def _iterations(learning: medical.Learning, hazard: str) -> str:
    rows = []
    names = ("survival_rate", "tumour_size", "max_toxicity")
    for generation in np.unique(learning.numbers["generation"]):
        chosen = learning.numbers["generation"] == generation
        own = {"hazard": hazard, "iteration": generation, "repetitions": chosen.sum()}
        rows.append({**own, **_means({name: learning.metrics[name][chosen] for name in names})})
    return report_table(rows, " ".join(("hazard iteration repetitions", *names)))
