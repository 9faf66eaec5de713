"""Evolution of a population whose members can only be compared with each other.

A generation: an evolution strategy draws members around its mean, a selection finds the better half
with so many comparisons, and the strategy is told the ranking. How the comparisons are shared out
is what can be chosen. Axes: K members, D weights.
"""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxrace import racing
from jaxrace.core.protocol import pytree
from jaxrace.search.strategies import Strategy
from jaxrace.selection import ScoreSelector, SelectionJob, SelectionWork
from jaxrace.selection.driver import Compare


class Ranked(NamedTuple):
    """What came of the comparisons of a generation."""

    ranking: jax.Array  # int32 [K], from the best
    comparisons: jax.Array  # int32 [], made
    certified: jax.Array  # bool [], the better half is certain, as far as a selection says so
    valid: jax.Array  # bool [], all scores were finite


@dataclasses.dataclass(frozen=True)
class SelectorSelection:
    """Pair by pair, by a selector that is told scores."""

    selector: ScoreSelector
    compare: Compare  # see ``jaxrace.selection.run``
    budget: int  # comparisons, all of which are made; at least those of the warm-up
    # Pairs that are chosen before any of them is compared; divides what comes after the warm-up.
    batch: int

    def rank(self, key: jax.Array, problem: tuple[Any, Any]) -> Ranked:
        """Compare members: the population, leaves [K, ...], and what all generations share."""
        params = self.selector.params()
        rest = self.budget - self.selector.opening
        interval = rest or self.batch
        work = SelectionWork(self.selector, self.compare, self.budget, interval, params, self.batch)
        state = work.init(SelectionJob(key, problem))
        if rest:
            state = work.advanced(state)
        ranking = self.selector.standing(state.selector, params).ranking
        return Ranked(ranking, state.selector.time, jnp.zeros((), bool), state.valid)


@dataclasses.dataclass(frozen=True)
class RaceSelection:
    """By a race: a sample of a member is its score against another one, drawn at random."""

    race: racing.DominanceRace  # of scores
    compare: Compare  # antisymmetric, as it is called in either order
    delta: float  # probability of a wrong certificate

    def rank(self, key: jax.Array, problem: tuple[Any, Any]) -> Ranked:
        """As ``SelectorSelection`` does, for the members in doubt, until the half is certain."""
        num_options = self.race.num_options
        # Each option brings along all others: a race knows its options one by one.
        everybody = jax.tree.map(lambda x: jnp.broadcast_to(x, (num_options, *x.shape)), problem)
        options = jnp.arange(num_options, dtype=jnp.int32), everybody
        params = self.race.params(self.delta, slack=1.0)  # with little slack it draws least
        result = racing.run(self.race, key, self._sample, options, params, self.race.chunk)
        made = result.simulated.sum(dtype=jnp.int32)
        return Ranked(result.ranking, made, result.decided, ~result.invalid.any())

    def _sample(self, key: jax.Array, option: tuple[jax.Array, tuple[Any, Any]]) -> jax.Array:
        member, problem = option
        opponent_key, own_key = jax.random.split(key)
        opponent = random_other(opponent_key, member, self.race.num_options)
        return self.compare(own_key, problem, member, opponent)


def random_other(key: jax.Array, member: jax.Array, num_members: int) -> jax.Array:
    """Another member than this one, each of them equally likely: int32 []."""
    place = jax.random.randint(key, (), 0, num_members - 1, jnp.int32)
    return place + (place >= member).astype(jnp.int32)


class EvolutionJob(NamedTuple):
    """A search to be made."""

    key: jax.Array
    mean: jax.Array  # float32 [D], of the first generation


class EvolutionState(NamedTuple):
    """A search between two generations."""

    job: EvolutionJob
    generation: jax.Array  # int32 []
    comparisons: jax.Array  # int32 [], so far
    strategy: Any  # evosax's


class EvolutionRow(NamedTuple):
    """What a generation leaves."""

    generation: jax.Array  # int32 [], from 1
    comparisons: jax.Array  # int32 [], up to and with this generation
    used: jax.Array  # int32 [], in this generation
    certified: jax.Array  # bool [], see ``Ranked``
    mean: jax.Array  # float32 [D], of the next generation
    valid: jax.Array  # bool [], all scores and weights are finite


@pytree
class EvolutionWork:
    """What ``sweep.run`` does with an ``EvolutionJob``."""

    strategy: Strategy = dataclasses.field(metadata={"static": True})  # draws the members
    # Ranks them.
    selection: SelectorSelection | RaceSelection = dataclasses.field(metadata={"static": True})
    params: Any  # of the strategy
    shared: Any  # what the comparison is given beside the members, a pytree
    budget: jax.Array  # int32 [], comparisons; the generation that uses up the last is finished

    def init(self, job: EvolutionJob) -> EvolutionState:
        """Before the first generation."""
        key, own_key = jax.random.split(job.key)
        zero = jnp.zeros((), jnp.int32)
        strategy = self.strategy.init(own_key, job.mean, self.params)
        return EvolutionState(job._replace(key=key), zero, zero, strategy)

    def step(self, state: EvolutionState) -> tuple[EvolutionState, EvolutionRow]:
        """A generation."""
        keys = jax.random.split(jax.random.fold_in(state.job.key, state.generation), 3)
        example = state.job.mean
        members, asked = self.strategy.ask(keys[0], state.strategy, self.params, example)
        ranked = self.selection.rank(keys[1], (members, self.shared))
        told = self.strategy.tell(asked, members, ranked.ranking, self.params, keys[2], example)
        generation, comparisons = state.generation + 1, state.comparisons + ranked.comparisons
        valid = ranked.valid & jnp.isfinite(told.mean).all()
        done = ranked.comparisons, ranked.certified, told.mean, valid
        row = EvolutionRow(generation, comparisons, *done)
        return EvolutionState(state.job, generation, comparisons, told), row

    def done(self, state: EvolutionState) -> jax.Array:
        """Is the budget used up?"""
        return state.comparisons >= self.budget

    def failed(self, row: EvolutionRow) -> jax.Array:
        """Was a score or a weight NaN or infinite?"""
        return ~row.valid
