"""What pooled samples do to selectors by scores. Axes: J selections, K options."""

import numpy as np

from jaxrace import selection
from jaxrace.commands.select.curves import Curve, success_in_words
from jaxrace.commands.select.runs import Task, run_selector
from jaxrace.commands.select.tasks import thurstone_task, wins_task, with_own_target
from jaxrace.commands.workbench import Workbench, with_error
from jaxrace.papers.top_k.thurstone_topk import NUM_OPTIONS, leave
from jaxrace.tables import markdown_table

TOP = 4

# w: by so many samples of the variance within all pairs each pair's own is mixed.
POOLED = (0.0, 1.0, 2.0, 4.0)
UNIFORM = "uniform"
_BUDGET, _INTERVAL = 1_035, 45


def lineup(num_options: int, top: int, pooled_samples: float) -> dict[str, selection.Selector]:
    """Selectors that choose by estimated variances."""
    sizes = num_options, top
    return {
        "PKG": selection.KnowledgeGradient(*sizes, pooled_samples=pooled_samples),
        "POCBAm": selection.Pocbam(*sizes, pooled_samples=pooled_samples),
        "ML-POCBAm, one sweep": selection.MlPocbam(*sizes, pooled_samples=pooled_samples),
        "ML-POCBAm, stationary": selection.MlPocbam(
            *sizes, fit="followed", pooled_samples=pooled_samples
        ),
        "hybrid": selection.HybridPocbam(*sizes, pooled_samples=pooled_samples),
    }


def run(bench: Workbench) -> None:
    """Leaves success.csv, success.png and report.md."""
    repeats, budget = bench.size(2_000, 64), bench.size(_BUDGET, 225)
    sizes = NUM_OPTIONS, TOP
    common = (bench.seed, repeats, sizes, budget, _INTERVAL)
    size = f"{TOP} of {NUM_OPTIONS}"
    tasks = [thurstone_task(f"{size}, scores", *common), wins_task(f"{size}, wins", *common, 0.0)]
    curves: dict[str, dict[str, Curve]] = {}
    for task in bench.few(tasks, 1):
        curves |= _run_all(bench, task)
    leave(bench, curves)
    looks = [bench.size(look, 225) for look in (225, 495, 1_035)]
    others = share_of_others(tasks[0])
    bench.write_report(_paragraphs(curves, repeats, looks, others))


def _run_all(bench: Workbench, task: Task) -> dict[str, dict[str, Curve]]:
    """A set of curves for each method, all with that of uniform sampling, which does not choose."""

    def curve(name: str, selector: selection.Selector) -> Curve:
        return run_selector(bench, task, name, selector)

    plain = curve(UNIFORM, selection.Uniform(task.num_options, task.top))
    found: dict[str, dict[str, Curve]] = {}
    for pooled in bench.few(POOLED, 2):
        methods = lineup(task.num_options, task.top, pooled)
        for name in bench.few(methods, 1):
            own = found.setdefault(f"{task.name}, {name}", {UNIFORM: plain})
            own[f"w = {pooled:g}"] = curve(f"{name}, w = {pooled:g}", methods[name])
    return found


def share_of_others(task: Task) -> tuple[float, float]:
    """How often those who win most often are others than those of the best mean score; its error.

    >>> share_of_others(wins_task("2 of 5", 0, 50, (5, 2), 30, 5, 0.0))
    (0.0, 0.0)
    """
    by_wins = with_own_target(task, selection.PairwiseRace(task.num_options, task.top))
    share = (by_wins.truth != task.truth).any(-1).mean()
    return float(share), float(np.sqrt(share * (1 - share) / len(task.truth)))


def _paragraphs(
    curves: dict[str, dict[str, Curve]], repeats: int, looks: list[int], others: tuple[float, float]
) -> list[str]:
    heads = ["task, method", "pooled", *(f"{samples:,} samples" for samples in looks)]
    rows = [
        [title, name, *(success_in_words(curve, look) for look in looks)]
        for title, found in curves.items()
        for name, curve in found.items()
    ]
    return [
        f"{repeats:,} problems of {NUM_OPTIONS} options, the same for all; share of correct "
        f"selections of the top {TOP}, ± one standard error. Scores: random Thurstone problems. "
        "Wins: p_ij logistic in the difference of qualities. w: the variance of every pair is "
        "mixed with so many samples of the variance within all pairs; uniform sampling has no use "
        "for it.",
        "![Success rate](success.png)",
        markdown_table(heads, rows),
        f"In {with_error(*others, digits=3)} of the Thurstone problems the {TOP} options that win "
        "most often are not those of the largest mean scores.",
    ]
