"""How near the limit searches with shared patients come: sizes, strategies, budgets. R searches."""

import dataclasses
import itertools
from typing import Any

import numpy as np

from jaxrace import racing
from jaxrace.agents.outcomes import Return
from jaxrace.answers import style
from jaxrace.commands.train.config import TrainConfig
from jaxrace.commands.train.learning import searches_of
from jaxrace.commands.train.tasks import Task, medical_task
from jaxrace.runs import plots
from jaxrace.runs.tables import markdown_table
from jaxrace.search import PolicySearch, SearchWork
from jaxrace.search.strategies import Strategy
from papers.claims import difference
from papers.preference_racing import medical_limits as limits
from papers.workbench import Workbench, mean_and_error, mean_in_words

BUDGETS = (10_000, 30_000, 100_000)
_DELTA = 0.2
_CAPACITY, _CHUNK = 300, 10  # of all, so that other sizes compile nothing


@dataclasses.dataclass(frozen=True)
class Sizes:
    """How the policies of a generation are ranked, and what is made of it."""

    by_returns: bool = False  # or by preference
    population: int = 28
    # Patients of a generation, at first and at most (they grow by a fourth each time), as shares of
    # a thousandth of the budget; or as many for every budget.
    patients: tuple[float, float] | int = (1, 1)
    strategy: str = "Sep_CMA_ES"
    sigma: float = 50.0
    final_rounds: int = 100

    def searches(self, config: TrainConfig, task: Task) -> SearchWork:
        """The learner and its numbers."""
        size, given = self.population, self.patients
        if isinstance(given, int):
            rounds = given, given
        else:
            rounds = (
                round(given[0] * config.episodes / 1_000),
                round(given[1] * config.episodes / 1_000),
            )
        if self.by_returns:
            race: Any = racing.HoeffdingRace(size, size // 2, True, True)
            fold, numbers = Return(), {"value_range": task.value_range}
        else:
            race = racing.PreferenceRace(size, size // 2, _CAPACITY, task.compare)
            fold, numbers = task.fold, {}
        strategy = Strategy(self.strategy, size)
        search = PolicySearch(task.env, task.policy, fold, race, strategy, _CHUNK, True)
        rest = rounds, config.episodes, self.final_rounds, numbers
        return searches_of(task, search, [(self.sigma, _DELTA)], *rest)


_BEFORE = Sizes(population=14, patients=30, strategy="CMA_ES", sigma=10.0, final_rounds=200)
BEFORE, NOW = "before", "pb-edps-fast"
RETURNS = "edps-fast"
RETURNS_BEFORE = "before, by returns"
VARIANTS: dict[str, Sizes] = {
    BEFORE: _BEFORE,
    RETURNS_BEFORE: dataclasses.replace(_BEFORE, by_returns=True),
    NOW: Sizes(),
    RETURNS: Sizes(by_returns=True),
    "before, Sep_CMA_ES": dataclasses.replace(_BEFORE, strategy="Sep_CMA_ES"),
    "before, 28 policies, n patients": dataclasses.replace(_BEFORE, population=28, patients=(1, 1)),
    "before, both": Sizes(sigma=10.0, final_rounds=200),
    "a third of the patients": Sizes(patients=(1 / 3, 1 / 3)),
    "patients that grow from a third to three times": Sizes(patients=(1 / 3, 3)),
    "56 policies, half of the patients": Sizes(population=56, patients=(0.5, 0.5)),
}
_BEST = (BEFORE, NOW, RETURNS_BEFORE, RETURNS)  # of which there are more searches

Findings = dict[tuple[str, str, int], np.ndarray]  # survival [R], by variant, hazard and budget


def run(bench: Workbench) -> None:
    """Leaves survival.csv, near_limit.png and report.md."""
    found: Findings = {}
    budgets = bench.few(BUDGETS, 1)
    for budget, name, hazard in itertools.product(budgets, VARIANTS, limits.HAZARDS):
        is_many = budget == BUDGETS[0] or (budget == BUDGETS[1] and name in _BEST)
        repeats = bench.size(1_000 if is_many else 200, 4)
        found[name, hazard, budget] = survival(bench, name, hazard, budget, repeats)
    keys = ("variant", "hazard", "budget")
    pieces = [dict(zip(keys, key, strict=True)) | {"survival": x} for key, x in found.items()]
    bench.write_table("survival.csv", pieces)
    bench.write_figure("near_limit.png", _figure(found))
    bench.write_report(
        "Survival of the policies that are learned, exactly, ± one standard error. Before: 14 "
        "policies, 30 patients, CMA_ES with sigma 10, 200 rounds in the final race. Now: 28 "
        "policies, n patients, Sep_CMA_ES with sigma 50, 100 rounds; n is a thousandth of the "
        "budget. 1,000 searches of 10,000 episodes, and by the methods before and now of 30,000; "
        "200 of the others.",
        "![Survival by budget](near_limit.png)",
        *(
            paragraph
            for hazard in limits.HAZARDS
            for paragraph in (f"## Hazard {hazard}", _table(found, hazard), *_said(found, hazard))
        ),
    )


def survival(bench: Workbench, name: str, hazard: Any, budget: int, repeats: int) -> np.ndarray:
    """The survival rates of the policies that are learned, [R]; the same chance for all names."""
    config = TrainConfig(hazard=hazard, episodes=budget, repeats=repeats, seed=bench.seed)
    work = VARIANTS[name].searches(config, medical_task(config))
    return limits.learned(bench, f"{name} {hazard} {budget}", work, config)


def _figure(found: Findings) -> "plots.Figure":
    budgets = sorted({budget for _, _, budget in found})
    figure, [panels] = plots.new_figure((10.5, 5.2), 1, 2)
    for panel, hazard in zip(panels, limits.HAZARDS, strict=True):
        for number, name in enumerate(VARIANTS):
            points = [mean_and_error(found[name, hazard, budget]) for budget in budgets]
            dashes = "-" if name in _BEST else ":"
            about = {"marker": style.mark(number), "ms": 4, "ls": dashes, "label": name}
            about["color"] = style.colour(number)
            panel.errorbar(budgets, *np.array(points).T, **about)
        rule = limits.survival_by_rule(hazard)
        panel.axhline(rule, color=style.EDGE, lw=1, label="dose 1 while there is a tumour")
        panel.set_xscale("log")
        panel.xaxis.set_major_formatter("{x:,.0f}")
        plots.tidy(panel, title=f"hazard {hazard}", xlabel="episodes", ylabel="survival")
    plots.legend_below(figure, 3)
    return figure


def _table(found: Findings, hazard: str) -> str:
    budgets = sorted({budget for _, _, budget in found})
    rows = []
    for name in VARIANTS:
        cells = [mean_in_words(found[name, hazard, budget], 4) for budget in budgets]
        rows.append([name, *cells])
    return markdown_table(["", *(f"{budget:,} episodes" for budget in budgets)], rows)


def _said(found: Findings, hazard: str) -> list[str]:
    """What preferences add to returns, and what restarts could at most."""
    said = []
    budgets = sorted({budget for _, _, budget in found})
    for budget in budgets:
        for names in ((BEFORE, RETURNS_BEFORE), (NOW, RETURNS)):
            change, error = difference(*(found[name, hazard, budget] for name in names))
            said.append(
                f"{budget:,} episodes: {names[0]} less {names[1]}: {change:+.4f} ± {error:.4f}"
            )
    for fewer, more in itertools.pairwise(budgets):
        each = found[NOW, hazard, fewer]
        best = each[: len(each) // 3 * 3].reshape(-1, 3).max(1)
        said.append(
            f"The best of three {NOW} of {fewer:,} episodes, chosen without error: "
            f"{mean_in_words(best, 4)}; one of {more:,}: "
            f"{mean_in_words(found[NOW, hazard, more], 4)}"
        )
    return said
