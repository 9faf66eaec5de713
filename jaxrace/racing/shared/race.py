"""The race on shared tasks: options that all run the same tasks, in one order.

What options have in common on a task cancels in their differences; nothing is asked of how they
depend on each other there. The theorems are in docs/tables.md. Axes: K options, N = capacity tasks,
R values of an option on a task, T tasks told at once.
"""

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import kernels
from jaxrace.core import narrowing
from jaxrace.core.protocol import verb
from jaxrace.core.validation import (
    require_choice,
    require_function,
    require_integer,
    require_number,
    require_probability,
)
from jaxrace.evidence import levels
from jaxrace.evidence.decision import SHARED_SLACK, Seen, perhaps_best, perhaps_tied, seen_of
from jaxrace.kernels.kahan import Total
from jaxrace.racing import base
from jaxrace.racing.comparing import check_once, first_few, require_outcomes
from jaxrace.racing.dominance import decision
from jaxrace.racing.dominance.evidence import keep_samples
from jaxrace.racing.dominance.state import COUNTS, EXHAUSTED, RUNNING, require_bets
from jaxrace.racing.shared import evidence
from jaxrace.racing.shared.result import SharedResult
from jaxrace.racing.shared.state import (
    BLOCK,
    PairEvidence,
    SharedParams,
    SharedState,
    pairs_first,
    pairs_last,
    squared,
)

# A factor is rounded by less than this, as a share of it and on average: verdicts keep so far, per
# task, from the exact level, so that rounding certifies nothing.
_ROUNDING = 1e-6

_MOST_TASKS = 2**20  # of which float32 still counts each, in sums of differences


@dataclasses.dataclass(frozen=True)
class SharedRace(base.Race):
    """Top-kappa of options that run the same tasks: prompts, instances, seeds, folds.

    Tasks come in one order, the same for all. They are a stream of independent tasks that are
    alike; or a finite list, in an order drawn by lot before any result is known, and then the
    question is who is best on the whole list. Options may lag: ``ask`` says how many further tasks
    each is to run. The probability that a wrong set is ever certified is at most delta.

    Means that differ by less than 1.2e-7 of the range count as equal, which float32 cannot tell.

    Attributes:
        capacity: N, the most tasks that are kept; of a finite list all of them.
        by: "mean", to have the higher mean score, or "wins", to be better on more tasks.
        low: By mean, the lowest score that is possible.
        high: By mean, the highest.
        compare: By wins, of two single outcomes: int8 +1 where the first is preferred, -1 where the
            second is, 0 else; antisymmetric, pure JAX.
        finite: Are tasks a list, about which the question is?
        values: R, the values of an option on a task. By wins all pairs of them are compared.

    >>> race = SharedRace(num_options=3, top=1, capacity=200, low=0, high=1)
    >>> params = race.params(delta=0.1)
    >>> state = race.init(jnp.float32(0), params)
    >>> while (asked := race.ask(state, params)).any():
    ...     scores = jnp.tile(jnp.array([[0.9], [0.5], [0.4]]), asked.max())
    ...     state = race.tell(state, scores, params)
    >>> result = race.result(state, params)
    >>> result.best.tolist(), result.certificate, result.samples.tolist()
    ([0], 'dominance', [15, 15, 10])
    """

    capacity: int
    by: levels.By = "mean"
    low: float | None = None
    high: float | None = None
    compare: Callable[[Any, Any], jax.Array] | None = None
    finite: bool = False
    values: int = 1

    params_kind = SharedParams
    state_kind = SharedState
    params_depend_on: ClassVar = ("num_options", "top", "capacity", "by", "low", "high", "finite")
    shares_tasks: ClassVar = True

    def __post_init__(self) -> None:
        super().__post_init__()
        require_integer("capacity", self.capacity, 1, _MOST_TASKS)
        require_integer("values", self.values, 1)
        require_choice("by", self.by, ("mean", "wins"))
        base.require_float32_scale(self.by, self.low, self.high)
        if self.by == "wins":
            require_function("compare", self.compare)
        elif self.compare is not None:
            raise ValueError("compare: expected none for a race by mean")

    @property
    def chunk(self) -> int:
        """Tasks that a driver runs at once unless it is told otherwise."""
        return BLOCK

    @property
    def work(self) -> float:
        """Steps that a race makes at most: each task tells some ten numbers of each pair."""
        return 10.0 * self.capacity * self.num_options**2

    def params(
        self,
        delta: float = 0.05,
        max_rounds: int | None = None,
        tolerance: float = 0.0,
        slack: float = SHARED_SLACK,
        first: int = 10,
        least: int = 5,
        growth: float = 0.05,
        bets: Sequence[float] | None = None,
        weights: Sequence[float] | None = None,
        horizon: int | None = None,
    ) -> SharedParams:
        """The numbers of a race; ValueError if one is outside its range.

        Args:
            delta: Probability of a wrong certificate, in (0, 1).
            max_rounds: The most tasks of an option, 1 .. capacity; the capacity unless given, which
                it is for a finite list.
            tolerance: Good enough: nobody else is better by so much or more, in units of the score
                by mean and in win probability, below 0.5, by wins. Ties end, too.
            slack: How far, in log e-values, pairs may be ahead of the most doubtful one and still
                be run for.
            first: Tasks of all before the first look.
            least: Tasks of an option between two looks, at least.
            growth: The same as a share of the tasks that it has.
            bets: lambda of the e-process, each in (0, 0.95]; chosen for the ``horizon`` unless
                given.
            weights: Of the bets, positive; they are scaled to add up to 1.
            horizon: Tasks that the bets are chosen for, max_rounds unless given. Looks with the
                same bets are one test: for more tasks than were planned make a race of larger
                capacity with the same horizon.
        """
        require_probability("delta", delta)
        most = self.capacity if max_rounds is None else max_rounds
        require_integer("max_rounds", most, self.capacity if self.finite else 1, self.capacity)
        width = 0.5 if self.by == "wins" else self.high - self.low  # type: ignore[operator]
        require_number("tolerance", tolerance, least=0, below=width)
        require_number("slack", slack, least=0)
        require_integer("first", first, 1)
        require_integer("least", least, 1)
        require_number("growth", growth, least=0)
        needed = levels.levels(
            self.by, self.num_options, self.top, delta, has_tolerance=tolerance > 0
        )
        horizon = most if horizon is None else horizon
        require_integer("horizon", horizon, 1)
        if bets is None:
            bets, usual = levels.shared_bets(needed.verdict, horizon)
            weights = usual if weights is None else weights
        weights = [1.0] * len(bets) if weights is None else weights
        require_bets(bets, weights, levels.LARGEST_BET)
        shares = np.asarray(weights, float) / np.sum(weights)
        null = -tolerance / width
        rounding = _ROUNDING * most

        def number(value: Any) -> jax.Array:
            return jnp.asarray(value, jnp.float32)

        return SharedParams(
            delta=number(delta),
            max_rounds=jnp.asarray(most, jnp.int32),
            tolerance=number(tolerance),
            level=number(needed.verdict + rounding),
            strong_level=number(needed.strong + rounding),
            possible_level=number(needed.possible + rounding),
            nulls=number([null, 0.0] if tolerance else [0.0]),
            bets=number(bets),
            # Rounded down, so that the sum is at most 1.
            weights=number(shares * (1 - 2.0**-22)),
            slack=number(slack),
            first=jnp.asarray(min(first, most), jnp.int32),
            least=jnp.asarray(least, jnp.int32),
            growth=number(growth),
            owner=self.owner,
        )

    @verb
    def init(self, example_outcome: Any, params: SharedParams) -> SharedState:
        evidence.require_outcome(example_outcome, self.values, self.compare)
        num_options = self.num_options
        room = num_options, self.capacity + BLOCK
        counts = jnp.zeros(num_options, jnp.int32)
        num_nulls, count = params.nulls.shape[-1], num_options * (num_options - 1) // 2
        bets = jnp.broadcast_to(
            params.weights[:, None, None], (num_nulls, params.weights.shape[-1], 2, count)
        )
        highest = jnp.zeros((num_nulls, 2, count), jnp.float32)
        sums = jnp.zeros(count, jnp.float32)
        return SharedState(
            outcomes=jax.tree.map(lambda x: jnp.zeros((*room, *x.shape), x.dtype), example_outcome),
            simulated=counts,
            wanted=jnp.broadcast_to(params.first, (num_options,)),
            first_bad=counts,
            pairs=pairs_first(PairEvidence(bets, highest, Total(sums, sums))),
            certificate=jnp.int32(RUNNING),
        )

    @verb
    def ask(self, state: SharedState, params: SharedParams) -> jax.Array:
        """How many further tasks each option is to run, next in the common order: int32 [K]."""
        return state.wanted - state.simulated

    @verb
    def tell(self, state: SharedState, outcomes: Any, params: SharedParams) -> SharedState:
        """Count outcomes on the next tasks of each option: leaves [K, T, ...].

        Of an option as many count as it was asked for, or T if that is less, and the rest is asked
        for again; nothing is decided before all have run what was asked for.

        Raises:
            ValueError: ``state``, ``params`` or ``outcomes`` are not of this race; or, outside of
                jit only, an outcome that counts is not finite, or by mean out of its range.
        """
        return base.in_lane(self.tell_tasks, state, outcomes, params)

    def tell_tasks(self, states: SharedState, outcomes: Any, params: SharedParams) -> SharedState:
        """``tell`` of B races, leaves [B, ...], which share the work."""
        before, lacking = states.simulated, states.wanted - states.simulated
        bad = jax.vmap(lambda x: base.bad_outcomes(x, self.low, self.high))(outcomes)
        states = evidence.count_tasks(
            keep_samples(states, outcomes, lacking, bad),
            params,
            before,
            differences=self._differences,
            is_finite=self.finite,
        )
        # Only when all have what they were asked for, and until the race has ended.
        looks = (lacking > 0).any(1) & (states.simulated >= states.wanted).all(1)
        found = jax.vmap(self._decide)(states, params)
        asked = found.asked & looks[:, None]
        further = jax.vmap(_next_batch)(states.simulated, params)
        return dataclasses.replace(
            states,
            wanted=jnp.where(asked, further, states.wanted),
            certificate=jnp.where(looks, found.certificate, states.certificate),
        )

    def _decide(self, state: SharedState, params: SharedParams) -> decision.Decision:
        # By mean, and with a tolerance, there is no certificate (b).
        by_counts = self.by == "wins" and params.nulls.size == 1
        of_race = self._seen(state, params), state.simulated, params, params.max_rounds
        return decision.decide(*of_race, self.top, by_counts=by_counts)

    def _differences(self, first: Any, second: Any) -> jax.Array:
        """d of outcomes, leaves [BLOCK, R, ...]: float32 [BLOCK, R]."""
        if self.compare is None:
            x, y = (self._scores(jax.tree.leaves(x)[0]) for x in (first, second))
            return x - y
        signs = functools.partial(evidence.net_wins, self.compare, self.values)
        return jax.vmap(jax.vmap(signs))(first, second)

    def _scores(self, outcomes: jax.Array) -> jax.Array:
        """The mean over the values of a task, in a range of width 1."""
        assert self.low is not None
        assert self.high is not None
        scores = (outcomes.astype(jnp.float32) - self.low) / (self.high - self.low)
        return scores.mean(-1) if self.values > 1 else scores

    def _seen(self, state: SharedState, params: SharedParams) -> Seen:
        pairs, told = pairs_last(state.pairs), state.simulated
        highest = jnp.log(squared(pairs.highest[0], self.num_options))
        total = pairs.total.value + pairs.total.compensation
        total = squared(jnp.stack([total, -total]), self.num_options)
        apart = ~jnp.eye(self.num_options, dtype=bool)
        highest = jnp.where(apart, highest, -jnp.inf)
        total = jnp.where(apart, total, 0.0)
        shared = jnp.maximum(decision.common(told), 1).astype(jnp.float32)
        levels = params.level, params.strong_level
        return seen_of(highest, total / shared, *levels, params.nulls[0])

    @verb
    def result(self, state: SharedState, params: SharedParams) -> SharedResult:
        seen = self._seen(state, params)
        highest = squared(pairs_last(state.pairs).highest, self.num_options)
        highest = jnp.where(jnp.eye(self.num_options, dtype=bool), -jnp.inf, jnp.log(highest))
        keys = decision.standing(seen)
        ranking = kernels.ranking(*keys)
        certified = (state.certificate != RUNNING) & (state.certificate != EXHAUSTED)
        in_top = jnp.argsort(ranking) < self.top
        # Of the nulls the last one is that without a tolerance.
        beats = seen_of(highest[-1], seen.mean, params.possible_level, jnp.inf).over
        possible, sure = perhaps_best(beats, self.top)
        tied = perhaps_tied(seen.strong, in_top) & (state.certificate == COUNTS)
        certain = certified & (params.tolerance == 0)
        return SharedResult(
            ranking=ranking,
            selected=jnp.where(certified, in_top, sure),
            discarded=jnp.where(certified, ~in_top, ~possible),
            possible=jnp.where(certain, in_top | tied, possible),
            tied=tied,
            decided=certified,
            certificate_number=state.certificate,
            wins=keys.wins,
            total=keys.total,
            highest=highest,
            mean_difference=seen.mean,
            asked=state.wanted - state.simulated,
            by=self.by,
            finite=self.finite,
            **self._held(state, params),
        )

    def check_outcomes(self, state: SharedState, outcomes: Any) -> None:
        """Raise ValueError unless ``outcomes`` fits the example that ``init`` was given."""
        require_outcomes(state.outcomes, outcomes)

    def check_numbers(self, state: SharedState, outcomes: Any, params: SharedParams) -> None:
        """Raise ValueError unless the state's dtypes hold the numbers and tell them apart."""
        lacking = np.asarray(self.ask(state, params))
        kept = jax.tree.leaves(state.outcomes)
        for new, old in zip(jax.tree.leaves(outcomes), kept, strict=True):
            values = np.asarray(new)
            counts = np.arange(values.shape[1]) < lacking[:, None]
            if self.by == "mean":
                narrowing.require_range("outcomes", values[counts], old.dtype)
            elif not narrowing.are_kept(values, old.dtype):
                narrowing.require_told_apart("outcomes", values[counts], old.dtype)

    def raise_if_invalid(self, invalid: jax.Array) -> None:
        """Raise ValueError for the first outcome that is not finite or out of its range."""
        base.raise_if_invalid(invalid, low=self.low, high=self.high, place="on task")

    def first_outcomes(self, state: SharedState) -> Any:
        """Leaves [K, few, ...], and the number of tasks told."""
        return first_few(state.outcomes), state.round

    def check_preferences(self, first: Any, source: Any = None) -> None:
        """Raise ValueError unless ``compare`` is an antisymmetric sign on the first outcomes."""
        if self.compare is None:
            return
        few, num_tasks = first
        if self.values > 1:  # of each task the first value
            few = jax.tree.map(lambda x: x[:, :, 0], few)
        check_once(self.compare, source, few, num_tasks)


def _next_batch(told: jax.Array, params: SharedParams) -> jax.Array:
    """How many tasks, int32 [K], options that ask are to have at the next look."""
    share = jnp.floor(told.astype(jnp.float32) * params.growth).astype(jnp.int32)
    return jnp.minimum(told + jnp.maximum(params.least, share), params.max_rounds)
