"""The job `jaxrace train`: searches, their learning curve, and baselines beside them."""

import contextlib
import dataclasses
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from jaxrace import plots, racing, runs, sweep
from jaxrace.commands.run_options import ANY_LANES, Lanes
from jaxrace.commands.train import summary
from jaxrace.commands.train.baselines import evaluate_fixed, fixed_name
from jaxrace.commands.train.config import TrainConfig
from jaxrace.commands.train.learning import TrainWork, make_search, make_sweep
from jaxrace.commands.train.settings_race import SettingsRace, race_settings
from jaxrace.commands.train.tasks import TASKS, Task
from jaxrace.commands.train.timing import Seconds
from jaxrace.search import FinalRace, PolicySearch, SearchWork

CURVE, HEAT_MAP, CHECKPOINT = "learning_curve.png", "settings.png", "checkpoint"

# Where the hosts of a job meet, below the folder of checkpoints.
_MEETING = "hosts"

OnProgress = Callable[[str, int], None]


def _ignore(stage: str, episodes: int) -> None: ...


def train(
    config: TrainConfig,
    out: str | os.PathLike[str] | None = None,
    on_progress: OnProgress = _ignore,
    resume: bool = False,
    stop: Callable[[], bool] | None = None,
    hosts: sweep.Hosts | None = None,
    lanes: Lanes = ANY_LANES,
) -> Path:
    """Train policies, evaluate them on fresh patients, and write a run folder.

    It holds config.json, log.csv (a row per repeat and generation, with an evaluation of the
    policy that is rank 1 of its race), summary.json, timing.json, and a figure of the learning
    curve, or of the settings if there are several. The searches are saved there every 30 seconds.

    Args:
        config: The job.
        out: The run's folder; ``runs/ENV-METHOD-1`` or the next free number unless given.
        on_progress: Called with "compiling", "training" or "evaluating" and the training
            episodes so far, all searches together; when a stage begins and now and then.
        resume: Go on with the job that left the folder ``out``; one that is finished stays as it
            is.
        stop: Called now and then; once it says so, the searches are saved and the job ends.
        hosts: Which of several hosts this is, see ``sweep.join_hosts``, all of which call this
            with the same ``config`` and ``out``: the searches are shared out among them, and the
            first host alone writes the tables.
        lanes: How wide the sweep of the searches is to be; when it goes on, as when it began.

    Returns:
        The run's folder.

    Raises:
        ValueError: ``config`` or ``out`` cannot be used; nothing is left behind.
        RuntimeError: Some searches went wrong; what the others have found is in the folder.
        sweep.Interrupted: ``stop`` said so; its argument is the folder.
        sweep.HostLost: Another host has died or stopped; the searches of this one are saved.

    >>> folder = train(TrainConfig(method="constant", action=0.7, repeats=3, test_patients=20))
    >>> folder.as_posix()
    'runs/medical-constant-1'
    >>> runs.read_summary(folder)["death_rate"]["count"]
    3
    """
    task = TASKS[config.env](config)
    search = make_search(config, task) if config.learns else None
    if hosts is not None:
        check_hosts(config, out)
    with _run_folder(config, out, resume, hosts) as folder:
        if resume and (folder / runs.SUMMARY).exists():
            if _is_first(hosts):
                _finish(config, folder)
            return folder
        keys = _make_keys(np.uint32(config.seed))
        seconds = Seconds()
        settings: dict[str, Any] = {"command": "train", "config": dataclasses.asdict(config)}
        on_progress("compiling", 0)
        if search is None:
            failed, raced = [], None
            baselines = evaluate_fixed(config, task, keys[1], seconds)
            last = summary.fixed_columns(baselines.pop(fixed_name(config)))
            runs.write_config(folder, settings)
            runs.write_log(folder, last)
        else:
            learner = search.search
            if isinstance(learner, FinalRace):
                settings["final_race"] = _race_settings(learner.race)
                learner = learner.search
            if isinstance(learner, PolicySearch):
                settings["race"] = _race_settings(learner.race)
            log, raced = _learn(
                config,
                task,
                search,
                keys,
                folder,
                settings,
                on_progress,
                resume,
                stop,
                hosts,
                lanes,
            )
            failed = summary.failures(config, log)
            if not _is_first(hosts):
                if failed:
                    raise RuntimeError(summary.describe_failures(config, failed, folder))
                return folder
            _check_stop(stop, folder)
            seconds.add(log)
            last = summary.write_rows(config, task, log, folder)
            on_progress("evaluating", summary.total_episodes(config))
            baselines = evaluate_fixed(config, task, keys[1], seconds)
            _check_stop(stop, folder)
        timing = seconds.timing(int(last["episodes"].sum()))
        runs.write_timing(folder, timing if raced is None else timing | raced.timing(config))
        found_by_race = None if raced is None else raced.summary(config)
        found = summary.summarise(config, task, last, baselines, failed, found_by_race)
        runs.write_summary(folder, found)
        _finish(config, folder)
    return folder


def _finish(config: TrainConfig, folder: Path) -> None:
    """What is left to do when the tables are there; RuntimeError if searches have failed."""
    if config.is_grid:
        plots.save(plots.heat_map(folder), folder / HEAT_MAP)
    elif config.learns:
        plots.save(plots.learning_curve(folder), folder / CURVE)
    shutil.rmtree(folder / CHECKPOINT, ignore_errors=True)
    if failed := runs.read_summary(folder)["failed"]:
        raise RuntimeError(summary.describe_failures(config, failed, folder))


def _check_stop(stop: Callable[[], bool] | None, folder: Path) -> None:
    """The searches are saved: from here, too, the job can be resumed."""
    if stop is not None and stop():
        raise sweep.Interrupted(folder)


def _learn(
    config: TrainConfig,
    task: Task,
    search: SearchWork,
    keys: tuple[jax.Array, jax.Array],
    folder: Path,
    settings: dict[str, Any],
    on_progress: OnProgress,
    resume: bool,
    stop: Callable[[], bool] | None,
    hosts: sweep.Hosts | None,
    lanes: Lanes,
) -> tuple[sweep.SweepLog, SettingsRace | None]:
    """Run the searches, and what cannot be resumed is removed again if they do not end.

    Returns:
        Their log, and the race between the settings, if there was one.
    """
    work, jobs = make_sweep(config, task, search, *keys)
    checkpoint = folder / CHECKPOINT
    progress = _EpisodesSoFar(config, on_progress)
    # As JSON has it.
    asked = json.loads(json.dumps(settings))
    is_new = _is_first(hosts) and not resume

    def run(work: TrainWork, jobs: sweep.Jobs, folder: Path, numbers: Any) -> sweep.SweepLog:
        return sweep.run(
            work,
            jobs,
            width=sizes["width"],
            # Each host has its own cores and devices.
            num_blocks=sizes["num_blocks"] if hosts is None else lanes.blocks,
            on_rows=progress.of(numbers),
            checkpoints=sweep.Checkpoints(folder, asked, resume=resume),
            stop=stop,
            hosts=hosts,
        )

    try:
        if is_new:
            sizes = lanes.instead_of(sweep.default_sizes(work, jobs, width=lanes.lanes))
            num_hosts = 1 if hosts is None else hosts.count
            runs.write_config(folder, {**settings, "sweep": {**sizes, "hosts": num_hosts}})
        with _meeting(checkpoint / _MEETING, hosts, asked, stop):
            # That of the first host.
            sizes = runs.read_config(folder)["sweep"]
            lanes.require(sizes, folder)
            if config.race:
                raced = race_settings(config, task.objective, work, run, checkpoint)
                return raced.log, raced
            return run(work, jobs, checkpoint, np.arange(jobs.count)), None
    except sweep.Interrupted as error:
        raise sweep.Interrupted(folder) from error
    except BaseException:
        # Other hosts may have saved something, or are about to.
        if is_new and hosts is None and not _is_saved(checkpoint):
            shutil.rmtree(checkpoint, ignore_errors=True)
            (folder / runs.CONFIG).unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def _meeting(
    folder: Path,
    hosts: sweep.Hosts | None,
    asked: dict[str, Any],
    stop: Callable[[], bool] | None,
) -> Iterator[None]:
    """The other hosts begin after the first one, which goes on when they have left the folder."""
    if hosts is None:
        yield
        return
    with sweep.Beats(folder, hosts, asked["config"], stop) as beats:
        yield
        beats.finish({})
        if _is_first(hosts):
            beats.wait_for_all()


def _is_first(hosts: sweep.Hosts | None) -> bool:
    return hosts is None or hosts.index == 0


def check_hosts(config: TrainConfig, out: str | os.PathLike[str] | None) -> None:
    """Raise ValueError unless several hosts can share the job.

    >>> check_hosts(TrainConfig(), None)
    Traceback (most recent call last):
    ValueError: out: expected a folder that all hosts see, got none
    """
    if not config.learns:
        raise ValueError(f"hosts: expected a method that learns, got {config.method}")
    if out is None:
        raise ValueError("out: expected a folder that all hosts see, got none")


def _is_saved(checkpoint: Path) -> bool:
    return any(map(sweep.is_saved, (checkpoint, *checkpoint.glob("*"))))


class _EpisodesSoFar:
    """Turns the rows of sweeps into progress."""

    def __init__(self, config: TrainConfig, on_progress: OnProgress) -> None:
        self._budget = config.episodes
        self._on_progress = on_progress
        self._episodes = np.zeros(len(config.settings) * config.repeats, np.int64)

    def of(self, numbers: NDArray[np.int64]) -> sweep.OnRows:
        """What a sweep of the searches with these numbers is to call."""

        def on_rows(num_ended: int, rows: sweep.Rows) -> None:
            np.maximum.at(self._episodes, numbers[rows.job], rows.row.search.episodes)
            played = np.minimum(self._episodes, self._budget)
            # Searches that ended before the job was resumed have left no rows here.
            unseen = max(num_ended - int((played[numbers] == self._budget).sum()), 0)
            done = int(played.sum()) + unseen * self._budget
            # A learner may end before its budget is used up.
            self._on_progress("training", min(done, played.size * self._budget))

        return on_rows


@contextlib.contextmanager
def _run_folder(
    config: TrainConfig,
    out: str | os.PathLike[str] | None,
    resume: bool,
    hosts: sweep.Hosts | None,
) -> Iterator[Path]:
    """A new folder, or that of the job that is to go on; the first host looks after it."""
    if out is not None and not _is_first(hosts):
        yield Path(out)
        return
    if not resume:
        with runs.new_folder(out, f"{config.env}-{config.method}") as folder:
            yield folder
        return
    folder = runs.reopened(out, {"command": "train", "config": dataclasses.asdict(config)})
    with runs.locked(folder):
        yield folder


def _race_settings(race: racing.Race) -> dict[str, Any]:
    """The kind of race, and all of its settings that are not functions."""
    settings = {field.name: getattr(race, field.name) for field in dataclasses.fields(race)}
    named = {name: value for name, value in settings.items() if not callable(value)}
    return {"kind": type(race).__name__, **named}


@jax.jit
def _make_keys(seed: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The key of all searches, and that of all evaluations."""
    train_key, test_key = jax.random.split(jax.random.key(seed))
    return train_key, test_key
