"""Top k of 10 by scores: Groves and Branke, figure 2 a and b. Axes: J selections, K options."""

import functools
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace.commands.select.curves import Curve, draw_curves, success_at, table_of
from jaxrace.commands.select.runs import TOP_POINTS, Task, problem_keys, run_selector, run_top
from jaxrace.commands.workbench import Workbench, with_error
from jaxrace.papers.figures import FIGURES
from jaxrace.selection import (
    HybridPocbam,
    KnowledgeGradient,
    MlPocbam,
    NormalScores,
    Ocba,
    Pocbam,
    Selector,
    Uniform,
    borda_top,
    normal_score,
    thurstone,
)
from jaxrace.tables import markdown_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOP = "SELECT/TOP"

NUM_OPTIONS, BUDGET, INTERVAL = 10, 1_000, 5

# Besides SELECT/TOP, what the paper shows.
PUBLISHED = ("ML-POCBAm, one sweep", "POCBAm", "uniform")

_MOST_COLUMNS = 3


def lineup(num_options: int, top: int) -> dict[str, Selector]:
    """The paper's methods, the model fitted in two ways, and others.

    >>> list(lineup(10, 4))[:2]
    ['ML-POCBAm, one sweep', 'ML-POCBAm, stationary']
    """
    return {
        "ML-POCBAm, one sweep": MlPocbam(num_options, top, fit="swept"),
        "ML-POCBAm, stationary": MlPocbam(num_options, top, fit="followed"),
        "POCBAm": Pocbam(num_options, top),
        "uniform": Uniform(num_options, top),
        "hybrid, one sweep": HybridPocbam(num_options, top, fit="swept"),
        "PKG": KnowledgeGradient(num_options, top),
        "OCBA-m, single options": Ocba(num_options, top),
    }


def thurstone_task(
    name: str,
    seed: int,
    repeats: int,
    sizes: tuple[int, int],
    budget: int,
    interval: int,
    noise: float = 0.0,
    first: float | None = None,
) -> Task:
    """Selections from random Thurstone problems; the same for all methods.

    Args:
        name: Of the task.
        seed: Of the problems.
        repeats: J.
        sizes: K and k.
        budget: Comparisons.
        interval: Of the records.
        noise: d, see ``selection.thurstone``.
        first: Of one option, in a random place; see ``selection.thurstone``.

    >>> thurstone_task("1 of 3", 0, 5, (3, 1), 30, 5).truth.sum(1).tolist()
    [1, 1, 1, 1, 1]
    """
    make = functools.partial(thurstone, num_options=sizes[0], first=first)
    keys = problem_keys(seed, repeats)
    problems = _many(make, keys, noise)
    if first is not None:
        # The best is not always the first: places matter in a tournament.
        problems = jax.jit(jax.vmap(_shuffled))(keys, problems)
    truth = jax.vmap(functools.partial(borda_top, top=sizes[1]))(problems.means)
    return Task(name, normal_score, problems, np.asarray(truth), budget, interval)


def _shuffled(key: jax.Array, problem: NormalScores) -> NormalScores:
    key = jax.random.fold_in(key, jnp.uint32(2))
    order = jax.random.permutation(key, problem.means.shape[0])
    return jax.tree.map(lambda x: x[order][:, order], problem)


def _many(make: Any, keys: jax.Array, noise: float) -> Any:
    return jax.vmap(lambda key: make(key, noise=noise))(keys)


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
    # To see that it works, a few will do.
    for top in (4, 1)[: bench.size(2, 1)]:
        name = f"{top} of {NUM_OPTIONS}"
        task = thurstone_task(name, bench.seed, repeats, (NUM_OPTIONS, top), budget, INTERVAL)
        methods = lineup(NUM_OPTIONS, top)
        found = {
            method: run_selector(bench, task, method, methods[method], methods[method].params())
            for method in names[: bench.size(len(names), 2)]
        }
        found[TOP] = run_top(bench, task, bench.size(TOP_POINTS, 2))
        curves[name] = found
    bench.write_table("success.csv", table_of(curves))
    bench.write_figure("success.png", figure_of(curves))
    looks = [135, 250, 500, 1000] if not bench.quick else [135, 235]
    bench.write_report(FIGURES[experiment].about, _paragraphs(curves, repeats, looks))


def figure_of(curves: dict[str, dict[str, Curve]]) -> "Figure":
    """A panel for each task.

    >>> curve = Curve(np.ones(1), np.ones((2, 1), bool))
    >>> len(figure_of({"1 of 2": {"uniform": curve}}).axes)
    1
    """
    from matplotlib.figure import Figure

    columns = min(len(curves), _MOST_COLUMNS)
    rows = -(-len(curves) // columns)
    figure = Figure(figsize=(6 * columns, 4.2 * rows + 0.6), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).reshape(-1)
    names = list(dict.fromkeys(name for found in curves.values() for name in found))
    handles = {}
    for panel, (task, found) in zip(panels, curves.items(), strict=False):
        draw_curves(panel, found, f"top {task}", names)
        handles |= dict(zip(found, panel.get_lines(), strict=True))
    for unused in panels[len(curves) :]:
        unused.set_visible(False)
    shown = [handles[name] for name in names]
    figure.legend(shown, names, loc="outside lower center", ncols=5, frameon=False)
    return figure


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
