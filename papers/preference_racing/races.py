"""Races on synthetic tasks, and their curves beside published numbers. Axes: R repetitions."""

import itertools
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxrace import racing
from jaxrace.search import stack_params
from papers.claims import Claim, yes_or_no
from papers.preference_racing import options
from papers.preference_racing.trials import AnyTask, race_trials, trials_of
from papers.workbench import Columns, Workbench, mean_columns, report_table

OPTIONS, TOP, ROUNDS, DELTA = 10, 5, 300, 0.05
COMPLEXITIES = tuple(float(k) for k in range(1, 11))
VARIANTS = ("plain", "improved")

TASKS = {
    "normal": options.Normal(),
    "bernoulli, drift k/10": options.BernoulliDrift(10.0),
    "bernoulli, drift k/5": options.BernoulliDrift(5.0),
    "uniform": options.Uniform(),
}

BOUNDS = ("published", "tight", "kl", "stitched", "stitched-kl")  # bounds of the further curves
_WIDTH = 250  # lanes of a block: races of a lockstep batch that stay in the processor's cache


class CurveName(NamedTuple):
    """One algorithm on one task."""

    task: str
    algorithm: str  # "HR", "PBR", "dominance", or another name
    variant: str  # "plain", or "improved" by intersection and dynamic correction
    rule: str
    bound: str


Run = tuple[str, str, str, str]  # the same without the task


class Curve(NamedTuple):
    """What one algorithm did on one task."""

    draws: np.ndarray  # [10, R], for k = 1 .. 10
    accuracies: np.ndarray  # [10, R]


Curves = dict[CurveName, Curve]


def hoeffding(task: str, variant: str = "plain") -> CurveName:
    """The Hoeffding race."""
    return CurveName(task, "HR", variant, "", "hoeffding")


def preference(
    task: str, variant: str = "plain", rule: str = "sharp", bound: str = "published"
) -> CurveName:
    """A preference-based race."""
    return CurveName(task, "PBR", variant, rule, bound)


def dominance(task: str) -> CurveName:
    """The dominance race."""
    return CurveName(task, "dominance", "plain", "", "e-value")


def races_of_the_paper(task: str, variant: str) -> dict[str, CurveName]:
    """The races of figure 2, as they are called there, and with both rules."""
    return {
        "HR": hoeffding(task, variant),
        "PBR, printed rule": preference(task, variant, "printed"),
        "PBR, sharp rule": preference(task, variant),
    }


def described(repetitions: int) -> str:
    """What all of them race for, with what, and how often."""
    return (
        f"Top {TOP} of {OPTIONS}, at most {ROUNDS} draws per option, delta {DELTA}, "
        f"{repetitions:,} random instances for every task and k = 1 to {len(COMPLEXITIES)}, the "
        "same for all races, as are the samples. Accuracy is the share of the best five by means "
        "that a race finds. ± is one standard error."
    )


def measure(bench: Workbench, races: Mapping[Run, racing.Race], repetitions: int) -> Curves:
    """On all tasks and for all k; repetitions of one number meet the same samples in all races."""
    places = list(itertools.product(range(len(TASKS)), COMPLEXITIES))
    cells = [(place, task, k) for place, (task, k) in enumerate(places)]
    jobs = trials_of(cells, repetitions, range(len(places)))
    curves: Curves = {}
    for run, race in races.items():
        params = stack_params([_params(race, task, k) for task, k in places])
        tasks = AnyTask(tuple(TASKS.values()))
        work = race_trials(race, tasks, jax.random.key(bench.seed), params)
        row = bench.sweep(" ".join(filter(None, run)), work, jobs, _WIDTH).rows.row
        shape = (len(TASKS), len(COMPLEXITIES), repetitions)
        draws, found = row.samples.reshape(shape), row.found.reshape(shape).astype(float)
        for task, *one in zip(TASKS, draws, found / TOP, strict=True):
            curves[CurveName(task, *run)] = Curve(*one)
    return curves


def _params(race: racing.Race, task: int, k: float) -> Any:
    if isinstance(race, racing.HoeffdingRace):
        value_range = list(TASKS.values())[task].value_range(k)
        return race.params(DELTA, ROUNDS, float(value_range))
    if isinstance(race, racing.DominanceRace):
        return race.params(DELTA, ROUNDS, slack=1.0)  # with little slack it draws least
    return race.params(DELTA, ROUNDS)


def table_of(curves: Curves) -> list[Columns]:
    """A piece for each curve, a row for each k."""
    return [
        {
            **name._asdict(),
            "k": np.array(COMPLEXITIES, np.int64),
            "repetitions": curve.draws.shape[-1],
            **mean_columns("accuracy", curve.accuracies),
            **mean_columns("samples", curve.draws),
        }
        for name, curve in curves.items()
    ]


# Draws and precision by k, of a race on a task: Hoeffding's, and the preference-based ones that
# rank by Copeland's score, by sums of expectations (Borda), and by a random walk.
PUBLISHED: dict[tuple[str, str], dict[float, tuple[int, float]]] = {
    ("normal", "PBR-CO"): {1: (3000, 0.928), 4: (2847, 0.978), 7: (2580, 0.991), 10: (2268, 0.998)},
    ("bernoulli, drift k/5", "HR"): {
        **{1: (3000, 0.870), 4: (2610, 0.946), 7: (1791, 0.971), 10: (1440, 0.988)},
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


def beside_published(curves: dict[tuple[str, str], Curve]) -> str:
    """Published numbers and our own, by task and race, in Markdown."""
    rows = []
    for (task, race), curve in curves.items():
        for k, (draws, accuracy) in PUBLISHED[task, race].items():
            place = COMPLEXITIES.index(k)
            known = {"draws_published": draws, "accuracy_published": accuracy}
            own = mean_columns("draws", curve.draws[place])
            own |= mean_columns("accuracy", curve.accuracies[place])
            rows.append({"task": task, "race": race, "k": int(k), **known, **own})
    return report_table(rows, "task race k draws_published draws accuracy_published accuracy")


def published_claims(curves: dict[tuple[str, str], Curve]) -> list[Claim]:
    """Are the published numbers of every race found again?"""
    claims = []
    for (task, race), curve in curves.items():
        published = PUBLISHED[task, race]
        places = [COMPLEXITIES.index(k) for k in published]
        draws, accuracies = np.array(list(published.values())).T
        ratios = curve.draws[places].mean(-1) / draws - 1
        gaps = curve.accuracies[places].mean(-1) - accuracies
        claims.append(
            Claim(
                f"{task}: draws of {race}, within {_CLOSE:.0%}",
                ", ".join(f"{draws:,} (k = {k:g})" for k, (draws, _) in published.items()),
                f"{_range(ratios, '+.1%')}; accuracy {_range(gaps, '+.3f')}",
                yes_or_no(bool((np.abs(ratios) < _CLOSE).all())),
            )
        )
    return claims


def _range(values: np.ndarray, style: str) -> str:
    least, most = (f"{value:{style}}" for value in (values.min(), values.max()))
    return least if least == most else f"{least} to {most}"
