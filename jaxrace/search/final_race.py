"""A search that ends with a race between the best policies of its last generations.

The last race of a search alone has few rounds, so its rank 1 is partly lucky. Axes: L candidates.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import racing
from jaxrace.agents.policies import Policy
from jaxrace.agents.rollout import PolicyInTask
from jaxrace.core.protocol import pytree
from jaxrace.core.validation import BadArgument, require_integer
from jaxrace.envs.environment import absorb
from jaxrace.search.policy_search import PolicySearch, SearchParams, SearchRow, SearchState

_KEY_NUMBER = 2**32 - 1  # of the final race; generations count from 0


@pytree
class FinalRaceParams:
    """The numbers of the search and of the race at its end."""

    search: SearchParams
    race: Any  # serves every n_max
    max_rounds: jax.Array  # int32 [], n_max of the final race


@pytree
class FinalRaceState:
    """A search between two steps."""

    search: SearchState
    recent: Any  # theta of the best of the last L generations, leaves [L, ...]
    raced: jax.Array  # bool [], the final race has been run


@dataclasses.dataclass(frozen=True)
class FinalRace:
    """A learner: a policy search, and a last step that recommends a policy by a race.

    In the row of that step, ``options_decided`` and ``race_decided`` are of its L candidates. Many
    such searches are a sweep; the default ones of ``jaxrace train`` have larger numbers than these.

    >>> from jaxrace import search, sweep
    >>> from jaxrace.agents.policies import Sigmoid
    >>> from jaxrace.envs import medical
    >>> ranks = racing.PreferenceRace(8, 4, capacity=10, compare=medical.prefer)
    >>> parts = medical.Medical(), Sigmoid(2), medical.TreatmentOutcome(), ranks
    >>> fast = search.PolicySearch(*parts, search.Strategy("Sep_CMA_ES", 8))
    >>> final = FinalRace(fast, racing.PreferenceRace(3, 1, capacity=20, compare=medical.prefer))
    >>> params = final.params(fast.params(sigma0=50.0, budget=300, max_rounds=10), budget=360)
    >>> work = search.SearchWork(final, search.stack_params([params]))  # a setting
    >>> keys = jax.random.split(jax.random.key(0), 4)
    >>> jobs = sweep.stacked(search.SearchJob(keys, jnp.zeros(4, jnp.int32)))
    >>> rows = sweep.run(work, jobs).rows
    >>> rows.row.best[rows.is_last].shape  # theta of four searches
    (4, 3)

    Attributes:
        search: Runs until the budget, less what is reserved, is used up.
        race: Between the rank 1 of its last L = ``race.num_options`` generations; ``top`` is 1.
            Where there were fewer generations, theta = 0 is a candidate.
    """

    search: PolicySearch
    race: racing.Race

    def __post_init__(self) -> None:
        if self.race.top != 1:
            raise BadArgument("race", "top = 1", str(self.race.top))

    @property
    def policy(self) -> Policy:
        """The class of the policies."""
        return self.search.policy

    def params(
        self, search: SearchParams, budget: int, delta: float = 0.05, **race_numbers: float
    ) -> FinalRaceParams:
        """The numbers of both; ValueError if nothing is left for the final race.

        Args:
            search: The numbers of the search, with its own budget.
            budget: Of both; the candidates share the rest, as far as the race has room.
            delta: Error probability of the final race.
            **race_numbers: Further numbers of its ``params``.
        """
        require_integer("budget", budget, int(search.budget) + self.race.num_options)
        rounds = (budget - int(search.budget)) // self.race.num_options
        table = self.race.table(delta, **race_numbers)
        most = jax.device_put(np.minimum(np.int32(rounds), np.asarray(table.max_rounds)))
        return FinalRaceParams(search, table, most)

    def init(self, key: jax.Array, params: FinalRaceParams) -> FinalRaceState:
        """The state before the first generation."""
        state = self.search.init(key, params.search)
        count = self.race.num_options
        recent = jax.tree.map(lambda x: jnp.zeros((count, *x.shape), x.dtype), state.best)
        return FinalRaceState(state, recent, jnp.zeros((), bool))

    def done(self, state: FinalRaceState, params: FinalRaceParams) -> jax.Array:
        """Has the final race been run? A bool []."""
        return state.raced

    def step(
        self, state: FinalRaceState, params: FinalRaceParams
    ) -> tuple[FinalRaceState, SearchRow]:
        """One generation, or the final race."""
        searched, row = self.search.step(state.search, params.search)
        chunk, common = self.search.chunk or self.race.chunk, self.search.common_random_numbers
        asked = self.ask(state, params)
        result = racing.run(self.race, asked[0], self.search.rollout, *asked[1:], chunk, common)
        return self.tell(state, searched, row, result, params)

    def ask(
        self, state: FinalRaceState, params: FinalRaceParams
    ) -> tuple[jax.Array, PolicyInTask, Any]:
        """The key, options and params of the final race."""
        # Before the search is done it has no rounds, and asks for nothing.
        rounds = jnp.where(self._is_final(state, params), params.max_rounds, 0)
        race_params = self.race.params_at(params.race, rounds)
        options = jax.vmap(lambda theta: PolicyInTask(theta, params.search.env))(state.recent)
        key = jax.random.fold_in(state.search.key, jnp.uint32(_KEY_NUMBER))
        return key, options, race_params

    def tell(
        self,
        state: FinalRaceState,
        searched: SearchState,
        row: SearchRow,
        result: Any,
        params: FinalRaceParams,
    ) -> tuple[FinalRaceState, SearchRow]:
        """The rest of a step, given the search's own step and the result of the final race."""
        is_final = self._is_final(state, params)
        recent = self.remember(state.recent, row)
        winner = jax.tree.map(lambda x: x[result.ranking[0]], recent)
        certain = (result.selected | result.discarded).sum(dtype=jnp.int32)
        row = row._replace(
            ran=row.ran | is_final,
            generation=row.generation + is_final.astype(jnp.int32),
            episodes=row.episodes + result.samples.sum(dtype=jnp.int32),
            simulated=row.simulated + result.simulated.sum(dtype=jnp.int32),
            max_rounds=jnp.where(is_final, params.max_rounds, row.max_rounds),
            options_decided=jnp.where(is_final, certain, row.options_decided),
            race_decided=jnp.where(is_final, result.decided, row.race_decided),
            best=jax.tree.map(lambda x, y: jnp.where(is_final, x, y), winner, row.best),
            valid=row.valid & ~result.invalid.any(),
        )
        return FinalRaceState(searched, recent, state.raced | is_final), row

    def remember(self, recent: Any, row: SearchRow) -> Any:
        """The best of the last L generations, with that of the row if it has ``ran``."""
        index = row.generation % self.race.num_options
        remembered = jax.tree.map(lambda x, best: x.at[index].set(best), recent, row.best)
        return absorb(~row.ran, recent, remembered)

    def _is_final(self, state: FinalRaceState, params: FinalRaceParams) -> jax.Array:
        return self.search.done(state.search, params.search) & ~state.raced
