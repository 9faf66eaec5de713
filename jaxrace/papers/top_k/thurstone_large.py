"""Top 40 and top 1 of 100 by scores: Groves and Branke, figures 2c and 3. Axes: K options."""

import dataclasses

import numpy as np

from jaxrace.commands.select.curves import Curve, figure_of, samples_between, table_of
from jaxrace.commands.select.runs import TOP_POINTS, Task, run_selector, run_top
from jaxrace.commands.select.tasks import thurstone_task
from jaxrace.commands.workbench import Workbench, with_error
from jaxrace.papers.top_k.thurstone_topk import TOP, rates_table
from jaxrace.selection import MlPocbam, Pocbam, Selector, Uniform

NUM_OPTIONS, BUDGET, INTERVAL = 100, 30_000, 250


def lineup(num_options: int, top: int) -> dict[str, Selector]:
    """The paper's methods, the model fitted in two ways.

    >>> list(lineup(100, 40))[-1]
    'uniform'
    """
    return {
        "ML-POCBAm, one sweep": MlPocbam(num_options, top, fit="swept"),
        "ML-POCBAm, stationary": MlPocbam(num_options, top, fit="followed"),
        "POCBAm": Pocbam(num_options, top),
        "uniform": Uniform(num_options, top),
    }


def run(bench: Workbench) -> None:
    """Leaves success.csv, success.png and report.md."""
    num_options = bench.size(NUM_OPTIONS, 12)
    repeats, budget = bench.size(40, 8), bench.size(BUDGET, 300)
    tasks = [
        _task(bench, f"{top} of {num_options}{gap}", repeats, (num_options, top), budget, first)
        for top, gap, first in ((bench.size(40, 5), "", None), (1, ", with a gap", 1.2))
    ]
    curves: dict[str, dict[str, Curve]] = {}
    for task in tasks:
        methods = lineup(task.num_options, task.top)
        found = {
            name: run_selector(bench, task, name, methods[name], methods[name].params())
            for name in bench.few(methods, 1)
        }
        found[TOP] = run_top(bench, task, bench.size(TOP_POINTS, 2))
        curves[task.name] = found
    bench.write_table("success.csv", table_of(curves))
    bench.write_figure("success.png", figure_of(curves))
    looks = [bench.size(look, look // 100) for look in (15_000, 20_000, 25_000, 30_000)]
    level, needed = _after_warm_up(bench, num_options)
    said = _paragraphs(curves, repeats, looks)
    bench.write_report([*said, _saving(level, needed)])


def _after_warm_up(bench: Workbench, num_options: int) -> tuple[tuple[float, float], float]:
    """The success rate of ML-POCBAm after its warm-up, with a gap, and what TOP needs for it.

    With more problems than the curves, since it is one record that counts.
    """
    selector = lineup(num_options, 1)["ML-POCBAm, one sweep"]
    repeats = bench.size(1_000, 8)
    name = f"1 of {num_options}, with a gap, warm-up"
    task = _task(bench, name, repeats, (num_options, 1), selector.opening, 1.2)
    curve = run_selector(bench, task, "ML-POCBAm", selector, selector.params())
    rate, error = curve.success
    more = dataclasses.replace(task, budget=round(1.1 * task.budget))
    top = run_top(bench, more, bench.size(TOP_POINTS, 2), least=0.5)
    return (float(rate[0]), float(error[0])), samples_between(top, float(rate[0])) / task.budget


def _saving(level: tuple[float, float], share: float) -> str:
    needs = (
        f"{share:.2f} of these comparisons (between two settings, on a straight line)"
        if np.isfinite(share)
        else "another number than the settings tried, .5 to 1.1 of these comparisons"
    )
    return (
        f"With a gap, ML-POCBAm (one sweep) selects the best in {with_error(*level, digits=3)} "
        f"right after the warm-up. SELECT/TOP needs {needs}; the paper says about 12% fewer."
    )


def _task(
    bench: Workbench,
    name: str,
    repeats: int,
    sizes: tuple[int, int],
    budget: int,
    first: float | None,
) -> Task:
    interval = bench.size(INTERVAL, 10)
    return thurstone_task(name, bench.seed, repeats, sizes, budget, interval, first=first)


def _paragraphs(curves: dict[str, dict[str, Curve]], repeats: int, looks: list[int]) -> list[str]:
    sections = []
    for task, found in curves.items():
        sections += [f"## Top {task}", rates_table(found, looks)]
    return [
        f"{repeats:,} problems (the paper has 10,000), gamma and sigma^2 uniform in [0, 1], the "
        "same for all methods; with a gap, one option has gamma 1.2. The first 3 comparisons of "
        "each pair are made by all methods but SELECT/TOP. ± is one standard error.",
        "![Success rate](success.png)",
        *sections,
    ]
