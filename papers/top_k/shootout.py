"""Which method finds the best k with the fewest samples? Axes: J selections, K options."""

import dataclasses
import functools
import operator
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import dueling, kernels, racing, selection
from jaxrace.runs.tables import markdown_table
from papers.duels.lineup import entrant
from papers.duels.runs import run_entrant
from papers.preference_racing.options import Normal
from papers.preference_racing.trials import AnyTask, race_trials, trials_of
from papers.selections.config import POOLED_SAMPLES
from papers.selections.curves import (
    Curve,
    correct_at,
    figure_of,
    samples_until,
    success_in_words,
    table_of,
)
from papers.selections.runs import Task, run_selector, run_top
from papers.selections.tasks import (
    CIRCLE,
    Plan,
    task_of,
    thurstone_task,
    wins_task,
    with_own_target,
)
from papers.top_k.ocba import Ocba
from papers.top_k.stationary import StationaryMlPocbam
from papers.top_k.thurstone_topk import TOP
from papers.workbench import Workbench, mean_and_error

# Of options, of the best, comparisons, and selections of each method.
SIZES = ((10, 4, 2_000, 1_000), (50, 10, 6_000, 100))
QUICK = ((6, 2, 145, 16),)

# With more options than this nobody finds all of the best; and the fit that is followed to a
# stationary point takes too long.
_FEW_OPTIONS = 10

# All but savage-sampled, which is right as often as savage and takes longer.
DUELS = (
    *("savage-borda", "dts", "sup-klucb-borda", "rucb", "dts-plus", "sup-klucb", "savage"),
    *("savage-condorcet", "interleaved-filter", "beat-the-mean"),
)

_ROUNDS = (20, 50, 100, 200)  # rounds of races, one point of their curves each

# The success rate to be reached, and parts of the budget after which all are compared.
_LEVEL = 0.7
_LOOKS = (0.25, 0.5, 1.0)
COMPLEXITY = 2.0  # k of the normal task of races


def lineup(num_options: int, top: int) -> dict[str, selection.Selector]:
    """Selectors by comparisons, without TOP."""
    sizes, pooled = (num_options, top), POOLED_SAMPLES
    methods = {
        "PKG": selection.KnowledgeGradient(*sizes, pooled_samples=pooled),
        "POCBAm": selection.Pocbam(*sizes, pooled_samples=pooled),
        "POCBAm, as published": selection.Pocbam(*sizes),
        "ML-POCBAm, one sweep": selection.MlPocbam(*sizes, pooled_samples=pooled),
        "ML-POCBAm, stationary": StationaryMlPocbam(*sizes, follows=True, pooled_samples=pooled),
        "hybrid": selection.HybridPocbam(*sizes, pooled_samples=pooled),
        "uniform": selection.Uniform(*sizes),
        "OCBA-m": Ocba(*sizes),
        "PBR, Borda": selection.PairwiseRace(*sizes),
        "PBR, Copeland": selection.PairwiseRace(*sizes, ranking="copeland"),
        "PBR, random walk": selection.PairwiseRace(*sizes, ranking="random_walk"),
        "PBR, Borda, widths of pairs": selection.PairwiseRace(*sizes, width="pairs"),
        "active ranking": selection.ActiveRanking(*sizes),
        "active ranking, wide": selection.ActiveRanking(*sizes, radius="heckel"),
    }
    if num_options > _FEW_OPTIONS:
        del methods["ML-POCBAm, stationary"]
    return methods


def run(bench: Workbench) -> None:
    """Leaves success.csv, a figure for each number of options, and report.md."""
    curves: dict[str, dict[str, Curve]] = {}
    figures, budgets = [], {}
    for num_options, top, budget, repeats in QUICK if bench.quick else SIZES:
        interval = max(budget // 100, 1)
        tasks = _tasks(bench, Plan(bench.seed, repeats, num_options, top, budget, interval))
        own = {task.name: _run_all(bench, task) for task in tasks}
        budgets |= {task.name: task.budget for task in tasks}
        figures.append(f"success-{num_options}.png")
        bench.write_figure(figures[-1], figure_of(own))
        curves |= own
    listed = [curve for found in curves.values() for curve in found.values()]
    # Also where shares are counted: how often all of the best are selected.
    exact = [{"exact": (curve.correct == 1).mean(0)} for curve in listed]
    bench.write_table("success.csv", map(operator.or_, table_of(curves), exact))
    sections = []
    for task, found in curves.items():
        looks = [round(part * budgets[task]) for part in _LOOKS]
        rows = []
        for name, curve in found.items():
            needed = samples_until(curve, _LEVEL)
            cells = [success_in_words(curve, look) for look in looks]
            rows.append([name, *cells, "" if np.isinf(needed) else f"{needed:,.0f}"])
        heads = ["method", *(f"{look:,} samples" for look in looks), f"until {_LEVEL:.0%}"]
        best = (
            f"after {look:,}: {', '.join(leaders(found, look)) or 'nobody yet'}" for look in looks
        )
        told = "Best, and not clearly behind (two standard errors of paired differences): "
        sections += [f"## {task}", markdown_table(heads, rows), f"{told}{'; '.join(best)}."]
    bench.write_report(
        "Share of problems in which exactly the best k are selected (of methods that count wins "
        "alone, and of dueling bandits, by their own target), ± one standard error, and "
        f"comparisons until that share first is {_LEVEL:.0%}. Of more than {_FEW_OPTIONS} options "
        "it is the share of the best k that is selected. PKG, POCBAm and the models: with "
        f"{POOLED_SAMPLES:g} pooled samples, unless it says as published. Circle: everybody beats "
        f"the half that follows it in a circle by {CIRCLE:g} more often. Two draws of races are "
        "one comparison. Races of options and TOP end by themselves: their points are settings at "
        "their mean number of comparisons, with straight lines between them.",
        *(f"![Success rate]({figure})" for figure in figures),
        *sections,
    )


def _tasks(bench: Workbench, plan: Plan) -> list[Task]:
    size, single = f"{plan.top} of {plan.options}", plan._replace(top=1)
    tasks = [
        performance_task(f"{size}, performances", plan),
        wins_task(f"1 of {plan.options}, wins, total order", single),
        wins_task(f"1 of {plan.options}, wins, circle", single, CIRCLE),
        wins_task(f"{size}, wins, total order", plan),
        wins_task(f"{size}, wins, circle", plan, CIRCLE),
        thurstone_task(f"{size}, Thurstone", plan),
        thurstone_task(f"{size}, Thurstone, noise .3", plan, noise=0.3),
    ]
    by_share = plan.options > _FEW_OPTIONS
    return [dataclasses.replace(task, by_share=by_share) for task in bench.few(tasks, 2)]


def performance_task(name: str, plan: Plan) -> Task:
    """Comparisons of two performances, N(m_i, v_i) with m, v ~ U[0, 1]: problems of races."""
    options = _performers(np.uint32(plan.seed), plan.repeats, plan.options)
    means = options.mean[:, :, None] - options.mean[:, None, :]
    deviations = jnp.sqrt(options.variance[:, :, None] + options.variance[:, None, :])
    problems = selection.NormalScores(means, deviations)
    return task_of(name, plan, selection.normal_score, problems, means)


@functools.partial(jax.jit, static_argnums=(1, 2))
def _performers(seed: jax.Array, repeats: int, num_options: int) -> Any:
    """The options that ``race_trials`` draws, so that races have the same ones."""

    def draw(number: jax.Array) -> Any:
        own = jax.random.split(jax.random.fold_in(jax.random.key(seed), number))[0]
        return Normal().draw(own, jnp.float32(COMPLEXITY), num_options)

    return jax.vmap(draw)(jnp.arange(repeats, dtype=jnp.uint32))


def _run_all(bench: Workbench, task: Task) -> dict[str, Curve]:
    methods = lineup(task.num_options, task.top)
    found = {}
    for name in bench.few(methods, 1):
        selector = methods[name]
        params = selector.params()
        if isinstance(selector, selection.PairwiseRace):
            pairs = task.num_options * (task.num_options - 1) // 2
            params = selector.params(max_rounds=-(-task.budget // pairs))
        own = with_own_target(task, selector)
        found[name] = run_selector(bench, own, name, selector, params)
    if not bench.quick:
        found[TOP] = run_top(bench, task)
    if "performances" in task.name:
        found |= _races(bench, task)
    if task.top == 1 and task.compare is selection.win:
        found |= _duels(bench, task)
    return found


def race_lineup(num_options: int, top: int) -> dict[str, Callable[[int], racing.Race]]:
    """Races that draw single performances, made for a number of rounds."""
    sizes = num_options, top
    return {
        "dominance race": lambda most: racing.DominanceRace(*sizes, most, kernels.total_order),
        "PBR of options": lambda most: racing.PreferenceRace(*sizes, most, kernels.total_order),
    }


def _races(bench: Workbench, task: Task) -> dict[str, Curve]:
    """Two draws are one comparison."""
    found = {}
    for name, make in race_lineup(task.num_options, task.top).items():
        times, correct = [], []
        for most in bench.few(_ROUNDS, 1):
            race = make(most)
            # With little slack it draws least, and guesses are told beside the draws.
            more: dict[str, Any] = {"slack": 1.0} if isinstance(race, racing.DominanceRace) else {}
            params = race.params(delta=0.05, max_rounds=most, **more)
            params = jax.tree.map(lambda x: x[None], params)
            work = race_trials(race, AnyTask((Normal(),)), jax.random.key(bench.seed), params)
            jobs = trials_of([(0, 0, COMPLEXITY)], len(task.truth), [0])
            row = bench.sweep(f"{task.name}, {name}, {most} rounds", work, jobs).rows.row
            times.append(row.samples.mean() / 2)
            correct.append(task.judge(row.found.astype(int)))
        found[name] = Curve(np.array(times), np.stack(correct, axis=1), are_settings=True)
    return found


def _duels(bench: Workbench, task: Task) -> dict[str, Curve]:
    """Dueling bandits, by the arm that they recommend, which is judged by their own target."""
    problems: Any = jax.vmap(dueling.duels)(task.problems)
    horizon, records = task.budget, bench.size(50, 5)
    found = {}
    for name in bench.few(DUELS, 1):
        one = entrant(name, task.num_options, horizon, 0.05, jax.random.key(bench.seed))
        runs = run_entrant(bench, f"{task.name}, {name}", one, problems, 1, horizon, records)
        found[name] = Curve(runs.time.astype(float), runs.is_best[:, 0])
    return found


def leaders(found: dict[str, Curve], samples: float) -> list[str]:
    """The best method after so many samples, and those not clearly behind it (paired); or nobody.

    >>> right, wrong = (Curve(np.array([10.0]), np.full((9, 1), is_right)) for is_right in (1, 0))
    >>> leaders({"wrong": wrong, "right": right, "equal": right}, 20)
    ['right', 'equal']
    """
    correct = {name: correct_at(curve, samples) for name, curve in found.items()}
    known = {name: rows for name, rows in correct.items() if not np.isnan(rows).any()}
    if not known:
        return []
    best = max(known, key=lambda name: known[name].mean())
    others = []
    for name, rows in known.items():
        behind, error = mean_and_error(known[best] - rows)
        if name != best and behind <= 2 * error:
            others.append(name)
    return [best, *others]
