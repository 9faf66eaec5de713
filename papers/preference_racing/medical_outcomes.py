"""Busa-Fekete et al. 2014, figures 3 and 5: outcomes. Axes: M methods, R repetitions."""

from typing import NamedTuple

import numpy as np
from scipy import stats

from jaxrace.answers import style
from jaxrace.runs import plots
from jaxrace.runs.tables import markdown_table
from papers.claims import Claim, claims_table
from papers.preference_racing import medical_runs as medical
from papers.preference_racing.medical_claims import outcome_claims
from papers.workbench import Workbench, mean_in_words

TUMOUR, TOXICITY = "tumour_size", "max_toxicity"
_LEVEL = 0.95


class Ellipse(NamedTuple):
    """A region around a mean in the plane."""

    width: float  # whole axes, not half of them
    height: float
    angle: float  # of the first axis, in degrees


def run(bench: Workbench) -> None:
    """Leaves outcomes.csv (a row per method and repetition), figure_3_and_5.png and report.md."""
    found: medical.Fixed = {}
    learned = medical.learn_all(bench)
    fixed = medical.fixed_all(bench, (medical.START_DOSE, medical.BEST_DOSE))
    for hazard in medical.HAZARDS:
        last = {method: learned[hazard, method].last for method in medical.LEARNERS}
        found[hazard] = last | fixed[hazard]
    count = bench.size(100, 10)
    pieces = [
        {"hazard": hazard, "method": method, "repeat": np.arange(count), **metrics}
        for hazard, methods in found.items()
        for method, metrics in methods.items()
    ]
    bench.write_table("outcomes.csv", pieces)
    bench.write_figure("figure_3_and_5.png", _figure(found))
    text = [
        f"Every method is trained {count} times and then treats 300 fresh patients; ± is one "
        "standard error over the repetitions. PB-EDPS and EDPS have the paper's numbers (sigma 10, "
        "delta 0.2, n_max up to 100, published bound).",
        "![Outcomes](figure_3_and_5.png)",
    ]
    labels = medical.labels()
    for hazard, methods in found.items():
        rows = [
            [method, *(mean_in_words(metrics[name]) for name in labels)]
            for method, metrics in methods.items()
        ]
        text += [f"## Hazard {hazard}", markdown_table(["method", *labels.values()], rows)]
    claims = [claim for hazard in medical.HAZARDS for claim in claims_of(hazard, found[hazard])]
    bench.write_report(*text, "## The claims of the papers", claims_table(claims))


def ellipses(points: np.ndarray) -> tuple[Ellipse, Ellipse]:
    """95 % regions of normal points [R, 2], R >= 3 (chi-squared), and of their mean (Hotelling)."""
    count = len(points)
    variances, axes = np.linalg.eigh(np.cov(points.T))
    angle = float(np.degrees(np.arctan2(axes[1, 0], axes[0, 0])))
    of_data = stats.chi2.ppf(_LEVEL, 2)
    of_mean = 2 * (count - 1) / (count - 2) * stats.f.ppf(_LEVEL, 2, count - 2) / count
    width, height = 2 * np.sqrt(np.maximum(variances, 0.0))
    data, mean = np.sqrt([of_data, of_mean])
    return Ellipse(width * data, height * data, angle), Ellipse(width * mean, height * mean, angle)


def pareto_front(points: np.ndarray) -> np.ndarray:
    """Which points [M, d] no other equals or beats in all coordinates, less is better: bool [M]."""
    no_worse = (points[None] <= points[:, None]).all(-1)
    better = (points[None] < points[:, None]).any(-1)
    return np.logical_not((no_worse & better).any(-1))


def _points(metrics: medical.Metrics) -> np.ndarray:
    """Tumour size and toxicity of every repetition [R, 2]."""
    return np.stack([metrics[TUMOUR], metrics[TOXICITY]], -1).astype(np.float64)


def _means(methods: medical.Policies) -> np.ndarray:
    return np.stack([_points(metrics).mean(0) for metrics in methods.values()])


def _figure(found: medical.Fixed) -> "plots.Figure":
    figure, [panels] = plots.new_figure((11.0, 5.6), 1, 2)
    labels = medical.labels()
    for panel, number, (hazard, methods) in zip(panels, (3, 5), found.items(), strict=True):
        _draw(panel, methods)
        panel.set(
            title=f"hazard {hazard} (figure {number} of the paper)",
            xlabel=labels[TUMOUR],
            ylabel=labels[TOXICITY],
        )
    figure.suptitle(
        "Means of the repetitions, with 95 % regions of a repetition (pale) and of the mean (dark)"
    )
    plots.legend_below(figure, 6)
    return figure


def _draw(panel: "plots.Axes", methods: medical.Policies) -> None:
    from matplotlib import patches

    means = _means(medical.without_own_doses(methods))
    front = means[pareto_front(means)]
    front = front[np.argsort(front[:, 0])]
    name = "Pareto front of the paper's methods"
    panel.plot(*front.T, color=style.GREY, lw=1, ls="--", zorder=1, label=name)
    markers = dict(zip(medical.OWN_DOSES, "ox", strict=True))
    colors = dict.fromkeys(medical.OWN_DOSES, style.EDGE)
    own = enumerate(medical.without_own_doses(methods))
    for number, name in own:
        colors[name], markers[name] = style.colour(number), style.mark(number)
    for method, metrics in methods.items():
        points = _points(metrics)
        middle, color = points.mean(0), colors[method]
        for ellipse, alpha in zip(ellipses(points), (0.15, 0.6), strict=True):
            shape = patches.Ellipse(tuple(middle), *ellipse[:2], angle=ellipse.angle)
            shape.set(color=color, alpha=alpha, lw=0)
            panel.add_patch(shape)
        panel.plot(*middle, marker=markers[method], ms=6, color=color, ls="", label=method)
    plots.tidy(panel)


def claims_of(hazard: str, methods: medical.Policies) -> list[Claim]:
    """The papers' claims about these figures; doses that are ours do not count."""
    shown = medical.without_own_doses(methods)
    points = {name: _points(metrics) for name, metrics in shown.items()}
    deaths = {name: metrics["death_rate"].astype(float) for name, metrics in shown.items()}
    return outcome_claims(hazard, points, deaths)
