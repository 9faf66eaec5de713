"""What every race shares: the four verbs init / ask / tell / result, compiled and checked.

Axes: K options, r rounds told at once, B races side by side (lanes).
"""

import abc
import dataclasses
import functools
import math
from collections.abc import Callable, Hashable
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace.core.compilation import is_traced
from jaxrace.core.narrowing import as_arrays, as_host_array, dtype_of, require_rows_apart
from jaxrace.core.validation import Owner, require_integer, require_kind, require_owner, require_top
from jaxrace.evidence.levels import By, require_scale

Outcome = Any
Params = Any
State = Any
Result = Any


@dataclasses.dataclass(frozen=True)
class Race(abc.ABC):
    """Which of K stochastic options are the best kappa? Subclasses implement the four verbs."""

    num_options: int  # K, at least 2
    top: int  # kappa, the number of options to select, 1 <= kappa < K

    params_kind: ClassVar[type]
    state_kind: ClassVar[type]
    # What the numbers in ``params`` depend on: they serve no race in which one of these is other.
    params_depend_on: ClassVar[tuple[str, ...]] = ("num_options",)
    shares_tasks: ClassVar[bool] = False  # do options run the same tasks?

    def __post_init__(self) -> None:
        require_integer("num_options", self.num_options, 2)
        require_top(self.top, self.num_options)

    @property
    def chunk(self) -> int:
        """Rounds that a driver draws at once unless it is told otherwise."""
        return 25

    @property
    def work(self) -> float:
        """Comparisons of two outcomes that a race makes at most, or steps of that size."""
        return float(self.num_options**2)

    @property
    def owner(self) -> Owner:
        """Whom ``params`` belong to: this kind and size of race."""
        attributes = tuple((name, getattr(self, name)) for name in self.params_depend_on)
        return type(self).__name__, attributes

    @abc.abstractmethod
    def params(self, delta: float, max_rounds: int) -> Params:
        """The numbers of a race as a pytree, checked."""

    def table(self, delta: float, **numbers: Any) -> Any:
        """Params for ``params_at``, which serve every n_max; arguments as for ``params``."""
        return self.params(delta, **numbers)

    def params_at(self, table: Any, max_rounds: jax.Array) -> Params:
        """Params for a traced int32 n_max, from ``table``; of 0 rounds, a race asks for nothing."""
        require_owner(table, self.owner)
        return dataclasses.replace(table, max_rounds=max_rounds)

    @property
    def opening(self) -> int:
        """Samples of all options that a driver draws first; after any, only of those that ask."""
        return 0

    def open_lanes(self, states: State, outcomes: Outcome, params: Params) -> State:
        """``tell`` of the opening samples [B, K, opening, ...] of B races."""
        return states

    def tell_lanes(
        self, states: State, outcomes: Outcome, params: Params, first_round: jax.Array
    ) -> State:
        """``tell`` of B opened races, leaves [B, ...], which may share work.

        ``first_round`` is the number of rounds told so far, the same for all races. The driver goes
        on from ``state.simulated``, so that a race may advance its options unequally.
        """
        return jax.vmap(self.tell)(states, outcomes, params)

    def finish_lanes(self, states: State, params: Params) -> State:
        """What is left to do for B races that have ended."""
        return states

    @abc.abstractmethod
    def init(self, example_outcome: Outcome, params: Params) -> State:
        """The state before the first round; ValueError if an argument is not what it should be.

        Of ``example_outcome``, a pytree of arrays or numbers without the axes of options and
        rounds, only structure, shapes and dtypes count.
        """

    @abc.abstractmethod
    def ask(self, state: State, params: Params) -> jax.Array:
        """Who must be sampled again: bool [K], all False when the race has ended."""

    @abc.abstractmethod
    def tell(self, state: State, outcomes: Outcome, params: Params) -> State:
        """Count further samples, one per option and round: leaves [K, r, ...] with r >= 1.

        Rows of options that were not asked for are ignored (but must be there), and so are rounds
        after the end.

        Raises:
            ValueError: ``state``, ``params`` or ``outcomes`` are not of this race; or, outside of
                jit only, a counted outcome is NaN or infinite (``result.invalid``), the state's
                dtype does not hold it or tell it apart from others, or ``compare`` is no
                antisymmetric sign on the first outcomes.
        """

    @abc.abstractmethod
    def result(self, state: State, params: Params) -> Result:
        """The ranking and the certain verdicts so far; may be asked for at any time."""

    def checked_init(self, example_outcome: Outcome, params: Params) -> tuple:
        """Keep of the example its shapes and dtypes; ValueError if there are none."""
        self.check_params(params)
        example = jax.tree.map(_shape_only, example_outcome)
        if not jax.tree.leaves(example):
            raise ValueError("example_outcome: expected at least one array, got none")
        if not is_traced(params):
            example = jax.tree.map(lambda x: np.zeros(x.shape, x.dtype), example)
        return example, params

    def checked_ask(self, state: State, params: Params) -> tuple:
        """Raise ValueError unless params and state are of this kind and size of race."""
        self.check_params(params)
        self.check_state(state)
        return state, params

    checked_result = checked_ask

    def checked_tell(self, state: State, outcomes: Outcome, params: Params) -> tuple:
        """Make arrays of the outcomes; ValueError unless they are of this race."""
        self.checked_ask(state, params)
        told = jax.tree.map(functools.partial(as_host_array, "outcomes"), outcomes)
        self.check_outcomes(state, told)
        if not is_traced((state, told, params)):
            self.check_numbers(state, told, params)
        return state, as_arrays("outcomes", told), params

    def after_tell(self, state: State) -> None:
        """Raise ValueError for what only the outcomes that counted show."""
        self.raise_if_invalid(state.invalid)
        self.check_preferences(self.first_outcomes(state))

    @abc.abstractmethod
    def check_outcomes(self, state: State, outcomes: Outcome) -> None:
        """Raise ValueError unless ``outcomes`` has the right structure and axes."""

    @abc.abstractmethod
    def check_numbers(self, state: State, outcomes: Outcome, params: Params) -> None:
        """Raise ValueError unless the race can work with the numbers of options that ask."""

    def raise_if_invalid(self, invalid: jax.Array) -> None:
        """Raise ValueError for the first outcome that counted and is none: int32 [..., K]."""
        raise_if_invalid(invalid)

    def check_result(self, result: Result) -> None:
        """Raise ValueError unless the race could work with the numbers behind a result."""
        del result

    def check_params(self, params: Params) -> None:
        """Raise ValueError unless ``params`` is of this kind and size of race; no arithmetic."""
        require_kind("params", params, self.params_kind)
        if jnp.shape(params.delta) != ():
            raise ValueError(
                f"params: expected those of one race, got {list(jnp.shape(params.delta))} of them; "
                "use jax.vmap for a batch"
            )
        require_owner(params, self.owner)

    def check_state(self, state: State) -> None:
        """Raise ValueError unless ``state`` is of this kind and size of race; no arithmetic."""
        require_kind("state", state, self.state_kind)
        shape = jnp.shape(state.samples)
        if shape != (self.num_options,):
            batch = "; use jax.vmap for a batch" if len(shape) > 1 else ""
            raise ValueError(
                f"state: expected that of one race of {self.num_options} options, got samples of "
                f"shape {list(shape)}{batch}"
            )

    def first_outcomes(self, state: State) -> Any:
        """Some of the outcomes told first, for ``check_preferences``."""
        del state

    def check_preferences(self, first: Any, source: Hashable = None) -> None:
        """Raise ValueError if the ``first_outcomes`` show that they cannot be raced.

        Called outside of traces. What ``source`` draws need be looked at once only.
        """
        del first, source

    def _held(self, state: State, params: Params, *further: str) -> dict[str, Any]:
        """What the results of all races hold alike, and further fields of the state."""
        names = ("samples", "simulated", "invalid", *further)
        return {name: getattr(state, name) for name in names} | {"params": params, "top": self.top}


def as_rows(name: str, tree: Any, count: int) -> Any:
    """Arrays of JAX with ``count`` rows, leaves [count, ...], which are told apart as before."""
    given = jax.tree.map(functools.partial(as_host_array, name), tree)
    rows = as_arrays(name, given)
    expected = f"{name}: expected leaves with leading axis {count}"
    if not jax.tree.leaves(rows):
        raise ValueError(f"{expected}, got no arrays")
    for leaf in jax.tree.leaves(rows):
        if leaf.shape[:1] != (count,):
            raise ValueError(f"{expected}, got {list(leaf.shape)}")
    require_rows_apart(name, given, rows)
    return rows


def in_lane(function: Callable[..., Any], *args: Any) -> Any:
    """What a function of lanes, leaves [B, ...], returns for a single one."""
    lane = jax.tree.map(lambda x: x[None], args)
    return jax.tree.map(lambda x: x[0], function(*lane))


def _shape_only(leaf: Any) -> jax.ShapeDtypeStruct:
    if isinstance(leaf, jax.ShapeDtypeStruct):
        return leaf
    array = as_host_array("example_outcome", leaf)
    return jax.ShapeDtypeStruct(array.shape, dtype_of(array))


def finite_rounds(outcomes: Outcome, of: Any = jnp) -> Any:
    """bool [K, r]: are all numbers of the outcome finite? Leaves are [K, r, ...], ``of`` NumPy."""
    flags = [
        of.isfinite(x).all(tuple(range(2, x.ndim)))
        for x in jax.tree.leaves(outcomes)
        if jnp.issubdtype(x.dtype, jnp.inexact)
    ]
    first = jax.tree.leaves(outcomes)[0]
    return functools.reduce(of.logical_and, flags, of.ones(first.shape[:2], bool))


def fixed_point_margins(net: jax.Array, rounds: jax.Array) -> jax.Array:
    """2 S_ij - 1 = C_ij / n_ij^2 as ``fixed_point`` int32, antisymmetric."""
    squares = jnp.maximum(rounds, 1).astype(jnp.float32) ** 2
    return fixed_point(net.astype(jnp.float32) / squares, net.shape[-1])


def fixed_point(margin: jax.Array, num_options: int) -> jax.Array:
    """Numbers in [-1, 1], float32, as int32 in units that allow sums of K of them.

    Sums of integers do not depend on the order of the options.
    """
    bits = min(24, 30 - math.ceil(math.log2(num_options)))
    return jnp.round(margin * 2**bits).astype(jnp.int32)


def bad_outcomes(outcomes: Outcome, low: float | None, high: float | None) -> jax.Array:
    """Which outcomes, leaves [K, r, ...], are not finite or out of their range: bool [K, r]."""
    bad = ~finite_rounds(outcomes)
    if low is not None and high is not None:
        first = jax.tree.leaves(outcomes)[0]
        is_out = (first < low) | (first > high)
        bad |= is_out.any(tuple(range(2, first.ndim)))
    return bad


def raise_if_invalid(
    invalid: jax.Array,
    where: str = "",
    low: float | None = None,
    high: float | None = None,
    place: str = "in round",
) -> None:
    """Raise for the first counted outcome that is none; does nothing under a trace.

    ``invalid``, int32 [..., K], is its round, 0 where there was none; ``where`` ends the message.
    Outcomes with a range are scores from ``low`` to ``high``.
    """
    if is_traced(invalid):
        return
    rounds = np.asarray(invalid)
    if not rounds.any():
        return
    race = tuple(int(axis) for axis in np.argwhere(rounds.any(-1))[0])
    of_race = f" of race {', '.join(map(str, race))}" if race else ""
    in_race = np.where(rounds[race] > 0, rounds[race], np.iinfo(np.int32).max)
    expected = f"scores from {low} to {high}, got another one"
    if low is None or high is None:
        expected = "finite numbers, got NaN or infinity"
    raise ValueError(
        f"outcomes: expected {expected} for option {in_race.argmin()} {place} {in_race.min()}"
        f"{of_race}{where}"
    )


def require_float32_scale(by: By, low: float | None, high: float | None) -> None:
    """Raise ValueError unless float32 tells scores apart in their range, which races by mean have.

    A range is at least a million times wider than what its ends are rounded by.
    """
    require_scale(by, low, high)
    if low is None or high is None:
        return
    if high - low > float(np.finfo(np.float32).max) or (
        (high - low) * 2.0**24 < 1e6 * max(abs(low), abs(high))
    ):
        raise ValueError(
            f"low, high: expected a range in which float32 tells scores apart, got {low} to "
            f"{high}; subtract what scores have in common"
        )
