"""SAVAGE round by round: the same choices as one by one, many of them at once.

In a round every active parameter is sampled once. Whether a parameter matters depends on verdicts
(which bounds are on which side of 1/2), so that nothing changes until the next verdict: a round is
played up to its first verdict, then tested, and goes on with what is left of it. Axes: N
parameters, M measures of regret.
"""

import dataclasses

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace.dueling.problems import Problem
from jaxrace.dueling.savage import Savage, SavageParams, SavageState
from jaxrace.dueling.steps import draw_uniform

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
    chances = jax.vmap(problem.probability)(choices)
    costs = jax.vmap(problem.cost)(choices)  # [N, M]
    end = state.time + count

    def is_left(carry: tuple[SavageState, jax.Array]) -> jax.Array:
        return carry[0].time < end

    def play_on(carry: tuple[SavageState, jax.Array]) -> tuple[SavageState, jax.Array]:
        own, regret = carry
        pending = own.active & (own.samples == jnp.where(own.active, own.samples, _NEVER).min())
        place = jnp.cumsum(pending.astype(jnp.int32)) - 1  # in the rest of the round
        time = own.time + place
        pending &= (time < end) & ~own.accepted
        uniforms = jax.vmap(draw_uniform, (None, 0))(key, time)
        success = uniforms < chances
        after = algorithm.sampled(own, pending, success, params)
        verdict = _verdicts(after, params) != _verdicts(own, params)
        # Before the first choice nothing has been tested yet.
        verdict |= own.time == 0
        told = pending & (place <= jnp.where(verdict, place, _NEVER).min())
        after = algorithm.sampled(own, told, success, params)
        # Once it has been decided, the answer is played to the end.
        answer = algorithm.decision.answer(algorithm.best(own, params))
        rest = jnp.where(own.accepted, end - own.time, 0)
        regret = regret + jnp.where(told[:, None], costs, 0.0).sum(0)
        regret = regret + rest * problem.cost(answer)
        time = own.time + told.sum(dtype=jnp.int32) + rest
        return algorithm.tested(dataclasses.replace(after, time=time), params), regret

    return lax.while_loop(is_left, play_on, (state, jnp.zeros_like(costs[0])))


def _verdicts(state: SavageState, params: SavageParams) -> jax.Array:
    """Everything about a parameter that a test looks at, as an integer [N]."""
    sides = (state.lower > 0.5).astype(jnp.int32) + 2 * (state.upper < 0.5)
    return sides + 4 * (state.upper - state.lower <= params.max_width)
