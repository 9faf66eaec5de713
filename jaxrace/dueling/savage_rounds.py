"""SAVAGE round by round: the same choices as one by one, many of them at once.

In a round every active parameter is sampled once. Nothing changes until the next verdict (a bound
passes 1/2): a round is played up to its first verdict, then tested, and goes on with the rest of
it. Axes: N parameters, M measures of regret.
"""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace.dueling.problems import Problem, draw_uniform
from jaxrace.dueling.savage import Savage, SavageParams, SavageState
from jaxrace.kernels import sums
from jaxrace.kernels.sums import Total

# A place that is never reached.
_NEVER = jnp.iinfo(jnp.int32).max

# Once no more parameters are left, so many rounds are played among these few at once.
_FEW, _ROUNDS = 16, 64


class Table(NamedTuple):
    """What is to be known of parameters [N]."""

    chances: jax.Array  # float32 [N]
    costs: jax.Array  # float32 [N, M]


# The state, the regret [M], and the number of rounds.
_Few = tuple[SavageState, jax.Array, jax.Array]


class _Run(NamedTuple):
    """What the rounds of a run have in common."""

    algorithm: Savage
    key: jax.Array
    params: SavageParams
    end: jax.Array  # int32 [], the time at which they end


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
    table = Table(jax.vmap(problem.probability)(choices), jax.vmap(problem.cost)(choices))
    end = state.time + count
    run = _Run(algorithm, key, params, end)

    def is_left(carry: tuple[SavageState, Total]) -> jax.Array:
        return carry[0].time < end

    def play_on(carry: tuple[SavageState, Total]) -> tuple[SavageState, Total]:
        own, total = carry
        is_for_few = (own.active.sum(dtype=jnp.int32) <= _FEW) & ~own.accepted
        after, regret_of_few = _rounds_of_few(run, own, table, is_for_few)
        until = jnp.where(is_for_few, own.time, end)
        after, regret, _ = _round(run._replace(end=until), after, table)
        # Once it has been decided, the answer is played to the end.
        answer = algorithm.decision.answer(algorithm.recommend(own, params))
        rest = jnp.where(own.accepted, end - own.time, 0)
        cost = jnp.where(rest > 0, problem.cost(answer), 0)  # which may be infinite
        regret = regret + regret_of_few + rest.astype(jnp.float32) * cost
        own = algorithm.tested(dataclasses.replace(after, time=after.time + rest), params)
        return own, sums.plus(total, regret)

    start = state, sums.nothing(problem.num_measures)
    state, total = lax.while_loop(is_left, play_on, start)
    return state, total.value


def _round(run: _Run, own: SavageState, table: Table) -> tuple[SavageState, jax.Array, jax.Array]:
    """The rest of a round up to its first verdict: the state, its regret [M], was there one?"""
    pending = own.active & (own.samples == jnp.where(own.active, own.samples, _NEVER).min())
    place = jnp.cumsum(pending.astype(jnp.int32)) - 1  # in the rest of the round
    time = own.time + place
    pending &= (time < run.end) & ~own.accepted
    uniforms = jax.vmap(draw_uniform, (None, 0))(run.key, time)
    success = uniforms < table.chances
    after = run.algorithm.sampled(own, pending, success, run.params)
    verdict = _verdicts(after, run.params) != _verdicts(own, run.params)
    # Before the first choice nothing has been tested yet.
    verdict |= own.time == 0
    told = pending & (place <= jnp.where(verdict, place, _NEVER).min())
    after = run.algorithm.sampled(own, told, success, run.params)
    regret = jnp.where(told[:, None], table.costs, 0.0).sum(0)
    time = own.time + told.sum(dtype=jnp.int32)
    return dataclasses.replace(after, time=time), regret, (verdict & told).any()


def _rounds_of_few(
    run: _Run, own: SavageState, table: Table, is_for_few: jax.Array
) -> tuple[SavageState, jax.Array]:
    """Rounds up to the first verdict, if few parameters are left; the same, of short arrays."""
    count = own.active.shape[0]
    places = jnp.nonzero(own.active, size=min(_FEW, count), fill_value=count)[0]

    def among(leaf: jax.Array) -> jax.Array:
        return leaf.at[places].get(mode="fill", fill_value=0)

    few = jax.tree.map(lambda leaf: among(leaf) if leaf.ndim else leaf, own)
    table = Table(*map(among, table))

    def goes_on(carry: _Few) -> jax.Array:
        few, _, number = carry
        return (number < _ROUNDS) & (few.time < run.end)

    def play_on(carry: _Few) -> _Few:
        few, regret, number = carry
        few, own_regret, verdict = _round(run, few, table)
        return few, regret + own_regret, jnp.where(verdict, _ROUNDS, number + 1)

    start = few, jnp.zeros_like(table.costs[0]), jnp.where(is_for_few, 0, _ROUNDS)
    few, regret, _ = lax.while_loop(goes_on, play_on, start)
    own = jax.tree.map(
        lambda leaf, part: leaf.at[places].set(part, mode="drop") if leaf.ndim else part, own, few
    )
    return own, regret


def _verdicts(state: SavageState, params: SavageParams) -> jax.Array:
    """Everything about a parameter that a test looks at, as an integer [N]."""
    sides = (state.lower > 0.5).astype(jnp.int32) + 2 * (state.upper < 0.5).astype(jnp.int32)
    return sides + 4 * (state.upper - state.lower <= params.max_width).astype(jnp.int32)
