"""What a training job finds, as log.csv and summary.json have it. Axes: n rows, p weights."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np

from jaxrace import files, runs, sweep
from jaxrace.commands.train.config import TrainConfig
from jaxrace.commands.train.evaluation import Metrics, fixed_name
from jaxrace.commands.train.tasks import Task

Columns = dict[str, np.ndarray]

# Policies of so many numbers stand in the log; of larger ones, the last of every search are kept in
# a file of their own: "theta" [searches, p].
_MOST_THETAS = 32
POLICIES = "policies.npz"


def fixed_columns(metrics: Metrics) -> Columns:
    """The log of a method that learns nothing: a row per repeat, after no training."""
    repeats = np.arange(len(next(iter(metrics.values()))))
    nothing = np.zeros_like(repeats)
    return {"repeat": repeats, "generation": nothing, "episodes": nothing, **metrics}


def write_rows(config: TrainConfig, task: Task, log: sweep.SweepLog, folder: Path) -> Columns:
    """Write log.csv, and return the last rows of the searches that did not fail, by setting."""
    last: list[Columns] = []
    policies: list[np.ndarray] = []

    def pieces() -> Iterator[Columns]:
        for rows in log.store.in_order():
            columns = _columns(config, task, rows)
            ends = rows.is_last & ~np.isin(rows.job, log.failed)
            with_setting = {"setting": rows.job // config.repeats, **columns}
            last.append({name: column[ends] for name, column in with_setting.items()})
            policies.append(_thetas(rows)[rows.is_last])
            yield columns

    runs.write_log(folder, pieces())
    if policies and policies[0].shape[-1] > _MOST_THETAS:
        with files.new_file(folder / POLICIES) as file:
            np.savez(file, theta=np.concatenate(policies))
    return {name: np.concatenate([piece[name] for piece in last]) for name in last[0]}


def _columns(config: TrainConfig, task: Task, rows: sweep.Rows) -> Columns:
    search = rows.row.search
    setting, repeat = np.divmod(rows.job, config.repeats)
    swept = {}
    if config.is_grid:
        values = np.array(config.settings, np.float64)  # None is nan
        swept = {"sigma": values[setting, 0], "delta": values[setting, 1]}
    thetas = _thetas(rows)
    if thetas.shape[-1] > _MOST_THETAS:
        thetas = thetas[:, :0]
    # Failures are in the summary.
    hidden = ("ran", "best", "valid")
    return {
        **swept,
        "repeat": repeat,
        **{name: column for name, column in search._asdict().items() if name not in hidden},
        **{f"theta_{i}": column for i, column in enumerate(thetas.T)},
        **{name: rows.row.metrics[name] for name in task.labels},
    }


def _thetas(rows: sweep.Rows) -> np.ndarray:
    """The policies as rows of numbers [n, p]."""
    leaves = jax.tree.leaves(rows.row.search.best)
    return np.concatenate([leaf.reshape(len(rows.job), -1) for leaf in leaves], -1)


def summarise(
    config: TrainConfig,
    task: Task,
    last: Columns,
    baselines: dict[str, Metrics],
    failed: list[dict[str, Any]],
    raced: dict[str, Any] | None,
) -> dict[str, Any]:
    """What summary.json holds: the last policy of every repeat, and the baselines."""
    shared = {
        "env": config.env,
        "method": config.method,
        "policy": fixed_name(config),
        "repeats": config.repeats,
        "episodes": config.episodes,
        "metrics": {name: task.labels[name] for name in task.shown},
        "baselines": {
            policy: {name: _statistic(metrics[name]) for name in task.labels}
            for policy, metrics in baselines.items()
        },
        "failed": failed,
    }
    if not config.is_grid:
        return {**shared, **_found(task, last)}
    found = {**shared, "objective": task.objective, "settings": _ranked(config, task, last, raced)}
    return found if raced is None else {**found, "race": raced}


def _ranked(
    config: TrainConfig, task: Task, last: Columns, raced: dict[str, Any] | None
) -> list[dict[str, Any]]:
    """The settings, the best first; without a search that did not fail they come last."""
    found = []
    for number, setting in enumerate(config.settings):
        chosen = last["setting"] == number
        own = {name: column[chosen] for name, column in last.items()}
        found.append({**setting._asdict(), **_found(task, own)})
    if raced is not None:  # its order: means of a few repeats may be lucky ones
        return [found[number] for number in raced["ranking"]]
    means = [setting[task.objective]["mean"] for setting in found]
    order = np.argsort([np.inf if mean is None else -mean for mean in means], kind="stable")
    return [found[number] for number in order]


def _found(task: Task, last: Columns) -> dict[str, Any]:
    own = last | {"episodes_used": last["episodes"]}
    return {name: _statistic(own[name]) for name in ("episodes_used", *task.labels)}


def _statistic(values: np.ndarray) -> dict[str, float | int | None]:
    """Mean and standard error over repeats, unless all of them failed."""
    if not values.size:
        return {"mean": None, "stderr": None, "count": 0}
    return runs.mean_and_stderr(values)


def failures(config: TrainConfig, log: sweep.SweepLog) -> list[dict[str, Any]]:
    """The settings and repeats of the searches that failed."""
    setting, repeat = np.divmod(log.failed, config.repeats)
    return [
        {**config.settings[s]._asdict(), "repeat": int(r)}
        for s, r in zip(setting, repeat, strict=True)
    ]


def describe_failures(config: TrainConfig, failed: list[dict[str, Any]], folder: Path) -> str:
    """One line on what failed."""
    first = ", ".join(f"{name} {value}" for name, value in failed[0].items())
    total = len(config.settings) * config.repeats
    return (
        f"{len(failed)} of {total} searches failed (NaN or infinite outcomes), first {first}; "
        f"{folder.as_posix()} has the others"
    )
