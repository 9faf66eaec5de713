"""Evolutionary direct policy search: EDPS and PB-EDPS (Busa-Fekete et al. 2014, Algorithm 1).

An evolution strategy samples lambda policies, a race ranks them with as few episodes as it can,
and the strategy moves towards the mu best. With a value-based race on returns this is EDPS
(Heidrich-Meisner and Igel 2009), with a preference-based race on histories PB-EDPS.
"""

import dataclasses
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from jaxrace import racing
from jaxrace.agents.policies import Policy
from jaxrace.agents.rollout import MOST_EPISODES, PolicyInTask, Rollout, evaluate
from jaxrace.core.compilation import jit
from jaxrace.core.float32 import require_held
from jaxrace.core.programs import stack
from jaxrace.core.protocol import pytree
from jaxrace.core.validation import BadArgument, require_integer, require_keys, require_kind
from jaxrace.envs import Environment, OutcomeFold
from jaxrace.envs.environment import absorb
from jaxrace.racing.checks import check_compare
from jaxrace.racing.comparing import ComparingRace
from jaxrace.search.strategies import Strategy

_ADAPTATION = 1.25  # n_max grows or shrinks by this factor in each generation
_MIN_ROUNDS, _MAX_ROUNDS = 3, 100  # floor and cap of n_max (Busa-Fekete et al. 2014, section 6.2)
_TRIAL_POLICIES, _TRIAL_EPISODES = 8, 8  # on whose outcomes a preference is tried


@pytree
class SearchParams:
    """The numbers of a search; make them with ``PolicySearch.params``."""

    strategy: Any  # evosax's
    race: Any  # serve every n_max; leaves [D, ...], one for each delta
    env: Any  # the simulator's
    budget: jax.Array  # int32 [], episodes
    min_rounds: jax.Array  # float32 [], floor and start of n_max
    max_rounds: jax.Array  # float32 [], cap of n_max


@pytree
class SearchState:
    """A search between two generations."""

    key: jax.Array
    generation: jax.Array  # int32 []
    strategy: Any
    rounds: jax.Array  # float32 [], n_max before it is rounded up
    episodes: jax.Array  # int32 [], counted by the races so far
    best: Any  # theta, rank 1 of the last race; zeros before the first


class SearchRow(NamedTuple):
    """What one generation leaves in the log."""

    ran: jax.Array  # bool [], False for the rows of a search that was done before
    generation: jax.Array  # int32 [], from 1
    episodes: jax.Array  # int32 [], used up to and with this generation
    simulated: jax.Array  # int32 [], drawn in this generation
    max_rounds: jax.Array  # int32 [], n_max of this generation's race, 0 if it did not run
    options_decided: jax.Array  # int32 [], certainly in or out, of lambda
    race_decided: jax.Array  # bool [], within n_max rounds
    best: Any  # theta, rank 1
    valid: jax.Array  # bool [], every counted outcome was finite


class RankedPolicies(NamedTuple):
    """What a search needs of a generation's race. Axes: K policies."""

    ranking: jax.Array  # int32 [K], from best to worst
    enough: jax.Array  # bool [], fewer rounds might do: n_max shrinks
    race_decided: jax.Array  # bool [], within n_max rounds
    certain: jax.Array  # bool [K], in or out
    samples: jax.Array  # int32 [], counted
    simulated: jax.Array  # int32 [], drawn
    invalid: jax.Array  # int32 [K], first round with a counted outcome that is not finite, or 0


class Generation(NamedTuple):
    """Policies that are to be ranked. Axes: K policies."""

    population: Any  # theta, leaves [K, ...]
    strategy: Any  # its state, to be told the ranking
    tell_key: jax.Array
    race_key: jax.Array
    options: PolicyInTask  # leaves [K, ...]
    table: Any  # of the race
    max_rounds: jax.Array  # int32 [], n_max; 0 of a search that is done


@dataclasses.dataclass(frozen=True)
class PolicySearch:
    """A policy search, written as init / step / done; ``jax.vmap`` makes batches.

    n_max starts at its floor. An unfinished race multiplies it by 1.25, a finished one divides it
    by 1.25; the race has it rounded up. A search ends after the race in which its budget is used
    up, and has learned rank 1 of that race.

    Attributes:
        env: See ``envs.Environment``.
        policy: See ``policies.Policy``; the search starts at theta = 0.
        fold: Makes the outcomes that the race sees: ``outcomes.Return()`` for EDPS.
        race: ``racing.PreferenceRace`` or ``racing.DominanceRace`` (PB-EDPS), or
            ``racing.HoeffdingRace`` (EDPS), with num_options = lambda and top = mu.
        strategy: The evolution strategy.
        chunk: Rounds simulated at once, see ``racing.run``; the race's own unless given.
        common_random_numbers: All policies of a generation meet the same chance, such as the same
            patients: estimates have less noise, but bounds do not hold (see ``racing.run``).

    >>> from jaxrace.envs import medical
    >>> from jaxrace.agents.policies import Sigmoid
    >>> race = racing.PreferenceRace(num_options=7, top=3, capacity=100, compare=medical.prefer)
    >>> search = PolicySearch(medical.Medical(), Sigmoid(2), medical.TreatmentOutcome(), race)
    >>> params = search.params(sigma0=10.0, delta=0.2, budget=300)
    >>> state, step = search.init(jax.random.key(0), params), jax.jit(search.step)
    >>> while not search.done(state, params):
    ...     state, row = step(state, params)
    >>> bool(row.episodes >= 300), row.best.shape
    (True, (3,))
    """

    env: Environment
    policy: Policy
    fold: OutcomeFold
    race: racing.Race
    strategy: Strategy = dataclasses.field(default_factory=Strategy)
    chunk: int | None = None
    common_random_numbers: bool = False

    def __post_init__(self) -> None:
        require_kind("common_random_numbers", self.common_random_numbers, bool)
        if self.chunk is not None:
            require_integer("chunk", self.chunk, 1)
        _ = self.rollout  # makes its own checks
        size, parents = self.strategy.population_size, self.strategy.num_parents
        if self.race.num_options != size:
            wanted = f"num_options = population_size = {size}"
            raise BadArgument("race", wanted, str(self.race.num_options))
        if self.strategy.name == "CMA_ES" and self.race.top != parents:
            wanted = f"top = {parents}, the {parents} of {size} that CMA_ES recombines"
            raise BadArgument("race", wanted, str(self.race.top))

    @property
    def rollout(self) -> Rollout:
        """The sampler that the races use."""
        return Rollout(self.env, self.policy, self.fold)

    def params(
        self,
        sigma0: float | None = None,
        delta: float | Sequence[float] = 0.2,
        budget: int = 10_000,
        min_rounds: int | None = None,
        max_rounds: int | None = None,
        env_params: Any = None,
        **race_numbers: float,
    ) -> SearchParams:
        """The numbers of a search; ``stack_params`` makes a batch of them.

        ValueError if one is outside its range, or if the race's ``compare`` is not an antisymmetric
        sign on outcomes of random policies.

        Args:
            sigma0: Initial step size, for strategies that have one; evosax's default unless given.
            delta: Error probability of each race; several take turns, in equal parts of the budget.
            budget: Episodes; the race in which they are used up is still finished.
            min_rounds: Floor of n_max, and its first value; at most 3 unless given.
            max_rounds: Cap of n_max; 100, or the race's capacity if that is less, unless given.
            env_params: The simulator's params; its ``default_params`` unless given.
            **race_numbers: Further numbers of the race's ``params``, as ``value_range``.
        """
        require_integer("budget", budget, 1, MOST_EPISODES)
        require_held("env_params", env_params)
        deltas = list(delta) if isinstance(delta, Sequence) else [delta]
        if not deltas:
            raise BadArgument("delta", "at least one", "none")
        tables = [self.race.table(each, **race_numbers) for each in deltas]
        if max_rounds is None:
            max_rounds = min(_MAX_ROUNDS, int(tables[0].max_rounds))
        require_integer("max_rounds", max_rounds, 1)
        min_rounds = min(_MIN_ROUNDS, max_rounds) if min_rounds is None else min_rounds
        require_integer("min_rounds", min_rounds, 1)
        require_integer("max_rounds", max_rounds, min_rounds)
        for each in deltas:
            self.race.params(each, max_rounds, **race_numbers)  # checks the race's own limits
        if isinstance(self.race, ComparingRace):
            _check_preference(self.race.compare, self.rollout)
        return SearchParams(
            strategy=self.strategy.params(self.policy.example(), sigma0),
            race=jax.tree.map(stack, *tables),
            env=self.env.default_params if env_params is None else env_params,
            budget=jax.device_put(np.int32(budget)),
            min_rounds=jax.device_put(np.float32(min_rounds)),
            max_rounds=jax.device_put(np.float32(max_rounds)),
        )

    def init(self, key: jax.Array, params: SearchParams) -> SearchState:
        """The state before the first generation."""
        require_keys("key", key, ndim=0)
        start = self.policy.example()
        return SearchState(
            key=key,
            generation=jnp.zeros((), jnp.int32),
            strategy=self.strategy.init(jax.random.fold_in(key, 0), start, params.strategy),
            rounds=params.min_rounds,
            episodes=jnp.zeros((), jnp.int32),
            best=jax.tree.map(jnp.asarray, start),
        )

    def done(self, state: SearchState, params: SearchParams) -> jax.Array:
        """Is the budget used up? A bool []."""
        return state.episodes >= params.budget

    def step(self, state: SearchState, params: SearchParams) -> tuple[SearchState, SearchRow]:
        """One generation. A search that is done stays as it is, without a race."""
        asked = self.ask(state, params)
        return self.tell(state, asked, self._ranked(asked), params)

    def tell(
        self, state: SearchState, asked: Generation, ranked: RankedPolicies, params: SearchParams
    ) -> tuple[SearchState, SearchRow]:
        """The rest of a step, once the policies it ``asked`` about are ranked."""
        done = self.done(state, params)
        example, population = self.policy.example(), asked.population
        told = self.strategy.tell(
            asked.strategy, population, ranked.ranking, params.strategy, asked.tell_key, example
        )
        adapted = jnp.where(ranked.enough, state.rounds / _ADAPTATION, state.rounds * _ADAPTATION)
        next_state = SearchState(
            key=state.key,
            generation=state.generation + 1,
            strategy=told,
            rounds=jnp.clip(adapted, params.min_rounds, params.max_rounds),
            episodes=state.episodes + ranked.samples,
            best=jax.tree.map(lambda x: x[ranked.ranking[0]], population),
        )
        next_state = absorb(done, state, next_state)
        row = SearchRow(
            ran=~done,
            generation=next_state.generation,
            episodes=next_state.episodes,
            simulated=ranked.simulated,
            max_rounds=asked.max_rounds,
            options_decided=(ranked.certain & ~done).sum(dtype=jnp.int32),
            race_decided=ranked.race_decided & ~done,
            best=next_state.best,
            valid=~ranked.invalid.any(),
        )
        return next_state, row

    def invalid_outcomes(self, state: SearchState, params: SearchParams) -> jax.Array:
        """The first round in which an outcome of a policy is not finite, or 0: int32 [K]."""
        return self._ranked(self.ask(state, params)).invalid

    def ask(self, state: SearchState, params: SearchParams) -> Generation:
        """The first part of a step: the policies of the next generation."""
        keys = jax.random.split(jax.random.fold_in(state.key, state.generation + 1), 3)
        population, asked = self.strategy.ask(
            keys[0], state.strategy, params.strategy, self.policy.example()
        )
        # The race of a search that is done has no rounds, and asks for nothing.
        rounds = jnp.ceil(state.rounds).astype(jnp.int32)
        max_rounds = jnp.where(self.done(state, params), 0, rounds)
        options = jax.vmap(lambda theta: PolicyInTask(theta, params.env))(population)
        table = _current_table(state, params)
        return Generation(population, asked, keys[2], keys[1], options, table, max_rounds)

    def _ranked(self, asked: Generation) -> RankedPolicies:
        return self.rank(asked.race_key, asked.options, asked.table, asked.max_rounds)

    def rank(
        self, key: jax.Array, options: PolicyInTask, table: Any, max_rounds: jax.Array
    ) -> RankedPolicies:
        """Race a generation, leaves [K, ...]; ``table`` is that of ``Race.table``."""
        race_params = self.race.params_at(table, max_rounds)
        chunk, common = self.chunk or self.race.chunk, self.common_random_numbers
        result = racing.run(self.race, key, self.rollout, options, race_params, chunk, common)
        return ranked_by(result)


def ranked_by(result: Any) -> RankedPolicies:
    """What a search needs of one race's result."""
    return RankedPolicies(
        ranking=result.ranking,
        enough=result.decided,
        race_decided=result.decided,
        certain=result.selected | result.discarded,
        samples=result.samples.sum(dtype=jnp.int32),
        simulated=result.simulated.sum(dtype=jnp.int32),
        invalid=result.invalid,
    )


def _current_table(state: SearchState, params: SearchParams) -> Any:
    """The race's numbers whose turn it is."""
    count = jax.tree.leaves(params.race)[0].shape[0]
    if count == 1:  # without a lookup by a batched index
        return jax.tree.map(lambda x: x[0], params.race)
    part = params.budget // count  # not episodes * count, which could overflow
    turn = jnp.minimum(state.episodes // jnp.maximum(part, 1), count - 1)
    return jax.tree.map(lambda x: x[turn], params.race)


@functools.lru_cache(maxsize=32)
def _check_preference(compare: Callable[[Any, Any], jax.Array], rollout: Rollout) -> None:
    """Raise unless ``compare`` is an antisymmetric sign on outcomes of random policies."""
    if inspect.isfunction(compare) and compare.__module__.startswith("jaxrace.envs."):
        return  # tested with its environment; a program less to compile
    with jax.ensure_compile_time_eval():  # also where a search is set up under jit
        outcomes = _trial_outcomes(rollout, jax.random.key(0))
        check_compare(compare, jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), outcomes))


@jit(1)
def _trial_outcomes(rollout: Rollout, key: jax.Array) -> Any:
    """Outcomes of random policies around the start: leaves [policies, episodes, ...]."""

    def of_policy(key: jax.Array) -> Any:
        play_key, noise_key = jax.random.split(key)
        start, unravel = ravel_pytree(rollout.policy.example())
        theta = unravel(start + jax.random.normal(noise_key, start.shape, start.dtype))
        option = PolicyInTask(theta, rollout.env.default_params)
        return evaluate(rollout, play_key, option, _TRIAL_EPISODES)

    return jax.vmap(of_policy)(jax.random.split(key, _TRIAL_POLICIES))
