"""The job `jaxrace duel`: dueling bandits on a preference matrix, their regret and accuracy.

Axes: R repeats, T records of each.
"""

import dataclasses
from pathlib import Path
from typing import Any

import jax
import numpy as np

from jaxrace import dueling, runs
from jaxrace.commands.duel.config import DuelConfig
from jaxrace.commands.duel.lineup import Entrant, entrant, matrix_of
from jaxrace.commands.duel.plots import regret_figure
from jaxrace.commands.duel.runs import Runs, run_entrant, stacked
from jaxrace.commands.job import Job
from jaxrace.commands.workbench import Workbench, run_job
from jaxrace.dueling.driver import note_without_winner

FIGURE = "regret.png"

# Records of a run: most, and how few will do where no more divide the horizon.
_RECORDS, _FEW_RECORDS = 100, 20
Columns = dict[str, np.ndarray]


def duel(job: Job) -> Path:
    """Run dueling bandits, and write a run folder: config.json, log.csv, summary.json, regret.png.

    The log has a row per algorithm, repeat and record, with the regrets so far and the arm that
    is recommended, by its number in the matrix.
    """
    asked: DuelConfig = job.config
    matrix = matrix_of(asked)
    config = dataclasses.replace(asked, horizon=rounded(asked.horizon))
    lineup = _lineup(config, len(matrix))
    for text in _notes(asked, config, matrix, lineup):
        job.on_note(text)

    def work(bench: Workbench) -> None:
        problems, horizon = stacked([dueling.duels(matrix)]), config.horizon
        sizes = config.repeats, horizon, record_count(horizon)
        logs = {
            name: columns_of(run_entrant(bench, name, one, problems, *sizes))
            for name, one in lineup.items()
        }
        runs.write_log(bench.folder, [{"algorithm": name, **log} for name, log in logs.items()])
        bench.write_figure(FIGURE, regret_figure(logs, shown_measure(matrix)))
        runs.write_summary(bench.folder, _summary(config, matrix, logs))

    return run_job("duel", job, work)


def shown_measure(matrix: np.ndarray) -> str:
    """Strong regret where there is a Condorcet winner, else that by Copeland's score."""
    return "copeland" if dueling.condorcet_winner(matrix) is None else "strong"


def _notes(
    asked: DuelConfig, config: DuelConfig, matrix: np.ndarray, lineup: dict[str, Entrant]
) -> list[str]:
    """What is to be known before the runs."""
    found = []
    if config.horizon != asked.horizon:
        found.append(
            f"horizon: {config.horizon:,} duels a run, not {asked.horizon:,}, for "
            f"{_RECORDS} records at equal intervals"
        )
    notes = [note_without_winner(name, one.algorithm, matrix) for name, one in lineup.items()]
    return found + [note for note in notes if note is not None]


def _lineup(config: DuelConfig, num_arms: int) -> dict[str, Entrant]:
    delta = 1 / config.horizon if config.delta is None else config.delta
    # A horizon of one duel has no such probability.
    delta = min(delta, 0.5)
    key = jax.random.key(np.uint32(config.seed))
    lineup = {}
    for name in config.algorithms:
        try:
            lineup[name] = entrant(name, num_arms, config.horizon, delta, key)
        except ValueError as error:
            raise ValueError(
                f"algorithm: expected some for {num_arms} arms, got {name!r} ({error})"
            ) from error
    for one in lineup.values():
        dueling.require_horizon(one.algorithm, config.horizon)
    return lineup


def record_count(horizon: int) -> int:
    """How many records at equal distances: a divisor of the horizon, near 100."""
    return max(count for count in range(1, _RECORDS + 1) if horizon % count == 0)


def rounded(horizon: int) -> int:
    """The horizon, or the next multiple of 100 below if hardly any records divide it."""
    if horizon <= _RECORDS or record_count(horizon) >= _FEW_RECORDS:
        return horizon
    return horizon // _RECORDS * _RECORDS


def columns_of(found: Runs) -> Columns:
    """The runs on a single problem as columns, [R T]."""
    _, repeats, records = found.recommended.shape
    regret = found.regret.reshape(repeats * records, -1)
    return {
        "repeat": np.repeat(np.arange(repeats), records),
        "duels": np.tile(found.time, repeats),
        **{measure: regret[:, place] for place, measure in enumerate(dueling.MEASURES)},
        "recommended": found.recommended.reshape(-1),
        "correct": found.is_best.reshape(-1),
        "settled_at": np.repeat(found.settled_at[0], records),
    }


def _summary(config: DuelConfig, matrix: np.ndarray, logs: dict[str, Columns]) -> dict[str, Any]:
    facts = {
        "arms": len(matrix),
        "condorcet_winner": dueling.condorcet_winner(matrix),
        "copeland_winners": np.flatnonzero(dueling.copeland_winners(matrix)).tolist(),
        "borda_winners": np.flatnonzero(dueling.borda_winners(matrix)).tolist(),
        "smith_set": np.flatnonzero(dueling.smith_set(matrix)).tolist(),
        "von_neumann_winner": dueling.von_neumann_winner(matrix).round(6).tolist(),
    }
    results = {name: _result(config, log) for name, log in logs.items()}
    return {"horizon": config.horizon, "repeats": config.repeats, "matrix": facts, **results}


def _result(config: DuelConfig, log: Columns) -> dict[str, Any]:
    last = log["duels"] == config.horizon
    counts = np.bincount(log["recommended"][last])
    settled = log["settled_at"][last]
    regrets = {
        measure: runs.mean_and_stderr(log[measure][last])
        for measure in dueling.MEASURES
        if np.isfinite(log[measure][last]).all()
    }
    return {
        "regret": regrets,
        "correct": runs.mean_and_stderr(log["correct"][last].astype(float)),
        "recommended_most": int(counts.argmax()),
        "exploration_ended": float((settled > 0).mean()),
        "exploration_duels": runs.mean_and_stderr(settled[settled > 0]) if settled.any() else None,
    }
