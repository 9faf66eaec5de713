"""What SAVAGE may be asked about arms that pay (Urvoy et al. 2013, ICML, section 3.1).

A decision is a function f of N unknown probabilities mu, of which one knows that they lie in a box
[a, b]. A parameter is independent where f does not change with it within the box. Axes: K arms,
N parameters; here N = K.
"""

import abc
import dataclasses
from typing import ClassVar

import jax
import jax.numpy as jnp

from jaxrace.core.validation import require_integer, require_number
from jaxrace.kernels import first_best, leading


@dataclasses.dataclass(frozen=True)
class Decision(abc.ABC):
    """A function of N probabilities with a test of independence; see ``Savage``.

    >>> class Threshold(Decision):  # is the mean of all arms above 1/2?
    ...     def decide(self, mean):
    ...         return (mean.mean() > 0.5).astype(jnp.int32)
    ...     def independent(self, lower, upper):
    ...         is_sure = (lower.mean() > 0.5) | (upper.mean() <= 0.5)
    ...         return jnp.broadcast_to(is_sure, lower.shape)
    >>> decision = Threshold(2)
    >>> bool(decision.is_unique(jnp.array([0.4, 0.7]), jnp.array([0.6, 1.0])))
    True
    """

    num_arms: int

    choice_size: ClassVar[int] = 1
    # Does the test look at nothing but which bounds are on which side of 1/2?
    by_verdicts: ClassVar[bool] = False
    needs_condorcet_winner: ClassVar[bool] = False
    # By whose score a decision about duels is right; see ``Algorithm.target``.
    target: ClassVar[str] = "copeland"

    @property
    def num_parameters(self) -> int:
        """N."""
        return self.num_arms

    @property
    def num_decisions(self) -> int:
        """How many values f may have, from 0 on: K where these are arms."""
        return self.num_arms

    def choice_of(self, parameter: jax.Array) -> jax.Array:
        """What to play to learn of a parameter, int32 [d]."""
        return parameter[None]

    def parameter_of(self, choice: jax.Array) -> jax.Array:
        """What one learns of by a choice, int32 []."""
        return choice[0]

    def answer(self, decision: jax.Array) -> jax.Array:
        """What to play once the decision has been made, int32 [d]."""
        return decision[None]

    @abc.abstractmethod
    def decide(self, mean: jax.Array) -> jax.Array:
        """f of some probabilities [N], int32 []."""

    @abc.abstractmethod
    def independent(self, lower: jax.Array, upper: jax.Array) -> jax.Array:
        """Which parameters cannot change the decision within the box [N]? bool [N]."""

    def changes(self, mean: jax.Array, other: jax.Array) -> jax.Array:
        """Which values of ``other`` [N], each put into ``mean`` [N] alone, change f? bool [N]."""
        moved = jnp.where(jnp.eye(self.num_parameters, dtype=bool), other, mean)
        return jax.vmap(self.decide)(moved) != self.decide(mean)

    def utilities(self, mean: jax.Array) -> jax.Array:
        """What every arm is worth, float32 [K]; ValueError if the decision is about no arm."""
        raise ValueError(f"decision: expected one that gives arms a worth, got {self}")

    def is_unique(self, lower: jax.Array, upper: jax.Array) -> jax.Array:
        """Is one decision alone possible within the box? bool []; may say no where it is."""
        return self.independent(lower, upper).all()


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
        return mean

    def independent(self, lower: jax.Array, upper: jax.Array) -> jax.Array:
        """Another arm is certainly as good, or no other one can be better."""
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
            raise ValueError(f"skipped: expected less than {self.num_arms}, got {self.skipped}")

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
    """Which changes of a single value put another arm into place ``skipped`` + 1? bool [N]."""
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
