"""Which method finds the best k with the fewest samples? Axes: J selections, K options."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import kernels, racing, selection
from jaxrace.envs.options import Normal
from jaxrace.experiments.config import EXPERIMENTS
from jaxrace.experiments.duel_lineup import entrant
from jaxrace.experiments.duel_runs import run_entrant
from jaxrace.experiments.race_trials import AnyTask, Cell, RaceTrials, trials_of
from jaxrace.experiments.thurstone_topk import TOP, figure_of, thurstone_task
from jaxrace.experiments.topk_runs import (
    Curve,
    Task,
    problem_keys,
    run_selector,
    run_top,
    samples_until,
    success_at,
    table_of,
)
from jaxrace.experiments.topk_tasks import wins_task
from jaxrace.experiments.workbench import Workbench, markdown_table
from jaxrace.selection import (
    HybridPocbam,
    KnowledgeGradient,
    MlPocbam,
    NormalScores,
    Ocba,
    PairwiseRace,
    Pocbam,
    Selector,
    Uniform,
)

# Of options, of the best, comparisons, and selections of each method.
SIZES = ((10, 4, 1_000, 2_000), (50, 10, 12_000, 100))
QUICK = ((6, 2, 145, 16),)

DUELS = ("savage-borda", "dts", "sup-klucb-borda")

# Rounds of races, one point of their curves each.
_ROUNDS = (20, 50, 100, 200)

# Success rates to be reached.
_LEVELS = (0.7, 0.8)


def lineup(num_options: int, top: int) -> dict[str, Selector]:
    """Selectors by comparisons, without TOP.

    >>> len(lineup(10, 4))
    7
    """
    return {
        "ML-POCBAm": MlPocbam(num_options, top, fit="swept"),
        "hybrid": HybridPocbam(num_options, top, fit="swept"),
        "POCBAm": Pocbam(num_options, top),
        "PKG": KnowledgeGradient(num_options, top),
        "uniform": Uniform(num_options, top),
        "OCBA-m": Ocba(num_options, top),
        "PBR, Borda, wins": PairwiseRace(num_options, top),
    }


def _performance_task(
    name: str, bench: Workbench, repeats: int, sizes: tuple[int, int], budget: int
) -> Task:
    """Every comparison is of two fresh performances, N(m_i, v_i) with m, v ~ U[0, 1]."""
    draw = jax.vmap(lambda key: Normal().draw(key, jnp.float32(2.0), sizes[0]))
    options = draw(problem_keys(bench.seed, repeats))
    means = options.mean[:, :, None] - options.mean[:, None, :]
    deviations = jnp.sqrt(options.variance[:, :, None] + options.variance[:, None, :])
    truth = jax.vmap(functools.partial(selection.borda_top, top=sizes[1]))(means)
    problems = NormalScores(means, deviations)
    return Task(name, selection.normal_score, problems, np.asarray(truth), budget, budget // 100)


def run(bench: Workbench) -> None:
    """Leaves success.csv, a figure for each number of options, and report.md."""
    curves: dict[str, dict[str, Curve]] = {}
    figures = []
    for num_options, top, budget, repeats in QUICK if bench.quick else SIZES:
        own = {
            task.name: _run_all(bench, task)
            for task in _tasks(bench, repeats, (num_options, top), budget)
        }
        figures.append(f"success-{num_options}.png")
        bench.write_figure(figures[-1], figure_of(own))
        curves |= own
    bench.write_table("success.csv", table_of(curves))
    bench.write_report(EXPERIMENTS["topk-shootout"], _paragraphs(curves, figures))


def _tasks(bench: Workbench, repeats: int, sizes: tuple[int, int], budget: int) -> list[Task]:
    size = f"{sizes[1]} of {sizes[0]}"
    interval = max(budget // 100, 1)
    common = (bench.seed, repeats, sizes, budget, interval)
    single = (bench.seed, repeats, (sizes[0], 1), budget, interval)
    tasks = [
        _performance_task(f"{size}, performances", bench, repeats, sizes, budget),
        wins_task(f"1 of {sizes[0]}, wins, total order", *single, 0.0),
        wins_task(f"{size}, wins, total order", *common, 0.0),
        wins_task(f"{size}, wins, circle", *common, 0.2),
        thurstone_task(f"{size}, Thurstone", *common),
        thurstone_task(f"{size}, Thurstone, noise .3", *common, noise=0.3),
    ]
    return tasks[: bench.size(len(tasks), 2)]


def _run_all(bench: Workbench, task: Task) -> dict[str, Curve]:
    methods = lineup(task.num_options, task.top)
    # To see that it works, one will do.
    found = {
        name: run_selector(bench, task, name, methods[name], methods[name].params())
        for name in list(methods)[: bench.size(len(methods), 1)]
    }
    if not bench.quick:
        found[TOP] = run_top(bench, task)
    if "performances" in task.name:
        found |= _races(bench, task)
    if task.top == 1 and task.compare is selection.win:
        found |= _duels(bench, task)
    return found


def _races(bench: Workbench, task: Task) -> dict[str, Curve]:
    """Races draw single performances: two draws are one comparison."""
    rounds = _ROUNDS[: bench.size(len(_ROUNDS), 1)]
    makers: dict[str, Callable[[int], racing.Race]] = {
        "dominance race": lambda most: racing.DominanceRace(
            task.num_options, task.top, most, kernels.total_order
        ),
        "PBR, Copeland": lambda most: racing.PreferenceRace(
            task.num_options, task.top, most, kernels.total_order
        ),
    }
    found = {}
    for name, make in makers.items():
        times, correct = [], []
        for most in rounds:
            race = make(most)
            params = jax.tree.map(lambda x: x[None], race.params(delta=0.05, max_rounds=most))
            work = RaceTrials(race, AnyTask((Normal(),)), jax.random.key(bench.seed), params)
            jobs = trials_of([Cell(0, 0, 2.0)], len(task.truth), [0])
            row = bench.sweep(f"{task.name}, {name}, {most} rounds", work, jobs).rows.row
            times.append(row.samples.mean() / 2)
            correct.append(row.found == task.top)
        found[name] = Curve(np.array(times), np.stack(correct, axis=1))
    return found


def _duels(bench: Workbench, task: Task) -> dict[str, Curve]:
    """Dueling bandits, by the arm that they recommend."""
    problems: Any = jax.vmap(_as_duels)(task.problems)
    horizon, records = task.budget, bench.size(50, 5)
    found = {}
    for name in DUELS[: bench.size(len(DUELS), 1)]:
        one = entrant(name, task.num_options, horizon, 0.05, jax.random.key(bench.seed))
        runs = run_entrant(bench, f"{task.name}, {name}", one, problems, 1, horizon, records)
        best = task.truth.argmax(1)[:, None]
        found[name] = Curve(runs.time.astype(float), runs.recommended[:, 0] == best)
    return found


def _as_duels(matrix: jax.Array) -> Any:
    from jaxrace import dueling

    return dueling.duels(matrix)


def winners(found: dict[str, Curve], rate: float) -> list[str]:
    """The methods that reach a success rate, from the fewest samples on.

    >>> fast = Curve(np.array([10.0]), np.ones((2, 1), bool))
    >>> slow = Curve(np.array([20.0]), np.ones((2, 1), bool))
    >>> winners({"slow": slow, "fast": fast}, 0.9)
    ['fast', 'slow']
    """
    reached = {name: samples_until(curve, rate) for name, curve in found.items()}
    return sorted((name for name in reached if np.isfinite(reached[name])), key=reached.__getitem__)


def _paragraphs(curves: dict[str, dict[str, Curve]], figures: list[str]) -> list[str]:
    sections = []
    for task, found in curves.items():
        rows = []
        for name, curve in found.items():
            needed = [samples_until(curve, level) for level in _LEVELS]
            cells = ["" if np.isinf(samples) else f"{samples:,.0f}" for samples in needed]
            rate, error = success_at(curve, curve.time[-1])
            rows.append([name, *cells, f"{rate:.3f} ± {error:.3f}", f"{curve.time[-1]:,.0f}"])
        heads = ["method", *(f"until {level:.0%}" for level in _LEVELS), "in the end", "after"]
        first = winners(found, _LEVELS[0])
        best = f"First to be right in {_LEVELS[0]:.0%}: {first[0]}." if first else ""
        sections += [f"## {task}", markdown_table(heads, rows), best]
    return [
        "Comparisons until a method has selected exactly the best k (by Borda's score) in a share "
        "of all problems, for the first time and for good or not. Thurstone: scores, gamma and "
        "sigma^2 uniform in [0, 1]; noise .3: with perturbed means. Wins: p_ij logistic in the "
        "difference of qualities; circle: and everybody beats the half that follows it in a "
        "circle by .2 more often. Performances: options are sampled by themselves, N(m_i, v_i), "
        "a comparison is the difference of two; races need single draws, and two of these are "
        "counted as one comparison. Races and TOP end by themselves: their points are settings "
        "(rounds, repetitions per match) at their mean number of comparisons.",
        *(f"![Success rate]({figure})" for figure in figures),
        *[section for section in sections if section],
    ]
