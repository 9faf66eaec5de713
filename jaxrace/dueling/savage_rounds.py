"""SAVAGE round by round: the same choices as one by one, many of them at once.

In a round every active parameter is sampled once. Nothing changes until the next verdict (a bound
passes 1/2): a round is played up to its first verdict, then tested, and goes on with the rest of
it. Axes: N parameters, M measures of regret.
"""

import dataclasses

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace.dueling.problems import Problem, draw_uniform
from jaxrace.dueling.savage import Savage, SavageParams, SavageState
from jaxrace.kernels import kahan
from jaxrace.kernels.kahan import Total

# A place that is never reached.
_NEVER = jnp.iinfo(jnp.int32).max


def play(
    algorithm: Savage,
    count: int,
    key: jax.Array,
    state: SavageState,
    problem: Problem,
    params: SavageParams,
) -> tuple[SavageState, jax.Array]:
    """Make ``count`` more choices: the state after them, and their regret, float32 [M]."""
    places = jnp.arange(algorithm.decision.num_parameters, dtype=jnp.int32)
    choices = jax.vmap(algorithm.decision.choice_of)(places)
    chances, costs = jax.vmap(problem.probability)(choices), jax.vmap(problem.cost)(choices)
    end = state.time + count

    def is_left(carry: tuple[SavageState, Total]) -> jax.Array:
        return carry[0].time < end

    def play_on(carry: tuple[SavageState, Total]) -> tuple[SavageState, Total]:
        own, total = carry
        # The rest of a round up to its first verdict.
        pending = own.active & (own.samples == jnp.where(own.active, own.samples, _NEVER).min())
        place = jnp.cumsum(pending.astype(jnp.int32)) - 1  # in the rest of the round
        time = own.time + place
        pending &= (time < end) & ~own.accepted
        success = jax.vmap(draw_uniform, (None, 0))(key, time) < chances
        after = algorithm.sampled(own, pending, success, params)
        # Before the first choice nothing has been tested yet.
        verdict = (_verdicts(after, params) != _verdicts(own, params)) | (own.time == 0)
        told = pending & (place <= jnp.where(verdict, place, _NEVER).min())
        after = algorithm.sampled(own, told, success, params)
        # Once it has been decided, the answer is played to the end.
        answer = algorithm.decision.answer(algorithm.recommend(own, params))
        rest = jnp.where(own.accepted, end - own.time, 0)
        cost = jnp.where(rest > 0, problem.cost(answer), 0)  # which may be infinite
        regret = jnp.where(told[:, None], costs, 0.0).sum(0) + rest.astype(jnp.float32) * cost
        time = own.time + told.sum(dtype=jnp.int32) + rest
        own = algorithm.tested(dataclasses.replace(after, time=time), params)
        return own, kahan.add(total, regret)

    start = state, kahan.zero(problem.num_measures)
    state, total = lax.while_loop(is_left, play_on, start)
    return state, total.value


def _verdicts(state: SavageState, params: SavageParams) -> jax.Array:
    """Everything about a parameter that a test looks at, as an integer [N]."""
    sides = (state.lower > 0.5).astype(jnp.int32) + 2 * (state.upper < 0.5).astype(jnp.int32)
    return sides + 4 * (state.upper - state.lower <= params.max_width).astype(jnp.int32)
