"""Races on synthetic tasks: Busa-Fekete et al. 2014, figure 2, and what better races cost there.

Axes: S settings of a race, C cells (task and k), R repetitions.
"""

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import kernels, racing
from jaxrace.commands.workbench import Columns, Workbench, mean_columns
from jaxrace.papers.preference_racing import synthetic_figures as figures
from jaxrace.papers.preference_racing import synthetic_report as report
from jaxrace.papers.preference_racing.races import (
    BOUNDS,
    COMPLEXITIES,
    DELTA,
    OPTIONS,
    ROUNDS,
    TASKS,
    TOP,
    VARIANTS,
    Curve,
    CurveName,
    Curves,
)
from jaxrace.papers.preference_racing.trials import AnyTask, Cell, race_trials, trials_of
from jaxrace.search import stack_params

_WIDTH = 250  # lanes of a block: races of a lockstep batch that stay in the processor's cache


@dataclasses.dataclass(frozen=True)
class Program:
    """A race, and the bounds with which it is run; they share a compiled program."""

    algorithm: str  # "HR", "PBR", "dominance", or another name
    variant: str  # "plain", or "improved" by intersection and dynamic correction
    race: racing.Race  # the race
    bounds: tuple[str, ...]  # names for the table

    @property
    def rule(self) -> str:
        """The select and discard rule, if there is a choice."""
        return self.race.rule if isinstance(self.race, racing.PreferenceRace) else ""

    @property
    def name(self) -> str:
        """In words; no two races of an experiment have the same."""
        bound = "" if "published" in self.bounds or not self.rule else self.bounds[0]
        return " ".join(filter(None, (self.algorithm, self.variant, self.rule, bound)))


def programs() -> list[Program]:
    """All races of the figures, those of the paper first."""

    def preference(rule: str, improved: bool) -> racing.PreferenceRace:
        return racing.PreferenceRace(
            *(OPTIONS, TOP, ROUNDS, kernels.total_order, "published"),
            rule=rule,
            intersect=improved,
            dynamic_delta=improved,
        )

    improvements = dict(zip(VARIANTS, (False, True), strict=True))
    value_based = [
        Program("HR", variant, racing.HoeffdingRace(OPTIONS, TOP, better, better), ("hoeffding",))
        for variant, better in improvements.items()
    ]
    preference_based = [
        Program(
            "PBR",
            variant,
            preference(rule, better),
            # The dynamic correction is one of the published bound.
            BOUNDS if (variant, rule) == ("plain", "sharp") else ("published",),
        )
        for (variant, better), rule in itertools.product(improvements.items(), kernels.RULES)
    ]
    dominance = racing.DominanceRace(OPTIONS, TOP, ROUNDS, kernels.total_order)
    return [*value_based, *preference_based, Program("dominance", "plain", dominance, ("e-value",))]


def run(bench: Workbench) -> None:
    """Measure all curves; leaves races.csv, figure_2.png, bounds.png and report.md."""
    repetitions = bench.size(1000, 40)
    curves = measure(bench, programs(), repetitions)
    bench.write_table("races.csv", table_of(curves))
    bench.write_figure("figure_2.png", figures.accuracy_against_draws(curves))
    bench.write_figure("bounds.png", figures.draws_of_bounds(curves))
    bench.write_report(report.paragraphs(curves))


def measure(bench: Workbench, programs: Sequence[Program], repetitions: int) -> Curves:
    """The curves of some races, on all tasks and for all k.

    Repetitions of one number meet the same instances and samples, whatever the race.
    """
    curves: Curves = {}
    for program in programs:
        curves |= _measure(bench, program, repetitions)
    return curves


def _measure(bench: Workbench, program: Program, repetitions: int) -> Curves:
    places = list(itertools.product(range(len(TASKS)), COMPLEXITIES))
    params = [
        _params(program.race, bound, task, k) for task, k in places for bound in program.bounds
    ]
    cells = [
        Cell(place * len(program.bounds) + number, task, k)
        for number in range(len(program.bounds))
        for place, (task, k) in enumerate(places)
    ]
    instances = [place for _ in program.bounds for place in range(len(places))]
    tasks = AnyTask(tuple(TASKS.values()))
    work = race_trials(program.race, tasks, jax.random.key(bench.seed), stack_params(params))
    log = bench.sweep(program.name, work, trials_of(cells, repetitions, instances), _WIDTH)
    shape = (len(program.bounds), len(TASKS), len(COMPLEXITIES), repetitions)
    draws = log.rows.row.samples.reshape(shape)
    accuracies = log.rows.row.found.reshape(shape) / TOP
    return {
        CurveName(task, program.algorithm, program.variant, program.rule, bound): Curve(
            draws[number, place], accuracies[number, place]
        )
        for place, task in enumerate(TASKS)
        for number, bound in enumerate(program.bounds)
    }


def _params(race: racing.Race, bound: str, task: int, k: float) -> Any:
    if isinstance(race, racing.HoeffdingRace):
        value_range = list(TASKS.values())[task].value_range(k)
        return race.params(DELTA, ROUNDS, float(value_range))
    params = race.params(DELTA, ROUNDS)
    if isinstance(race, racing.PreferenceRace) and bound != race.bound:
        # A bound is its thresholds, whatever race they are given to.
        table = kernels.thresholds(kernels.BOUNDS[bound], OPTIONS, ROUNDS, DELTA)
        return dataclasses.replace(params, thresholds=jnp.asarray(table))
    return params


def table_of(curves: Curves) -> list[Columns]:
    """A row per curve and k; a piece for each curve."""
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
