"""Lower bounds of a policy's performance, by name. Axes: n values, B resamples.

Values are importance-weighted returns X >= 0. A bound is *safe* if it holds with probability
1 - delta whatever their distribution, *semi-safe* if that needs a false but reasonable assumption.
"""

import abc
import dataclasses
import functools
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from jaxrace import kernels
from jaxrace.core import validation
from jaxrace.improvement.splits import every_so_many, stratified_order
from jaxrace.judging.policies.trajectories import as_numbers, policy_numbers, require_all

# One in so many values is spent on choosing a threshold (ICML 2015, Algorithm 1), but at least two:
# one alone has no variance.
_ONE_IN, _LEAST_SPENT = 20, 2
_LEAST_VALUES = 4


class Rows(NamedTuple):
    """The values that a bound is made of."""

    present: jax.Array  # bool [n]
    behaviour: jax.Array  # int32 [n], who generated them

    @property
    def total(self) -> jax.Array:
        """How many, int32 []."""
        return self.present.sum(dtype=jnp.int32)


@dataclasses.dataclass(frozen=True)
class LowerBound(abc.ABC):
    """A lower confidence bound of the mean of X.

    ``draw`` is called once for any number of candidates; ``predict`` and ``bound`` for each.
    """

    is_safe: ClassVar[bool]

    def draw(self, key: jax.Array, rows: Rows, number: jax.Array) -> Any:
        """What is left to chance: nothing, unless a subclass says so; m = ``number``, int32 []."""
        del key, rows, number

    @abc.abstractmethod
    def predict(
        self, drawn: Any, values: jax.Array, rows: Rows, delta: jax.Array, number: jax.Array
    ) -> jax.Array:
        """The bound that m values like these would give, float32 []."""

    def bound(self, drawn: Any, values: jax.Array, rows: Rows, delta: jax.Array) -> jax.Array:
        """The bound, float32 []."""
        return self.predict(drawn, values, rows, delta, rows.total)

    def bound_of_one(
        self, key: jax.Array, values: jax.Array, rows: Rows, delta: jax.Array
    ) -> jax.Array:
        """The bound for a single candidate, for which chance works alone, float32 []."""
        return self.bound(self.draw(key, rows, rows.total), values, rows, delta)


@dataclasses.dataclass(frozen=True)
class StudentT(LowerBound):
    """Student's t: as if the mean were normally distributed. Semi-safe.

    >>> lower_bound(StudentT(), jax.random.key(0), np.arange(1, 21) / 10, delta=0.05)
    0.821...
    """

    is_safe = False

    def predict(
        self, drawn: None, values: jax.Array, rows: Rows, delta: jax.Array, number: jax.Array
    ) -> jax.Array:
        return kernels.student_bound(values, rows.present, delta, number.astype(jnp.float32))


@dataclasses.dataclass(frozen=True)
class Bootstrap(LowerBound):
    """The bootstrap: as if the values seen were all that there are. Semi-safe.

    Attributes:
        corrected: BCa, corrected for bias and skewness; else the plain percentile.
        resamples: B, at least 2.

    >>> bound = lower_bound(Bootstrap(), jax.random.key(0), np.arange(1, 21) / 10, delta=0.05)
    >>> 0.78 < bound < 0.9
    True
    """

    corrected: bool = True
    resamples: int = 2000

    is_safe = False

    def __post_init__(self) -> None:
        validation.require_integer("resamples", self.resamples, 2)

    def draw(self, key: jax.Array, rows: Rows, number: jax.Array) -> jax.Array:
        """How often each value is in each resample: float32 [n, B]."""
        return kernels.resampling_counts(key, rows.present, number, self.resamples)

    def predict(
        self, drawn: jax.Array, values: jax.Array, rows: Rows, delta: jax.Array, number: jax.Array
    ) -> jax.Array:
        """See ``LowerBound``; m is the size of the resamples drawn."""
        return kernels.bootstrap_bound(values, rows.present, drawn, delta, self.corrected)

    def bound_of_one(
        self, key: jax.Array, values: jax.Array, rows: Rows, delta: jax.Array
    ) -> jax.Array:
        return kernels.bootstrap_bound_of_one(
            key, values, rows.present, rows.total, self.resamples, delta, self.corrected
        )


class Spent(NamedTuple):
    """The values on which a threshold is chosen, and those that make the bound."""

    places: jax.Array  # int32 [a], n where there is none
    rest: jax.Array  # bool [n]


class Thresholds(NamedTuple):
    """The same for a bound, and for a prediction."""

    of_bound: Spent
    of_prediction: Spent
    order: jax.Array  # int32 [n], of the values in the bound


@dataclasses.dataclass(frozen=True)
class _WithThreshold(LowerBound):
    """A bound of min(X, c), with c chosen on a twentieth of the values."""

    is_safe = True
    # Of min(X, c), given values, those that are left, c, delta, and how many: what so many values
    # would give, and what these do give.
    _predicted: ClassVar[Callable[..., jax.Array]]
    _certain: ClassVar[Callable[..., jax.Array]]

    def draw(self, key: jax.Array, rows: Rows, number: jax.Array) -> Thresholds:
        """Which values are spent on the threshold, every policy's share."""
        order_key, start_key, bet_key = jax.random.split(key, 3)
        size = rows.present.shape[0]
        order = stratified_order(order_key, rows.behaviour, rows.present)
        share = jnp.maximum(rows.total // _ONE_IN, _LEAST_SPENT)
        room = max(size // _ONE_IN, min(size, _ONE_IN * _LEAST_SPENT))
        places = every_so_many(start_key, order, rows.total, share, room)
        honest = Spent(places, rows.present.at[places].set(False, mode="drop"))
        # A prediction guarantees nothing. Where a twentieth of the values is less than two of them,
        # all serve both purposes.
        is_few = rows.total < _ONE_IN * _LEAST_SPENT
        first = jnp.where(jnp.arange(room) < rows.total, order[:room], size)
        both = Spent(jnp.where(is_few, first, places), jnp.where(is_few, rows.present, honest.rest))
        return Thresholds(honest, both, jax.random.permutation(bet_key, size))

    def predict(
        self, drawn: Thresholds, values: jax.Array, rows: Rows, delta: jax.Array, number: jax.Array
    ) -> jax.Array:
        spent = drawn.of_prediction
        rest, number = spent.rest.sum(dtype=jnp.float32), number.astype(jnp.float32)
        left = number * rest / rows.total.astype(jnp.float32)
        return self._predicted(values, spent.rest, _cap(spent, values, delta, left), delta, left)

    def bound(
        self, drawn: Thresholds, values: jax.Array, rows: Rows, delta: jax.Array
    ) -> jax.Array:
        spent, order = drawn.of_bound, drawn.order
        left = spent.rest.sum(dtype=jnp.float32)
        cap = _cap(spent, values, delta, left)
        # Bets follow the order, and the rows of a log may be sorted by anything.
        return self._certain(values[order], spent.rest[order], cap, delta, left)


def _cap(spent: Spent, values: jax.Array, delta: jax.Array, number: jax.Array) -> jax.Array:
    size = values.shape[0]
    found = values[jnp.minimum(spent.places, size - 1)]
    return kernels.best_cap(found, spent.places < size, delta, number)


@dataclasses.dataclass(frozen=True)
class Concentration(_WithThreshold):
    """The concentration inequality CI of Thomas et al. 2015, with its search for a threshold. Safe.

    The paper's Algorithm 1 counts all values in the bound; here, those that are left.

    >>> values = np.random.default_rng(0).uniform(size=1000)
    >>> 0.4 < lower_bound(Concentration(), jax.random.key(0), values, delta=0.05) < 0.5
    True
    """

    _predicted = _certain = staticmethod(kernels.capped_bound)


@dataclasses.dataclass(frozen=True)
class Betting(_WithThreshold):
    """The betting bound of Waudby-Smith and Ramdas 2024, with the threshold of CI. Safe.

    Bets are made in a random order, so that the order of a log does not matter.

    Attributes:
        anytime: Bets that do not depend on how many values there are. Every call draws threshold
            and order anew, so that it, too, holds for one look only; ``kernels.betting_bound`` with
            ``anytime`` holds for all, of values in their order and a threshold fixed beforehand.

    >>> values = np.random.default_rng(0).uniform(size=1000)
    >>> 0.45 < lower_bound(Betting(), jax.random.key(0), values, delta=0.05) < 0.5
    True
    """

    anytime: bool = False

    def _predicted(self, *given: jax.Array) -> jax.Array:
        return kernels.predicted_betting_bound(*given, anytime=self.anytime)

    def _certain(self, *given: jax.Array) -> jax.Array:
        return kernels.betting_bound(*given[:-1], anytime=self.anytime)


@dataclasses.dataclass(frozen=True)
class EmpiricalBernstein(LowerBound):
    """Maurer and Pontil's bound of min(X, cap), the cap, above 0, fixed beforehand. Safe.

    >>> values = np.random.default_rng(0).uniform(size=1000)
    >>> 0.4 < lower_bound(EmpiricalBernstein(1.0), jax.random.key(0), values, delta=0.05) < 0.5
    True
    """

    cap: float = 5.0

    is_safe = True

    def __post_init__(self) -> None:
        validation.require_positive("cap", self.cap)

    def predict(
        self, drawn: None, values: jax.Array, rows: Rows, delta: jax.Array, number: jax.Array
    ) -> jax.Array:
        cap, count = jnp.float32(self.cap), number.astype(jnp.float32)
        return kernels.capped_bound(values, rows.present, cap, delta, count)


BOUNDS: dict[str, LowerBound] = {
    "ci": Concentration(),
    "t": StudentT(),
    "bca": Bootstrap(),
    "percentile": Bootstrap(corrected=False),
    "bernstein": EmpiricalBernstein(),
    "betting": Betting(),
    "betting-anytime": Betting(anytime=True),
}


def bound_called(name: str) -> LowerBound:
    """One of ``BOUNDS``; ValueError if there is none of that name.

    >>> bound_called("bca").is_safe
    False
    """
    validation.require_choice("bound", name, tuple(BOUNDS))
    return BOUNDS[name]


def lower_bound(
    bound: LowerBound,
    key: jax.Array,
    values: ArrayLike,
    delta: float,
    number: int | None = None,
    behaviour: ArrayLike | None = None,
) -> float:
    """A lower bound of the mean of X, [n], which holds with probability 1 - delta.

    X are at least four finite numbers from 0 on. With m = ``number``: a prediction of what the
    bound will be with so many. ``behaviour`` says which policy generated each, integers from 0 on,
    [n]. ValueError if an argument is out of its range.

    >>> lower_bound(BOUNDS["t"], jax.random.key(0), [0.1, 0.2, 0.3, 0.4], delta=0.05)
    0.098...
    """
    validation.require_kind("bound", bound, LowerBound)
    validation.require_keys("key", key, ndim=0)
    validation.require_float32_probability("delta", delta)
    numbers = as_numbers("values", values)
    if numbers.ndim != 1 or len(numbers) < _LEAST_VALUES:
        raise ValueError(
            f"values: expected at least {_LEAST_VALUES} of them, got {[*numbers.shape]}"
        )
    is_bad = ~np.isfinite(numbers) | (numbers < 0)
    require_all("values", numbers, is_bad, "a finite number from 0 on")
    strata = policy_numbers("behaviour", behaviour, len(numbers))
    if number is not None:
        validation.require_integer("number", number, _LEAST_VALUES)
    rows = Rows(jnp.ones(len(numbers), bool), jnp.asarray(strata, jnp.int32))
    return float(_lower_bound(bound, number, key, jnp.asarray(numbers), rows, jnp.float32(delta)))


@functools.partial(jax.jit, static_argnums=(0, 1))
def _lower_bound(
    bound: LowerBound,
    number: int | None,
    key: jax.Array,
    values: jax.Array,
    rows: Rows,
    delta: jax.Array,
) -> jax.Array:
    wanted = jnp.asarray(values.shape[0] if number is None else number, jnp.int32)
    if number is None:
        return bound.bound_of_one(key, values, rows, delta)
    return bound.predict(bound.draw(key, rows, wanted), values, rows, delta, wanted)
