"""The job `jaxrace select`: the best k from comparisons. Axes: K options, J selections."""

import dataclasses
import functools
import itertools
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from jaxrace import runs, selection, tables
from jaxrace.commands.job import Job
from jaxrace.commands.printing import name_column, print_table, say
from jaxrace.commands.select.config import (
    FROM_SCORES,
    LEAST_OF_A_PAIR,
    OF_COLUMNS,
    SelectConfig,
)
from jaxrace.commands.select.curves import Curve, figure_of, table_of
from jaxrace.commands.select.file import Table, read_comparisons
from jaxrace.commands.select.intervals import LEVEL
from jaxrace.commands.select.judge import MAKERS, judgement_of
from jaxrace.commands.select.runs import Task, run_rows, run_top
from jaxrace.commands.select.tasks import CIRCLE, thurstone_task, wins_task, with_own_target
from jaxrace.commands.workbench import Workbench, run_job, with_error
from jaxrace.selection.driver import first_record, fitting_interval

FIGURE, RANKING = "success.png", "ranking.csv"

# Selections by any method have so many records, or at most so many times as many.
_RECORDS = 100
_FEWER = 4
_MOST_LISTED = 20  # longer rankings are in the file

# A chance that a comparison changes the selection; and what reads as certain with three digits.
_UNLIKELY, _SURE = 0.01, 0.9995
_LEAST_SHOWN = 1e-9  # smaller chances are those of the model alone

_MAKERS: dict[str, Callable[..., selection.Selector]] = {
    **MAKERS,
    "ocba": selection.Ocba,
    "active-ranking": selection.ActiveRanking,
    "active-ranking-wide": functools.partial(selection.ActiveRanking, radius="heckel"),
    "pairwise-race": selection.PairwiseRace,
    "pairwise-race-copeland": functools.partial(selection.PairwiseRace, ranking="copeland"),
    "pairwise-race-walk": functools.partial(selection.PairwiseRace, ranking="random_walk"),
}


def select(job: Job) -> Path:
    """Judge a file of comparisons, or simulate selections, and write a run folder."""
    config: SelectConfig = job.config
    table = None
    if config.is_file:
        columns = {name: getattr(config, name) for name in OF_COLUMNS}
        table = read_comparisons(config.problem, config.score, **columns)
    _check(config, table)

    def work(bench: Workbench) -> None:
        if table is None:
            _simulate(config, bench)
        else:
            _judge(config, table, bench.folder)

    return run_job("select", job, work)


def _check(config: SelectConfig, table: Table | None) -> None:
    if table is not None:
        if config.top >= len(table.names):
            raise ValueError(
                f"top: expected less than the {len(table.names)} options of the file, "
                f"got {config.top}"
            )
        return
    for name in config.methods:
        if name == "top":
            least, most = selection.Top(config.options, config.top).match_bounds
            if config.budget < most:
                raise ValueError(
                    f"budget: expected at least {most}, as top plays {least} to {most} matches "
                    f"with {config.options} options, got {config.budget}"
                )
            continue
        selector = _selector_of(config, name)
        selection.require_budget(selector, config.budget, 1)
        rest = config.budget - selector.opening
        if rest % config.batch:
            raise ValueError(
                f"batch: expected a divisor of the {rest} comparisons after the warm-up, "
                f"got {config.batch}"
            )


def _judge(config: SelectConfig, table: Table, folder: Path) -> None:
    found = judgement_of(config, table)
    names = np.array(table.names)
    columns = {
        "place": np.arange(1, len(names) + 1),
        "option": names[found.ranking],
        "score": found.scores[found.ranking],
        "low": (found.scores - found.intervals.scores)[found.ranking],
        "high": (found.scores + found.intervals.scores)[found.ranking],
        "selected": np.arange(len(names)) < config.top,
    }
    tables.write_table(folder / RANKING, columns)
    last, first = found.ranking[config.top - 1 : config.top + 1]
    gap, wide = float(found.scores[last] - found.scores[first]), found.intervals.gap
    summary = {
        "comparisons": len(table.score),
        "options": len(names),
        "reading": table.reading,
        "said": list(table.said),
        "model": found.model,
        "selected": names[found.ranking[: config.top]].tolist(),
        "confidence": None if np.isnan(found.confidence) else found.confidence,
        "gap": {
            "between": names[[last, first]].tolist(),
            "score": gap,
            "low": None if np.isnan(wide) else gap - wide,
            "high": None if np.isnan(wide) else gap + wide,
        },
        "fewest_of_a_pair": found.fewest,
        "connected": found.is_connected,
        "next": [names[pair].tolist() for pair in found.pairs],
        "log_chance_of_change": found.log_chance if np.isfinite(found.log_chance) else None,
    }
    runs.write_summary(folder, summary)


def _simulate(config: SelectConfig, bench: Workbench) -> None:
    interval = max(config.budget // _RECORDS, 1)
    sizes = config.options, config.top
    rest = config.problem, config.seed, config.repeats, sizes, config.budget, interval
    if config.problem == "thurstone":
        task = thurstone_task(*rest, noise=config.noise)
    else:
        task = wins_task(*rest, CIRCLE if config.problem == "circle" else 0.0)
    curves, results = {}, {}
    for name in config.methods:
        curves[name], results[name] = _run_method(config, bench, task, name)
    bench.write_table(runs.LOG, table_of({config.problem: curves}))
    bench.write_figure(FIGURE, figure_of({f"{config.top} of {config.options}": curves}))
    runs.write_summary(bench.folder, {"repeats": config.repeats, **results})


def _run_method(
    config: SelectConfig, bench: Workbench, task: Task, name: str
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


def _selector_of(config: SelectConfig, name: str) -> selection.Selector:
    if name in FROM_SCORES:
        return _MAKERS[name](config.options, config.top, pooled_samples=config.pooled_samples)
    return _MAKERS[name](config.options, config.top)


def _result(curve: Curve, samples: float) -> dict[str, Any]:
    rate, error = (float(numbers[-1]) for numbers in curve.success)
    correct = {"mean": rate, "stderr": error, "count": len(curve.correct)}
    return {"samples": float(samples), "correct": correct}


def print_selection(console: Console, folder: Path) -> None:
    """Say of a run folder of ``select`` who is best, or how often which method was right."""
    summary = runs.read_summary(folder)
    if "selected" in summary:
        _print_judgement(console, folder, summary)
        return
    results = {name: found for name, found in summary.items() if isinstance(found, dict)}
    heads = ["comparisons", "correct"]
    # Methods with a guarantee may also end undecided.
    if any("decided" in found for found in results.values()):
        heads.append("decided")
    rows = []
    for name, found in results.items():
        rate = with_error(found["correct"]["mean"], found["correct"]["stderr"], digits=3)
        cells = [name, f"{found['samples']:,.0f}", rate]
        if "decided" in found:
            cells.append(f"{found['decided']:,}, {found['decided_wrongly']:,} of them wrongly")
        rows.append(cells)
    print_table(console, [name_column("method"), *heads], rows)
    say(console, f"{summary['repeats']:,} selections by each method; {folder}")


def _print_judgement(console: Console, folder: Path, summary: dict[str, Any]) -> None:
    ranking = tables.read_table(folder / RANKING, text=["option"])
    heads = ("place", "option", "score", "low", "high", "selected")
    rows = zip(*(ranking[name] for name in heads), strict=True)
    rounding = 1e-12 * np.abs(ranking["score"]).max()
    cells = [
        (
            str(place),
            str(option),
            f"{score if abs(score) > rounding else 0:.4g}",
            "" if np.isnan(low) else f"{low:.4g} to {high:.4g}",
            "selected" if selected else "",
        )
        for place, option, score, low, high, selected in itertools.islice(rows, _MOST_LISTED)
    ]
    shown = ["place", name_column("option"), "score", f"{LEVEL:.0%}", ""]
    print_table(console, shown, cells)
    say(console, *_lines(summary), f"{summary['comparisons']:,} comparisons; {folder}")


def _lines(summary: dict[str, Any]) -> list[str]:
    lines = list(summary.get("said", ()))
    if not summary["connected"]:
        lines.append("options that no chain of comparisons connects are in no order yet")
    if summary["model"] == "linked":
        lines.append(
            f"some pairs have fewer than {LEAST_OF_A_PAIR} comparisons: ranking, probability and "
            "advice are of one model of all of them, score = quality of the first - quality of the "
            "second + noise of one variance (least squares)"
        )
    lines.append(f"probability that the selection is right: {_sureness(summary)}")
    gap = summary["gap"]
    if gap["low"] is not None:
        last, first = gap["between"]
        lines.append(
            f"{last} is ahead of {first}, the first that is not selected, by {gap['score']:.4g}, "
            f"{LEVEL:.0%} interval {gap['low']:.4g} to {gap['high']:.4g}; intervals are "
            "approximate, each by itself"
        )
    counts = Counter(" - ".join(pair) for pair in summary["next"])
    pairs = (pair if n == 1 else f"{pair} ({n:,} times)" for pair, n in counts.items())
    lines.append(f"compare next: {'; '.join(pairs)}")
    log_chance = summary["log_chance_of_change"]
    if log_chance is None or log_chance < math.log(_UNLIKELY):
        chance = f"below {_LEAST_SHOWN:g}"
        if log_chance is not None and log_chance >= math.log(_LEAST_SHOWN):
            chance = f"{math.exp(log_chance):.1g} at most"
        lines.append(
            "none of these comparisons is likely to change the selection by itself: "
            f"the chance is {chance}"
        )
    return lines


def _sureness(summary: dict[str, Any]) -> str:
    confidence = summary["confidence"]
    if confidence is not None:
        about = "above 0.999" if confidence > _SURE else f"about {confidence:.3f}"
        return f"{about}, an estimate without guarantee"
    if not summary["connected"]:
        return "not known yet: compare options that nothing connects"
    if summary["model"] == "linked":
        return "not known yet: there are too few comparisons to tell how noisy they are"
    return "not known: the scores are too large or too small to tell"
