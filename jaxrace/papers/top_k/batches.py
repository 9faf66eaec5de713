"""What it costs to choose several comparisons at once. Axes: J selections, K options."""

from jaxrace.commands.select.config import POOLED_SAMPLES
from jaxrace.commands.select.curves import Curve, correct_at, success_in_words
from jaxrace.commands.select.runs import run_selector
from jaxrace.commands.select.tasks import thurstone_task
from jaxrace.commands.workbench import Workbench, mean_and_error, with_error
from jaxrace.papers.top_k.thurstone_topk import NUM_OPTIONS, leave
from jaxrace.selection import HybridPocbam, KnowledgeGradient, MlPocbam, Pocbam, Selector
from jaxrace.tables import markdown_table

TOP = 4

# B. After the warm-up of 135 comparisons there are 900, which all of them divide.
BATCHES = (1, 5, 15, 45)
_BUDGET, _INTERVAL = 1_035, 45


def lineup(num_options: int, top: int) -> dict[str, Selector]:
    """Selectors that can choose several comparisons at once, and gain by not doing it."""
    return {
        "ML-POCBAm": MlPocbam(num_options, top),
        "hybrid": HybridPocbam(num_options, top),
        "POCBAm": Pocbam(num_options, top),
        f"PKG, {POOLED_SAMPLES:g} pooled samples": KnowledgeGradient(
            num_options, top, pooled_samples=POOLED_SAMPLES
        ),
    }


def run(bench: Workbench) -> None:
    """Leaves success.csv, success.png and report.md."""
    repeats, batches = bench.size(5_000, 64), bench.few(BATCHES, 2)
    budget = bench.size(_BUDGET, 225)
    sizes = (NUM_OPTIONS, TOP)
    task = thurstone_task(f"{TOP} of {NUM_OPTIONS}", bench.seed, repeats, sizes, budget, _INTERVAL)
    methods = lineup(*sizes)
    curves: dict[str, dict[str, Curve]] = {}
    for name in bench.few(methods, 1):
        curves[f"{task.name}, {name}"] = {
            f"B = {batch}": run_selector(
                bench, task, f"{name}, B = {batch}", methods[name], batch=batch
            )
            for batch in batches
        }
    leave(bench, curves)
    looks = [bench.size(look, 225) for look in (225, 495, 1_035)]
    bench.write_report(_paragraphs(curves, repeats, looks))


def losses(curves: dict[str, Curve], samples: float) -> dict[str, tuple[float, float]]:
    """By how much the rate of the first curve is above each other, and its paired error.

    >>> import numpy as np
    >>> first, other = (Curve(np.ones(1), np.array([[True], [right]])) for right in (True, False))
    >>> losses({"B = 1": first, "B = 5": other}, 1)["B = 5"]
    (0.5, 0.5)
    """
    first, *others = (correct_at(curve, samples) for curve in curves.values())
    losses = [mean_and_error(first - other) for other in others]
    return {
        name: (float(mean), float(error))
        for name, (mean, error) in zip(list(curves)[1:], losses, strict=True)
    }


def _paragraphs(curves: dict[str, dict[str, Curve]], repeats: int, looks: list[int]) -> list[str]:
    rows = []
    for title, found in curves.items():
        for name, curve in found.items():
            row = [title, name]
            for samples in looks:
                loss = losses(found, samples).get(name)
                lost = "" if loss is None else f", lost {with_error(*loss, digits=3)}"
                row.append(success_in_words(curve, samples) + lost)
            rows.append(row)
    heads = ["task, method", "batch", *(f"{samples:,} samples" for samples in looks)]
    return [
        f"{repeats:,} random Thurstone problems of {NUM_OPTIONS} options, the same for all. After "
        "the first 3 comparisons of each pair, B comparisons are chosen before any of them is "
        "made. Share of correct selections of the top 4, and what is lost against B = 1 on the "
        "same problems. ± is one standard error.",
        "![Success rate](success.png)",
        markdown_table(heads, rows),
    ]
