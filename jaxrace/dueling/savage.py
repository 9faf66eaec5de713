"""SAVAGE: sensitivity analysis of variables for generic exploration (Urvoy et al. 2013).

Axes: N parameters of a decision, d = 2 for duels or 1 for arms, M measures of regret.
"""

import dataclasses
import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.typing import ArrayLike

from jaxrace.core import validation
from jaxrace.core.protocol import make_params, number, pytree, verb
from jaxrace.core.validation import BadArgument, require_integer, require_number
from jaxrace.dueling.base import DecisionAlgorithm
from jaxrace.dueling.decisions import Decision
from jaxrace.dueling.problems import Problem, uniform_at
from jaxrace.kernels import draw_uniforms, first_best, kahan

# Choices have keys of their own, from 0 on; the order of the arms has the last one.
_SIMULATIONS = 2**32 - 2
# A number of samples, or of choices, that is never reached.
_NEVER = jnp.iinfo(jnp.int32).max


@pytree
class SavageParams:
    """The numbers of SAVAGE; make them with ``Savage.params``."""

    log_level: jax.Array = number()  # ln(eta(t) / delta), or what does not depend on t of it
    grows: jax.Array = number(dtype=bool)  # eta(t) is proportional to t^2
    max_width: jax.Array = number(require_number, least=0)  # of intervals, at which it ends
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
    decided_at: jax.Array  # int32 [], choices after which nothing was left to explore; else 0

    @property
    def accepted(self) -> jax.Array:
        """Is nothing left to explore? A bool []."""
        return self.decided_at > 0

    @property
    def mean(self) -> jax.Array:
        """Estimates, float32 [N]: 1/2 without samples."""
        rate = self.successes.astype(jnp.float32) / jnp.maximum(self.samples, 1).astype(jnp.float32)
        return jnp.where(self.samples > 0, rate, 0.5)


@dataclasses.dataclass(frozen=True)
class Introspection:
    """A test of independence by simulation: random points of the box, each parameter changed.

    A parameter counts as independent if no change of it alone changed the decision: rarely the
    test drops one that matters. The paper's walk goes on from the changed point, within the set F
    of what is feasible; here every point is a new one of the whole box: for ``CondorcetWinner`` a
    walk within F would drop pairs untried.

    Attributes:
        simulations: Points at most; a test ends once all parameters have been seen to matter.
        growth: A test follows when the number of samples has grown by this factor; 1: always.
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
    is played on. Of the parameters with fewest samples the first is next.

    Attributes:
        introspection: Tests independence by simulation instead of the decision's own test
            (Algorithm 2), for decisions about which little is known.

    >>> from jaxrace.dueling import CopelandWinner, duels, matrices, run
    >>> algorithm, problem = Savage(3, CopelandWinner(3)), duels(matrices.flat(3, 0.9))
    >>> params = algorithm.params(delta=0.1, horizon=1000)
    >>> log = run(algorithm, jax.random.key(0), problem, 1000, params, records=1)
    >>> log.recommended.tolist(), bool(log.decided_at < 200)
    ([0], True)
    """

    introspection: Introspection | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.decision.num_arms != self.num_arms:
            expected = f"one about num_arms = {self.num_arms} arms"
            raise BadArgument("decision", expected, f"one about {self.decision.num_arms}")

    @property
    def is_by_rounds(self) -> bool:
        """Can a driver go round by round, see ``run_by_rounds``?"""
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
            max_width: Stop once all intervals that still matter are as narrow (eq. 7).
            key: Of the simulations, where there is introspection.
        """
        validation.require_probability("delta", delta)
        if self.introspection is not None or key is not None:
            validation.require_keys("key", key, ndim=0)
        count = self.decision.num_parameters
        if horizon is None:
            level = math.log(math.pi**2 * count / (3 * delta))  # eta = pi^2 N t^2 / 3
        else:
            require_integer("horizon", horizon, 1)
            level = math.log(2 * count * horizon / delta)  # eta = 2 N T
        key = jax.random.key(0) if key is None else jnp.asarray(key)
        return make_params(
            SavageParams, log_level=level, grows=horizon is None, max_width=max_width, key=key
        )

    def of_run(self, params: SavageParams, key: jax.Array) -> SavageParams:
        own = jax.random.fold_in(key, jnp.uint32(_SIMULATIONS))
        return dataclasses.replace(
            params, key=jax.random.fold_in(params.key, jax.random.bits(own, (), jnp.uint32))
        )

    @verb
    def init(self, params: SavageParams) -> SavageState:
        count = self.decision.num_parameters
        zero, zeros = jnp.zeros((), jnp.int32), jnp.zeros(count, jnp.int32)
        lower, upper = jnp.zeros(count, jnp.float32), jnp.ones(count, jnp.float32)
        return SavageState(zero, zeros, zeros, lower, upper, jnp.ones(count, bool), zero)

    def choose(self, noise: None, state: SavageState, params: SavageParams) -> jax.Array:
        parameter = first_best(-jnp.where(state.active, state.samples, _NEVER))
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
        """Without the parameters that the decision certainly does not depend on."""
        lower, upper = state.lower, state.upper
        if self.introspection is None:
            independent = self.decision.independent(lower, upper)
        else:
            independent = never_seen_to_matter(self.introspection, self.decision, params.key, state)
        active = state.active & ~independent
        # A dropped parameter gets no more samples, and would never become narrow.
        narrow = ((upper - lower <= params.max_width) | ~active).all()
        accepted = ~active.any() | self.decision.is_unique(lower, upper) | narrow
        decided_at = jnp.where(accepted & ~state.accepted, state.time, state.decided_at)
        return dataclasses.replace(state, active=active, decided_at=decided_at)


def never_seen_to_matter(
    how: Introspection, decision: Decision, key: jax.Array, box: Any
) -> jax.Array:
    """The sampled test of independence (Algorithm 2): bool [N]; False unless a test is due."""
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
    numbers = jnp.maximum(jnp.stack([time, time - 1]), 1).astype(jnp.float32)
    powers = jnp.floor(jnp.log(numbers) / jnp.log(jnp.float32(how.growth)))
    return powers[0] > powers[1]


def run_by_rounds(
    algorithm: Savage,
    count: int,
    key: jax.Array,
    state: SavageState,
    problem: Problem,
    params: SavageParams,
) -> tuple[SavageState, jax.Array]:
    """The state after ``count`` more choices, and their regret, float32 [M].

    The same choices as one by one. A round samples every active parameter once, all together up to
    its first verdict (a bound passes 1/2); then come the test, and the rest of the round.
    """
    places = jnp.arange(algorithm.decision.num_parameters, dtype=jnp.int32)
    choices = jax.vmap(algorithm.decision.choice_of)(places)
    chances, costs = jax.vmap(problem.probability)(choices), jax.vmap(problem.cost)(choices)
    end = state.time + count

    def go_on(carry: tuple[SavageState, kahan.Total]) -> tuple[SavageState, kahan.Total]:
        own, total = carry
        # The rest of a round up to its first verdict.
        pending = own.active & (own.samples == jnp.where(own.active, own.samples, _NEVER).min())
        place = jnp.cumsum(pending.astype(jnp.int32)) - 1  # in the rest of the round
        time = own.time + place
        pending &= (time < end) & ~own.accepted
        success = jax.vmap(uniform_at, (None, 0))(key, time) < chances
        after = algorithm.sampled(own, pending, success, params)
        # Before the first choice nothing has been tested yet.
        verdict = (_verdicts(after, params) != _verdicts(own, params)) | (own.time == 0)
        told = pending & (place <= jnp.where(verdict, place, _NEVER).min())
        after = algorithm.sampled(own, told, success, params)
        # After the decision, its answer is played to the end.
        answer = algorithm.decision.answer(algorithm.recommend(own, params))
        rest = jnp.where(own.accepted, end - own.time, 0)
        cost = jnp.where(rest > 0, problem.cost(answer), 0)  # which may be infinite
        regret = jnp.where(told[:, None], costs, 0.0).sum(0) + rest.astype(jnp.float32) * cost
        time = own.time + told.sum(dtype=jnp.int32) + rest
        own = algorithm.tested(dataclasses.replace(after, time=time), params)
        return own, kahan.add(total, regret)

    start = state, kahan.zero(problem.num_measures)
    state, total = lax.while_loop(lambda carry: carry[0].time < end, go_on, start)
    return state, total.value


def _verdicts(state: SavageState, params: SavageParams) -> jax.Array:
    """Everything about a parameter that a test looks at, as an integer [N]."""
    sides = (state.lower > 0.5).astype(jnp.int32) + 2 * (state.upper < 0.5).astype(jnp.int32)
    return sides + 4 * (state.upper - state.lower <= params.max_width).astype(jnp.int32)
