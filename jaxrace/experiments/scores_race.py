"""The job `jaxrace race`: which options of a table of scores are the best? Axes: K options."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from jaxrace import runs, tables
from jaxrace.experiments.run_options import ANY_LANES, Lanes
from jaxrace.experiments.scores_config import HORIZONS, ScoresConfig
from jaxrace.experiments.scores_file import ScoreTable, ranks_of, read_scores
from jaxrace.experiments.workbench import OnStage, Workbench, ignore_stages, run_job
from jaxrace.kernels import total_order
from jaxrace.racing import DominanceRace, DominanceResult, judge

RANKING = "ranking.csv"

# Pairs in doubt that the summary names, the most doubtful first.
_MOST_PAIRS = 10


def race_scores(
    config: ScoresConfig,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    stop: Callable[[], bool] | None = None,
    on_stage: OnStage = ignore_stages,
    lanes: Lanes = ANY_LANES,
) -> Path:
    """Judge a table of scores, and write a run folder: config.json, summary.json, ranking.csv.

    Args:
        config: The job.
        out: The run's folder; ``runs/race-1`` or the next free number unless given.
        resume: Go on with the job that left the folder ``out``.
        stop: See ``run_job``; the job takes seconds.
        on_stage: See ``Workbench``.
        lanes: See ``Workbench``.

    Returns:
        The run's folder.

    Raises:
        ValueError: ``config``, its file or ``out`` cannot be used; nothing is left behind.

    >>> rng = np.random.default_rng(0)
    >>> tables.write_table("scores.csv", {"a": rng.normal(size=20), "b": rng.normal(3, 1, 20)})
    >>> runs.read_summary(race_scores(ScoresConfig("scores.csv")))["selected"]
    ['b']
    """
    table = read_scores(config.scores)
    race = _race_of(config, table)

    def work(bench: Workbench) -> None:
        ranks = [-of_option if config.lower else of_option for of_option in ranks_of(table)]
        result = judge(race, ranks, race.params(config.delta))
        _write(bench.folder, config, table, result)

    return run_job("race", config, work, out, resume, stop, on_stage, lanes)


def _race_of(config: ScoresConfig, table: ScoreTable) -> DominanceRace:
    if config.top >= len(table.names):
        raise ValueError(
            f"top: expected less than the {len(table.names)} options of the file, got {config.top}"
        )
    most = max(len(scores) for scores in table.scores)
    fitting = [horizon for horizon in HORIZONS if horizon >= most]
    if not fitting:
        raise ValueError(f"scores: expected at most {HORIZONS[-1]} runs of an option, got {most}")
    horizon = fitting[0] if config.horizon is None else config.horizon
    if most > horizon:
        raise ValueError(
            f"horizon: expected at least the {most} runs of an option in the file, got {horizon}"
        )
    return DominanceRace(len(table.names), config.top, horizon, total_order)


def _write(folder: Path, config: ScoresConfig, table: ScoreTable, result: DominanceResult) -> None:
    ranking, names = np.asarray(result.ranking), np.array(table.names)
    verdict = np.where(result.selected, "in", np.where(result.discarded, "out", "?"))
    columns = {
        "place": np.arange(1, len(names) + 1),
        "option": names[ranking],
        "runs": np.array([len(scores) for scores in table.scores])[ranking],
        "median": np.array([_median(scores) for scores in table.scores])[ranking],
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
        "runs": sum(len(scores) for scores in table.scores),
        "counted": int(np.sum(result.samples)),
        "horizon": result.race.capacity,
        "delta": config.delta,
        "certificate": result.certificate if result.decided else None,
        "ended": result.certificate == "exhausted",
        "selected": names[result.best].tolist(),
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
