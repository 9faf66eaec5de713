"""SAVAGE: sensitivity analysis of variables for generic exploration (Urvoy et al. 2013).

Axes: N parameters of a decision, d = 2 for duels or 1 for arms.
"""

import dataclasses
import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.typing import ArrayLike

from jaxrace.core.protocol import pytree, verb
from jaxrace.core.validation import (
    require_integer,
    require_keys,
    require_number,
    require_probability,
)
from jaxrace.dueling.base import DecisionAlgorithm
from jaxrace.dueling.decisions import Decision
from jaxrace.kernels import draw_uniforms, first_best

# Choices have keys of their own, from 0 on; the order of the arms has the last one.
_SIMULATIONS = 2**32 - 2


@pytree
class SavageParams:
    """The numbers of SAVAGE; make them with ``Savage.params``."""

    log_level: jax.Array  # float32 [], ln(eta(t) / delta), or what does not depend on t of it
    grows: jax.Array  # bool [], eta(t) is proportional to t^2
    max_width: jax.Array  # float32 [], of the intervals at which exploration ends
    key: jax.Array  # of introspection


@pytree
class SavageState:
    """SAVAGE between two choices."""

    time: jax.Array  # int32 [], choices told
    samples: jax.Array  # int32 [N], t_i
    successes: jax.Array  # int32 [N]
    lower: jax.Array  # float32 [N], a_i
    upper: jax.Array  # float32 [N], b_i
    active: jax.Array  # bool [N], W
    settled_at: jax.Array  # int32 [], choices after which nothing was left to explore; else 0

    @property
    def accepted(self) -> jax.Array:
        """Is nothing left to explore? A bool []."""
        return self.settled_at > 0

    @property
    def mean(self) -> jax.Array:
        """Estimates, float32 [N]: 1/2 without samples."""
        rate = self.successes.astype(jnp.float32) / jnp.maximum(self.samples, 1).astype(jnp.float32)
        return jnp.where(self.samples > 0, rate, 0.5)


@dataclasses.dataclass(frozen=True)
class Introspection:
    """At how many random points of the box every parameter is changed by itself, and how often.

    A parameter counts as independent if no change of it changed the decision: rarely the test drops
    one that matters. The paper's walk goes on from the changed point; here every point is a new
    one, of the same distribution, of the whole box and not only of the paper's feasible set F
    within it. The two differ for ``CondorcetWinner`` alone, where one change within F makes another
    arm the winner so rarely that a walk would drop pairs untried.

    Attributes:
        simulations: Points at most; a test ends once all parameters have been seen to matter.
        growth: A test follows whenever the number of samples has grown by this factor; after
            every sample at 1.
    """

    simulations: int = 1000
    growth: float = 1.1

    def __post_init__(self) -> None:
        require_integer("simulations", self.simulations, 1)
        require_number("growth", self.growth, least=1)


@dataclasses.dataclass(frozen=True)
class Savage(DecisionAlgorithm):
    """Sample every parameter in turn, but for those that can no longer change the decision.

    The confidence intervals are nested, hold all together with probability 1 - delta, and make a
    box; what cannot change the decision within the box is dropped. Once the decision is certain it
    is played on (explore, then exploit). Of the parameters with fewest samples the first is next.

    Attributes:
        introspection: Tests independence by simulation instead of the decision's own test
            (Algorithm 2), for decisions about which little is known.

    >>> from jaxrace.dueling import CopelandWinner, duels, matrices, play
    >>> algorithm, problem = Savage(3, CopelandWinner(3)), duels(matrices.flat(3, 0.9))
    >>> params = algorithm.params(delta=0.1, horizon=1000)
    >>> log = play(algorithm, jax.random.key(0), problem, 1000, params, records=1)
    >>> log.recommended.tolist(), bool(log.settled_at < 200)
    ([0], True)
    """

    introspection: Introspection | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.decision.num_arms != self.num_arms:
            raise ValueError(
                f"decision: expected one about num_arms = {self.num_arms} arms, "
                f"got one about {self.decision.num_arms}"
            )

    @property
    def is_by_rounds(self) -> bool:
        """Can a driver play whole rounds at once (``savage_rounds``)?"""
        return self.decision.by_verdicts and self.introspection is None

    @property
    def opening(self) -> int:
        return self.decision.num_parameters

    def params(
        self,
        delta: float = 0.05,
        horizon: int | None = None,
        max_width: float = 0.0,
        key: ArrayLike | None = None,
    ) -> SavageParams:
        """The numbers; ValueError if one is outside its range, or a key is missing.

        Args:
            delta: Error probability.
            horizon: T; without one the intervals hold for ever, and are wider.
            max_width: Stop once the intervals of all parameters that still matter are as narrow
                as this (eq. 7: epsilon / lambda).
            key: Of the simulations, where there is introspection.
        """
        require_probability("delta", delta)
        require_number("max_width", max_width, least=0)
        if self.introspection is not None or key is not None:
            require_keys("key", key, ndim=0)
        count = self.decision.num_parameters
        if horizon is None:
            level = math.log(math.pi**2 * count / (3 * delta))  # eta = pi^2 N t^2 / 3
        else:
            require_integer("horizon", horizon, 1)
            level = math.log(2 * count * horizon / delta)  # eta = 2 N T
        return SavageParams(
            log_level=jnp.asarray(level, jnp.float32),
            grows=jnp.asarray(horizon is None),
            max_width=jnp.asarray(max_width, jnp.float32),
            key=jax.random.key(0) if key is None else jnp.asarray(key),
        )

    def of_run(self, params: SavageParams, key: jax.Array) -> SavageParams:
        own = jax.random.fold_in(key, jnp.uint32(_SIMULATIONS))
        return dataclasses.replace(
            params, key=jax.random.fold_in(params.key, jax.random.bits(own, (), jnp.uint32))
        )

    @verb
    def init(self, params: SavageParams) -> SavageState:
        count = self.decision.num_parameters
        return SavageState(
            time=jnp.zeros((), jnp.int32),
            samples=jnp.zeros(count, jnp.int32),
            successes=jnp.zeros(count, jnp.int32),
            lower=jnp.zeros(count, jnp.float32),
            upper=jnp.ones(count, jnp.float32),
            active=jnp.ones(count, bool),
            settled_at=jnp.zeros((), jnp.int32),
        )

    def choose(self, noise: None, state: SavageState, params: SavageParams) -> jax.Array:
        never = jnp.iinfo(jnp.int32).max
        parameter = first_best(-jnp.where(state.active, state.samples, never))
        answer = self.decision.answer(self.recommend(state, params))
        return jnp.where(state.accepted, answer, self.decision.choice_of(parameter))

    @verb
    def tell(
        self, state: SavageState, choice: Any, outcome: Any, params: SavageParams
    ) -> SavageState:
        """Ignores what is told after the decision, or of an arm against itself."""
        in_order = choice[0] <= choice[-1]
        is_new = ~state.accepted & ((choice[0] != choice[-1]) | (choice.shape[0] == 1))
        here = jnp.arange(self.decision.num_parameters) == self.decision.parameter_of(choice)
        told = here & is_new
        state = self.sampled(state, told, jnp.broadcast_to(outcome == in_order, here.shape), params)
        state = dataclasses.replace(state, time=state.time + 1)
        return self.tested(state, params)

    def sampled(
        self, state: SavageState, told: jax.Array, success: jax.Array, params: SavageParams
    ) -> SavageState:
        """With one more sample of the marked parameters, bool [N]; does not test anything."""
        samples = state.samples + told.astype(jnp.int32)
        successes = state.successes + (told & success).astype(jnp.int32)
        count = jnp.maximum(samples, 1).astype(jnp.float32)
        level = params.log_level + jnp.where(params.grows, 2 * jnp.log(count), 0.0)
        width = jnp.sqrt(level / (2 * count))  # c(t)
        mean = successes.astype(jnp.float32) / count
        return dataclasses.replace(
            state,
            samples=samples,
            successes=successes,
            lower=jnp.where(told, jnp.maximum(state.lower, mean - width), state.lower),
            upper=jnp.where(told, jnp.minimum(state.upper, mean + width), state.upper),
        )

    def tested(self, state: SavageState, params: SavageParams) -> SavageState:
        """Without the parameters that the decision does not depend on, as far as one can tell."""
        lower, upper = state.lower, state.upper
        if self.introspection is None:
            independent = self.decision.independent(lower, upper)
        else:
            independent = never_seen_to_matter(self.introspection, self.decision, params.key, state)
        active = state.active & ~independent
        # What was dropped is not sampled any more, and would never become narrow.
        narrow = ((upper - lower <= params.max_width) | ~active).all()
        accepted = ~active.any() | self.decision.is_unique(lower, upper) | narrow
        settled_at = jnp.where(accepted & ~state.accepted, state.time, state.settled_at)
        return dataclasses.replace(state, active=active, settled_at=settled_at)


def never_seen_to_matter(
    how: Introspection, decision: Decision, key: jax.Array, box: Any
) -> jax.Array:
    """The sampled test of independence (Algorithm 2): bool [N]; none unless a test is due.

    ``box`` is a ``SavageState``.
    """
    due = _is_due(how, box.time)
    key = jax.random.fold_in(key, box.time)
    width = box.upper - box.lower

    def is_open(carry: tuple[jax.Array, jax.Array]) -> jax.Array:
        number, matters = carry
        return (number < how.simulations) & (box.active & ~matters).any()

    def simulate(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        number, matters = carry
        uniforms = draw_uniforms(jax.random.fold_in(key, number), (2, width.shape[0]))
        point, other = box.lower + width * uniforms
        return number + 1, matters | decision.changes(point, other)

    # Under vmap a branch would always be taken; a loop without an iteration costs nothing.
    first = jnp.where(due, 0, how.simulations)
    _, matters = lax.while_loop(is_open, simulate, (first, jnp.zeros_like(box.active)))
    return due & ~matters


def _is_due(how: Introspection, time: jax.Array) -> jax.Array:
    """Is this the first number of samples beyond a power of the growth factor?"""
    if how.growth == 1:
        return jnp.ones_like(time, bool)
    log_growth = jnp.log(jnp.float32(how.growth))

    def power(number: jax.Array) -> jax.Array:
        return jnp.floor(jnp.log(jnp.maximum(number, 1).astype(jnp.float32)) / log_growth)

    return power(time) > power(time - 1)
