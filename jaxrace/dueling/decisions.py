"""What SAVAGE may be asked (Urvoy et al. 2013, ICML, sections 3.1 and 4).

A decision is a function f of N unknown probabilities in a box [a, b]. A parameter is independent
where f does not change with it within the box. Axes: K arms, N parameters: the K arms, or the
K (K - 1) / 2 pairs i < j with x_ij, the chance that i beats j; P pairs, first <= second.
"""

import abc
import dataclasses
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from jaxrace.core.validation import require_integer
from jaxrace.kernels import first_best

Pairs = NDArray[np.int32]


def pairs_of(num_arms: int, with_itself: bool = False) -> Pairs:
    """The arms of each pair, int32 [2, P]; ``with_itself``: also (i, i)."""
    return np.array(np.triu_indices(num_arms, 0 if with_itself else 1), np.int32)


def number_of(pair: jax.Array, num_arms: int, with_itself: bool = False) -> jax.Array:
    """The place of a pair, in either order, in the list of ``pairs_of``: int32 []."""
    low, high = jnp.minimum(pair[0], pair[1]), jnp.maximum(pair[0], pair[1])
    diagonal = 0 if with_itself else 1
    before = low * num_arms - low * (low - 1 + 2 * diagonal) // 2
    return before + high - low - diagonal


def sums_by_arm(pairs: Pairs, of_first: jax.Array, of_second: jax.Array) -> jax.Array:
    """``of_first`` [P] goes to the first arm of each pair, ``of_second`` [P] to the other.

    The sums, float32 [K]; pairs (i, i) do not count.
    """
    num_arms, count = int(pairs.max()) + 1, pairs.shape[1]
    apart = pairs[0] != pairs[1]
    # Where the gain of i from its pair with j stands in the list below, whose last number is 0.
    source = np.full((num_arms, num_arms), 2 * count)
    source[pairs[0][apart], pairs[1][apart]] = np.flatnonzero(apart)
    source[pairs[1][apart], pairs[0][apart]] = count + np.flatnonzero(apart)
    listed = jnp.concatenate([of_first, of_second, jnp.zeros_like(of_first, shape=(1,))])
    return listed.astype(jnp.float32)[source].sum(-1)


@dataclasses.dataclass(frozen=True)
class Decision(abc.ABC):
    """A function f of N probabilities with a test of independence; see ``Savage``.

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

    def is_unique(self, lower: jax.Array, upper: jax.Array) -> jax.Array:
        """Is one decision alone possible within the box? bool []; may say no where it is."""
        return self.independent(lower, upper).all()


@dataclasses.dataclass(frozen=True)
class DuelDecision(Decision):
    """A decision whose parameters are pairs of arms."""

    choice_size = 2

    def __post_init__(self) -> None:
        require_integer("num_arms", self.num_arms, 2)

    @property
    def pairs(self) -> Pairs:
        """The arms of each parameter, int32 [2, N]."""
        return pairs_of(self.num_arms)

    @property
    def num_parameters(self) -> int:
        return self.num_arms * (self.num_arms - 1) // 2

    def choice_of(self, parameter: jax.Array) -> jax.Array:
        return jnp.asarray(self.pairs)[:, parameter]

    def parameter_of(self, choice: jax.Array) -> jax.Array:
        return number_of(choice, self.num_arms)

    def answer(self, decision: jax.Array) -> jax.Array:
        """The winner against itself."""
        return jnp.stack([decision, decision])

    def spread(self, of_arms: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Numbers of the arms [K], for the first and the second arm of each pair [N]."""
        first, second = self.pairs
        return of_arms[first], of_arms[second]

    def certain_wins(self, lower: jax.Array, upper: jax.Array) -> jax.Array:
        """minU(i) = #{j : a_ij > 1/2}, float32 [K]."""
        return sums_by_arm(self.pairs, lower > 0.5, upper < 0.5)

    def possible_wins(self, lower: jax.Array, upper: jax.Array) -> jax.Array:
        """maxU(i) = #{j : b_ij >= 1/2}, float32 [K]."""
        return sums_by_arm(self.pairs, upper >= 0.5, lower <= 0.5)

    def _changes_of_best(
        self, scores: jax.Array, gains_of_first: jax.Array, gains_of_second: jax.Array
    ) -> jax.Array:
        """Which gains of both arms of a pair [N], of this pair alone, make another arm best?

        The best of the other arms is one of the three best of all.
        """
        listed, rest = [], scores
        for _ in range(min(3, self.num_arms)):
            listed.append(first_best(rest))
            rest = jnp.where(jnp.arange(self.num_arms) == listed[-1], -jnp.inf, rest)
        first, second = jnp.asarray(self.pairs)
        best_other = jnp.full(first.shape, -jnp.inf)
        for arm in reversed(listed):
            best_other = jnp.where((arm == first) | (arm == second), best_other, scores[arm])
        of_first, of_second = self.spread(scores)
        of_first, of_second = of_first + gains_of_first, of_second + gains_of_second
        is_best = [listed[0] == first, listed[0] == second]
        own = jnp.select(is_best, [of_first, of_second], best_other)
        return own < jnp.maximum(jnp.maximum(of_first, of_second), best_other)


@dataclasses.dataclass(frozen=True)
class CopelandWinner(DuelDecision):
    """The arm that beats most others (eq. 9).

    Attributes:
        max_defeats: Stop as soon as some arm can be beaten by at most so many others (eq. 13);
            None: go on until it is certain who beats most.

    >>> decision = CopelandWinner(3)
    >>> int(decision.decide(jnp.array([0.9, 0.9, 0.5])))  # of the pairs 01, 02, 12
    0
    """

    max_defeats: int | None = None

    by_verdicts = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_defeats is not None:
            require_integer("max_defeats", self.max_defeats, 0)

    def decide(self, mean: jax.Array) -> jax.Array:
        """Ties go to the arm with the larger sum of x_ij."""
        sums = sums_by_arm(self.pairs, mean, 1 - mean)
        return jnp.argmax(self.certain_wins(mean, mean) + sums / (2 * self.num_arms)).astype(
            jnp.int32
        )

    def changes(self, mean: jax.Array, other: jax.Array) -> jax.Array:
        """Ties go to the first arm: a pair matters by who wins it only."""
        count = self.num_arms
        wins = (other > 0.5).astype(jnp.float32) - (mean > 0.5).astype(jnp.float32)
        losses = (other < 0.5).astype(jnp.float32) - (mean < 0.5).astype(jnp.float32)
        # Whole numbers, no two of them the same.
        scores = count * self.certain_wins(mean, mean) - jnp.arange(count).astype(jnp.float32)
        return self._changes_of_best(scores, count * wins, count * losses)

    def independent(self, lower: jax.Array, upper: jax.Array) -> jax.Array:
        """The pair is decided, or some arm certainly beats more than either can."""
        leader = self.certain_wins(lower, upper).max()
        of_first, of_second = self.spread(self.possible_wins(lower, upper))
        is_decided = (lower > 0.5) | (upper < 0.5)
        return is_decided | ((leader > of_first) & (leader > of_second))

    def is_unique(self, lower: jax.Array, upper: jax.Array) -> jax.Array:
        """An arm certainly beats more than any other one can, or few enough can beat it."""
        least, most = self.certain_wins(lower, upper), self.possible_wins(lower, upper)
        leader = jnp.argmax(least)
        others = jnp.arange(self.num_arms) != leader
        found = (least[leader] > jnp.where(others, most, -1)).all()
        if self.max_defeats is not None:
            found |= self.num_arms - 1 - least[leader] <= self.max_defeats
        return found


@dataclasses.dataclass(frozen=True)
class CondorcetWinner(CopelandWinner):
    """The arm that beats every other one, which must exist (eq. 12).

    >>> decision = CondorcetWinner(3)
    >>> lower, upper = jnp.array([0.6, 0.0, 0.0]), jnp.array([1.0, 1.0, 0.4])
    >>> decision.independent(lower, upper).tolist()  # 1 has lost to 0 and to 2
    [True, False, True]
    """

    needs_condorcet_winner = True

    def independent(self, lower: jax.Array, upper: jax.Array) -> jax.Array:
        """One of the two arms has certainly lost a duel."""
        of_first, of_second = self.spread(self.possible_wins(lower, upper))
        return (of_first < self.num_arms - 1) | (of_second < self.num_arms - 1)

    def is_unique(self, lower: jax.Array, upper: jax.Array) -> jax.Array:
        """All others have certainly lost."""
        possible = self.possible_wins(lower, upper) == self.num_arms - 1
        return (possible.sum() <= 1) | super().is_unique(lower, upper)


@dataclasses.dataclass(frozen=True)
class BordaWinner(DuelDecision):
    """The arm that wins most often against a random other one, if some sum_j x_ij > K / 2.

    >>> decision = BordaWinner(3)
    >>> int(decision.decide(jnp.array([0.9, 0.4, 0.5])))  # of the pairs 01, 02, 12
    0
    """

    def decide(self, mean: jax.Array) -> jax.Array:
        return jnp.argmax(sums_by_arm(self.pairs, mean, 1 - mean)).astype(jnp.int32)

    def changes(self, mean: jax.Array, other: jax.Array) -> jax.Array:
        sums = sums_by_arm(self.pairs, mean, 1 - mean)
        return self._changes_of_best(sums, other - mean, mean - other)  # but for ties

    def possible(self, lower: jax.Array, upper: jax.Array) -> jax.Array:
        """Which arms may have the largest sum of more than K / 2? bool [K]."""
        most = sums_by_arm(self.pairs, upper, 1 - lower)
        least = sums_by_arm(self.pairs, lower, 1 - upper)
        leader = jnp.argmax(least)
        arms = jnp.arange(self.num_arms)
        # With x_ii = 1/2 the sum over all j is more than K / 2.
        return ((most > least[leader]) | (arms == leader)) & (most > (self.num_arms - 1) / 2)

    def independent(self, lower: jax.Array, upper: jax.Array) -> jax.Array:
        """Neither arm can have the largest sum."""
        of_first, of_second = self.spread(self.possible(lower, upper))
        return ~of_first & ~of_second

    def is_unique(self, lower: jax.Array, upper: jax.Array) -> jax.Array:
        """All arms but one have certainly less."""
        return self.possible(lower, upper).sum() <= 1
