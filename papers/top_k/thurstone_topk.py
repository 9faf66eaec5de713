"""Top k by scores: Groves and Branke, figures 2 and 3."""

import dataclasses
import functools
from collections.abc import Sequence

from jaxrace import selection
from papers.selections.curves import (
    Curve,
    figure_of,
    samples_between,
    success_table,
    table_of,
)
from papers.selections.runs import TOP_POINTS, Task, run_selector, run_top
from papers.selections.tasks import Plan, thurstone_task
from papers.top_k.ocba import Ocba
from papers.top_k.stationary import StationaryMlPocbam
from papers.workbench import Workbench, with_error

TOP = "SELECT/TOP"
NUM_OPTIONS, BUDGET, INTERVAL = 10, 1_000, 5
MANY_OPTIONS, LARGE_BUDGET, LARGE_INTERVAL = 100, 30_000, 250
Curves = dict[str, dict[str, Curve]]  # by task and method

# Besides SELECT/TOP, what the paper shows.
PUBLISHED = ("ML-POCBAm, one sweep", "POCBAm", "uniform")


def lineup(num_options: int, top: int) -> dict[str, selection.Selector]:
    """The paper's methods, the model fitted in two ways, and others."""
    return {
        "ML-POCBAm, one sweep": selection.MlPocbam(num_options, top),
        "ML-POCBAm, stationary": StationaryMlPocbam(num_options, top, follows=True),
        "POCBAm": selection.Pocbam(num_options, top),
        "uniform": selection.Uniform(num_options, top),
        "hybrid, one sweep": selection.HybridPocbam(num_options, top),
        "PKG": selection.KnowledgeGradient(num_options, top),
        "OCBA-m, single options": Ocba(num_options, top),
    }


def run(bench: Workbench, names: Sequence[str] = tuple(lineup(NUM_OPTIONS, 1))) -> None:
    """Leaves success.csv, success.png and report.md."""
    repeats, budget = bench.num_problems(10_000, 64), bench.size(BUDGET, 235)
    tasks = [
        thurstone_task(
            f"{top} of {NUM_OPTIONS}",
            Plan(bench.seed, repeats, NUM_OPTIONS, top, budget, INTERVAL),
            uniform=bench.uniform,
        )
        for top in bench.few((4, 1), 1)
    ]
    said = (
        f"{repeats:,} problems, {said_of(bench)}, the same for all methods, as "
        "are the scores. SELECT/TOP is shown at the mean number of comparisons that it takes, and "
        "between two of these on a straight line. ± is one standard error."
    )
    looks = [135, 250, 500, 1000] if not bench.quick else [135, 235]
    _compare(bench, tasks, bench.few(names, 2), looks, said)


def said_of(bench: Workbench) -> str:
    """What is drawn."""
    return f"gamma and {'sigma' if bench.uniform == 'deviation' else 'sigma^2'} uniform in [0, 1]"


run_published = functools.partial(run, names=PUBLISHED)  # the four methods of the paper alone


def _compare(
    bench: Workbench, tasks: list[Task], names: Sequence[str], looks: list[int], *said: str
) -> None:
    """Some of the lineup, and SELECT/TOP."""
    curves: Curves = {}
    tables = []
    for task in tasks:
        methods = lineup(task.num_options, task.top)
        found = {name: run_selector(bench, task, name, methods[name]) for name in names}
        curves[task.name] = found | {TOP: run_top(bench, task, bench.size(TOP_POINTS, 2))}
        tables += [f"## Top {task.name}", success_table(curves[task.name], looks)]
    leave(bench, curves, *said, *tables)


def leave(bench: Workbench, curves: Curves, said: str, *rest: str) -> None:
    """Write success.csv, success.png and report.md."""
    bench.write_table("success.csv", table_of(curves))
    bench.write_figure("success.png", figure_of(curves, 2 if len(curves) == 4 else 3))
    bench.write_report(said, "![Success rate](success.png)", *rest)


def run_large(bench: Workbench) -> None:
    """Leaves success.csv, success.png and report.md."""
    count, repeats = bench.size(MANY_OPTIONS, 12), bench.num_problems(40, 8)
    rest = bench.size(LARGE_BUDGET, 300), bench.size(LARGE_INTERVAL, 10)
    top = bench.size(40, 5)
    make = functools.partial(thurstone_task, uniform=bench.uniform)
    tasks = [
        make(f"{top} of {count}", Plan(bench.seed, repeats, count, top, *rest)),
        make(f"1 of {count}, with a gap", Plan(bench.seed, repeats, count, 1, *rest), first=1.2),
    ]
    said = (
        f"{repeats:,} problems (the paper has 10,000), {said_of(bench)}, the same for all "
        "methods; with a gap, one option has gamma 1.2. ± is one standard error."
    )
    names = bench.few(tuple(lineup(count, 1))[:4], 1)
    looks = [bench.size(look, look // 100) for look in (15_000, 20_000, 25_000, 30_000)]
    _compare(bench, tasks, names, looks, said, _saving(bench, count))


def _saving(bench: Workbench, num_options: int) -> str:
    """The success rate of ML-POCBAm after its warm-up, with a gap, and what TOP needs for it."""
    selector = selection.MlPocbam(num_options, 1)
    repeats = bench.size(1_000, 8)
    name = f"1 of {num_options}, with a gap, warm-up"
    # Of more problems than the curves, since it is one record, after the warm-up, that counts.
    plan = Plan(bench.seed, repeats, num_options, 1, selector.opening, 1)
    task = thurstone_task(name, plan, first=1.2, uniform=bench.uniform)
    curve = run_selector(bench, task, "ML-POCBAm", selector)
    rate, error = curve.success
    more = dataclasses.replace(task, budget=round(1.1 * task.budget))
    top = run_top(bench, more, bench.size(TOP_POINTS, 2), least=0.5)
    share = samples_between(top, float(rate[0])) / task.budget
    return (
        f"With a gap, ML-POCBAm selects the best in {with_error(rate[0], error[0], digits=3)} "
        f"right after the warm-up. SELECT/TOP needs {share:.2f} of these comparisons (inf: not "
        "within .5 to 1.1 of them); the paper says about 12% fewer."
    )
