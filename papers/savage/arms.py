"""Arms that pay 1 or 0: two problems, and bandits beside SAVAGE. Axes: K arms."""

import abc
import dataclasses
from typing import Any, cast

import jax
import jax.numpy as jnp
from numpy.typing import ArrayLike

from jaxrace import kernels
from jaxrace.core.protocol import pytree, verb
from jaxrace.core.validation import (
    BadArgument,
    require_float32_probability,
    require_number,
)
from jaxrace.dueling.base import DecisionAlgorithm
from jaxrace.dueling.problems import Problem, arms
from jaxrace.kernels import first_best, pick
from papers.savage.questions import Counting, NextBest

# Of the 100 arms of Urvoy et al. 2013, section 5.1.
URVOY_MEANS = (0.95, *3 * (0.9,), 0.55, *5 * (0.5,), *90 * (0.0,))


@pytree
class ArmState:
    """A bandit between two choices."""

    time: jax.Array  # int32 [], choices told
    pulls: jax.Array  # int32 [K]
    payments: jax.Array  # int32 [K]
    active: jax.Array  # bool [K], arms that have not been eliminated
    decided_at: jax.Array  # int32 [], choices after which one arm was left; 0 before

    @property
    def mean(self) -> jax.Array:
        """Estimates, float32 [K]; 0 without pulls."""
        return self.payments.astype(jnp.float32) / jnp.maximum(self.pulls, 1).astype(jnp.float32)


@dataclasses.dataclass(frozen=True)
class ArmBandit(DecisionAlgorithm):
    """A bandit that recommends by a decision about arms, whatever it pulls."""

    wrapped: bool = False  # plays for the utilities of the decision instead of the payments

    def __post_init__(self) -> None:
        super().__post_init__()
        fits = self.decision.num_arms == self.num_arms and self.decision.choice_size == 1
        if not fits:
            raise BadArgument(
                "decision", f"one about {self.num_arms} arms that pay", f"{self.decision}"
            )
        if self.wrapped and not hasattr(self.decision, "utilities"):
            raise BadArgument("decision", "one that gives arms a worth", str(self.decision))

    @property
    def opening(self) -> int:
        return self.num_arms

    @verb
    def init(self, params: Any) -> ArmState:
        zero = jnp.zeros((), jnp.int32)
        nothing = jnp.zeros(self.num_arms, jnp.int32)
        return ArmState(zero, nothing, nothing, jnp.ones(self.num_arms, bool), zero)

    def draw(self, key: jax.Array) -> jax.Array:
        return jax.random.uniform(key, (), jnp.float32)

    @verb
    def tell(self, state: ArmState, choice: Any, outcome: Any, params: Any) -> ArmState:
        here = jnp.arange(self.num_arms, dtype=jnp.int32) == choice[0]
        return dataclasses.replace(
            state,
            time=state.time + 1,
            pulls=state.pulls + here.astype(jnp.int32),
            payments=state.payments + (here & outcome).astype(jnp.int32),
        )

    def value(self, state: ArmState) -> jax.Array:
        """What an arm seems to be worth, float32 [K]."""
        return cast(Any, self.decision).utilities(state.mean) if self.wrapped else state.mean


@dataclasses.dataclass(frozen=True)
class UniformArms(ArmBandit):
    """An arm at random.

    >>> from papers.savage.questions import Best
    >>> algorithm = UniformArms(3, Best(3))
    >>> algorithm.ask(jax.random.key(0), algorithm.init(None), None).shape
    (1,)
    """

    def params(self) -> None:
        """There are none."""

    def choose(self, noise: jax.Array, state: ArmState, params: None) -> jax.Array:
        return pick(state.active, noise)[None]


@pytree
class IndexParams:
    """The number of an index policy."""

    scale: jax.Array  # float32 [], of ln t


def _budget(state: ArmState, params: IndexParams) -> jax.Array:
    """ln t / n, times the scale: float32 [K]."""
    log_time = jnp.log(jnp.maximum(state.time, 1).astype(jnp.float32))
    return params.scale * log_time / jnp.maximum(state.pulls, 1).astype(jnp.float32)


class IndexBandit(ArmBandit):
    """Plays every arm once, then the arm of the largest index; ties are broken at random."""

    @abc.abstractmethod
    def index(self, state: ArmState, params: IndexParams) -> jax.Array:
        """How good an arm may be, float32 [K]."""

    def params(self, scale: float = 1.0) -> IndexParams:
        """``scale``, at least 0, is the factor of ln t."""
        require_number("scale", scale, least=0)
        return IndexParams(jnp.asarray(scale, jnp.float32))

    def choose(self, noise: jax.Array, state: ArmState, params: IndexParams) -> jax.Array:
        index = jnp.where(state.pulls > 0, self.index(state, params), jnp.inf)
        return pick(index == index.max(), noise)[None]


@dataclasses.dataclass(frozen=True)
class Ucb1(IndexBandit):
    """UCB1 (Auer et al. 2002): mean + sqrt(2 ln t / n).

    >>> from jaxrace.dueling import run
    >>> from papers.savage.questions import Best
    >>> algorithm, problem = Ucb1(3, Best(3)), arms([0.1, 0.2, 0.9], [0.1, 0.2, 0.9])
    >>> log = run(algorithm, jax.random.key(0), problem, 200, algorithm.params(), records=1)
    >>> log.recommended.tolist()
    [2]
    """

    def params(self, scale: float = 2.0) -> IndexParams:
        return super().params(scale)

    def index(self, state: ArmState, params: IndexParams) -> jax.Array:
        return self.value(state) + jnp.sqrt(_budget(state, params))


@dataclasses.dataclass(frozen=True)
class KlUcb(IndexBandit):
    """KL-UCB (Garivier and Cappe 2011): max {q : n kl(mean, q) <= ln t}.

    >>> from jaxrace.dueling import run
    >>> from papers.savage.questions import Best
    >>> algorithm, problem = KlUcb(3, Best(3)), arms([0.1, 0.2, 0.9], [0.1, 0.2, 0.9])
    >>> log = run(algorithm, jax.random.key(0), problem, 200, algorithm.params(), records=1)
    >>> log.recommended.tolist()
    [2]
    """

    def index(self, state: ArmState, params: IndexParams) -> jax.Array:
        return kernels.kl_upper(self.value(state), _budget(state, params))


@pytree
class EliminationParams:
    """The number of action elimination."""

    log_level: jax.Array  # float32 [], ln(c K / delta)


@dataclasses.dataclass(frozen=True)
class ActionElimination(ArmBandit):
    """Action elimination (Even-Dar et al. 2002): all that are left in turn, without the worst.

    After every round the arms go that are 2 alpha_t behind the best one, with
    alpha_t = sqrt(ln(c K t^2 / delta) / t) and c = 5. The last one is played on.

    >>> from jaxrace.dueling import run
    >>> from papers.savage.questions import Best
    >>> algorithm, problem = ActionElimination(3, Best(3)), arms([0, 0, 1], [0, 0, 1])
    >>> log = run(algorithm, jax.random.key(0), problem, 1000, algorithm.params(), records=1)
    >>> log.recommended.tolist(), bool(log.decided_at > 0)
    ([2], True)
    """

    def params(self, delta: float = 0.05) -> EliminationParams:
        """``delta`` is the error probability."""
        require_float32_probability("delta", delta)
        return EliminationParams(jnp.log(jnp.float32(5 * self.num_arms / delta)))

    def choose(self, noise: jax.Array, state: ArmState, params: EliminationParams) -> jax.Array:
        pulls = jnp.where(state.active, state.pulls, jnp.iinfo(jnp.int32).max)
        return first_best(-pulls)[None]

    @verb
    def tell(
        self, state: ArmState, choice: Any, outcome: Any, params: EliminationParams
    ) -> ArmState:
        """What is told after the end does not count."""
        before, state = state, super().tell(state, choice, outcome, params)
        pulls = jnp.where(state.active, state.pulls, 0)
        rounds = pulls.max().astype(jnp.float32)
        is_complete = jnp.where(state.active, state.pulls, pulls.max()).min() == pulls.max()
        level = params.log_level + 2 * jnp.log(rounds)
        value = jnp.where(state.active, self.value(state), -jnp.inf)
        behind = value.max() - value >= 2 * jnp.sqrt(level / rounds)
        active = state.active & ~(is_complete & behind)
        is_over = (active.sum(dtype=jnp.int32) == 1) & (state.decided_at == 0)
        decided_at = jnp.where(is_over, state.time, state.decided_at)
        told = dataclasses.replace(state, active=active, decided_at=decided_at)
        is_open = before.decided_at == 0
        kept = jax.tree.map(lambda new, old: jnp.where(is_open, new, old), told, before)
        return dataclasses.replace(kept, time=state.time)


def rigged_bandit(means: ArrayLike = URVOY_MEANS, skipped: int = 4) -> Problem:
    """Arms of which the best few are worth nothing (Urvoy et al. 2013, sections 3.1 and 5.1).

    For algorithms that look for ``NextBest(K, skipped)``: regret is how much less the recommended
    arm is worth than the best one that counts. Arms pay with probability ``means`` [K], those of
    the paper's figure 3 unless given; the ``skipped`` best are worth nothing.

    >>> rigged_bandit([0.75, 0.25, 0.5], skipped=1).losses.tolist()
    [0.5, 0.25, 0.0]
    """
    chances = jnp.asarray(means, jnp.float32)
    return arms(chances, NextBest(len(chances), skipped).utilities(chances))


def counting_bandit(
    means: ArrayLike = URVOY_MEANS, above: float = 0.4, below: float = 0.6
) -> Problem:
    """Arms of which one wants to know how many pay with a probability between two limits.

    For algorithms that look for ``Counting(K, above, below)`` (Urvoy et al. 2013, supplement B.5):
    regret is by how much the recommended count is wrong, one loss for each of 0 to K. The ``means``
    [K] are those of the paper's figure 3 unless given.

    >>> counting_bandit([0.75, 0.5, 0.25]).losses.tolist()
    [1.0, 0.0, 1.0, 2.0]
    """
    chances = jnp.asarray(means, jnp.float32)
    right = Counting(len(chances), above, below).decide(chances).astype(jnp.float32)
    return arms(chances, -abs(jnp.arange(len(chances) + 1, dtype=jnp.float32) - right))
