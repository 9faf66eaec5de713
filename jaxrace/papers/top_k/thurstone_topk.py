"""Top k by scores: Groves and Branke, figures 2 and 3."""

import dataclasses
import itertools
from collections.abc import Sequence

from jaxrace import selection
from jaxrace.commands.select.curves import (
    Curve,
    figure_of,
    samples_between,
    success_table,
    table_of,
)
from jaxrace.commands.select.runs import TOP_POINTS, Task, run_selector, run_top
from jaxrace.commands.select.tasks import thurstone_task
from jaxrace.commands.workbench import Workbench, with_error

TOP = "SELECT/TOP"
NUM_OPTIONS, BUDGET, INTERVAL = 10, 1_000, 5
MANY_OPTIONS, LARGE_BUDGET, LARGE_INTERVAL = 100, 30_000, 250
Curves = dict[str, dict[str, Curve]]  # by task and method

# Besides SELECT/TOP, what the paper shows.
PUBLISHED = ("ML-POCBAm, one sweep", "POCBAm", "uniform")


def lineup(num_options: int, top: int) -> dict[str, selection.Selector]:
    """The paper's methods, the model fitted in two ways, and others."""
    return {
        "ML-POCBAm, one sweep": selection.MlPocbam(num_options, top, fit="swept"),
        "ML-POCBAm, stationary": selection.MlPocbam(num_options, top, fit="followed"),
        "POCBAm": selection.Pocbam(num_options, top),
        "uniform": selection.Uniform(num_options, top),
        "hybrid, one sweep": selection.HybridPocbam(num_options, top, fit="swept"),
        "PKG": selection.KnowledgeGradient(num_options, top),
        "OCBA-m, single options": selection.Ocba(num_options, top),
    }


def run_published(bench: Workbench) -> None:
    """With the four methods of the paper alone."""
    run(bench, PUBLISHED)


def run(bench: Workbench, names: Sequence[str] = tuple(lineup(NUM_OPTIONS, 1))) -> None:
    """Leaves success.csv, success.png and report.md."""
    repeats, budget = bench.size(10_000, 64), bench.size(BUDGET, 235)
    curves: Curves = {}
    for top in bench.few((4, 1), 1):
        name, sizes = f"{top} of {NUM_OPTIONS}", (NUM_OPTIONS, top)
        task = thurstone_task(name, bench.seed, repeats, sizes, budget, INTERVAL)
        methods = lineup(*sizes)
        curves[name] = run_methods(bench, task, {one: methods[one] for one in names}, 2)
    looks = [135, 250, 500, 1000] if not bench.quick else [135, 235]
    said = (
        f"{repeats:,} problems, gamma and sigma^2 uniform in [0, 1], the same for all methods, as "
        "are the scores. SELECT/TOP is shown at the mean number of comparisons that it takes, and "
        "between two of these on a straight line. ± is one standard error."
    )
    leave(bench, curves, said, *sections(curves, looks))


def run_methods(
    bench: Workbench, task: Task, methods: dict[str, selection.Selector], quick: int = 1
) -> dict[str, Curve]:
    """The curves of some methods, a few of them for a quick look, and of SELECT/TOP."""
    names = bench.few(methods, quick)
    found = {name: run_selector(bench, task, name, methods[name]) for name in names}
    return {**found, TOP: run_top(bench, task, bench.size(TOP_POINTS, 2))}


def leave(bench: Workbench, curves: Curves, said: str, *rest: str) -> None:
    """Write success.csv, success.png and report.md."""
    bench.write_table("success.csv", table_of(curves))
    bench.write_figure("success.png", figure_of(curves))
    bench.write_report([said, "![Success rate](success.png)", *rest])


def sections(curves: Curves, looks: list[int]) -> list[str]:
    """Success rates after some numbers of samples, a table for each task."""
    tables = [[f"## Top {task}", success_table(found, looks)] for task, found in curves.items()]
    return list(itertools.chain(*tables))


def run_large(bench: Workbench) -> None:
    """Leaves success.csv, success.png and report.md."""
    num_options = bench.size(MANY_OPTIONS, 12)
    repeats, budget = bench.size(40, 8), bench.size(LARGE_BUDGET, 300)
    curves: Curves = {}
    for top, gap, first in ((bench.size(40, 5), "", None), (1, ", with a gap", 1.2)):
        sizes, name = (num_options, top), f"{top} of {num_options}{gap}"
        common = bench.seed, repeats, sizes, budget, bench.size(LARGE_INTERVAL, 10)
        task = thurstone_task(name, *common, first=first)
        curves[name] = run_methods(bench, task, dict(itertools.islice(lineup(*sizes).items(), 4)))
    looks = [bench.size(look, look // 100) for look in (15_000, 20_000, 25_000, 30_000)]
    said = (
        f"{repeats:,} problems (the paper has 10,000), the same for all methods; with a gap, one "
        "option has gamma 1.2. ± is one standard error."
    )
    leave(bench, curves, said, *sections(curves, looks), _saving(bench, num_options))


def _saving(bench: Workbench, num_options: int) -> str:
    """The success rate of ML-POCBAm after its warm-up, with a gap, and what TOP needs for it."""
    selector = selection.MlPocbam(num_options, 1, fit="swept")
    repeats = bench.size(1_000, 8)
    name = f"1 of {num_options}, with a gap, warm-up"
    # Of more problems than the curves, since it is one record, after the warm-up, that counts.
    common = bench.seed, repeats, (num_options, 1), selector.opening, 1
    task = thurstone_task(name, *common, first=1.2)
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
