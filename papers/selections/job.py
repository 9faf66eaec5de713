"""The job `python -m papers.selections`. Axes: K options, J selections."""

import dataclasses
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

from jaxrace import runs, selection
from jaxrace.commands.job import Job
from jaxrace.commands.printing import name_column, print_table, say
from jaxrace.core.validation import BadArgument
from jaxrace.selection.driver import first_record, fitting_interval
from papers.selections.config import FROM_SCORES, SelectionsConfig
from papers.selections.curves import Curve, figure_of, table_of
from papers.selections.runs import BY_SCORES, Task, match_bounds, run_rows, run_top
from papers.selections.tasks import CIRCLE, Plan, thurstone_task, wins_task, with_own_target
from papers.top_k.ocba import Ocba
from papers.workbench import Workbench, run_job, with_error

FIGURE = "success.png"

# Selections by any method have so many records, or at most so many times as many.
_RECORDS = 100
_FEWER = 4

_MAKERS: dict[str, Callable[..., selection.Selector]] = {
    **BY_SCORES,
    "ocba": Ocba,
    "active-ranking": selection.ActiveRanking,
    "active-ranking-wide": functools.partial(selection.ActiveRanking, radius="heckel"),
    "pairwise-race": selection.PairwiseRace,
    "pairwise-race-copeland": functools.partial(selection.PairwiseRace, ranking="copeland"),
    "pairwise-race-walk": functools.partial(selection.PairwiseRace, ranking="random_walk"),
}


def select(job: Job) -> Path:
    """Simulate selections, and write a run folder."""
    _check(job.config)
    return run_job("selections", job, functools.partial(_simulate, job.config))


def _check(config: SelectionsConfig) -> None:
    for name in config.methods:
        if name == "top":
            least, most = match_bounds(selection.Top(config.options, config.top))
            if config.budget < most:
                matches = f"{least} to {most} matches with {config.options} options"
                expected = f"at least {most}, as top plays {matches}"
                raise BadArgument("budget", expected, str(config.budget))
            continue
        selector = _selector_of(config, name)
        selection.require_budget(selector, config.budget, 1)
        rest = config.budget - selector.opening
        if rest % config.batch:
            raise BadArgument(
                "batch", f"a divisor of the {rest} comparisons after the warm-up", f"{config.batch}"
            )


def _simulate(config: SelectionsConfig, bench: Workbench) -> None:
    interval = max(config.budget // _RECORDS, 1)
    sizes = config.repeats, config.options, config.top, config.budget
    plan = Plan(config.seed, *sizes, interval)
    if config.problem == "thurstone":
        task = thurstone_task(config.problem, plan, config.noise, uniform=config.uniform)
    else:
        task = wins_task(config.problem, plan, CIRCLE if config.problem == "circle" else 0.0)
    curves, results = {}, {}
    for name in config.methods:
        curves[name], results[name] = _run_method(config, bench, task, name)
    bench.write_table(runs.LOG, table_of({config.problem: curves}))
    bench.write_figure(FIGURE, figure_of({f"{config.top} of {config.options}": curves}))
    runs.write_summary(bench.folder, {"repeats": config.repeats, **results})


def _run_method(
    config: SelectionsConfig, bench: Workbench, task: Task, name: str
) -> tuple[Curve, dict[str, Any]]:
    """Its curve, and what it has come to."""
    if name == "top":
        curve = run_top(bench, task)
        return curve, _result(curve, curve.time[-1])
    selector = _selector_of(config, name)
    task = with_own_target(task, selector)
    params: Any = None
    if isinstance(selector, selection.ActiveRanking):
        params = selector.params(delta=config.delta)
    if isinstance(selector, selection.PairwiseRace):
        pairs = config.options * (config.options - 1) // 2
        params = selector.params(config.delta, max_rounds=-(-config.budget // pairs))
    task = _with_even_records(task, selector, config.batch)
    time, row = run_rows(bench, task, name, selector, selection.SelectionWork, params, config.batch)
    curve = Curve(time, (row.selected == task.truth[:, None]).all(-1))
    found = _result(curve, row.time[:, -1].mean())
    if selector.is_guaranteed:
        decided = row.done[:, -1] & (row.confidence[:, -1] > 0)
        wrong = int((decided & ~curve.correct[:, -1]).sum())
        found |= {"decided": int(decided.sum()), "decided_wrongly": wrong}
    return curve, found


def _with_even_records(task: Task, selector: selection.Selector, batch: int) -> Task:
    """A little less of the budget, if no interval near the wanted one divides it."""
    rest = task.budget - first_record(selector)
    if _FEWER * fitting_interval(rest, task.interval, batch) >= task.interval:
        return task
    interval = batch * max(task.interval // batch, 1)
    return dataclasses.replace(task, budget=task.budget - rest % interval)


def _selector_of(config: SelectionsConfig, name: str) -> selection.Selector:
    if name in FROM_SCORES:
        return _MAKERS[name](config.options, config.top, pooled_samples=config.pooled_samples)
    return _MAKERS[name](config.options, config.top)


def _result(curve: Curve, samples: float) -> dict[str, Any]:
    rate, error = (float(numbers[-1]) for numbers in curve.success)
    correct = {"mean": rate, "stderr": error, "count": len(curve.correct)}
    return {"samples": float(samples), "correct": correct}


def print_rates(console: Console, folder: Path) -> None:
    """Say of a run folder of ``select`` how often which method was right."""
    summary = runs.read_summary(folder)
    results = {name: found for name, found in summary.items() if isinstance(found, dict)}
    heads = ["comparisons", "correct"]
    # Methods with a guarantee may also end undecided.
    if any("decided" in found for found in results.values()):
        heads.append("decided")
    rows = []
    for name, found in results.items():
        correct = found["correct"]
        rate = with_error(correct["mean"], correct["stderr"], digits=3)
        rows.append([name, f"{found['samples']:,.0f}", rate])
        if "decided" in found:
            wrong = f"{found['decided_wrongly']:,} of them wrongly"
            rows[-1].append(f"{found['decided']:,}, {wrong}")
    print_table(console, [name_column("method"), *heads], rows)
    say(console, f"{summary['repeats']:,} selections by each method; {folder}")
