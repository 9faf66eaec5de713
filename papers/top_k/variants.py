"""Top 4 of 10: several comparisons chosen at once, and pooled samples. Axes: J selections."""

import dataclasses

import numpy as np

from jaxrace import selection
from jaxrace.runs.tables import markdown_table
from papers.selections.config import POOLED_SAMPLES
from papers.selections.curves import correct_at, success_in_words
from papers.selections.runs import Task, run_selector
from papers.selections.tasks import Plan, thurstone_task, wins_task, with_own_target
from papers.top_k.stationary import StationaryMlPocbam
from papers.top_k.thurstone_topk import NUM_OPTIONS, Curves, leave
from papers.workbench import Workbench, mean_and_error, with_error

TOP = 4
_SIZES = NUM_OPTIONS, TOP
_BUDGET, _INTERVAL = 1_035, 45
_LOOKS = (225, 495, 1_035)
_QUICK = 225  # comparisons of a quick look

# B. After the warm-up of 135 comparisons there are 900, which all of them divide.
BATCHES = (1, 5, 15, 45)

# w: by so many samples of the variance within all pairs each pair's own is mixed.
POOLED = (0.0, 1.0, 2.0, 4.0)
UNIFORM = "uniform"

# What chooses by estimated variances.
BY_VARIANCES: dict[str, selection.ScoreSelector] = {
    "PKG": selection.KnowledgeGradient(*_SIZES),
    "POCBAm": selection.Pocbam(*_SIZES),
    "ML-POCBAm, one sweep": selection.MlPocbam(*_SIZES),
    "ML-POCBAm, stationary": StationaryMlPocbam(*_SIZES, follows=True),
    "hybrid": selection.HybridPocbam(*_SIZES),
}

# What can choose several comparisons at once, and gains by not doing it.
_PKG = selection.KnowledgeGradient(*_SIZES, pooled_samples=POOLED_SAMPLES)
IN_BATCHES: dict[str, selection.Selector] = {
    "ML-POCBAm": selection.MlPocbam(*_SIZES),
    "hybrid": selection.HybridPocbam(*_SIZES),
    "POCBAm": selection.Pocbam(*_SIZES),
    f"PKG, {POOLED_SAMPLES:g} pooled samples": _PKG,
}


def run_batches(bench: Workbench) -> None:
    """Leaves success.csv, success.png and report.md."""
    repeats, budget = bench.size(5_000, 64), bench.size(_BUDGET, _QUICK)
    name = f"{TOP} of {NUM_OPTIONS}"
    task = thurstone_task(name, Plan(bench.seed, repeats, *_SIZES, budget, _INTERVAL))
    curves: Curves = {}
    for name in bench.few(IN_BATCHES, 1):
        own = curves.setdefault(f"{task.name}, {name}", {})
        for batch in bench.few(BATCHES, 2):
            label = f"B = {batch}"
            own[label] = run_selector(
                bench, task, f"{name}, {label}", IN_BATCHES[name], batch=batch
            )
    said = (
        f"{repeats:,} random Thurstone problems of {NUM_OPTIONS} options, the same for all. B "
        "comparisons are chosen before any of them is made. Share of correct selections of the "
        "top 4, and what is lost against B = 1. ± is one standard error."
    )
    leave(bench, curves, said, _rates(bench, curves, "batch", is_compared=True))


def run_pooled(bench: Workbench) -> None:
    """Leaves success.csv, success.png and report.md."""
    repeats, budget = bench.size(2_000, 64), bench.size(_BUDGET, _QUICK)
    plan = Plan(bench.seed, repeats, *_SIZES, budget, _INTERVAL)
    size = f"{TOP} of {NUM_OPTIONS}"
    scores = thurstone_task(f"{size}, scores", plan)
    tasks = [scores, wins_task(f"{size}, wins", plan)]
    curves: Curves = {}
    for task in bench.few(tasks, 1):
        curves |= _run_pooled(bench, task)
    others = share_of_others(scores)
    said = (
        f"{repeats:,} problems of {NUM_OPTIONS} options, the same for all; share of correct "
        f"selections of the top {TOP}, ± one standard error. w: the variance of every pair is "
        "mixed with so many samples of the variance within all pairs."
    )
    last = (
        f"In {with_error(*others, digits=3)} of the Thurstone problems the {TOP} options that win "
        "most often are not those of the largest mean scores."
    )
    leave(bench, curves, said, _rates(bench, curves, "pooled"), last)


def _run_pooled(bench: Workbench, task: Task) -> Curves:
    """A set of curves for each method, all with that of uniform sampling, which does not choose."""
    plain = run_selector(bench, task, UNIFORM, selection.Uniform(*_SIZES))
    found: Curves = {}
    for pooled in bench.few(POOLED, 2):
        for name in bench.few(BY_VARIANCES, 1):
            selector = dataclasses.replace(BY_VARIANCES[name], pooled_samples=pooled)
            own = found.setdefault(f"{task.name}, {name}", {UNIFORM: plain})
            label = f"w = {pooled:g}"
            own[label] = run_selector(bench, task, f"{name}, {label}", selector)
    return found


def share_of_others(task: Task) -> tuple[float, float]:
    """How often those who win most often are others than those of the best mean score; its error.

    >>> share_of_others(wins_task("2 of 5", Plan(0, 50, 5, 2, 30, 5)))
    (0.0, 0.0)
    """
    by_wins = with_own_target(task, selection.PairwiseRace(task.num_options, task.top))
    share = (by_wins.truth != task.truth).any(-1).mean()
    return float(share), float(np.sqrt(share * (1 - share) / len(task.truth)))


def _rates(bench: Workbench, curves: Curves, column: str, is_compared: bool = False) -> str:
    """After a few numbers of samples; each curve perhaps compared with the first of its set."""
    looks = [bench.size(look, _QUICK) for look in _LOOKS]
    rows = []
    for title, found in curves.items():
        first = next(iter(found.values()))
        for name, curve in found.items():
            cells = [success_in_words(curve, look) for look in looks]
            if is_compared and curve is not first:
                for place, look in enumerate(looks):
                    change = correct_at(first, look) - correct_at(curve, look)
                    lost = with_error(*mean_and_error(change), digits=3)
                    cells[place] += f", lost {lost}"
            rows.append([title, name, *cells])
    heads = ["task, method", column, *(f"{samples:,} samples" for samples in looks)]
    return markdown_table(heads, rows)
