"""Does racing help PB-EDPS? Variants at equal budgets. Axes: R repetitions, n generations."""

import dataclasses
import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from jaxrace import racing
from jaxrace.answers import style
from jaxrace.commands.train.config import TrainConfig
from jaxrace.commands.train.learning import CANDIDATES, searches_of
from jaxrace.commands.train.tasks import TASKS, Task
from jaxrace.runs import plots
from jaxrace.runs.tables import markdown_table
from jaxrace.search import PolicySearch, SearchWork
from jaxrace.search.strategies import Strategy
from papers.preference_racing import medical_limits as limits
from papers.preference_racing import medical_runs as medical
from papers.preference_racing.learners.split_race import SplitRaceSearch
from papers.workbench import Columns, Workbench, mean_and_error, mean_in_words

# FAST is what `--method pb-edps-fast` does.
PUBLISHED, FAST = "published schedule", "population 28, 10 shared patients, final race"
_SIGMA, _DELTA, _MAX_ROUNDS, _FINAL = 10.0, 0.2, 100, 200


@dataclasses.dataclass(frozen=True)
class Variant:
    """A way to run PB-EDPS."""

    race: Callable[..., racing.Race]  # of a generation, given lambda, mu and ``compare``
    population: int = 7  # lambda
    rounds: tuple[int, int] = (3, _MAX_ROUNDS)  # floor and cap of n_max
    race_numbers: tuple[tuple[str, float], ...] = ()  # further numbers of the race
    deltas: tuple[float, ...] = (_DELTA,)  # take turns while the budget is used up
    # Of the halves of a race, above which the next one is shorter; None: decided.
    agreement: float | None = None
    final_rounds: int = 0  # of a race that chooses among the last generations' best, if any
    shares_patients: bool = False  # do all policies of a race meet the same ones?
    strategy: str = "CMA_ES"
    sigma: float = _SIGMA
    base: str = PUBLISHED  # the variant with which it is compared

    def searches(self, config: TrainConfig, task: Task) -> SearchWork:
        """The learner and its numbers."""
        size, parents = self.population, self.population // 2
        race = self.race(size, parents, compare=task.compare)
        parts = task.env, task.policy, task.fold, race, Strategy(self.strategy, size)
        search = PolicySearch(*parts, common_random_numbers=self.shares_patients)
        if self.agreement is not None:
            search = SplitRaceSearch(*parts, agreement=self.agreement)
        settings, numbers = [(self.sigma, self.deltas)], dict(self.race_numbers)
        rest = self.rounds, config.episodes, self.final_rounds, numbers
        return searches_of(task, search, settings, *rest)


_published = functools.partial(racing.PreferenceRace, capacity=_MAX_ROUNDS, bound="published")
_stitched = functools.partial(racing.PreferenceRace, capacity=_MAX_ROUNDS)
_dominance = functools.partial(racing.DominanceRace, capacity=_MAX_ROUNDS)

# From loose to strict, as the budget is used up.
_ADAPTIVE = tuple(0.5 - 0.05 * part for part in range(10))

VARIANTS: dict[str, Variant] = {
    PUBLISHED: Variant(_published),
    **{f"{n} rollouts": Variant(_published, rounds=(n, n)) for n in (3, 10, 30, 100)},
    "n_max up to 30": Variant(_published, rounds=(3, 30)),
    "stitched-KL race": Variant(_stitched),
    "stitched-KL, epsilon 0.05": Variant(_stitched, race_numbers=(("epsilon", 0.05),)),
    "stitched-KL, epsilon 0.1": Variant(_stitched, race_numbers=(("epsilon", 0.1),)),
    "stitched-KL, delta 0.5 to 0.05": Variant(_stitched, deltas=_ADAPTIVE),
    "stitched-KL, epsilon 0.1, delta 0.5 to 0.05": Variant(
        _stitched, race_numbers=(("epsilon", 0.1),), deltas=_ADAPTIVE
    ),
    "dominance race": Variant(_dominance, race_numbers=(("slack", 1.0),)),
    **{
        f"until the halves agree to {agreement:.0%}": Variant(_published, agreement=agreement)
        for agreement in (0.5, 0.7, 0.9)
    },
    "population 14": Variant(_published, population=14),
    "population 28": Variant(_published, population=28),
    "population 14, 30 rollouts": Variant(_published, population=14, rounds=(30, 30)),
    "population 28, 30 rollouts": Variant(_published, population=28, rounds=(30, 30)),
    "population 28, 10 rollouts": Variant(_published, population=28, rounds=(10, 10)),
    "final race": Variant(_published, final_rounds=_FINAL),
    **{
        f"{n} rollouts, final race": Variant(
            _published, rounds=(n, n), final_rounds=_FINAL, base=f"{n} rollouts"
        )
        for n in (10, 30)
    },
    "population 14, 30 rollouts, final race": Variant(
        _stitched, 14, (30, 30), final_rounds=_FINAL, base="population 14, 30 rollouts"
    ),
    "published schedule, shared patients": Variant(_published, shares_patients=True),
    "population 14, 30 shared patients": Variant(
        _published, 14, (30, 30), shares_patients=True, base="population 14, 30 rollouts"
    ),
    "population 14, 30 shared patients, final race": Variant(
        _stitched,
        14,
        (30, 30),
        final_rounds=_FINAL,
        shares_patients=True,
        base="population 14, 30 shared patients",
    ),
    # With the default bound of the command.
    FAST: Variant(
        functools.partial(racing.PreferenceRace, capacity=10),
        28,
        (10, 10),
        final_rounds=100,
        shares_patients=True,
        strategy="Sep_CMA_ES",
        sigma=50.0,
        base="population 14, 30 shared patients, final race",
    ),
}

# Those that end a race when its order is certain enough, each by another standard.
RACES = tuple(
    name for name in VARIANTS if name.startswith(("stitched-KL", "dominance", "until the halves"))
)

SHOWN = ("survival_rate", "mean_reward")
FINAL = "final"  # a kind of races; else "generation"

# By hazard and variant, columns [R] of the last policies.
Findings = dict[tuple[str, str], dict[str, np.ndarray]]

# The variants that are drawn: all of them would hide each other.
_DRAWN = (
    *(PUBLISHED, "3 rollouts", "30 rollouts", "100 rollouts", "dominance race"),
    "population 14, 30 rollouts",
    "population 14, 30 shared patients",
)


def run(bench: Workbench) -> None:
    """Leaves variants.csv, repetitions.csv, generations.csv, curves.png and report.md."""
    found: Findings = {}
    learned: medical.Findings = {}
    # The first variants are the cheapest.
    for name, hazard in itertools.product(bench.few(VARIANTS, 2), medical.HAZARDS):
        config = dataclasses.replace(
            medical.paper_config(bench, "pb-edps", hazard), repeats=bench.size(1_000, 10)
        )
        searches = VARIANTS[name].searches(config, TASKS[config.env](config))
        learning = medical.learn(bench, config, f"{name} {hazard}", searches)
        learned[hazard, name] = learning
        found[hazard, name] = within(learning, config.episodes)
    generations = _generations(learned)
    bench.write_table("variants.csv", _table(found))
    repetitions = [
        {"hazard": hazard, "variant": name, "repeat": np.arange(len(last["episodes"]))}
        | {column: last[column] for column in ("episodes", *SHOWN)}
        for (hazard, name), last in found.items()
    ]
    bench.write_table("repetitions.csv", repetitions)
    bench.write_table("generations.csv", generations)
    bench.write_figure("curves.png", _figure(learned, found))
    comparisons = [(f"## Hazard {one}", _comparison(found, one)) for one in medical.HAZARDS]
    bench.write_report(
        f"{len(found['A', PUBLISHED]['episodes']):,} searches per variant and hazard, each with "
        "the last policy found within the budget. ± is one standard error; differences are paired, "
        "since a repetition has the same random numbers in all variants.",
        "![Curves](curves.png)",
        *itertools.chain(*comparisons),
        "## What the races decide",
        _decisions(generations),
        *(_answer(found, hazard) for hazard in medical.HAZARDS),
    )


def within(learning: medical.Learning, budget: int) -> dict[str, np.ndarray]:
    """The last policy of every repetition that took at most so many episodes: its metrics [R]."""
    # The race in which a budget is used up is finished, which would favour large populations.
    affordable = np.flatnonzero(learning.episodes <= budget)
    ends = np.append(np.diff(learning.repeat[affordable]) != 0, True)
    found = {"episodes": learning.episodes, **learning.metrics}
    return {name: values[affordable[ends]] for name, values in found.items()}


def _table(found: Findings) -> list[Columns]:
    rows = []
    for (hazard, name), last in found.items():
        own = {"hazard": hazard, "variant": name, "repetitions": len(last["episodes"])}
        means = {metric: mean_and_error(last[metric]) for metric in SHOWN}
        own |= {"episodes": last["episodes"].mean()} | {m: one[0] for m, one in means.items()}
        rows.append(own | {f"{metric}_stderr": one[1] for metric, one in means.items()})
    return rows


def _generations(learned: medical.Findings) -> list[Columns]:
    """What races decide, by generation; final races, of other options, have pieces of their own."""
    pieces = []
    for (hazard, name), learning in learned.items():
        is_final = learning.is_last & bool(VARIANTS[name].final_rounds)
        for race, chosen in (("generation", ~is_final), (FINAL, is_final)):
            generation = learning.numbers["generation"][chosen]
            searches = np.bincount(generation)
            present = np.flatnonzero(searches)
            piece: dict[str, Any] = {"hazard": hazard, "variant": name, "race": race}
            piece |= {"generation": present, "searches": searches[present]}
            for column in ("max_rounds", "simulated", "race_decided", "options_decided"):
                sums = np.bincount(generation, learning.numbers[column][chosen])
                piece[column] = sums[present] / searches[present]
            pieces.append(piece)
    return pieces


def _figure(learned: medical.Findings, found: Findings) -> "plots.Figure":
    figure, panels = medical.panels_by_hazard(SHOWN, "hazard {}")
    rules: dict[str, float] = {one: limits.survival_by_rule(one) for one in limits.HAZARDS}
    for (hazard, metric), panel in panels.items():
        for number, name in enumerate(_DRAWN):
            if (hazard, name) in learned:
                width = 2.4 if name == PUBLISHED else 1.2
                curve = medical.smoothed(learned[hazard, name], metric)
                panel.plot(*curve, lw=width, label=name, **style.line(number))
        if (hazard, FAST) in found:
            last = found[hazard, FAST]
            place = last["episodes"].mean(), last[metric].mean()
            panel.plot(*place, "*", color=style.BLACK, ms=10, label=FAST)
        if metric == "survival_rate":
            # The best of the class comes as near to the rule as one likes.
            label = f"{limits.RULE}; {limits.CLASS}"
            panel.axhline(rules[hazard], color=style.EDGE, lw=1, ls="--", label=label)
    figure.suptitle("PB-EDPS while it learns: the rank 1 of the last race, means of all searches")
    plots.legend_below(figure, 3)
    return figure


def _difference(found: Findings, hazard: str, name: str, metric: str) -> tuple[float, float]:
    """From the base of a variant, with the standard error: both had the same random numbers."""
    other = found[hazard, VARIANTS[name].base][metric]
    mean, error = mean_and_error(found[hazard, name][metric] - other)
    return float(mean), float(error)


def _in_words(change: float, error: float) -> str:
    return f"{change:+.3f} ({change / max(error, 1e-9):+.1f} SE)"


def _comparison(found: Findings, hazard: str) -> str:
    rows = []
    for name, last in ((name, last) for (where, name), last in found.items() if where == hazard):
        is_compared = name != PUBLISHED
        cells = [f"{last['episodes'].mean():,.0f}"]
        for metric in SHOWN:
            change = _in_words(*_difference(found, hazard, name, metric)) if is_compared else ""
            cells += [mean_in_words(last[metric], digits=3), change]
        rows.append([name, *cells, VARIANTS[name].base if is_compared else ""])
    heads = [part for metric in SHOWN for part in (medical.labels()[metric], "difference")]
    return markdown_table(["variant", "episodes", *heads, "difference to"], rows)


def _decisions(generations: list[Columns]) -> str:
    """Races, the share of them that end early, and the mean number of options decided."""
    rows = []
    for piece in generations:
        races, name = piece["searches"].sum(), piece["variant"]
        if races:
            size = CANDIDATES if piece["race"] == FINAL else VARIANTS[name].population
            ended, decided = (
                np.average(piece[column], weights=piece["searches"])
                for column in ("race_decided", "options_decided")
            )
            counts = f"{races:,}", f"{ended:.2%}", f"{decided:.3f} of {size}"
            rows.append([name, piece["hazard"], piece["race"], *counts])
    heads = ("variant", "hazard", "race", "races", "ended early", "options decided in a race")
    return markdown_table(heads, rows)


def _answer(found: Findings, hazard: str) -> str:
    """Which of the races are better than the published one by both metrics."""

    def is_better(name: str, metric: str) -> bool:
        change, error = _difference(found, hazard, name, metric)
        return change > 2 * error

    raced = [name for name in RACES if (hazard, name) in found]
    better = [name for name in raced if all(is_better(name, metric) for metric in SHOWN)]
    return f"Hazard {hazard}: does racing pay? {'Yes: ' + ', '.join(better) if better else 'No'}."
