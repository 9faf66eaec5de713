"""What SAVAGE is asked about arms that pay (Urvoy et al. 2013, ICML, section 3.1). Axes: K arms."""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace.core.validation import BadArgument, require_integer, require_number
from jaxrace.dueling import Decision
from jaxrace.kernels import first_best


@dataclasses.dataclass(frozen=True)
class Best(Decision):
    """The arm that pays most often (eq. 5).

    >>> decision = Best(3)
    >>> decision.independent(jnp.array([0.5, 0.1, 0.2]), jnp.array([0.9, 0.4, 0.6])).tolist()
    [False, True, False]
    """

    def decide(self, mean: jax.Array) -> jax.Array:
        return first_best(mean)

    def changes(self, mean: jax.Array, other: jax.Array) -> jax.Array:
        return _changes_of_place(mean, other, 0)  # but for ties

    def utilities(self, mean: jax.Array) -> jax.Array:
        """What every arm is worth, float32 [K]."""
        return mean

    def independent(self, lower: jax.Array, upper: jax.Array) -> jax.Array:
        """Another arm is certainly as good, or none can be better."""
        return (lower.max() >= upper) | (_most_of_others(upper) <= lower)

    def is_unique(self, lower: jax.Array, upper: jax.Array) -> jax.Array:
        """No other arm can be better than some arm; one of them may be as good."""
        return (_most_of_others(upper) <= lower).any()


@dataclasses.dataclass(frozen=True)
class NextBest(Decision):
    """The (m + 1)-th best arm, where the m best are worth nothing (eq. 6).

    >>> decision = NextBest(3, skipped=1)
    >>> int(decision.decide(jnp.array([0.3, 0.9, 0.5])))
    2
    """

    skipped: int  # m

    def __post_init__(self) -> None:
        require_integer("skipped", self.skipped, 0)
        if self.skipped >= self.num_arms:
            raise BadArgument("skipped", f"less than {self.num_arms}", str(self.skipped))

    def decide(self, mean: jax.Array) -> jax.Array:
        return leading(mean, self.skipped + 1).place

    def changes(self, mean: jax.Array, other: jax.Array) -> jax.Array:
        return _changes_of_place(mean, other, self.skipped)  # but for ties

    def utilities(self, mean: jax.Array) -> jax.Array:
        """The probabilities, but 0 for the m best (ties: the first ones)."""
        if self.skipped == 0:
            return mean
        return jnp.where(leading(mean, self.skipped).marked, 0.0, mean)

    def independent(self, lower: jax.Array, upper: jax.Array) -> jax.Array:
        """More than m arms are certainly as good, or all but m are certainly no better."""
        # #{j : a_j >= b_i} > m says that the (m + 1)-th largest a is at least b_i.
        enough_better = leading(lower, self.skipped + 1).last >= upper
        # #{k : b_k <= a_i} >= N - m: at most m arms have b_k > a_i.
        certainly_before = leading(upper, self.skipped + 1).last <= lower
        return enough_better | certainly_before

    def is_unique(self, lower: jax.Array, upper: jax.Array) -> jax.Array:
        """All arms but one certainly have another place than m + 1, whoever wins ties."""
        behind = leading(lower, self.skipped + 1).last > upper
        before = leading(upper, self.skipped + 1).last < lower
        return (~behind & ~before).sum() <= 1


@dataclasses.dataclass(frozen=True)
class Counting(Decision):
    """How many arms pay with a probability between two limits (eq. 25).

    >>> decision = Counting(3)
    >>> int(decision.decide(jnp.array([0.3, 0.5, 0.55])))
    2
    """

    above: float = 0.4
    below: float = 0.6

    def __post_init__(self) -> None:
        require_number("above", self.above, least=0, below=1)
        require_number("below", self.below, least=self.above)

    @property
    def num_decisions(self) -> int:
        return self.num_arms + 1

    def decide(self, mean: jax.Array) -> jax.Array:
        return self._is_counted(mean).sum(dtype=jnp.int32)

    def changes(self, mean: jax.Array, other: jax.Array) -> jax.Array:
        return self._is_counted(mean) != self._is_counted(other)

    def answer(self, decision: jax.Array) -> jax.Array:
        """A count is no arm; the first one is as good as any."""
        return jnp.zeros((1,), jnp.int32)

    def independent(self, lower: jax.Array, upper: jax.Array) -> jax.Array:
        """The arm is certainly outside of the limits, or certainly between them."""
        inside = (lower > self.above) & (upper < self.below)
        return (upper < self.above) | (lower > self.below) | inside

    def _is_counted(self, mean: jax.Array) -> jax.Array:
        return (mean > self.above) & (mean < self.below)


def _changes_of_place(mean: jax.Array, other: jax.Array, skipped: int) -> jax.Array:
    """Which single changes [N] of ``mean`` put another arm into place ``skipped`` + 1? bool [N]."""
    found = leading(mean, skipped + 1)
    is_there = jnp.arange(mean.shape[0]) == found.place
    above = jnp.where(found.marked & ~is_there, mean, jnp.inf).min()
    below = jnp.where(found.marked, -jnp.inf, mean).max()
    leaves = (other > above) | (other < below)
    passes = (mean > found.last) != (other > found.last)
    return jnp.where(is_there, leaves, passes)


def _most_of_others(values: jax.Array) -> jax.Array:
    """The largest of all values but one's own, [N]; -inf where there is no other."""
    is_best = jnp.arange(values.shape[0]) == first_best(values)
    return jnp.where(is_best, jnp.where(is_best, -jnp.inf, values).max(), values.max())


class Leading(NamedTuple):
    """The largest of some values."""

    last: jax.Array  # [], the smallest of them
    place: jax.Array  # int32 [], where that is
    marked: jax.Array  # bool [K], all of them


def leading(values: jax.Array, count: int) -> Leading:
    """The ``count`` largest of values float32 [K] above -inf, of equal ones the first.

    For a few of many: faster than ``lax.top_k`` on a CPU, where that sorts.

    >>> found = leading(jnp.array([0.1, 0.7, 0.7, 0.9]), 2)
    >>> int(found.place), found.marked.tolist()
    (1, [False, True, False, True])
    """
    places = jnp.arange(values.shape[0], dtype=jnp.int32)

    def mark_next(_: int, found: Leading) -> Leading:
        rest = jnp.where(found.marked, -jnp.inf, values)
        place = first_best(rest)
        return Leading(rest.max(), place, found.marked | (places == place))

    nothing = Leading(jnp.zeros_like(values[0]), jnp.int32(0), jnp.zeros(values.shape, bool))
    return lax.fori_loop(0, count, mark_next, nothing)
