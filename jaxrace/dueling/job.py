"""Runs of dueling bandits as the jobs of a sweep. Axes: G problems, S settings."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from jaxrace.dueling import driver
from jaxrace.dueling.base import Algorithm
from jaxrace.dueling.driver import PlayState, Record
from jaxrace.dueling.problems import Problem, shuffled
from jaxrace.protocol import pytree
from jaxrace.validation import require_integer

# Choices have keys of their own, from 0 on.
_ORDER_NUMBER = 2**32 - 1


@pytree
class DuelJob:
    """One run to be made; leaves [jobs, ...] for many, see ``DuelWork``."""

    key: jax.Array
    problem: ArrayLike  # int32 [], number of the problem
    setting: ArrayLike  # int32 [], number of the algorithm's params


@pytree
class DuelWork:
    """What ``sweep.run`` does with a ``DuelJob``; a row of its log is a ``Record``.

    Every run of duels has the arms in another random order.

    Raises:
        ValueError: When the sweep begins: the problems are not for this algorithm, or the horizon
            is no multiple of the interval or ends before everything has been tried once. A missing
            Condorcet winner is not warned of; ``warn_without_winner`` does it for a matrix.

    >>> import numpy as np
    >>> from jaxrace import sweep
    >>> from jaxrace.dueling import Rucb, duels, matrices
    >>> problems, settings = jax.tree.map(
    ...     lambda x: x[None], (duels(matrices.flat(3, 0.9)), Rucb(3).params())
    ... )
    >>> work, first = DuelWork(Rucb(3), 50, 100, problems, settings), np.zeros(2, np.int32)
    >>> jobs = DuelJob(jax.random.split(jax.random.key(0), 2), problem=first, setting=first)
    >>> sweep.run(work, sweep.stacked(jobs)).rows.row.time.tolist()
    [50, 100, 50, 100]
    """

    algorithm: Algorithm = dataclasses.field(metadata={"static": True})
    interval: int = dataclasses.field(metadata={"static": True})  # choices between two records
    horizon: int = dataclasses.field(metadata={"static": True})  # T, a multiple of the interval
    problems: Problem  # leaves [G, ...]
    settings: Any  # params of the algorithm, leaves [S, ...]
    # Does a run also end when the algorithm stops exploring, and plays what it recommends?
    ends_when_settled: bool = dataclasses.field(default=False, metadata={"static": True})

    def init(self, job: DuelJob) -> tuple[PlayState, DuelJob]:
        """The state before the first choice; checks the work, too."""
        driver.require_horizon(self.algorithm, self.horizon)
        require_integer("interval", self.interval, 1)
        if self.horizon % self.interval:
            raise ValueError(
                f"interval: expected a divisor of horizon = {self.horizon}, got {self.interval}"
            )
        driver.require_fit(self.algorithm, self._problem(job))
        return driver.begin(self.algorithm, job.key, self._params(job)), job

    def step(self, state: tuple[PlayState, DuelJob]) -> tuple[tuple[PlayState, DuelJob], Record]:
        """The choices up to the next record."""
        play, job = state
        problem = self._problem(job)
        if problem.has_costs:
            order_key = jax.random.fold_in(job.key, jnp.uint32(_ORDER_NUMBER))
            problem = shuffled(order_key, problem)
        play, record = driver.advance(
            self.algorithm, self.interval, play, problem, self._params(job)
        )
        return (play, job), record

    def done(self, state: tuple[PlayState, DuelJob]) -> jax.Array:
        """Has the horizon been reached, or the decision, if that ends the run?"""
        own, job = state[0].algorithm, state[1]
        reached = own.time >= self.horizon
        if self.ends_when_settled:
            reached |= self.algorithm.settled_at(own, self._params(job)) > 0
        return reached

    def failed(self, row: Record) -> jax.Array:
        """Nothing can go wrong in a run."""
        return jnp.zeros_like(row.time, bool)

    def _problem(self, job: DuelJob) -> Problem:
        return jax.tree.map(lambda x: x[job.problem], self.problems)

    def _params(self, job: DuelJob) -> Any:
        return jax.tree.map(lambda x: x[job.setting], self.settings)
