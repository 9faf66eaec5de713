"""The race on shared tasks: options that all run the same tasks, in one order.

What options have in common on a task cancels in their differences; how they depend on each other
there does not matter. The theorems are in docs/theory/tables.md. Axes: K options, N = capacity
tasks, R values of an option on a task, T tasks told at once.
"""

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import kernels
from jaxrace.core.protocol import make_params, verb
from jaxrace.core.validation import BadArgument, require_integer
from jaxrace.evidence.decision import EXHAUSTED, RUNNING, SHARED_SLACK, Seen, certify, seen_of
from jaxrace.evidence.levels import LARGEST_BET, By
from jaxrace.evidence.task_bets import shared_bets
from jaxrace.kernels.kahan import zero
from jaxrace.racing import base
from jaxrace.racing.certified.race import (
    ORDERS,
    CertifiedRace,
    common,
    keep_samples,
    squared,
    standing,
)
from jaxrace.racing.certified.tasks import (
    BLOCK,
    PairEvidence,
    SharedParams,
    SharedResult,
    SharedState,
    count_tasks,
)
from jaxrace.racing.comparing import Compare, first_few, require_real, require_sign

# A factor is rounded by less than this share: verdicts keep so far, per task, from the exact level.
_ROUNDING = 1e-6


@dataclasses.dataclass(frozen=True)
class SharedRace(CertifiedRace):
    """Top-kappa of options that run the same tasks: prompts, instances, seeds, folds.

    Tasks are a stream, alike and independent. Or they are a finite list, in an order drawn by lot
    before any result is known: then the question is who is best on the whole list. Options may lag:
    ``ask`` says how many further tasks each is to run. Means that differ by less than 1.2e-7 of the
    range count as equal.

    Attributes:
        capacity: N, the most tasks that are kept; of a finite list all of them.
        by: "mean", to have the higher mean score, or "wins", to be better on more tasks.
        low: By mean, the lowest score that is possible.
        high: By mean, the highest.
        compare: By wins, as in every ``ComparingRace``.
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

    compare: Any = None
    by: By = "mean"
    low: float | None = None
    high: float | None = None
    finite: bool = False
    values: int = 1

    _params_kind = SharedParams
    _state_kind = SharedState
    _params_depend_on: ClassVar = ("num_options", "top", "capacity", "by", "low", "high", "finite")
    _shares_tasks: ClassVar = True
    _spare: ClassVar = BLOCK
    _most: ClassVar = 2**20  # tasks, of which float32 counts each in sums of differences
    _where: ClassVar = "on task"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_integer("values", self.values, 1)
        if self.by == "mean" and self.compare is not None:
            raise BadArgument("compare", "none for a race by mean", f"{self.compare!r}")

    @property
    def chunk(self) -> int:
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
            tolerance: As for a ``DominanceRace``.
            slack: The same.
            first: Tasks of all before the first look.
            least: Tasks of an option between two looks, at least.
            growth: The same as a share of the tasks that it has.
            bets: lambda of the e-process, each in (0, 0.95]; chosen for the ``horizon`` unless
                given.
            weights: Of the bets, positive; they are scaled to add up to 1.
            horizon: Tasks that the bets are chosen for, max_rounds unless given. Looks with the
                same bets are one test: a race that goes on keeps its horizon.
        """
        most = self.capacity if max_rounds is None else max_rounds
        require_integer("max_rounds", most, self.capacity if self.finite else 1, self.capacity)
        horizon = most if horizon is None else horizon
        about = delta, tolerance, horizon, bets, weights, LARGEST_BET
        needed, bets, shares = self._mixture(*about, lambda *of: shared_bets(*of).bets)
        rounding = _ROUNDING * most
        return make_params(
            SharedParams,
            delta=delta,
            max_rounds=most,
            tolerance=tolerance,
            level=needed.verdict + rounding,
            strong_level=needed.strong + rounding,
            possible_level=needed.possible + rounding,
            nulls=[-tolerance / self.width, 0.0] if tolerance else [0.0],
            bets=bets,
            # Rounded down, so that the sum is at most 1.
            weights=shares * (1 - 2.0**-22),
            slack=slack,
            first=first,
            least=least,
            growth=growth,
            owner=self._owner,
        )

    @verb
    def init(self, example_outcome: Any, params: SharedParams) -> SharedState:
        num_options = self.num_options
        counts = jnp.zeros(num_options, jnp.int32)
        count, num_nulls = num_options * (num_options - 1) // 2, params.nulls.shape[-1]
        weights = params.weights[:, None, None]
        pairs = PairEvidence(
            jnp.broadcast_to(weights, (count, len(weights), num_nulls, 2)),
            jnp.zeros((count, num_nulls, 2), jnp.float32),
            zero(count),
        )
        return SharedState(
            outcomes=self._room(example_outcome),
            simulated=counts,
            wanted=jnp.broadcast_to(jnp.minimum(params.first, params.max_rounds), (num_options,)),
            first_bad=counts,
            pairs=pairs,
            certificate=jnp.int32(RUNNING),
            owner=self._state_owner,
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
        return base.in_batch(self._tell, state, outcomes, params)

    def tell_batch(
        self, states: SharedState, outcomes: Any, params: SharedParams, first_round: jax.Array
    ) -> SharedState:
        return self._tell(states, outcomes, params)

    def _tell(self, states: SharedState, outcomes: Any, params: SharedParams) -> SharedState:
        before, lacking = states.simulated, states.wanted - states.simulated
        bad = jax.vmap(self._bad)(outcomes)
        states = count_tasks(
            keep_samples(states, outcomes, lacking, bad),
            params,
            before,
            bad.shape[2],
            differences=self._differences,
            is_finite=self.finite,
        )
        # Only when all have what they were asked for, and until the race has ended.
        looks = (lacking > 0).any(1) & (states.simulated >= states.wanted).all(1)

        def look(evidence: Any, told: jax.Array, params: SharedParams) -> Any:
            seen = self._seen(evidence, told, params)
            share = jnp.floor(told.astype(jnp.float32) * params.growth).astype(jnp.int32)
            most = jnp.minimum(told + jnp.maximum(params.least, share), params.max_rounds)
            leads = standing(seen).first(self.top, jnp)
            about = seen, leads, told, params.max_rounds, params.level, params.slack
            # By mean, and with a tolerance, there is no certificate (b).
            by_counts = self.by == "wins" and params.nulls.size == 1
            is_tolerant = params.tolerance > 0
            return most, certify(*about, is_tolerant=is_tolerant, by_counts=by_counts, xp=jnp)

        most, found = kernels.with_operands_kept(
            jax.vmap(look), looks.any(), jax.vmap(self._evidence)(states), states.simulated, params
        )
        return dataclasses.replace(
            states,
            wanted=jnp.where(found.asked & looks[:, None], most, states.wanted),
            certificate=jnp.where(looks, found.certificate, states.certificate),
        )

    def _differences(self, first: Any, second: Any) -> jax.Array:
        """d of outcomes, leaves [BLOCK, R, ...]: float32 [BLOCK, R]."""
        if self.compare is None:
            x, y = (self._scores(jax.tree.leaves(x)[0]) for x in (first, second))
            return x - y
        signs = functools.partial(net_wins, self.compare, self.values)
        return jax.vmap(jax.vmap(signs))(first, second)

    def _scores(self, outcomes: jax.Array) -> jax.Array:
        """The mean over the values of a task, in a range of width 1."""
        assert self.low is not None
        scores = (outcomes.astype(jnp.float32) - self.low) / self.width
        return scores.mean(-1) if self.values > 1 else scores

    def _evidence(self, state: SharedState) -> tuple[jax.Array, jax.Array]:
        """The largest E so far, [Q, K, K], and the sums of differences, [K, K]."""
        total = state.pairs.total.value + state.pairs.total.compensation
        totals = total[:, None] * ORDERS.T
        return squared(state.pairs.highest, self.num_options), squared(totals, self.num_options)

    def _seen(self, evidence: Any, told: jax.Array, params: SharedParams) -> Seen:
        highest, total = evidence
        shared = jnp.maximum(common(told), 1).astype(jnp.float32)
        levels = params.level, params.strong_level
        return seen_of(jnp.log(highest[0]), total / shared, *levels, params.nulls[0])

    @verb
    def result(self, state: SharedState, params: SharedParams) -> SharedResult:
        evidence = self._evidence(state)
        seen, highest = self._seen(evidence, state.simulated, params), jnp.log(evidence[0])
        certified = (state.certificate != RUNNING) & (state.certificate != EXHAUSTED)
        # Of the nulls the last one is that without a tolerance.
        beats = seen_of(highest[-1], seen.mean, params.possible_level, jnp.inf).over
        return SharedResult(
            **self._certain(state, params, seen, standing(seen), certified, beats),
            **self._held(state, params),
            highest=highest,
            mean_difference=seen.mean,
            asked=state.wanted - state.simulated,
            finite=self.finite,
        )._if_valid()

    def _room(self, example: Any) -> Any:
        """Raise ValueError unless an outcome has as many ``values`` as a race compares."""
        leaves = jax.tree.leaves(example)
        wanted = (self.values,) if self.values > 1 else ()
        if self.by == "mean" and (len(leaves) != 1 or leaves[0].shape != wanted):
            got = f"{[list(leaf.shape) for leaf in leaves]}"
            raise BadArgument("example_outcome", f"one array {list(wanted)} of scores", got)
        for leaf in leaves:
            if leaf.shape[: len(wanted)] != wanted:
                expected = f"{self.values} values first"
                raise BadArgument("example_outcome", expected, f"{list(leaf.shape)}")
        require_real("example_outcome", example)
        if self.by == "wins":
            cut = len(wanted)
            one = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape[cut:], x.dtype), example)
            require_sign(self.compare, one)
        return self._zeros(example)

    def _draw_tasks(
        self, play: Callable[..., Any], keys: jax.Array, tasks: Any
    ) -> tuple[Callable[..., Any], jax.Array]:
        """A function of the number of a race, an option and the number of a task; and the first.

        Of B races with ``keys`` [B] and tasks, leaves [B, N, ...]: numbers int32 [B, K].
        """
        orders = jax.vmap(functools.partial(task_order, self))(keys)

        def draw(race: jax.Array, option: Any, number: jax.Array) -> Any:
            at = orders[race, jnp.minimum(number, orders.shape[1] - 1)]
            task = jax.tree.map(lambda x: x[race, at], tasks)
            return play(keys[race], option, number, task)

        numbers = jnp.arange(keys.size, dtype=jnp.int32)[:, None]
        return draw, jnp.broadcast_to(numbers, (keys.size, self.num_options))

    def _counted(self, asked: np.ndarray, rounds: int) -> np.ndarray:
        return np.arange(rounds) < asked[:, None]

    def _first_outcomes(self, state: SharedState) -> Any:
        few = first_few(state.outcomes)
        if self.values > 1:  # of each task the first value
            few = jax.tree.map(lambda x: x[:, :, 0], few)
        return few, state.round


def task_order(race: SharedRace, key: jax.Array) -> jax.Array:
    """The order of the tasks of a ``SharedRace``, int32 [N]: by lot, from the key, for a list.

    The t-th task of ``racing.run`` with this key is the one with this number; of a stream it is t.

    >>> race = SharedRace(num_options=2, top=1, capacity=5, low=0, high=1, finite=True)
    >>> sorted(task_order(race, jax.random.key(0)).tolist())
    [0, 1, 2, 3, 4]
    """
    numbers = jnp.arange(race.capacity, dtype=jnp.int32)
    if not race.finite:
        return numbers
    return jax.random.permutation(jax.random.fold_in(key, race.capacity), numbers)


def net_wins(compare: Compare, values: int, first: Any, second: Any) -> jax.Array:
    """The sign of two outcomes, averaged over all pairs of their R values: float32 [].

    >>> from jaxrace.kernels import total_order
    >>> print(net_wins(total_order, 2, jnp.array([1.0, 3.0]), jnp.array([1.0, 2.0])))
    0.25
    """
    if values == 1:
        return compare(first, second).astype(jnp.float32)
    signs = jax.vmap(jax.vmap(compare, (None, 0)), (0, None))(first, second)
    return signs.sum(dtype=jnp.int32).astype(jnp.float32) / values**2
