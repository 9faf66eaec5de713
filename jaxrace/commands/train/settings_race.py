"""A race between the settings of a grid, which stops the repeats of those that cannot be the best.

A dominance race on what the repeats of each setting end with. Its options must be independent, so a
repeat has other keys in every setting. Axes: S settings, R repeats of each.
"""

import dataclasses
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaxrace import kernels, sweep
from jaxrace.commands.train.config import TrainConfig
from jaxrace.commands.train.learning import TrainWork, make_jobs
from jaxrace.racing import DominanceRace, DominanceResult
from jaxrace.sweep import Rows, SweepLog

DELTA = 0.05
_WORST = np.finfo(np.float32).min  # the value of a search that failed


class SettingsRace(NamedTuple):
    """What a race between settings leaves."""

    log: SweepLog  # of all searches that were made, as if one sweep had made them
    result: DominanceResult  # option s is setting s
    summary: dict[str, Any]  # in summary.json
    timing: dict[str, float]  # in timing.json


def race_settings(
    config: TrainConfig,
    objective: str,
    work: TrainWork,
    run: Callable[..., SweepLog],
    checkpoint: Path,
) -> SettingsRace:
    """Make searches until the best setting is certified, or the last two have had R repeats.

    ``run(work, jobs, folder, numbers)`` makes the searches with these numbers; each round has a
    folder of its own below the checkpoint.
    """
    num_settings, repeats = len(config.settings), config.repeats
    race = _make_race(num_settings, repeats)
    grid = make_jobs(num_settings, repeats, independent=True)
    started = time.perf_counter()
    params = race.params(DELTA)
    state = race.init(np.float32(0), params)
    played: list[tuple[NDArray[np.int64], SweepLog]] = []  # numbers of searches, and a log
    while (asked := np.asarray(race.ask(state, params))).any():
        told = np.asarray(state.simulated)
        count = race.rounds_to_tell(state)
        repeat = told[:, None] + np.arange(count)
        numbers = (np.arange(num_settings)[:, None] * repeats + repeat)[asked].ravel()
        jobs = sweep.Jobs(len(numbers), lambda chosen, own=numbers: grid.inputs(own[chosen]))
        log = run(work, jobs, checkpoint / f"round-{len(played):04}", numbers)
        played.append((numbers, log))
        outcomes = np.zeros((num_settings, count), np.float32)
        outcomes[asked] = _last_values(log, objective).reshape(-1, count)
        state = race.tell(state, outcomes, params)
    result, seconds = race.result(state, params), time.perf_counter() - started
    log, without = _together(played), num_settings * repeats
    summary = {
        "certified": bool(result.decided),
        "certificate": result.certificate,
        "delta": DELTA,
        "best": config.settings[int(result.best[0])]._asdict(),
        "ranking": np.asarray(result.ranking).tolist(),
        "searches": log.num_jobs,
        "searches_without_race": without,
        "most_searches_of_race": num_settings * most_repeats(repeats),
    }
    timing = {"searches_saved_by_race": without - log.num_jobs, "race_seconds": seconds}
    return SettingsRace(log, result, summary, timing)


def most_repeats(repeats: int) -> int:
    """Repeats of a setting that a race can use: it takes whole blocks of them."""
    race = _make_race(2, repeats)
    return repeats - (repeats - race.first_block) % race.block


def _make_race(num_settings: int, repeats: int) -> DominanceRace:
    return DominanceRace(num_settings, 1, repeats, kernels.total_order)


def _last_values(log: SweepLog, objective: str) -> NDArray[np.float32]:
    """The objective of every search's last policy, [n]."""
    rows = log.rows
    values = np.full(log.num_jobs, _WORST)
    values[rows.job[rows.is_last]] = rows.row.metrics[objective][rows.is_last]
    values[log.failed] = _WORST
    return values


def _together(played: list[tuple[NDArray[np.int64], SweepLog]]) -> SweepLog:
    """One log of all rounds, with the numbers of the searches in the whole grid."""
    logs = [log for _, log in played]
    rows = [Rows(numbers[log.rows.job], log.rows.step, log.rows.row) for numbers, log in played]
    failed = np.sort(np.concatenate([numbers[log.failed] for numbers, log in played]))
    sums = ("num_jobs", "num_rows", "num_ended", "lane_steps", "compile_seconds", "run_seconds")
    errors = {
        f"round {number}, {shard}": error
        for number, log in enumerate(logs)
        for shard, error in log.errors.items()
    }
    return dataclasses.replace(
        logs[0],
        parts=rows,
        failed=failed,
        is_resumed=any(log.is_resumed for log in logs),
        errors=errors,
        **{name: sum(getattr(log, name) for log in logs) for name in sums},
    )
