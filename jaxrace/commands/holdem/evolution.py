"""Evolution of a population whose members can only be compared with each other.

A generation: an evolution strategy draws members around its mean, a selection finds the better half
with so many comparisons, and the strategy is told the ranking. How the comparisons are shared out
is what can be chosen. Axes: K members, D weights.
"""

import dataclasses
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp

from jaxrace import kernels, racing
from jaxrace.selection import ScoreSelector
from jaxrace.selection import driver as selection_driver
from jaxrace.selection.driver import Compare
from jaxrace.strategies import Strategy


class Ranked(NamedTuple):
    """What came of the comparisons of a generation."""

    ranking: jax.Array  # int32 [K], from the best
    comparisons: jax.Array  # int32 [], made
    certified: jax.Array  # bool [], the better half is certain, as far as a selection says so
    valid: jax.Array  # bool [], all scores were finite


class Selection(Protocol):
    """Ranks a population; hashable, pure."""

    def rank(self, key: jax.Array, problem: tuple[Any, Any]) -> Ranked:
        """Compare members: the population, leaves [K, ...], and what all generations share."""
        ...


@dataclasses.dataclass(frozen=True)
class SelectorSelection:
    """Pair by pair, by a selector that is told scores."""

    selector: ScoreSelector  # which
    compare: Compare  # see ``jaxrace.selection.run``
    budget: int  # comparisons, all of which are made; at least those of the warm-up
    # Pairs that are chosen before any of them is compared; divides what comes after the warm-up.
    batch: int

    def rank(self, key: jax.Array, problem: tuple[Any, Any]) -> Ranked:
        """See ``Selection``."""
        params = self.selector.params()
        rest = self.budget - self.selector.opening
        plan = selection_driver.Plan(self.selector, self.compare, rest, self.batch)
        run = selection_driver.begin(plan, key, problem, params)
        run = selection_driver.advance(plan, run, problem, params)
        ranking = self.selector.standing(run.selector, params).ranking
        return Ranked(ranking, run.selector.time, jnp.zeros((), bool), run.valid)


@dataclasses.dataclass(frozen=True)
class RaceSelection:
    """By a race: a sample of a member is its score against another one, drawn at random.

    It draws for the members in doubt, and ends when the better half is certain, or when those in
    doubt have had all the samples that they may have.
    """

    race: racing.DominanceRace  # of scores
    # See ``jaxrace.selection.run``; antisymmetric, as it is called in either order.
    compare: Compare
    delta: float  # probability of a wrong certificate

    def rank(self, key: jax.Array, problem: tuple[Any, Any]) -> Ranked:
        """See ``Selection``."""
        num_options = self.race.num_options
        # Each option brings along all others: a race knows its options one by one.
        everybody = jax.tree.map(lambda x: jnp.broadcast_to(x, (num_options, *x.shape)), problem)
        options = jnp.arange(num_options, dtype=jnp.int32), everybody
        params = self.race.params(self.delta)
        result = racing.run(self.race, key, self._sample, options, params)
        return Ranked(
            result.ranking,
            result.simulated.sum(dtype=jnp.int32),
            result.decided,
            ~result.invalid.any(),
        )

    def _sample(self, key: jax.Array, option: tuple[jax.Array, tuple[Any, Any]]) -> jax.Array:
        member, problem = option
        opponent_key, own_key = jax.random.split(key)
        opponent = random_other(opponent_key, member, self.race.num_options)
        return self.compare(own_key, problem, member, opponent)


def random_other(key: jax.Array, member: jax.Array, num_members: int) -> jax.Array:
    """One of the K - 1 others than a member, each as likely: int32 [].

    >>> keys = jax.random.split(jax.random.key(0), 30)
    >>> drawn = jax.vmap(random_other, (0, None, None))(keys, jnp.int32(1), 3)
    >>> sorted(set(drawn.tolist()))
    [0, 2]
    """
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


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class EvolutionWork:
    """What ``sweep.run`` does with an ``EvolutionJob``; a generation is a step.

    >>> import numpy as np
    >>> from jaxrace import sweep
    >>> from jaxrace.selection import Uniform
    >>> def compare(key, problem, first, second):
    ...     population, target = problem
    ...     distance = jnp.abs(population - target).sum(1)
    ...     return distance[second] - distance[first]
    >>> strategy, mean = Strategy("SNES", 8), np.zeros(3, np.float32)
    >>> selection = SelectorSelection(Uniform(8, 4, warm_up=2), compare, budget=56, batch=1)
    >>> work = EvolutionWork(
    ...     strategy, selection, strategy.params(mean, 1.0), jnp.ones(3), jnp.int32(5000)
    ... )
    >>> job = EvolutionJob(jax.random.split(jax.random.key(0), 1), mean[None])
    >>> rows = sweep.run(work, sweep.stacked(job)).rows.row
    >>> len(rows.mean), bool(np.abs(rows.mean[-1] - 1).max() < 0.1)
    (90, True)
    """

    strategy: Strategy = dataclasses.field(metadata={"static": True})  # draws the members
    selection: Selection = dataclasses.field(metadata={"static": True})  # ranks them
    params: Any  # of the strategy
    shared: Any  # what the comparison is given beside the members, a pytree
    # Comparisons of a search, int32 []; the generation that uses up the last is finished.
    budget: jax.Array

    def init(self, job: EvolutionJob) -> EvolutionState:
        """See ``sweep.Work``."""
        key, own_key = jax.random.split(job.key)
        zero = jnp.zeros((), jnp.int32)
        strategy = self.strategy.init(own_key, job.mean, self.params)
        return EvolutionState(job._replace(key=key), zero, zero, strategy)

    def step(self, state: EvolutionState) -> tuple[EvolutionState, EvolutionRow]:
        """See ``sweep.Work``."""
        keys = jax.random.split(jax.random.fold_in(state.job.key, state.generation), 3)
        example = state.job.mean
        members, asked = self.strategy.ask(keys[0], state.strategy, self.params, example)
        ranked = self.selection.rank(keys[1], (members, self.shared))
        told = self.strategy.tell(keys[2], members, ranked.ranking, asked, self.params, example)
        generation, comparisons = state.generation + 1, state.comparisons + ranked.comparisons
        row = EvolutionRow(
            generation,
            comparisons,
            ranked.comparisons,
            ranked.certified,
            told.mean,
            ranked.valid & jnp.isfinite(told.mean).all(),
        )
        return EvolutionState(state.job, generation, comparisons, told), row

    def done(self, state: EvolutionState) -> jax.Array:
        """See ``sweep.Work``."""
        return state.comparisons >= self.budget

    def failed(self, row: EvolutionRow) -> jax.Array:
        """See ``sweep.Work``."""
        return ~row.valid


def dominance_race(size: int, top: int, budget: int) -> racing.DominanceRace:
    """The race of scores that has as many samples as fit into a budget of all together.

    >>> dominance_race(32, 16, 2000).capacity
    62
    """
    return racing.DominanceRace(size, top, budget // size, kernels.total_order)
