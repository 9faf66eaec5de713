"""The job `jaxrace train`: searches, their learning curve, and baselines beside them.

Axes: B repeats, G generations.
"""

import dataclasses
import functools
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import outcomes, plots, racing, runs
from jaxrace.experiments.config import MIN_ROUNDS, TrainConfig
from jaxrace.experiments.evaluation import Evaluator
from jaxrace.experiments.tasks import TASKS, Task
from jaxrace.policies import UniformChoice
from jaxrace.search import PolicySearch, SearchLog, SearchParams, run_searches
from jaxrace.strategies import Strategy

CURVE = "learning_curve.png"

Metrics = dict[str, np.ndarray]
OnProgress = Callable[[str, int], None]


def _ignore(stage: str, episodes: int) -> None: ...


def train(
    config: TrainConfig,
    out: str | os.PathLike[str] | None = None,
    on_progress: OnProgress = _ignore,
) -> Path:
    """Train policies, evaluate them on fresh patients, and write a run folder.

    It holds config.json, log.csv (a row per repeat and generation, with an evaluation of the
    policy that is rank 1 of its race), summary.json, and the learning curve if there is one.

    Args:
        config: The job.
        out: The run's folder; ``runs/ENV-METHOD-1`` or the next free number unless given.
        on_progress: Called with "compiling", "training" or "evaluating" and the training
            episodes so far, all repeats together; when a stage begins and after every
            generation.

    Returns:
        The run's folder.

    Raises:
        ValueError: ``config`` or ``out`` cannot be used; nothing is left behind.
        RuntimeError: A search went wrong.

    >>> folder = train(TrainConfig(method="constant", action=0.7, repeats=3, test_patients=20))
    >>> folder.as_posix()
    'runs/medical-constant-1'
    >>> runs.read_summary(folder)["death_rate"]["count"]
    3
    """
    task = TASKS[config.env](config)
    search = _make_search(config, task) if config.learns else None
    with runs.new_folder(out, f"{config.env}-{config.method}") as folder:
        keys, test_key = _make_keys(config.repeats, np.uint32(config.seed))
        seconds = _Seconds()
        on_progress("compiling", 0)
        if search is None:
            baselines = _evaluate_fixed(config, task, test_key, seconds)
            columns = _fixed_columns(baselines.pop(_fixed_name(config)))
        else:
            log = _run(*search, keys, on_progress, seconds)
            on_progress("evaluating", config.repeats * config.episodes)
            columns = _search_columns(log, _evaluate_curve(config, task, test_key, log, seconds))
            baselines = _evaluate_fixed(config, task, test_key, seconds)
        settings = {"command": "train", "config": dataclasses.asdict(config)}
        if search is not None:
            settings["race"] = _race_settings(search[0].race)
        runs.write_config(folder, settings)
        runs.write_log(folder, columns)
        runs.write_summary(folder, _summarise(config, task, columns, baselines, seconds))
        if config.learns:
            plots.save(plots.learning_curve(folder), folder / CURVE)
    return folder


@dataclasses.dataclass
class _Seconds:
    """Where the time goes."""

    compile: float = 0.0
    run: float = 0.0
    train: float = 0.0  # the searches' part of ``run``

    @contextmanager
    def compiling(self) -> Iterator[None]:
        """Add the time that the block takes."""
        started = time.perf_counter()
        yield
        self.compile += time.perf_counter() - started

    @contextmanager
    def running(self) -> Iterator[None]:
        """Add the time that the block takes."""
        started = time.perf_counter()
        yield
        self.run += time.perf_counter() - started


def _make_search(config: TrainConfig, task: Task) -> tuple[PolicySearch, SearchParams]:
    """The search and its numbers, and with them the last checks of what was asked for."""
    size, top = config.population, config.population // 2
    race: racing.Race
    if config.method == "pb-edps":
        race = racing.PreferenceRace(size, top, config.max_rounds, task.compare, config.bound)
        fold, numbers = task.fold, {}
    else:
        race = racing.HoeffdingRace(size, top, intersect=True, dynamic_delta=True)
        fold, numbers = outcomes.Return(), {"value_range": task.value_range}
    strategy = Strategy(config.strategy, size)
    search = PolicySearch(task.env, task.policy, fold, race, strategy)
    try:
        params = search.params(
            sigma0=config.initial_step_size,
            delta=config.delta,
            budget=config.episodes,
            min_rounds=MIN_ROUNDS,
            max_rounds=config.max_rounds,
            env_params=task.env_params,
            **numbers,
        )
    except ValueError as error:  # evosax does not take every size
        raise ValueError(str(error).replace("population_size:", "population:")) from error
    return search, params


def _race_settings(race: racing.Race) -> dict[str, Any]:
    """The kind of race, and all of its settings that are not functions."""
    settings = {field.name: getattr(race, field.name) for field in dataclasses.fields(race)}
    named = {name: value for name, value in settings.items() if not callable(value)}
    return {"kind": type(race).__name__, **named}


@functools.partial(jax.jit, static_argnums=0)
def _make_keys(repeats: int, seed: jax.Array) -> tuple[jax.Array, jax.Array]:
    """A key [B] for each search, which do not depend on B, and one for the evaluation."""
    train_key, test_key = jax.random.split(jax.random.key(seed))
    numbers = jnp.arange(repeats, dtype=jnp.uint32)
    return jax.vmap(jax.random.fold_in, (None, 0))(train_key, numbers), test_key


def _run(
    search: PolicySearch,
    params: SearchParams,
    keys: jax.Array,
    on_progress: OnProgress,
    seconds: _Seconds,
) -> SearchLog:
    budget = int(params.budget)

    def report(episodes: np.ndarray) -> None:
        on_progress("training", int(np.minimum(episodes, budget).sum(dtype=np.int64)))

    try:
        log = run_searches(search, keys, params, report)
    except ValueError as error:  # not of what was asked for: that has been checked
        raise RuntimeError(str(error)) from error
    seconds.compile += log.compile_seconds
    seconds.run += log.run_seconds
    seconds.train += log.run_seconds
    return log


def _evaluate_curve(
    config: TrainConfig, task: Task, key: jax.Array, log: SearchLog, seconds: _Seconds
) -> Metrics:
    """Metrics [G, B] of rank 1 of every race, by name."""
    with seconds.compiling():
        evaluate = Evaluator(task, task.policy, key, config.repeats, config.test_patients)
    with seconds.running():
        curve = [
            evaluate(g + 1, jax.tree.map(lambda x, g=g: x[g], log.rows.best))
            for g in range(len(log.rows.generation))
        ]
        return {name: np.stack([metrics[name] for metrics in curve]) for name in task.labels}


def _evaluate_fixed(
    config: TrainConfig, task: Task, key: jax.Array, seconds: _Seconds
) -> dict[str, Metrics]:
    """Metrics [B], by policy, of the baselines and of the method itself if it learns nothing.

    All of them meet the same patients.
    """
    actions = {*task.actions, config.action} if config.method == "constant" else task.actions
    # One program for all: a constant action is a choice among equal ones.
    size = len(task.actions)
    choices = {_constant_name(action): (action,) * size for action in sorted(actions)}
    choices["random"] = task.actions
    with seconds.compiling():
        policy = UniformChoice(size)
        evaluate = Evaluator(task, policy, key, config.repeats, config.test_patients)
    with seconds.running():
        metrics = {
            name: evaluate(0, np.tile(np.array(choice, np.float32), (config.repeats, 1)))
            for name, choice in choices.items()
        }
        return {
            name: {metric: np.asarray(values[metric]) for metric in task.labels}
            for name, values in metrics.items()
        }


def _fixed_name(config: TrainConfig) -> str:
    return _constant_name(config.action) if config.method == "constant" else config.method


def _constant_name(action: float) -> str:
    return f"constant {action:g}"


def _fixed_columns(metrics: Metrics) -> dict[str, np.ndarray]:
    """The log of a method that learns nothing: a row per repeat, after no training."""
    repeats = np.arange(len(next(iter(metrics.values()))))
    nothing = np.zeros_like(repeats)
    return {"repeat": repeats, "generation": nothing, "episodes": nothing, **metrics}


def _search_columns(log: SearchLog, curve: Metrics) -> dict[str, np.ndarray]:
    """Leaves [G, B] as columns, repeat by repeat, without what follows a search's end."""
    rows = log.rows
    num_generations, num_repeats = rows.generation.shape
    thetas = np.concatenate(
        [leaf.reshape(num_generations, num_repeats, -1) for leaf in jax.tree.leaves(rows.best)], -1
    )
    columns = {
        "repeat": np.broadcast_to(np.arange(num_repeats), rows.generation.shape),
        "generation": rows.generation,
        "episodes": rows.episodes,
        "simulated": rows.simulated,
        "max_rounds": rows.max_rounds,
        "options_decided": rows.options_decided,
        "finished": rows.finished,
        **{f"theta_{i}": thetas[..., i] for i in range(thetas.shape[-1])},
        **curve,
    }
    kept = np.arange(num_generations) < log.generations[:, None]
    return {name: column.T[kept] for name, column in columns.items()}


def _summarise(
    config: TrainConfig,
    task: Task,
    columns: dict[str, np.ndarray],
    baselines: dict[str, Metrics],
    seconds: _Seconds,
) -> dict[str, Any]:
    """What summary.json holds: the last policy of every repeat, and the baselines."""
    repeat = columns["repeat"]
    is_last = np.append(repeat[1:] != repeat[:-1], True)
    episodes = columns["episodes"][is_last]
    return {
        "env": config.env,
        "method": config.method,
        "policy": _fixed_name(config),
        "repeats": config.repeats,
        "episodes": config.episodes,
        "episodes_used": runs.mean_and_stderr(episodes),
        **_statistics(task, {name: columns[name][is_last] for name in task.labels}),
        "baselines": {name: _statistics(task, metrics) for name, metrics in baselines.items()},
        "metrics": {name: task.labels[name] for name in task.shown},
        "compile_seconds": seconds.compile,
        "run_seconds": seconds.run,
        "episodes_per_second": episodes.sum() / seconds.train if seconds.train else None,
    }


def _statistics(task: Task, metrics: Metrics) -> dict[str, dict[str, float | int | None]]:
    """Mean and standard error over repeats, in the order of the task's labels."""
    return {name: runs.mean_and_stderr(metrics[name]) for name in task.labels}
