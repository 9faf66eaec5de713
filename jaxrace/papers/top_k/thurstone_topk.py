"""Top k of 10 by scores: Groves and Branke, figure 2 a and b. Axes: J selections, K options."""

import numpy as np

from jaxrace import selection
from jaxrace.commands.select.curves import Curve, figure_of, success_at, table_of
from jaxrace.commands.select.runs import TOP_POINTS, run_selector, run_top
from jaxrace.commands.select.tasks import thurstone_task
from jaxrace.commands.workbench import Workbench, with_error
from jaxrace.tables import markdown_table

TOP = "SELECT/TOP"

NUM_OPTIONS, BUDGET, INTERVAL = 10, 1_000, 5

# Besides SELECT/TOP, what the paper shows.
PUBLISHED = ("ML-POCBAm, one sweep", "POCBAm", "uniform")


def lineup(num_options: int, top: int) -> dict[str, selection.Selector]:
    """The paper's methods, the model fitted in two ways, and others.

    >>> list(lineup(10, 4))[:2]
    ['ML-POCBAm, one sweep', 'ML-POCBAm, stationary']
    """
    return {
        "ML-POCBAm, one sweep": selection.MlPocbam(num_options, top, fit="swept"),
        "ML-POCBAm, stationary": selection.MlPocbam(num_options, top, fit="followed"),
        "POCBAm": selection.Pocbam(num_options, top),
        "uniform": selection.Uniform(num_options, top),
        "hybrid, one sweep": selection.HybridPocbam(num_options, top, fit="swept"),
        "PKG": selection.KnowledgeGradient(num_options, top),
        "OCBA-m, single options": selection.Ocba(num_options, top),
    }


def run(bench: Workbench) -> None:
    """Leaves success.csv, success.png and report.md."""
    _run(bench, "thurstone-topk", tuple(lineup(NUM_OPTIONS, 1)))


def run_published(bench: Workbench) -> None:
    """The same with the four methods of the paper alone."""
    _run(bench, "thurstone-topk-4", PUBLISHED)


def _run(bench: Workbench, experiment: str, names: tuple[str, ...]) -> None:
    repeats = bench.size(10_000, 64)
    budget = bench.size(BUDGET, 235)
    curves: dict[str, dict[str, Curve]] = {}
    for top in (4, 1)[: bench.size(2, 1)]:
        name = f"{top} of {NUM_OPTIONS}"
        task = thurstone_task(name, bench.seed, repeats, (NUM_OPTIONS, top), budget, INTERVAL)
        methods = lineup(NUM_OPTIONS, top)
        found = {
            method: run_selector(bench, task, method, methods[method], methods[method].params())
            for method in bench.few(names, 2)
        }
        found[TOP] = run_top(bench, task, bench.size(TOP_POINTS, 2))
        curves[name] = found
    bench.write_table("success.csv", table_of(curves))
    bench.write_figure("success.png", figure_of(curves))
    looks = [135, 250, 500, 1000] if not bench.quick else [135, 235]
    bench.write_report(_paragraphs(curves, repeats, looks))


def rates_table(found: dict[str, Curve], looks: list[int]) -> str:
    """Success rates of methods after some numbers of samples, in Markdown.

    >>> curve = Curve(np.array([10.0]), np.array([[True], [False]]))
    >>> print(rates_table({"uniform": curve}, [10]))
    | method | 10 samples |
    | --- | --- |
    | uniform | 0.500 ± 0.500 |
    """
    rows = [[name, *(_rate(curve, samples) for samples in looks)] for name, curve in found.items()]
    return markdown_table(["method", *(f"{samples:,} samples" for samples in looks)], rows)


def _rate(curve: Curve, samples: int) -> str:
    rate, error = success_at(curve, samples)
    return "" if np.isnan(rate) else with_error(rate, error, digits=3)


def _paragraphs(curves: dict[str, dict[str, Curve]], repeats: int, looks: list[int]) -> list[str]:
    sections = []
    for task, found in curves.items():
        sections += [f"## Top {task}", rates_table(found, looks)]
    return [
        f"{repeats:,} problems, gamma and sigma^2 uniform in [0, 1], the same for all methods, as "
        "are the scores: comparison number n of a pair comes out the same whoever asks for it. "
        "The first 3 comparisons of each pair are made by all methods by scores. SELECT/TOP is "
        "shown at the mean number of comparisons that it takes with several numbers of "
        "repetitions per match, and between two of these on a straight line. ± is one standard "
        "error.",
        "![Success rate](success.png)",
        *sections,
        "The paper gives curves without numbers. It says: ML-POCBAm is best throughout, POCBAm "
        "second, SELECT/TOP below uniform sampling; and fitting the model to the warm-up alone "
        "improves the success rate significantly. The last is so with a single sweep of the fit, "
        "and not with a stationary point of the likelihood.",
    ]
