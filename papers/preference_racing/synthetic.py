"""Races on synthetic tasks: Busa-Fekete et al. 2014, figure 2, and what better races cost there."""

import itertools

import numpy as np

from jaxrace import kernels, racing
from jaxrace.answers import style
from jaxrace.runs import plots
from jaxrace.runs.tables import markdown_table
from papers.claims import Claim, claims_table, yes_or_no
from papers.preference_racing import races
from papers.preference_racing.races import BOUNDS, OPTIONS, ROUNDS, TOP, VARIANTS
from papers.workbench import Workbench, mean_and_error, mean_in_words

# Label, colour and marker of the races of the paper's figure.
_PAPER = {
    "HR": (style.BLUE, "s"),
    "PBR, printed rule": (style.BLACK, "o"),
    "PBR, sharp rule": (style.ORANGE, "^"),
}


def lineup() -> dict[races.Run, racing.Race]:
    """All races of the figures, those of the paper first."""
    found: dict[races.Run, racing.Race] = {}
    sizes = OPTIONS, TOP, ROUNDS, kernels.total_order
    for variant, better in zip(VARIANTS, (False, True), strict=True):
        value = racing.HoeffdingRace(OPTIONS, TOP, better, better)
        found["HR", variant, "", "hoeffding"] = value
    for (variant, better), rule in itertools.product(
        zip(VARIANTS, (False, True), strict=True), kernels.RULES
    ):
        # The dynamic correction is one of the published bound.
        for bound in BOUNDS if (variant, rule) == ("plain", "sharp") else ("published",):
            race = racing.PreferenceRace(*sizes, bound, rule, better, better)
            found["PBR", variant, rule, bound] = race
    return found | {("dominance", "plain", "", "e-value"): racing.DominanceRace(*sizes)}


def run(bench: Workbench) -> None:
    """Leaves races.csv, figure_2.png, bounds.png and report.md."""
    repetitions = bench.size(1000, 40)
    curves = races.measure(bench, lineup(), repetitions)
    bench.write_table("races.csv", races.table_of(curves))
    bench.write_figure("figure_2.png", _accuracy_against_draws(curves))
    bench.write_figure("bounds.png", _draws_of_bounds(curves))
    names = {"HR": races.hoeffding, "PBR-CO": lambda task: races.preference(task, rule="printed")}
    published = {
        (task, algorithm): curves[names[algorithm](task)]
        for task, algorithm in races.PUBLISHED
        if algorithm in names
    }
    places = itertools.product(races.TASKS, VARIANTS, kernels.RULES)
    differences = [[*where, *_differences(curves, *where)] for where in places]
    savings = [
        [task, race, f"{saved:.1%}", f"{change:+.4f}"]
        for task in races.TASKS
        for race, (saved, change) in _savings(curves, task).items()
    ]
    bench.write_report(
        races.described(repetitions),
        "![Accuracy against draws](figure_2.png)",
        "## Beside the published numbers",
        "Read off the figures of Busa-Fekete et al. 2013, whose race had the printed rule and the "
        "same sizes.",
        races.beside_published(published),
        "## The paper's claims",
        claims_table([*_claims(curves), *races.published_claims(published)]),
        "For how many of the values of k the races differ by more than two standard errors:",
        markdown_table(
            ("task", "variant", "rule", "cheaper", "dearer", "more accurate", "less accurate"),
            differences,
        ),
        "## Improvements",
        markdown_table(("task", "race", "draws saved, mean over k", "more accurate"), savings),
        "## What better races cost",
        "![Draws of all bounds](bounds.png)",
        _table_of_bounds(curves),
        "All of these are valid at delta, but HR on the normal tasks: outcomes leave its range of "
        "8 now and then.",
    )


def _accuracy_against_draws(curves: races.Curves) -> "plots.Figure":
    """Figure 2 of the paper: a panel for each task and variant."""
    figure, panels = plots.new_figure((9.2, 7.0), 2, 2, sharex=True, sharey="row")
    places = itertools.product(("normal", "bernoulli, drift k/10"), VARIANTS)
    for letter, panel, (task, variant) in zip("abcd", panels.flat, places, strict=True):
        for label, name in races.races_of_the_paper(task, variant).items():
            (x, x_error), (y, y_error) = map(mean_and_error, curves[name])
            color, marker = _PAPER[label]
            panel.errorbar(x, y, y_error, x_error, color=color, lw=1, alpha=0.8, zorder=2)
            sizes = 8 + 6 * np.array(races.COMPLEXITIES)
            panel.scatter(x, y, sizes, color, marker=marker, label=label, zorder=3)
        panel.set_title(f"({letter}) {task}, {variant}")
    _finish(figure, panels, "draws of a race", "accuracy")
    figure.suptitle("Accuracy and cost for k = 1 (small marks) to 10 (large marks)")
    return figure


def _draws_of_bounds(curves: races.Curves) -> "plots.Figure":
    figure, panels = plots.new_figure((9.2, 7.4), 2, 2, sharex=True, sharey=True)
    for panel, task in zip(panels.flat, races.TASKS, strict=True):
        bounds = {f"sharp rule, {one} bound": races.preference(task, bound=one) for one in BOUNDS}
        shown = {
            "HR": races.hoeffding(task),
            "published race (printed rule)": races.preference(task, rule="printed"),
            **bounds,
            "dominance race": races.dominance(task),
        }
        for number, (label, name) in enumerate(shown.items()):
            draws, error = mean_and_error(curves[name].draws)
            dashes = "-" if number in (1, len(shown) - 1) else "--"
            looks = {"ls": dashes, "color": style.colour(number), "marker": style.mark(number)}
            panel.errorbar(races.COMPLEXITIES, draws, error, label=label, ms=4, **looks)
        panel.set_title(task)
    _finish(figure, panels, "complexity k", "draws of a race")
    panels[0, 0].set_ylim(bottom=0)
    figure.suptitle("Draws until a race ends: top 5 of 10, at most 300 per option, delta 0.05")
    return figure


def _finish(figure: "plots.Figure", panels: np.ndarray, xlabel: str, ylabel: str) -> None:
    for panel in panels.flat:
        plots.tidy(panel)
    for panel in panels[-1]:
        panel.set_xlabel(xlabel)
    for panel in panels[:, 0]:
        panel.set_ylabel(ylabel)
    plots.legend_below(figure, 3)


def _claims(curves: races.Curves) -> list[Claim]:
    """Of Busa-Fekete et al. 2014, on its two tasks, with the rule that it prints."""
    claims = []
    count = len(races.COMPLEXITIES)
    for task, plain, improved in (("normal", "a", "b"), ("bernoulli, drift k/10", "c", "d")):
        cheaper, dearer, better, worse = _differences(curves, task, "plain", "printed")
        here = f"for {cheaper} of {count} k; more for {dearer}"
        holds = yes_or_no(cheaper > count // 2 and not dearer)
        claim = f"{task}: PBR needs significantly fewer samples than HR"
        claims.append(Claim(claim, f"figure 2{plain}, text", here, holds))
        here = f"better for {better} of {count} k, worse for {worse}"
        claim = f"{task}: its accuracy is on a par or better in most cases"
        claims.append(Claim(claim, f"figure 2{plain}, text", here, yes_or_no(worse < count / 2)))
        saved = _savings(curves, task)
        value, own = (saved[name][0] for name in ("HR", "PBR, printed rule"))
        claim = f"{task}: the improvements save more for HR than for PBR"
        here = f"{value:.1%} and {own:.1%}"
        claims.append(Claim(claim, f"figure 2{improved}, text", here, yes_or_no(value > own)))
    return claims


def _differences(curves: races.Curves, task: str, variant: str, rule: str) -> list[int]:
    """For how many k PBR is cheaper than HR, dearer, more accurate, and less accurate."""
    value = curves[races.hoeffding(task, variant)]
    own = curves[races.preference(task, variant, rule)]
    # The same instances: differences have smaller errors.
    draws, draws_error = mean_and_error(own.draws - value.draws)
    accuracy, error = mean_and_error(own.accuracies - value.accuracies)
    counts = (
        draws < -2 * draws_error,
        draws > 2 * draws_error,
        accuracy > 2 * error,
        accuracy < -2 * error,
    )
    return [int(count.sum()) for count in counts]


def _savings(curves: races.Curves, task: str) -> dict[str, tuple[float, float]]:
    """The share of draws that the improvements save, and what they change in the accuracy."""
    plain, improved = (races.races_of_the_paper(task, variant) for variant in VARIANTS)
    return {
        race: (
            1 - float(curves[improved[race]].draws.mean() / curves[name].draws.mean()),
            float((curves[improved[race]].accuracies - curves[name].accuracies).mean()),
        )
        for race, name in plain.items()
    }


def _table_of_bounds(curves: races.Curves) -> str:
    rows = []
    for task, place in itertools.product(races.TASKS, (0, 4, 9)):
        names = (
            races.hoeffding(task),
            races.preference(task, rule="printed"),
            races.preference(task),
            races.preference(task, bound="stitched-kl"),
            races.dominance(task),
        )
        draws = (mean_in_words(curves[name].draws[place]) for name in names)
        rows.append([task, f"{races.COMPLEXITIES[place]:g}", *draws])
    heads = ("HR", "published race", "sharp rule", "sharp, stitched KL", "dominance")
    return markdown_table(("task", "k", *heads), rows)
