"""All learners on the medical task, as the figures of Busa-Fekete et al. 2014 need them.

Axes: R repetitions, n rows (a row per repetition and generation).
"""

import dataclasses
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxrace.commands.train.config import TrainConfig
from jaxrace.commands.train.evaluation import Seconds, evaluate_fixed
from jaxrace.commands.train.learning import make_search, make_sweep
from jaxrace.commands.train.tasks import TASKS
from jaxrace.commands.workbench import Workbench
from jaxrace.search import SearchWork

LEARNERS = ("pb-edps", "edps", "pbpi", "sarsa")
HAZARDS = ("A", "B")  # two settings of the hazard: in B fewer patients die

# Of theta = 0, and the one that keeps most patients alive with hazard A; not in the paper.
START_DOSE, BEST_DOSE = 0.5, 0.55
OWN_DOSES = tuple(f"constant {dose:g}" for dose in (START_DOSE, BEST_DOSE))
Metrics = dict[str, np.ndarray]


class Learning(NamedTuple):
    """What a learner did."""

    repeat: np.ndarray  # int64 [n]
    episodes: np.ndarray  # int32 [n], used so far
    metrics: Metrics  # float32 [n], of the policy at that time
    numbers: Metrics  # [n], the rest of the learner's row
    is_last: np.ndarray  # bool [n], of its repetition

    @property
    def last(self) -> Metrics:
        """Of the policies that were learned, [R]."""
        return {name: values[self.is_last] for name, values in self.metrics.items()}


def paper_config(bench: Workbench, method: str, hazard: str) -> TrainConfig:
    """The paper's setting of a method, of full size or smaller."""
    config = TrainConfig(
        method=method,  # pyright: ignore[reportArgumentType]
        hazard=hazard,  # pyright: ignore[reportArgumentType]
        episodes=bench.size(10_000, 2_000),
        repeats=bench.size(100, 10),
        seed=bench.seed,
    )
    # The others have no bound.
    return dataclasses.replace(config, bound="published") if method == "pb-edps" else config


def learn(
    bench: Workbench,
    config: TrainConfig,
    name: str | None = None,
    searches: SearchWork | None = None,
) -> Learning:
    """Run all repetitions of a learner, each with an evaluation after every generation."""
    task = TASKS[config.env](config)
    train_key, test_key = jax.random.split(jax.random.key(config.seed))
    searches = make_search(config, task) if searches is None else searches
    work, jobs = make_sweep(config, task, searches, train_key, test_key)
    log = bench.sweep(name or f"{config.method} {config.hazard}", work, jobs)
    rows = log.rows
    row = rows.row.search._asdict()
    numbers = {field: row[field] for field in row if field not in ("ran", "best", "valid")}
    return Learning(rows.job, row["episodes"], rows.row.metrics, numbers, rows.is_last)


def fixed_policies(
    bench: Workbench, config: TrainConfig, doses: tuple[float, ...] = (START_DOSE,)
) -> dict[str, Metrics]:
    """The constant policies and the random one, each metric [R]."""
    test_key = jax.random.split(jax.random.key(config.seed))[1]
    seconds = Seconds()
    bench.job.on_stage(f"fixed policies {config.hazard}", 0, 1)
    found = evaluate_fixed(config, TASKS[config.env](config), test_key, seconds, doses)
    bench.compile_seconds += seconds.compile
    return found


def learn_all(bench: Workbench) -> dict[tuple[str, str], Learning]:
    """What every learner does with every hazard."""
    return {
        (hazard, method): learn(bench, paper_config(bench, method, hazard))
        for hazard in HAZARDS
        for method in LEARNERS
    }


def fixed_all(
    bench: Workbench, doses: tuple[float, ...] = (START_DOSE,), **changed: Any
) -> dict[str, dict[str, Metrics]]:
    """The fixed policies by hazard, perhaps with other fields of the config."""
    configs = [paper_config(bench, "random", hazard) for hazard in HAZARDS]
    return {
        config.hazard: fixed_policies(bench, dataclasses.replace(config, **changed), doses)
        for config in configs
    }


def labels() -> dict[str, str]:
    """What each metric is, in words."""
    config = TrainConfig()
    return TASKS[config.env](config).labels
