"""The job `jaxrace race`: which options of a table of scores are the best? Axes: K options."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from jaxrace import runs, tables
from jaxrace.experiments.run_options import ANY_LANES, Lanes
from jaxrace.experiments.scores_config import ScoresConfig
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
        resume: Go on with the job that left the folder ``out``, with the same table.
        stop: See ``run_job``; the job takes seconds, or longer where many options have used up a
            horizon of thousands.
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
    digest = hashlib.sha256(Path(config.scores).read_bytes()).hexdigest()
    if resume and out is not None:
        _require_same(Path(out), digest)

    def work(bench: Workbench) -> None:
        ranks = [-of_option if config.lower else of_option for of_option in ranks_of(table)]
        result = judge(race, ranks, race.params(config.delta))
        _write(bench.folder, config, table, result, digest)

    return run_job("race", config, work, out, resume, stop, on_stage, lanes)


def _race_of(config: ScoresConfig, table: ScoreTable) -> DominanceRace:
    if config.top >= len(table.names):
        raise ValueError(
            f"top: expected less than the {len(table.names)} options of the file, got {config.top}"
        )
    most = max(len(scores) for scores in table.scores)
    if most > config.horizon:
        raise ValueError(
            f"horizon: expected the most runs that an option may ever have, at least the {most} of "
            f"the file, got {config.horizon}"
        )
    return DominanceRace(len(table.names), config.top, config.horizon, total_order)


def _require_same(folder: Path, digest: str) -> None:
    """Raise ValueError if the folder tells of another table."""
    if (folder / runs.SUMMARY).exists() and runs.read_summary(folder)["sha256"] != digest:
        raise ValueError(
            f"resume: expected the scores of the run in '{folder}', got others: judge a table that "
            "has changed in a folder of its own"
        )


def _write(
    folder: Path, config: ScoresConfig, table: ScoreTable, result: DominanceResult, digest: str
) -> None:
    names = np.array(table.names)
    counts = np.array([len(scores) for scores in table.scores])
    medians = np.array([_median(scores) for scores in table.scores])
    without_block = counts < result.race.first_block
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
        "sha256": digest,
        "options": len(names),
        "runs": int(counts.sum()),
        "counted": int(np.sum(result.samples)),
        "horizon": config.horizon,
        "delta": config.delta,
        "certificate": result.certificate if result.decided else None,
        "ended": result.certificate == "exhausted",
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
