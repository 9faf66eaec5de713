"""Races on random instances of tasks, as jobs of a sweep. Axes: S settings, K options."""

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy.typing import NDArray

from jaxrace import racing, sweep


class Trial(NamedTuple):
    """One race to be run."""

    setting: Any  # int32 [], of the race's numbers
    task: Any  # int32 []
    k: Any  # float32 [], complexity of the task
    number: Any  # uint32 [], of the instance: equal ones are the same for every race


class TrialRow(NamedTuple):
    """What came of a race."""

    samples: jax.Array  # int32 [], draws of all options together
    # How many of the best kappa (by means) are among its best, float32 []; NaN where a counted
    # outcome was NaN or infinite.
    found: jax.Array


@dataclasses.dataclass(frozen=True)
class AnyTask:
    """``sample(key, option)`` of one of several tasks; an option says which one in ``[0]``."""

    tasks: tuple[Any, ...]  # see ``options``

    def draw(self, key: jax.Array, task: jax.Array, k: jax.Array, num_options: int) -> Any:
        """A random instance of every task, and for each option [K] which of them counts."""
        instances = tuple(each.draw(key, k, num_options) for each in self.tasks)
        return jnp.broadcast_to(task, (num_options,)), instances

    def means(self, options: Any) -> jax.Array:
        """The means of the options of the task that counts, float32 [K]."""
        task, instances = options
        means = [each.means(own) for each, own in zip(self.tasks, instances, strict=True)]
        return jnp.stack(means)[task[0]]

    def __call__(self, key: jax.Array, option: Any) -> jax.Array:
        """One outcome, float32 []."""
        task, instances = option
        samplers = [
            lambda key, each=each, own=own: each.sample(key, own)
            for each, own in zip(self.tasks, instances, strict=True)
        ]
        return lax.switch(task, samplers, key)


def race_trials(race: racing.Race, tasks: AnyTask, key: jax.Array, params: Any) -> sweep.Once:
    """One race for each ``Trial``, given params [S, ...]; with the same key they share samples."""
    return sweep.Once(functools.partial(_play, race, tasks), (key, params))


def _play(
    race: racing.Race, tasks: AnyTask, shared: tuple[jax.Array, Any], trial: Trial
) -> TrialRow:
    key, settings = shared
    draw_key, race_key = jax.random.split(jax.random.fold_in(key, trial.number))
    task, k = jnp.asarray(trial.task), jnp.asarray(trial.k)
    options = tasks.draw(draw_key, task, k, race.num_options)
    params = jax.tree.map(lambda x: x[trial.setting], settings)
    result = racing.run(race, race_key, tasks, options, params, race.chunk)
    best = jnp.argsort(-tasks.means(options))[: race.top]
    found = jnp.isin(result.ranking[: race.top], best).sum(dtype=jnp.float32)
    is_lost = (result.invalid > 0).any()
    if isinstance(result, racing.ValueResult):
        # Normal outcomes break the R of the papers in some races, which they concede: no guarantee.
        is_lost = ~jnp.isfinite(result.mean).all()
    return TrialRow(result.samples.sum(dtype=jnp.int32), jnp.where(is_lost, jnp.nan, found))


def trials_of(
    cells: Sequence[tuple[int, int, float]], repetitions: int, numbers: Sequence[int]
) -> sweep.Jobs:
    """All repetitions of each cell: setting, task and k; those of one number share instances."""
    setting, task, k = map(np.array, zip(*cells, strict=True))
    first = np.array(numbers) * repetitions

    def rows(chosen: NDArray[np.int64]) -> Trial:
        cell, repetition = np.divmod(chosen, repetitions)
        return Trial(
            setting[cell].astype(np.int32),
            task[cell].astype(np.int32),
            k[cell].astype(np.float32),
            (first[cell] + repetition).astype(np.uint32),
        )

    return sweep.Jobs(len(cells) * repetitions, rows)
