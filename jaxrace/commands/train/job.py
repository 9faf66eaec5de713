"""The job of `jaxrace train`: searches, their learning curve, and baselines beside them."""

import dataclasses
import functools
import json
import shutil
import time
from pathlib import Path
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from jaxrace import runs, sweep
from jaxrace.commands.job import CHECKPOINT, Job, run_folder, sweep_width
from jaxrace.commands.train import summary
from jaxrace.commands.train.config import TrainConfig
from jaxrace.commands.train.learning import TrainWork, make_search, make_sweep
from jaxrace.commands.train.own import own_task
from jaxrace.commands.train.settings_race import SettingsRace, race_settings
from jaxrace.commands.train.tasks import TASKS, Task, evaluate_fixed, fixed_name
from jaxrace.core.keys import two_keys
from jaxrace.runs import files, plots
from jaxrace.search import FinalRace, PolicySearch, SearchWork

CURVE, HEAT_MAP = "learning_curve.png", "settings.png"


def train(job: Job) -> Path:
    """Train policies, evaluate them on fresh patients, and write a run folder."""
    config: TrainConfig = job.config
    task = TASKS.get(config.env, own_task)(config)
    search = make_search(config, task) if config.learns else None
    asked = _asked(config, search)
    with run_folder(job, f"{config.env.replace(':', '-')}-{config.method}", asked) as folder:
        if not (job.resume and _is_done(folder)):
            job.on_stage("compiling", 0, 0)
            _work(job, task, search, folder, asked)
        _finish(config, folder)
    return folder


def _asked(config: TrainConfig, search: SearchWork | None) -> dict[str, Any]:
    """The content of config.json: the config, and the races of the search but for functions."""
    learner, races = None if search is None else search.search, {}
    if isinstance(learner, FinalRace):
        races["final_race"], learner = learner.race, learner.search
    if isinstance(learner, PolicySearch):
        races["race"] = learner.race
    asked: dict[str, Any] = {"command": "train", "config": dataclasses.asdict(config)}
    for name, race in races.items():
        settings = {field.name: getattr(race, field.name) for field in dataclasses.fields(race)}
        named = {name: value for name, value in settings.items() if not callable(value)}
        asked[name] = {"kind": type(race).__name__, **named}
    return json.loads(json.dumps(asked))


def _work(
    job: Job, task: Task, search: SearchWork | None, folder: Path, asked: dict[str, Any]
) -> None:
    """Search and evaluate, and write the tables; the summary last."""
    config: TrainConfig = job.config
    keys = two_keys(np.uint32(config.seed))  # of all searches, and of all evaluations
    failed, log, raced, last = [], None, None, {}
    if search is not None:
        log, raced = _learn(job, task, search, keys, folder, asked)
        failed = summary.failures(config, log)
        if not log.num_rows:
            raise RuntimeError(f"no search was done; {'; '.join(log.errors.values())}")
        _check_stop(job)
        last = summary.write_rows(config, task, log, folder)
        job.on_stage("evaluating", 0, 0)
    started = time.perf_counter()
    baselines = evaluate_fixed(config, task, keys[1])
    seconds = time.perf_counter() - started
    if search is None:
        repeats = np.arange(config.repeats)
        own = {"repeat": repeats, "generation": 0 * repeats, "episodes": 0 * repeats}
        last = own | baselines.pop(fixed_name(config))
        runs.write_log(folder, last)
    else:
        _check_stop(job)
    timing = _timing(log, seconds, int(last["episodes"].sum()))
    timing |= {} if raced is None else raced.timing
    files.write_json(folder / runs.TIMING, timing)
    race = None if raced is None else raced.summary
    found = summary.summarise(config, task, last, baselines, failed, race)
    if log is not None and log.errors:
        found["errors"] = dict(log.errors)
    runs.write_summary(folder, found)


def _timing(log: sweep.SweepLog | None, seconds: float, episodes: int) -> dict[str, float | None]:
    """The content of timing.json: of a sweep, if there was one, and the evaluation after it."""
    unknown = dict.fromkeys(summary.RATES)
    if log is None:
        return {"compile_seconds": 0.0, "run_seconds": seconds, **unknown}
    compiling, running = log.compile_seconds, log.run_seconds + seconds
    if log.compiles_as_it_runs:
        return {"compile_seconds": None, "run_seconds": compiling + running, **unknown}
    # After an interruption, the episodes since then are not known.
    rate = None if log.is_resumed else episodes / log.run_seconds
    rates = dict(zip(unknown, (rate, log.jobs_per_second, log.utilisation), strict=True))
    return {"compile_seconds": compiling, "run_seconds": running, **rates}


def _finish(config: TrainConfig, folder: Path) -> None:
    """Draw the figure and remove the checkpoint; RuntimeError if searches have failed."""
    if config.is_grid:
        plots.save(plots.heat_map(folder), folder / HEAT_MAP)
    elif config.learns:
        plots.save(plots.learning_curve(folder), folder / CURVE)
    if _is_done(folder):
        shutil.rmtree(folder / CHECKPOINT, ignore_errors=True)
    found = runs.read_summary(folder)
    if found["failed"]:
        raise RuntimeError(summary.describe_failures(config, found, folder))


def _is_done(folder: Path) -> bool:
    """Is the summary there, without a lost shard of a cluster, which may be done again?"""
    return (folder / runs.SUMMARY).exists() and "errors" not in runs.read_summary(folder)


def _check_stop(job: Job) -> None:
    """End here, where the searches are saved, if the job is to stop."""
    if job.stop is not None and job.stop():
        raise sweep.Interrupted


def _learn(
    job: Job,
    task: Task,
    search: SearchWork,
    keys: tuple[jax.Array, jax.Array],
    folder: Path,
    asked: dict[str, Any],
) -> tuple[sweep.SweepLog, SettingsRace | None]:
    """Run the searches: their log, and the race between the settings, if any."""
    config = job.config
    work, jobs = make_sweep(config, task, search, *keys)
    checkpoint = folder / CHECKPOINT
    episodes = np.zeros(jobs.count, np.int64)  # played in each search, as far as it was seen
    width = sweep_width(folder, job, work, jobs)

    def run(work: TrainWork, jobs: sweep.Jobs, folder: Path, numbers: Any) -> sweep.SweepLog:
        return sweep.run(
            work,
            jobs,
            width=width,
            on_rows=functools.partial(_show_progress, job, episodes, numbers),
            checkpoints=sweep.Checkpoints(folder, asked, resume=job.resume),
            stop=job.stop,
            cluster=job.cluster,
        )

    if config.race:
        raced = race_settings(config, task.objective, work, run, checkpoint)
        return raced.log, raced
    return run(work, jobs, checkpoint, np.arange(jobs.count)), None


def _show_progress(
    job: Job, episodes: NDArray[np.int64], numbers: NDArray[np.int64], ended: int, rows: sweep.Rows
) -> None:
    """Show how many episodes have been played, by rows of the searches with these ``numbers``."""
    budget = job.config.episodes
    np.maximum.at(episodes, numbers[rows.job], rows.row.search.episodes)
    played = np.minimum(episodes, budget)
    # Searches that ended before an interruption leave no rows here.
    unseen = max(ended - int((played[numbers] == budget).sum()), 0)
    done, total = int(played.sum()) + unseen * budget, played.size * budget
    job.on_stage("training", min(done, total), total)
