"""The job `jaxrace race`: which options of a table of scores are the best? Axes: K options."""

import dataclasses
import itertools
import math
import warnings
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
from rich.console import Console

from jaxrace import runs, tables
from jaxrace.commands.job import Job
from jaxrace.commands.printing import name_column, print_table, say
from jaxrace.commands.race.config import LEAST_RUNS, MOST_RUNS, ScoresConfig
from jaxrace.commands.race.file import ranks_of, read_scores
from jaxrace.commands.workbench import Workbench, run_job
from jaxrace.kernels import total_order
from jaxrace.racing import DominanceRace, DominanceResult, check_runs, judge

RANKING = "ranking.csv"
_MOST_PAIRS = 10  # pairs in doubt that the summary names, the most doubtful first
_HEADS = ("runs", "median", "beats", "verdict", "further runs")
_BEYOND = "too many"
_MOST_LISTED = 20  # longer rankings are in the file


def race_scores(job: Job) -> Path:
    """Judge a table of scores, and write a run folder: config.json, summary.json, ranking.csv."""
    config: ScoresConfig = job.config
    table = read_scores(config.scores, not config.no_header)
    race = _race_of(config, table)
    ranks = ranks_of(table)
    if config.lower:
        ranks = {name: -own for name, own in ranks.items()}
    doubts = _doubts(config, ranks)

    def work(bench: Workbench) -> None:
        job.on_stage(f"judging {len(ranks):,} options", 0, sum(map(len, ranks.values())))
        # The bets are those of the horizon, whatever room there is: all looks are one test.
        params = race.params(config.delta, horizon=config.horizon)
        # Whether the runs are independent has been looked at by ``_doubts``.
        result = judge(race, list(ranks.values()), params, dependent=True)
        # Further runs are forecast up to MOST_RUNS, not only up to the capacity.
        most = dataclasses.replace(result.params, max_rounds=jnp.int32(MOST_RUNS))
        _write(bench.folder, config, table, dataclasses.replace(result, params=most), doubts)

    return run_job("race", job, work)


def _race_of(config: ScoresConfig, table: dict[str, np.ndarray]) -> DominanceRace:
    if config.top >= len(table):
        raise ValueError(
            f"top: expected less than the {len(table)} options of the file, got {config.top}"
        )
    race = DominanceRace(len(table), config.top, config.horizon, total_order)
    most_runs = max(map(len, table.values()))
    # Room for at least one more block, so that the race has not ended.
    while race.blocks.num_complete(race.capacity) <= race.blocks.num_complete(most_runs):
        race = dataclasses.replace(race, capacity=2 * race.capacity)
    return race


def _doubts(config: ScoresConfig, runs_of: dict[str, np.ndarray]) -> list[str]:
    """Why the runs may depend on each other; ValueError if they do, and may not."""
    try:
        with warnings.catch_warnings(record=True, action="always", category=UserWarning) as found:
            check_runs(runs_of)
    except ValueError as error:
        if config.dependent:
            return [str(error)]
        raise ValueError(f"{error}; --dependent judges them, without a guarantee") from error
    return [str(one.message) for one in found]


def _write(
    folder: Path,
    config: ScoresConfig,
    table: dict[str, np.ndarray],
    result: DominanceResult,
    doubts: list[str],
) -> None:
    names = np.array(list(table))
    counts = np.array(list(map(len, table.values())))
    medians = np.array(list(map(_median, table.values())))
    without_block = counts < result.blocks.first
    is_judged = not without_block.any()
    ranking = np.asarray(result.ranking)
    if not is_judged:
        ranking = np.argsort(medians if config.lower else -medians, kind="stable")
    verdict = np.where(result.selected, "in", np.where(result.discarded, "out", "?"))
    columns = {
        "place": np.arange(1, len(names) + 1),
        "option": names[ranking],
        "runs": counts[ranking],
        "median": medians[ranking],
        "beats": np.asarray(result.wins)[ranking],
        "verdict": verdict[ranking],
        "further_runs": result.further_samples[ranking],
    }
    tables.write_table(folder / RANKING, columns)
    log_e = np.asarray(result.highest, np.float64)
    log_e = np.maximum(log_e, log_e.T)
    pairs = sorted(map(tuple, np.argwhere(result.doubtful)), key=lambda pair: log_e[pair])
    summary = {
        "options": len(names),
        "runs": int(counts.sum()),
        "counted": int(np.sum(result.samples)),
        "horizon": config.horizon,
        "delta": config.delta,
        "certificate": result.certificate if result.decided else None,
        "doubts": doubts,
        "has_names": not config.no_header,
        "without_block": names[without_block].tolist(),
        "selected": names[ranking[: config.top]].tolist() if is_judged else [],
        "perhaps_tied": names[np.asarray(result.tied)].tolist(),
        "in_doubt": [
            {
                "options": names[list(pair)].tolist(),
                "evidence": max(float(log_e[pair] / result.params.level), 0.0),
            }
            for pair in pairs[:_MOST_PAIRS]
        ],
        "pairs_in_doubt": len(pairs),
    }
    runs.write_summary(folder, summary)


def _median(scores: np.ndarray) -> float:
    """The lower one of two, so that infinite scores have one, too; NaN of none."""
    return float(np.sort(scores)[(len(scores) - 1) // 2]) if len(scores) else float("nan")


def print_race(console: Console, folder: Path) -> None:
    """Say of a run folder of ``race`` who is certainly best, and who needs more runs."""
    summary, ranking = runs.read_summary(folder), tables.read_table(folder / RANKING, ["option"])
    rows = []
    for row in itertools.islice(zip(*ranking.values(), strict=True), _MOST_LISTED):
        place, option, number, median, beats, verdict, further = row
        cells = (f"{place}", str(option), f"{number:,}", f"{median:.6g}", f"{beats}", str(verdict))
        rows.append([*cells, _further(further)])
    print_table(console, ["place", name_column("option"), *_HEADS], rows)
    if len(ranking["place"]) > _MOST_LISTED:
        say(console, f"... and {len(ranking['place']) - _MOST_LISTED} more in {RANKING}")
    say(console, *(f"WARNING: {text}" for text in summary["doubts"]))
    if not summary["has_names"]:
        say(
            console,
            "options are called by their columns, from left to right; the first row is a run",
        )
    say(console, *_verdict(summary, any(map(math.isinf, ranking["further_runs"].tolist()))))
    say(console, f"{summary['counted']:,} of {summary['runs']:,} runs counted; {folder}")


def _verdict(summary: dict[str, Any], has_too_many: bool) -> list[str]:
    best = ", ".join(summary["selected"])
    certified = "CERTIFIED" if not summary["doubts"] else "CERTIFIED only if runs are independent"
    worth = (
        f"a wrong certificate has probability at most {summary['delta']:g}, in all looks with the "
        f"same columns and settings (horizon {summary['horizon']:,}) together, if all runs are "
        "independent, also those of different columns, and stand as they were made"
    )
    if summary["certificate"] == "dominance":
        return [f"{certified}: {best}: more often better than worse than each of the others", worth]
    if summary["certificate"] == "counts":
        tied = summary["perhaps_tied"]
        more = f"; {', '.join(tied)} may be equally good" if tied else ""
        return [f"{certified}: {best}: nobody beats more of the others{more}", worth]
    if summary["without_block"]:
        lacking = ", ".join(summary["without_block"])
        return [
            "NOT CERTIFIED, and no guess yet, in the order of the medians",
            f"nothing is said before all have {LEAST_RUNS} runs; fewer have {lacking}",
        ]
    pairs = [
        f"{' or '.join(pair['options'])} ({math.floor(100 * pair['evidence'])} % of the evidence)"
        for pair in summary["in_doubt"]
    ]
    hidden = summary["pairs_in_doubt"] - len(pairs)
    more = f" and {hidden} more" if hidden else ""
    too_many = f"; {_BEYOND}: more than {MOST_RUNS:,} of an option" if has_too_many else ""
    helps = (
        "further runs are a forecast, from gaps as they look, until nothing is in doubt; add them "
        f"at the end{too_many}"
    )
    return [f"NOT CERTIFIED, a guess: {best}", f"in doubt: {', '.join(pairs)}{more}", helps]


def _further(number: float) -> str:
    if math.isinf(number):
        return _BEYOND
    return f"{number:,.0f}" if number else ""
