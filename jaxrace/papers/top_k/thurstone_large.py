"""Top 40 and top 1 of 100 by scores: Groves and Branke, figures 2c and 3. Axes: K options."""

import dataclasses
import itertools

import numpy as np

from jaxrace.commands.select.curves import samples_between
from jaxrace.commands.select.runs import TOP_POINTS, Task, run_selector, run_top
from jaxrace.commands.select.tasks import thurstone_task
from jaxrace.commands.workbench import Workbench, with_error
from jaxrace.papers.top_k.thurstone_topk import Curves, leave, lineup, run_methods, sections
from jaxrace.selection import MlPocbam

NUM_OPTIONS, BUDGET, INTERVAL = 100, 30_000, 250


def run(bench: Workbench) -> None:
    """Leaves success.csv, success.png and report.md."""
    num_options = bench.size(NUM_OPTIONS, 12)
    repeats, budget = bench.size(40, 8), bench.size(BUDGET, 300)
    curves: Curves = {}
    for top, gap, first in ((bench.size(40, 5), "", None), (1, ", with a gap", 1.2)):
        sizes, name = (num_options, top), f"{top} of {num_options}{gap}"
        task = _task(bench, name, repeats, sizes, budget, first)
        curves[name] = run_methods(bench, task, dict(itertools.islice(lineup(*sizes).items(), 4)))
    leave(bench, curves)
    looks = [bench.size(look, look // 100) for look in (15_000, 20_000, 25_000, 30_000)]
    level, needed = _after_warm_up(bench, num_options)
    said = _paragraphs(curves, repeats, looks)
    bench.write_report([*said, _saving(level, needed)])


def _after_warm_up(bench: Workbench, num_options: int) -> tuple[tuple[float, float], float]:
    """The success rate of ML-POCBAm after its warm-up, with a gap, and what TOP needs for it.

    With more problems than the curves, since it is one record that counts.
    """
    selector = MlPocbam(num_options, 1, fit="swept")
    repeats = bench.size(1_000, 8)
    name = f"1 of {num_options}, with a gap, warm-up"
    task = _task(bench, name, repeats, (num_options, 1), selector.opening, 1.2)
    curve = run_selector(bench, task, "ML-POCBAm", selector)
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


def _paragraphs(curves: Curves, repeats: int, looks: list[int]) -> list[str]:
    return [
        f"{repeats:,} problems (the paper has 10,000), gamma and sigma^2 uniform in [0, 1], the "
        "same for all methods; with a gap, one option has gamma 1.2. The first 3 comparisons of "
        "each pair are made by all methods but SELECT/TOP. ± is one standard error.",
        "![Success rate](success.png)",
        *sections(curves, looks),
    ]
