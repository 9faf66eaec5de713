"""Races by Copeland's, Borda's (SE) and random-walk rankings: Busa-Fekete et al. 2013, figure 2."""

import itertools

from jaxrace import kernels, racing
from jaxrace.answers import style
from jaxrace.runs import plots
from papers.claims import claims_table
from papers.preference_racing import races
from papers.workbench import Workbench

RANKINGS = {"PBR-CO": "copeland", "PBR-SE": "borda", "PBR-RW": "random_walk"}

# By rule and bound.
_MARKERS = {
    ("printed", "published"): "o",
    ("sharp", "published"): "^",
    ("sharp", "stitched-kl"): "s",
}


def lineup() -> dict[races.Run, racing.Race]:
    """All races, with the paper's rules and bound; and the best of each with ours."""
    sizes = races.OPTIONS, races.TOP, races.ROUNDS, kernels.total_order
    return {
        (name, "plain", rule, bound): racing.PreferenceRace(*sizes, bound, rule, ranking=ranking)
        for (name, ranking), (rule, bound) in itertools.product(RANKINGS.items(), _MARKERS)
    }


def run(bench: Workbench) -> None:
    """Leaves races.csv, rankings.png and report.md."""
    repetitions = bench.size(300, 10)
    curves = races.measure(bench, lineup(), repetitions)
    bench.write_table("races.csv", races.table_of(curves))
    bench.write_figure("rankings.png", _figure(curves))
    printed, sharp = (
        {
            (task, race): curves[races.CurveName(task, race, "plain", rule, "published")]
            for task, race in races.PUBLISHED
            if race in RANKINGS
        }
        for rule in ("printed", "sharp")
    )
    bench.write_report(
        f"{races.described(repetitions)} The three rankings have targets of their own.",
        "![Rankings](rankings.png)",
        "## The rules as printed, with the corrected target and bound",
        "The Borda score is the mean over all others, undecided or not.",
        races.beside_published(printed),
        "## The sharp rules",
        races.beside_published(sharp),
        "## The published numbers, with the printed rule",
        claims_table(races.published_claims(printed)),
    )


def _figure(curves: races.Curves) -> "plots.Figure":
    figure, panels = plots.new_figure((9.2, 7.2), 2, 2)
    for panel, task in zip(panels.flat, races.TASKS, strict=True):
        for number, algorithm in enumerate(RANKINGS):
            for (rule, bound), marker in _MARKERS.items():
                curve = curves[races.CurveName(task, algorithm, "plain", rule, bound)]
                means = curve.draws.mean(-1), curve.accuracies.mean(-1)
                label, looks = f"{algorithm}, {rule} rule, {bound}", {"ms": 4, "lw": 0.8}
                panel.plot(*means, marker=marker, color=style.colour(number), label=label, **looks)
        plots.tidy(panel, title=task, xlabel="draws of a race", ylabel="accuracy")
    figure.suptitle("Accuracy and cost by three rankings, k = 1 to 10")
    plots.legend_below(figure, 3)
    return figure
