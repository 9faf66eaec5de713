"""What every race shares: the four verbs init / ask / tell / result, compiled and checked.

Axes: K options, r rounds told at once, B races of a batch.
"""

import abc
import dataclasses
import functools
import math
from collections.abc import Callable, Hashable, Iterable
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace.core.compilation import is_traced
from jaxrace.core.narrowing import as_arrays, as_host_array, dtype_of
from jaxrace.core.validation import (
    BadArgument,
    Owner,
    require_integer,
    require_kind,
    require_owner,
    require_top,
)

Outcome = Any
Params = Any
State = Any
Result = Any

# What is looked at once outcomes are told: ``racing.checks`` adds it.
LOOKS: list[Callable[..., Any]] = []


@dataclasses.dataclass(frozen=True)
class Race(abc.ABC):
    """Which of K stochastic options are the best kappa? Subclasses implement the four verbs."""

    num_options: int  # K, at least 2
    top: int  # kappa, the number of options to select, 1 <= kappa < K

    _params_kind: ClassVar[type]
    _state_kind: ClassVar[type]
    # The numbers in ``params`` depend on these attributes, and serve only races with equal ones.
    _params_depend_on: ClassVar[tuple[str, ...]] = ("num_options",)
    _shares_tasks: ClassVar[bool] = False  # do options run the same tasks?
    _is_unequal: ClassVar[bool] = False  # may some options advance while others wait?
    _where: ClassVar[str] = "in round"  # of an invalid outcome, in messages

    def __post_init__(self) -> None:
        require_integer("num_options", self.num_options, 2)
        require_top(self.top, self.num_options)

    @property
    def chunk(self) -> int:
        """Rounds, samples or tasks that a driver draws at once by default."""
        return 25

    @property
    def work(self) -> float:
        """Comparisons of two outcomes that a race makes at most, or steps of that size."""
        return float(self.num_options**2)

    @abc.abstractmethod
    def params(self, delta: float, max_rounds: int) -> Params:
        """The numbers of a race as a pytree, checked."""

    def table(self, delta: float, **numbers: Any) -> Any:
        """Params for ``params_at``, which serve every n_max; arguments as for ``params``."""
        return self.params(delta, **numbers)

    def params_at(self, table: Any, max_rounds: jax.Array) -> Params:
        """Params for a traced int32 n_max, from ``table``; of 0 rounds, a race asks for nothing."""
        require_owner("params", table, self._owner)
        return dataclasses.replace(table, max_rounds=max_rounds)

    @abc.abstractmethod
    def init(self, example_outcome: Outcome, params: Params) -> State:
        """The state before the first round.

        Of ``example_outcome``, a pytree without the axes of options and rounds, only structure,
        shapes and dtypes count.
        """

    @abc.abstractmethod
    def ask(self, state: State, params: Params) -> jax.Array:
        """Who must be sampled again: bool [K], all False when the race has ended."""

    @abc.abstractmethod
    def tell(self, state: State, outcomes: Outcome, params: Params) -> State:
        """Count further samples, one per option and round: leaves [K, r, ...] with r >= 1.

        Samples that were not asked for must be there, and are ignored, as are rounds after the end.
        ValueError if arguments are not of this race; and, outside of jit, if a counted outcome is
        NaN, infinite or out of range (``result.invalid``), the state's dtype does not hold it or
        tell it from others, or ``compare`` is no antisymmetric sign.
        """

    @abc.abstractmethod
    def result(self, state: State, params: Params) -> Result:
        """The ranking and the certain verdicts so far; may be asked for at any time."""

    def tell_batch(
        self, states: State, outcomes: Outcome, params: Params, first_round: jax.Array
    ) -> State:
        """``tell`` of B opened races, leaves [B, ...], all of which were told ``first_round``."""
        return jax.vmap(self.tell)(states, outcomes, params)

    @property
    def _owner(self) -> Owner:
        return self._with(self._params_depend_on)

    @property
    def _state_owner(self) -> Owner:  # a function has no equal
        return self._with(x.name for x in dataclasses.fields(self) if x.name != "compare")

    def _with(self, names: Iterable[str]) -> Owner:
        return type(self).__name__, tuple((name, getattr(self, name)) for name in names)

    @property
    def _opening(self) -> int:
        """Samples of all options that a driver draws first."""
        return 0

    def _open_batch(self, states: State, outcomes: Outcome, params: Params) -> State:
        """``tell`` of the opening samples [B, K, opening, ...] of B races."""
        return states

    def _drawn(self, draw: Any, *example: Any) -> tuple[Any, Any]:
        """What draws as the pure ``draw(*example)`` does, and the shapes of a sample."""
        return draw, jax.eval_shape(draw, *example)

    def _draw_tasks(self, play: Any, keys: jax.Array, tasks: Any) -> tuple[Any, jax.Array]:
        """How a race on shared tasks draws by ``driver.by_key``, and from what sources [B, K]."""
        raise NotImplementedError

    def _finish_batch(self, states: State, params: Params) -> State:
        """The last step of B races that have ended."""
        return states

    def _checked_init(self, example_outcome: Outcome, params: Params) -> tuple:
        self._check_params(params)
        example = jax.tree.map(_shape_only, example_outcome)
        if not jax.tree.leaves(example):
            raise BadArgument("example_outcome", "at least one array", "none")
        if not is_traced(params):
            example = jax.tree.map(lambda x: np.zeros(x.shape, x.dtype), example)
        return example, params

    def _checked_ask(self, state: State, params: Params) -> tuple:
        self._check_params(params)
        self._check_state(state)
        return state, params

    _checked_result = _checked_ask

    def _checked_tell(self, state: State, outcomes: Outcome, params: Params) -> tuple:
        self._checked_ask(state, params)
        told = jax.tree.map(functools.partial(as_host_array, "outcomes"), outcomes)
        self._check_outcomes(state, told)
        if not is_traced((state, told, params)):
            self._check_numbers(state, told, params)
        return state, as_arrays("outcomes", told), params

    def _after_tell(self, state: State, *_: Any) -> None:
        self._check_found(state, self._first_outcomes(state))

    def _check_found(self, found: Any, first: Any, source: Hashable = None) -> Any:
        """What was found, void under a trace if ``first`` outcomes cannot be raced; else raise.

        Those of one source are looked at once.
        """
        for look in LOOKS:
            found = look(self, found, first, source)
        return found

    @abc.abstractmethod
    def _check_outcomes(self, state: State, outcomes: Outcome) -> None:
        """Raise ValueError unless ``outcomes`` has the right structure and axes."""

    @abc.abstractmethod
    def _check_numbers(self, state: State, outcomes: Outcome, params: Params) -> None:
        """Raise ValueError unless the numbers that count can be raced."""

    def _first_outcomes(self, state: State) -> Any:
        """Some of the outcomes told first, for ``_check_found``."""
        del state

    def _check_params(self, params: Params) -> None:
        require_kind("params", params, self._params_kind)
        if (shape := jnp.shape(params.delta)) != ():
            hint = "; use jax.vmap for a batch"
            raise BadArgument("params", "those of one race", f"{list(shape)} of them", hint)
        require_owner("params", params, self._owner)

    def _check_state(self, state: State) -> None:
        require_kind("state", state, self._state_kind)
        shape = jnp.shape(state.samples)
        if shape != (self.num_options,):
            hint = "; use jax.vmap for a batch" if len(shape) > 1 else ""
            expected = f"that of one race of {self.num_options} options"
            raise BadArgument("state", expected, f"samples of shape {list(shape)}", hint)
        require_owner("state", state, self._state_owner)

    def _held(self, state: State, params: Params, *further: str) -> dict[str, Any]:
        """What the results of all races hold alike, and further fields of the state."""
        names = ("samples", "simulated", "invalid", *further)
        return {name: getattr(state, name) for name in names} | {"params": params, "top": self.top}


def in_batch(function: Callable[..., Any], *args: Any) -> Any:
    """What a function of batches, leaves [B, ...], returns for a single item."""
    batch = jax.tree.map(lambda x: x[None], args)
    return jax.tree.map(lambda x: x[0], function(*batch))


def _shape_only(leaf: Any) -> jax.ShapeDtypeStruct:
    if isinstance(leaf, jax.ShapeDtypeStruct):
        return leaf
    array = as_host_array("example_outcome", leaf)
    return jax.ShapeDtypeStruct(array.shape, dtype_of(array))


def finite_rounds(outcomes: Outcome) -> jax.Array:
    """bool [K, r]: are all numbers of the outcome finite? Leaves are [K, r, ...]."""
    flags = [
        jnp.isfinite(x).all(tuple(range(2, x.ndim)))
        for x in jax.tree.leaves(outcomes)
        if jnp.issubdtype(x.dtype, jnp.inexact)
    ]
    first = jax.tree.leaves(outcomes)[0]
    return functools.reduce(jnp.logical_and, flags, jnp.ones(first.shape[:2], bool))


def fixed_point_margins(net: jax.Array, rounds: jax.Array) -> jax.Array:
    """2 S_ij - 1 = C_ij / n_ij^2 as ``fixed_point`` int32, antisymmetric."""
    margins = net.astype(jnp.float32) / jnp.maximum(rounds, 1).astype(jnp.float32) ** 2
    return fixed_point(margins, net.shape[-1])


def fixed_point(margin: jax.Array, num_options: int) -> jax.Array:
    """Numbers in [-1, 1], float32, as int32 in units that allow sums of K of them.

    Sums of integers do not depend on the order of the options.
    """
    bits = min(24, 30 - math.ceil(math.log2(num_options)))
    return jnp.round(margin * 2**bits).astype(jnp.int32)
