"""Numbers read off figure 2 of Busa-Fekete et al. 2013, and tables that set ours beside them."""

from collections.abc import Mapping

import numpy as np

from jaxrace.commands.workbench import mean_in_words
from jaxrace.papers.claims import UNEXPLAINED, Claim, yes_or_no
from jaxrace.papers.preference_racing.races import COMPLEXITIES, Curve
from jaxrace.tables import markdown_table

# Draws and precision by k, of a race on a task: Hoeffding's, and the preference-based ones that
# rank by Copeland's score, by sums of expectations (Borda), and by a random walk.
PUBLISHED: dict[tuple[str, str], dict[float, tuple[int, float]]] = {
    ("normal", "PBR-CO"): {1: (3000, 0.928), 4: (2847, 0.978), 7: (2580, 0.991), 10: (2268, 0.998)},
    ("bernoulli, drift k/5", "HR"): {
        1: (3000, 0.870),
        4: (2610, 0.946),
        7: (1791, 0.971),
        10: (1440, 0.988),
    },
    ("bernoulli, drift k/5", "PBR-CO"): {1: (2265, 0.961), 10: (1861, 0.980)},
    ("uniform", "HR"): {1: (3000, 0.970), 10: (2681, 0.990)},
    ("uniform", "PBR-CO"): {1: (2862, 0.968), 10: (2509, 0.988)},
    ("normal", "PBR-SE"): {4: (2338, 0.972), 10: (1161, 0.990)},
    ("bernoulli, drift k/5", "PBR-SE"): {10: (1813, 0.980)},
    ("uniform", "PBR-SE"): {10: (2152, 0.986)},
    ("normal", "PBR-RW"): {10: (2262, 0.952)},
}


_CLOSE = 0.05  # what is called reproduced: draws read off a figure are no more exact


def in_words(curve: Curve, place: int) -> tuple[str, str]:
    """Draws and accuracy of a curve at one place, with standard errors."""
    draws, accuracies = curve
    return mean_in_words(draws[place]), mean_in_words(accuracies[place], digits=3)


def beside_published(curves: dict[tuple[str, str], Curve]) -> str:
    """Published numbers and our own, by task and race, in Markdown."""
    rows = []
    for (task, race), curve in curves.items():
        for k, (draws, accuracy) in PUBLISHED[task, race].items():
            own_draws, own_accuracy = in_words(curve, COMPLEXITIES.index(k))
            line = [f"{draws:,}", own_draws, f"{accuracy:.3f}", own_accuracy]
            rows.append([task, race, f"{k:g}", *line])
    heads = ("task", "race", "k", "draws, published", "draws", "accuracy, published", "accuracy")
    return markdown_table(heads, rows)


def published_claims(
    curves: dict[tuple[str, str], Curve], why: Mapping[tuple[str, str], str]
) -> list[Claim]:
    """Are the published numbers of every race found again? Else, what is known of it."""
    claims = []
    for (task, race), curve in curves.items():
        published = PUBLISHED[task, race]
        places = [COMPLEXITIES.index(k) for k in published]
        draws, accuracies = np.array(list(published.values())).T
        ratios = curve.draws[places].mean(-1) / draws - 1
        gaps = curve.accuracies[places].mean(-1) - accuracies
        holds = bool((np.abs(ratios) < _CLOSE).all())
        claims.append(
            Claim(
                f"{task}: draws of {race}, within {_CLOSE:.0%}",
                ", ".join(f"{draws:,} (k = {k:g})" for k, (draws, _) in published.items()),
                f"{_range(ratios, '+.1%')}; accuracy {_range(gaps, '+.3f')}",
                yes_or_no(holds),
                "" if holds else why.get((task, race), UNEXPLAINED),
            )
        )
    return claims


def _range(values: np.ndarray, style: str) -> str:
    """The smallest and the largest, or the only one."""
    least, most = (f"{value:{style}}" for value in (values.min(), values.max()))
    return least if least == most else f"{least} to {most}"
