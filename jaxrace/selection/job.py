"""Selections as the jobs of a sweep. Axes: K options, P problems."""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxrace.selection import driver
from jaxrace.selection.base import Selector
from jaxrace.selection.comparisons import require_problem
from jaxrace.selection.driver import Compare, Record, RunState


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class SelectionJob:
    """One selection to be made."""

    key: jax.Array  # of the comparisons and choices
    problem: Any  # what ``compare`` is given


class SelectionState(NamedTuple):
    """A selection between two records."""

    run: RunState
    problem: Any
    was_done: jax.Array  # bool [], the last record said so


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class SelectionWork:
    """What ``sweep.run`` does with a ``SelectionJob``; a row of its log is a ``Record``.

    Attributes as of ``run``; and ``shared``, what all problems have in common, a pytree: unless it
    is None, ``compare`` is given ``(shared, problem)``.

    >>> from jaxrace import sweep
    >>> from jaxrace.selection import Uniform, normal_score, thurstone
    >>> selector = Uniform(num_options=4, top=2)
    >>> work = SelectionWork(selector, normal_score, 58, 20, selector.params())
    >>> keys = jax.random.split(jax.random.key(0), 3)
    >>> problems = jax.vmap(thurstone, in_axes=(0, None))(keys, 4)
    >>> log = sweep.run(work, sweep.stacked(SelectionJob(keys, problems)))
    >>> log.rows.row.time[:3].tolist()
    [18, 38, 58]
    """

    selector: Selector = dataclasses.field(metadata={"static": True})
    compare: Compare = dataclasses.field(metadata={"static": True})
    budget: int = dataclasses.field(metadata={"static": True})
    interval: int = dataclasses.field(metadata={"static": True})
    params: Any
    batch: int = dataclasses.field(default=1, metadata={"static": True})
    shared: Any = None

    def __post_init__(self) -> None:
        driver.require_budget(self.selector, self.budget, self.interval, self.batch)

    def init(self, job: SelectionJob) -> SelectionState:
        """The state after the warm-up; ValueError where the problem is not of K options."""
        given = self._given(job.problem)
        require_problem(self.compare, given, self.selector.num_options)
        run = driver.begin(self._plan, job.key, given, self.params)
        return SelectionState(run, job.problem, jnp.zeros((), bool))

    def step(self, state: SelectionState) -> tuple[SelectionState, Record]:
        """A record, and the comparisons up to the next one."""
        record = driver.record_of(self.selector, state.run, self.params)
        run = driver.advance(self._plan, state.run, self._given(state.problem), self.params)
        was_last = record.done | (record.time >= self.budget)
        return SelectionState(run, state.problem, was_last), record

    def done(self, state: SelectionState) -> jax.Array:
        """Was that the last record?"""
        return state.was_done

    def failed(self, row: Record) -> jax.Array:
        """Was a score not finite, or out of the selector's range?"""
        return ~row.valid

    @property
    def _plan(self) -> driver.Plan:
        return driver.Plan(self.selector, self.compare, self.interval, self.batch)

    def _given(self, problem: Any) -> Any:
        return problem if self.shared is None else (self.shared, problem)
