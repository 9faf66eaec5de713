"""Value-based races: the Hoeffding race and the empirical Bernstein race.

Sources: Maron and Moore 1994, 1997; Heidrich-Meisner and Igel 2009; Mnih et al. 2008.
Outcomes are single numbers, the larger the better. Axes: K options, r rounds told at once.
"""

import abc
import dataclasses
import functools
import math
from collections.abc import Hashable
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy.typing import NDArray

from jaxrace import kernels
from jaxrace.core import narrowing
from jaxrace.core.compilation import is_traced
from jaxrace.core.protocol import make_params, number, pytree, verb
from jaxrace.core.validation import (
    BadArgument,
    Owner,
    require_integer,
    require_positive,
    require_probability,
)
from jaxrace.kernels.kahan import Total, add
from jaxrace.racing import base
from jaxrace.racing.result import RaceResult

_SHOWN = "mean", "lower", "upper", "empty", "least", "greatest"
# A range is proven too small by a thousandth of it: float32 rounds its ends.
_ROUNDING = 1 + 1e-3
# No verdict before so many rounds: until then outcomes hardly show that a range is too small.
# Intervals that all lie in one range of width R are apart only later.
FEWEST = 5
_is_horizon = functools.partial(require_integer, least=1, most=2**24)


@pytree
class ValueParams:
    """The numbers of a value-based race; make them with the race's ``params``."""

    delta: jax.Array = number(require_probability)  # float32 []
    max_rounds: jax.Array = number(_is_horizon, np.int32)  # int32 [], n_max
    value_range: jax.Array = number(require_positive)  # float32 [], R, the width of each support
    owner: Owner = dataclasses.field(metadata={"static": True})  # the kind and size of the race


@pytree
class ValueState:
    """The progress of a value-based race."""

    round: jax.Array  # int32 [], rounds told, some perhaps after the end
    samples: jax.Array  # int32 [K], samples that counted
    simulated: jax.Array  # int32 [K], samples told for options that had asked
    mean: jax.Array  # float32 [K]
    mean_rest: jax.Array  # float32 [K], what the mean lacks for being rounded
    squares: jax.Array  # float32 [K], sum of squared deviations from the mean
    squares_rest: jax.Array  # float32 [K]
    lower: jax.Array  # float32 [K], LB_i
    upper: jax.Array  # float32 [K], UB_i
    empty: jax.Array  # bool [K], an intersection of intervals was empty
    selected: jax.Array  # bool [K], S
    discarded: jax.Array  # bool [K], D
    undecided_sum: jax.Array  # int32 [], sum over past rounds l of |U_l|
    least: jax.Array  # float32 [K], the outcomes that counted: inf before any
    greatest: jax.Array  # float32 [K]; -inf before any
    invalid: jax.Array  # int32 [K], first round with a counted outcome that is not finite, or by
    # which those of the option span more than the value_range
    owner: Owner = dataclasses.field(metadata={"static": True})  # the race


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class ValueResult(RaceResult):
    """The result of a value-based race."""

    mean: jax.Array  # float32 [K], the sort key among options of equal standing
    lower: jax.Array  # float32 [K], confidence bounds of the mean
    upper: jax.Array  # float32 [K]
    empty: jax.Array  # bool [K], an intersection of intervals was empty
    least: jax.Array  # float32 [K], the outcomes that counted
    greatest: jax.Array  # float32 [K]
    title: str = dataclasses.field(metadata={"static": True})  # of the kind of race

    @property
    def oracle_calls(self) -> NDArray[np.int64]:
        """Comparisons of two outcomes: a value-based race makes none."""
        return np.zeros(np.shape(self.decided), np.int64)


@dataclasses.dataclass(frozen=True)
class ValueRace(base.Race):
    """Top-kappa by mean outcome.

    Attributes:
        intersect: Keep the intersection of each option's intervals over the rounds (the
            "improved" races of the papers). Where it is empty (an event of probability at
            most delta) the newest interval stands and ``result.empty`` says so.
        dynamic_delta: Share delta among the statements that undecided options still need. A
            heuristic: its level depends on the data, and there is no proof.
    """

    intersect: bool = False
    dynamic_delta: bool = False

    title: ClassVar[str]  # in reports
    _params_kind = ValueParams
    _state_kind = ValueState
    _valid: ClassVar = "finite numbers, those of an option within a value_range", "others"

    @abc.abstractmethod
    def radius(
        self, rounds: jax.Array, deviation: jax.Array, events: jax.Array, params: ValueParams
    ) -> jax.Array:
        """Half the width of the confidence interval: float32 [K]."""

    def params(
        self, delta: float = 0.05, max_rounds: int = 100, value_range: float | None = None
    ) -> ValueParams:
        """The numbers of a race; ValueError if one is missing or outside its range.

        Args:
            delta: Error probability of the race, in (0, 1).
            max_rounds: n_max, 1 .. 2^24 (counts are exact in float32 up to there).
            value_range: R > 0, needed: every option's outcomes lie in an interval of this width.
                Outcomes that prove the contrary make the race void, as NaN does; so that they can,
                no verdict comes before 5 rounds.
        """
        if value_range is None:
            raise BadArgument("value_range", "the width of the outcomes' range", "nothing")
        numbers = {"delta": delta, "max_rounds": max_rounds, "value_range": value_range}
        return make_params(ValueParams, **numbers, owner=self._owner)

    @verb
    def init(self, example_outcome: Any, params: ValueParams) -> ValueState:
        leaves = jax.tree.leaves(example_outcome)
        if len(leaves) != 1 or leaves[0].shape != ():
            got = f"{[list(leaf.shape) for leaf in leaves]}"
            raise BadArgument("example_outcome", "a single number", got)
        if jnp.issubdtype(leaves[0].dtype, jnp.complexfloating):
            raise BadArgument("example_outcome", "a real number", f"{leaves[0].dtype}")
        numbers = jnp.zeros(self.num_options, jnp.float32)
        counts = jnp.zeros(self.num_options, jnp.int32)
        flags = jnp.zeros(self.num_options, bool)
        return ValueState(
            round=jnp.zeros((), jnp.int32),
            samples=counts,
            simulated=counts,
            mean=numbers,
            mean_rest=numbers,
            squares=numbers,
            squares_rest=numbers,
            lower=jnp.full_like(numbers, -jnp.inf),
            upper=jnp.full_like(numbers, jnp.inf),
            empty=flags,
            selected=flags,
            discarded=flags,
            undecided_sum=jnp.zeros((), jnp.int32),
            least=jnp.full_like(numbers, jnp.inf),
            greatest=jnp.full_like(numbers, -jnp.inf),
            invalid=counts,
            owner=self._state_owner,
        )

    def rounds_to_tell(self, state: ValueState) -> int:
        """One, after which the race may ask others; more are counted as if told one by one."""
        return 1

    @verb
    def ask(self, state: ValueState, params: ValueParams) -> jax.Array:
        return ~(state.selected | state.discarded) & (state.round < params.max_rounds)

    @verb
    def tell(self, state: ValueState, outcomes: Any, params: ValueParams) -> ValueState:
        (values,) = jax.tree.leaves(outcomes)
        num_told = values.shape[1]
        numbers = state.round + 1 + jnp.arange(num_told, dtype=jnp.int32)
        told = (numbers, values.T.astype(jnp.float32), base.finite_rounds(outcomes).T)
        state = dataclasses.replace(
            state,
            round=state.round + num_told,
            simulated=state.simulated + jnp.where(self.ask(state, params), num_told, 0),
        )
        return lax.scan(functools.partial(self._play_round, params), state, told)[0]

    def _play_round(
        self, params: ValueParams, state: ValueState, told: tuple[jax.Array, ...]
    ) -> tuple[ValueState, None]:
        number, values, finite = told  # int32 [], float32 [K], bool [K]
        undecided = ~(state.selected | state.discarded)  # U
        drawn = undecided & (number <= params.max_rounds)
        count = undecided.sum(dtype=jnp.int32)
        n = number.astype(jnp.float32)
        # Welford's update: the mean and the sum of squared deviations, without cancellation.
        step = jnp.where(drawn, values - state.mean - state.mean_rest, 0.0)
        mean, mean_rest = add(Total(state.mean, state.mean_rest), step / n)
        after = jnp.where(drawn, values - mean - mean_rest, 0.0)
        squares, squares_rest = add(Total(state.squares, state.squares_rest), step * after)
        events = self._events(params, number, state.undecided_sum, count)
        radius = self.radius(n, jnp.sqrt(squares / n), events, params)
        newest_lower, newest_upper = mean - radius, mean + radius
        lower, upper, empty = newest_lower, newest_upper, jnp.zeros_like(drawn)
        if self.intersect:
            lower = jnp.maximum(state.lower, newest_lower)
            upper = jnp.minimum(state.upper, newest_upper)
            empty = lower > upper
            lower = jnp.where(empty, newest_lower, lower)
            upper = jnp.where(empty, newest_upper, upper)
        lower = jnp.where(drawn, lower, state.lower)
        upper = jnp.where(drawn, upper, state.upper)
        selected, discarded = self._verdicts(state, drawn & (number >= FEWEST), lower, upper)
        least = jnp.where(drawn, jnp.minimum(state.least, values), state.least)
        greatest = jnp.where(drawn, jnp.maximum(state.greatest, values), state.greatest)
        is_wide = greatest - least > params.value_range * _ROUNDING
        first_bad = drawn & (~finite | is_wide) & (state.invalid == 0)
        return dataclasses.replace(
            state,
            samples=state.samples + drawn.astype(jnp.int32),
            mean=mean,
            mean_rest=mean_rest,
            squares=squares,
            squares_rest=squares_rest,
            lower=lower,
            upper=upper,
            empty=state.empty | (drawn & empty),
            selected=selected,
            discarded=discarded,
            undecided_sum=state.undecided_sum + count,
            least=least,
            greatest=greatest,
            invalid=jnp.where(first_bad, number, state.invalid),
        ), None

    def _events(
        self, params: ValueParams, number: jax.Array, undecided_sum: jax.Array, count: jax.Array
    ) -> jax.Array:
        """u_b, the number of interval statements that share delta: float32 []."""
        if not self.dynamic_delta:
            return self.num_options * params.max_rounds.astype(jnp.float32)
        # In floats: the products may exceed an int32.
        remaining = jnp.maximum(params.max_rounds - number + 1, 0).astype(jnp.float32)
        return undecided_sum.astype(jnp.float32) + remaining * count.astype(jnp.float32)

    def _verdicts(
        self, state: ValueState, drawn: jax.Array, lower: jax.Array, upper: jax.Array
    ) -> tuple[jax.Array, jax.Array]:
        """Who is selected and discarded after a round, counting among the undecided only."""
        num_selected = state.selected.sum(dtype=jnp.int32)
        num_discarded = state.discarded.sum(dtype=jnp.int32)
        above = (lower[:, None] > upper[None, :]) & drawn[:, None] & drawn[None, :]
        wins, losses = above.sum(-1, dtype=jnp.int32), above.sum(-2, dtype=jnp.int32)
        open_places = self.top - num_selected
        open_losers = self.num_options - self.top - num_discarded
        selected = state.selected | (drawn & (wins >= open_losers))
        discarded = state.discarded | (drawn & (losses >= open_places))
        # All places taken: the others are out. All losers known: the others are in.
        full = selected.sum(dtype=jnp.int32) == self.top
        rest = discarded.sum(dtype=jnp.int32) == self.num_options - self.top
        return selected | (rest & ~discarded), discarded | (full & ~selected)

    @verb
    def result(self, state: ValueState, params: ValueParams) -> ValueResult:
        standing = state.selected.astype(jnp.int32) - state.discarded.astype(jnp.int32)
        return ValueResult(
            ranking=kernels.ranking(standing, state.mean),
            decided=(state.selected | state.discarded).all(),
            **self._held(state, params, "selected", "discarded"),
            **{name: getattr(state, name) for name in _SHOWN},
            title=self.title,
            dynamic_delta=self.dynamic_delta,
        )._if_valid()

    def _check_outcomes(self, state: ValueState, outcomes: Any) -> None:
        shapes = [list(leaf.shape) for leaf in jax.tree.leaves(outcomes)]
        if len(shapes) != 1 or len(shapes[0]) != 2 or shapes[0][0] != self.num_options:
            raise BadArgument("outcomes", f"one array [{self.num_options}, rounds]", f"{shapes}")
        if shapes[0][1] == 0:
            raise BadArgument("outcomes", "at least one round", "none")
        (values,) = jax.tree.leaves(outcomes)
        if jnp.issubdtype(values.dtype, jnp.complexfloating):
            raise BadArgument("outcomes", "real numbers", f"{values.dtype}")

    def _check_numbers(self, state: ValueState, outcomes: Any, params: ValueParams) -> None:
        (values,) = map(np.asarray, jax.tree.leaves(outcomes))
        counted = values[np.asarray(self.ask(state, params))]
        narrowing.require_range("outcomes", counted, np.float32)
        _require_fine(counted, params)

    def _after_tell(self, state: ValueState, *told: Any) -> None:
        _require_in_range(state, told[-1])
        super()._after_tell(state, *told)

    def _check_found(self, found: Any, first: Any, source: Hashable = None) -> Any:
        if isinstance(found, ValueResult) and not is_traced(found):
            _require_in_range(found, found.params)
        found = super()._check_found(found, first, source)
        if isinstance(found, ValueResult) and not is_traced(found):
            _require_fine(np.asarray(found.mean), found.params)
        return found


def _require_in_range(found: ValueState | ValueResult, params: ValueParams) -> None:
    """Raise if the outcomes of an option that counted prove that the range is too small."""
    least, greatest = np.asarray(found.least), np.asarray(found.greatest)
    is_wide = (np.asarray(found.invalid) > 0) & np.isfinite(least) & np.isfinite(greatest)
    for option in np.flatnonzero(is_wide)[:1]:
        expected = f"those of an option within a value_range of {float(params.value_range):g}"
        got = f"{least[option]:g} to {greatest[option]:g}"
        raise BadArgument("outcomes", expected, got, f" for option {option}")


def _require_fine(values: np.ndarray, params: ValueParams) -> None:
    """Raise unless rounding moves values by less than a hundredth of the narrowest interval."""
    largest = float(np.abs(values[np.isfinite(values)]).max(initial=0))
    value_range = float(params.value_range)
    if largest * 2.0**-24 > value_range / math.sqrt(float(params.max_rounds)) / 100:
        expected = f"numbers that float32 tells apart in a value_range of {value_range:g}"
        hint = "; subtract what they have in common"
        raise BadArgument("outcomes", expected, f"{largest:g}", hint)


@dataclasses.dataclass(frozen=True)
class HoeffdingRace(ValueRace):
    """Top-kappa by mean, with Hoeffding's bound (Heidrich-Meisner and Igel 2009).

    >>> race = HoeffdingRace(num_options=3, top=1)
    >>> params = race.params(delta=0.1, max_rounds=200, value_range=1.0)
    >>> state = race.init(jnp.float32(0), params)
    >>> while race.ask(state, params).any():
    ...     state = race.tell(state, jnp.array([[0.9], [0.5], [0.1]]), params)
    >>> race.result(state, params).best.tolist()
    [0]
    """

    title = "Hoeffding race (mean)"

    def radius(
        self, rounds: jax.Array, deviation: jax.Array, events: jax.Array, params: ValueParams
    ) -> jax.Array:
        """By ``kernels.hoeffding_radius``."""
        return kernels.hoeffding_radius(rounds, params.value_range, events, params.delta)


@dataclasses.dataclass(frozen=True)
class BernsteinRace(ValueRace):
    """Top-kappa by mean, with the empirical Bernstein bound (Mnih et al. 2008)."""

    title = "Bernstein race (mean)"

    def radius(
        self, rounds: jax.Array, deviation: jax.Array, events: jax.Array, params: ValueParams
    ) -> jax.Array:
        """By ``kernels.bernstein_radius``."""
        return kernels.bernstein_radius(rounds, deviation, params.value_range, events, params.delta)
