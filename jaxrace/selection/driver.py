"""Selecting with a simulator, as one program or as the jobs of a sweep. Axes: K options."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.typing import ArrayLike

from jaxrace.core.compilation import cost_of, is_traced, jit
from jaxrace.core.float32 import require_held
from jaxrace.core.protocol import pytree
from jaxrace.core.records import shown_records
from jaxrace.core.validation import BadArgument, require_function, require_integer, require_keys
from jaxrace.selection.base import BatchSelector, Selector, selected_from
from jaxrace.selection.comparisons import require_problem
from jaxrace.selection.scores import ScoreSelector, all_counted

# compare(key, problem, first, second) -> by how much the first is better, float [].
Compare = Callable[[jax.Array, Any, jax.Array, jax.Array], jax.Array]

_CHOICES = 2**32 - 1  # choices have keys of their own, beside those of the pairs
_INTERVAL = 10  # comparisons from one record to the next, about


class SelectionRecord(NamedTuple):
    """How things stand after some comparisons."""

    time: jax.Array  # int32 [], comparisons so far
    selected: jax.Array  # bool [K]
    confidence: jax.Array  # float [], see ``SelectionResult``; 0 if not ``valid``
    done: jax.Array  # bool [], the selector asks for nothing more; False if not ``valid``
    valid: jax.Array  # bool [], all scores so far can be used; otherwise nothing else means much

    def __str__(self) -> str:
        return shown_records(type(self).__name__, self._asdict())


@pytree
class SelectionJob:
    """One selection to be made."""

    key: jax.Array  # of the comparisons and choices
    problem: Any  # what ``compare`` is given


@pytree
class SelectionState:
    """A selection between two records."""

    job: SelectionJob
    selector: Any
    counts: jax.Array  # int32 [K, K], comparisons of each pair, i < j
    valid: jax.Array  # bool [], all scores so far can be used
    was_done: jax.Array  # bool [], the last record said so


@pytree
class SelectionWork:
    """What ``sweep.run`` does with a ``SelectionJob``; a row of its log is a ``SelectionRecord``.

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
        require_budget(self.selector, self.budget, self.interval, self.batch)

    def init(self, job: SelectionJob) -> SelectionState:
        """The state after the warm-up; ValueError where the problem is not of K options."""
        selector = self.selector
        require_problem(self.compare, self._given(job.problem), selector.num_options)
        own, no = selector.init(self.params), jnp.zeros((), bool)
        counts = jnp.zeros((selector.num_options,) * 2, jnp.int32)
        state = SelectionState(job, own, counts, ~no, no)
        if not isinstance(selector, ScoreSelector):
            return state
        # All rounds of the warm-up, each with all pairs at once.
        first, second = jnp.triu_indices(selector.num_options, 1)

        def count_round(scores: Any, number: jax.Array) -> tuple[Any, None]:
            told = jax.vmap(functools.partial(self._checked_score, job, number))(first, second)
            told = told.astype(scores.means.dtype)
            zeros = jnp.zeros_like(scores.means)
            told = zeros.at[first, second].set(told).at[second, first].set(-told)
            return all_counted(scores, told), None

        scores = lax.scan(count_round, own.scores, jnp.arange(selector.warm_up))[0]
        own = selector.with_scores(own, scores, jnp.zeros((0, 2), jnp.int32))
        # NaN and infinity remain in the sums.
        valid, counts = jnp.isfinite(scores.variances).all(), jnp.triu(scores.counts, 1)
        return dataclasses.replace(state, selector=own, counts=counts, valid=valid)

    def step(self, state: SelectionState) -> tuple[SelectionState, SelectionRecord]:
        record = self.record(state)
        was_last = record.done | ~record.valid | (record.time >= self.budget)
        return dataclasses.replace(self.advanced(state), was_done=was_last), record

    def done(self, state: SelectionState) -> jax.Array:
        return state.was_done

    def failed(self, row: SelectionRecord) -> jax.Array:
        return ~row.valid

    def record(self, state: SelectionState) -> SelectionRecord:
        """How a run stands."""
        standing = self.selector.standing(state.selector, self.params)
        selected = selected_from(standing.ranking, self.selector.top)
        done = state.valid & self.selector.done(state.selector, self.params)
        confidence = jnp.where(state.valid, standing.confidence, 0)
        return SelectionRecord(state.selector.time, selected, confidence, done, state.valid)

    def advanced(self, state: SelectionState) -> SelectionState:
        """After the comparisons up to the next record, unless the selector needs no more."""

        def step(now: SelectionState, _: None) -> tuple[SelectionState, None]:
            then = self._compared(state.job, now)
            is_done = self.selector.done(now.selector, self.params)
            return jax.tree.map(lambda a, b: jnp.where(is_done, a, b), now, then), None

        # Without the job: JAX counts a choice between two keys as a use of both.
        start: Any = dataclasses.replace(state, job=None)
        found = lax.scan(step, start, None, self.interval // self.batch)[0]
        return dataclasses.replace(found, job=state.job)

    def _compared(self, job: SelectionJob, state: SelectionState) -> SelectionState:
        """After the next choice."""
        selector, params, own = self.selector, self.params, state.selector
        if isinstance(selector, BatchSelector):
            pairs = selector.choose_many(own, params, self.batch)
        else:
            noise = selector.draw(choice_key(job.key, own.time))
            pairs = selector.choose(noise, own, params)[None]
        # Compared side by side; equal pairs are numbered as if one came after the other.
        low, high = pairs.min(1), pairs.max(1)
        is_equal = (low[:, None] == low) & (high[:, None] == high)
        earlier = jnp.tril(is_equal, -1).sum(1, dtype=jnp.int32)
        numbers = state.counts[low, high] + earlier
        scores = jax.vmap(functools.partial(self._checked_score, job))(numbers, low, high)
        scores = jnp.where(pairs[:, 0] == low, scores, -scores)
        valid = state.valid & jax.vmap(selector.accepts, (0, None))(scores, params).all()
        if isinstance(selector, BatchSelector):
            own = selector.tell_many(own, pairs, scores.astype(float), params)
        else:
            own = selector.tell(own, pairs[0], scores[0], params)
        counts = state.counts.at[low, high].add(1)
        return dataclasses.replace(state, selector=own, counts=counts, valid=valid)

    def score(
        self, job: SelectionJob, number: jax.Array, first: jax.Array, second: jax.Array
    ) -> jax.Array:
        """The score of comparison ``number``, from 0, of a pair first < second: float []."""
        key = pair_key(job.key, self.selector.num_options, first, second, number)
        return self.compare(key, self._given(job.problem), first, second)

    def _checked_score(self, *args: Any) -> jax.Array:
        score = self.score(*args)
        dtype = jnp.result_type(score)
        if dtype == jnp.bool_ or jnp.issubdtype(dtype, jnp.complexfloating):
            raise BadArgument("compare", "a number, as 1 and -1 of a win and a defeat", str(dtype))
        if shape := jnp.shape(score):
            raise BadArgument("compare", "one number for two options", f"shape {[*shape]}")
        return score

    def _given(self, problem: Any) -> Any:
        return problem if self.shared is None else (self.shared, problem)


def run(
    selector: Selector,
    key: jax.Array,
    compare: Compare,
    problem: Any,
    budget: int,
    params: Any,
    interval: int | None = None,
    batch: int = 1,
) -> SelectionRecord:
    """Compare until the budget is used up or the selector has seen enough.

    Comparison number n of a pair (i < j) has the key of ``pair_key``: it comes out the same for
    every selector. Choice number t has the key ``choice_key(key, t)``. Pure: batch it with
    ``jax.vmap`` over keys, problems and params.

    Args:
        selector: Such as ``Pocbam``.
        key: Of the whole run.
        compare: ``compare(key, problem, first, second)``, pure JAX, always with first < second;
            as ``normal_score``, ``win``, ``recorded_score``.
        problem: What ``compare`` is given, a pytree.
        budget: Comparisons of the whole run.
        params: Of the selector.
        interval: Comparisons between two records, about 10 unless given; it divides what the budget
            leaves after the first record, which comes after the warm-up.
        batch: B, comparisons that are chosen at once; divides ``interval``; 1 but for a
            ``BatchSelector``.

    Returns:
        Leaves [records, ...]; in the last one the time is ``budget``, or earlier if ``done``.

    Raises:
        ValueError: ``compare`` cannot use the problem; the budget ends before the warm-up; an
            interval does not fit; or a score is out of range (under a trace ``valid`` says so).

    >>> from jaxrace.selection import Pocbam, normal_score, thurstone
    >>> selector, key = Pocbam(num_options=4, top=2), jax.random.key(0)
    >>> problem = thurstone(key, 4)
    >>> log = run(selector, key, normal_score, problem, 58, selector.params(), interval=20)
    >>> log.time.tolist()
    [18, 38, 58]
    """
    require_keys("key", key, ndim=0)
    require_function("compare", compare)
    require_problem(compare, problem, selector.num_options)
    require_held("problem", problem)
    selector.require_params(params)
    if interval is None:
        require_budget(selector, budget, batch, batch)
        interval = fitting_interval(budget - first_record(selector), _INTERVAL, batch)
    work = SelectionWork(selector, compare, budget, interval, None, batch)
    log = _run(work, key, problem, params)
    if not is_traced(log.valid) and not log.valid[-1]:
        expected = "finite scores in the range of the params"
        time = int(log.time[jnp.argmin(log.valid)])
        raise BadArgument("compare", expected, f"another one within {time} comparisons")
    return log


def require_budget(selector: Selector, budget: int, interval: int, batch: int = 1) -> int:
    """The number of records of a run; ValueError where it cannot be."""
    for name, value in (("budget", budget), ("batch", batch), ("interval", interval)):
        require_integer(name, value, 1)
    kind = type(selector).__name__
    if budget < selector.opening:
        least = f"at least {selector.opening}, the warm-up of {kind}"
        raise BadArgument("budget", f"{least} with {selector.num_options} options", str(budget))
    rest = budget - first_record(selector)
    for name, value in (("batch", batch), ("interval", interval)):
        if rest % value:
            expected = f"a divisor of the {rest} comparisons after the first record"
            raise BadArgument(name, expected, str(value))
    if interval % batch:
        raise BadArgument("batch", f"a divisor of interval = {interval}", str(batch))
    if batch > 1 and not isinstance(selector, BatchSelector):
        raise BadArgument("batch", f"1, as {kind} chooses one by one", str(batch))
    return 1 + rest // interval


def fitting_interval(comparisons: int, wanted: int, batch: int = 1) -> int:
    """The divisor of so many comparisons, in whole batches, that is nearest to the wanted one."""
    sizes = (size for size in range(batch, comparisons + 1, batch) if comparisons % size == 0)
    return min(sizes, key=lambda size: abs(size - wanted), default=batch)


def first_record(selector: Selector) -> int:
    """Comparisons before the first record."""
    return selector.opening if isinstance(selector, ScoreSelector) else 0


def _size(work: SelectionWork, key: jax.Array, problem: Any, *_: Any) -> float:
    """Of choosing, and of all comparisons."""
    compared = cost_of(work.compare, key, problem, np.int32(0), np.int32(1))
    return work.budget * (30.0 * work.selector.num_options**2 + compared)


@jit(1, work=_size)
def _run(work: SelectionWork, key: jax.Array, problem: Any, params: Any) -> SelectionRecord:
    """The records of a run; the ``work`` is static, and lacks the params."""
    work = dataclasses.replace(work, params=params)

    def go_on(state: SelectionState, _: None) -> tuple[SelectionState, SelectionRecord]:
        state = work.advanced(state)
        return state, work.record(state)

    start = work.init(SelectionJob(key, problem))
    records = require_budget(work.selector, work.budget, work.interval, work.batch)
    later = lax.scan(go_on, start, None, records - 1)[1]
    return jax.tree.map(lambda a, b: jnp.concatenate([a[None], b]), work.record(start), later)


def pair_key(
    key: jax.Array, num_options: int, low: ArrayLike, high: ArrayLike, number: ArrayLike
) -> jax.Array:
    """The key of comparison ``number``, from 0, of a pair low < high."""
    return jax.random.fold_in(jax.random.fold_in(key, low * num_options + high), number)


def choice_key(key: jax.Array, time: jax.Array) -> jax.Array:
    """The key of choice number ``time``, from 0, which no pair has."""
    return jax.random.fold_in(jax.random.fold_in(key, jnp.uint32(_CHOICES)), time)
