"""Races on synthetic tasks: what is raced, and the curves. Axes: R repetitions."""

from typing import NamedTuple

import numpy as np

from jaxrace.envs import options

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


class CurveName(NamedTuple):
    """One algorithm on one task."""

    task: str
    algorithm: str  # "HR", "PBR", "dominance", or another name
    variant: str  # "plain", or "improved" by intersection and dynamic correction
    rule: str
    bound: str


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
        f"{repetitions:,} random instances for every task and k"
    )
