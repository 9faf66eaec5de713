"""A policy search whose preferences are told: by a person, or by a program outside of JAX.

The generations of PB-EDPS (Busa-Fekete et al. 2014, Algorithm 1) with races of one round, in which
each two policies are compared once. Axes: K policies, P = K (K - 1) / 2 pairs, n histories of a
policy that are shown together, T = horizon.
"""

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.typing import ArrayLike

from jaxrace import kernels
from jaxrace.agents.policies import Policy
from jaxrace.agents.rollout import PolicyInTask, history
from jaxrace.core.compilation import is_traced
from jaxrace.core.float32 import require_held
from jaxrace.core.narrowing import as_host_array
from jaxrace.core.protocol import pytree, verb
from jaxrace.core.validation import BadArgument, require_integer, require_keys, require_kind
from jaxrace.envs import Environment
from jaxrace.envs.environment import absorb
from jaxrace.racing.driver import option_keys
from jaxrace.search.strategies import Strategy

_OPEN = 2  # the sign of a pair that waits for its answer


@pytree
class JudgedParams:
    """The numbers of a judged search; make them with ``JudgedSearch.params``."""

    strategy: Any  # evosax's
    env: Any  # the simulator's
    budget: jax.Array  # int32 [], most answers


@pytree
class JudgedState:
    """A judged search between two answers; it may be pickled."""

    key: jax.Array
    generation: jax.Array  # int32 [], those that are complete
    strategy: Any
    answers: jax.Array  # int32 [], all so far
    signs: jax.Array  # int32 [P], of this generation's pairs; 2 for those that are open
    best: Any  # theta, rank 1 of the last complete generation; zeros before the first


@pytree
class ShownPairs:
    """A generation, and which of its pairs wait for an answer."""

    population: Any  # theta, leaves [K, ...]
    histories: Any  # ``Transition``, leaves [K, n, T, ...]
    pairs: jax.Array  # int32 [P, 2], the policies that are shown first and second
    is_open: jax.Array  # bool [P]; none is when the search is done

    @property
    def open_pairs(self) -> list[tuple[int, int]]:
        """The pairs that wait, in the order in which their signs are told; not under a trace."""
        waiting = np.asarray(self.pairs)[np.asarray(self.is_open)]
        return [(int(first), int(second)) for first, second in waiting]

    def of(self, policy: int) -> Any:
        """What a policy did, as NumPy arrays: a ``Transition`` with leaves [n, T, ...]."""
        return jax.tree.map(lambda x: np.asarray(x[policy]), self.histories)


@dataclasses.dataclass(frozen=True)
class JudgedSearch:
    """A policy search that shows pairs of histories, and is told which of the two is preferred.

    All policies of a generation meet the same chance, such as the same start. A generation is
    ranked by how many others a policy was preferred to, then by wins minus losses: as
    ``PolicySearch`` with ``common_random_numbers`` ranks it by a ``PreferenceRace`` of one round.
    Each policy is about as often shown first as second, so that a judge who favours one side
    favours no policy. A search ends when its budget does not suffice for another generation.

    Attributes:
        env: See ``envs.Environment``.
        policy: See ``policies.Policy``; the search starts at theta = 0.
        strategy: The evolution strategy; of K policies there are K (K - 1) / 2 pairs.
        shown: n, the histories of each policy that are shown together; the t-th of all policies
            have the same chance.

    >>> from jaxrace.agents.policies import Sigmoid
    >>> from jaxrace.envs import medical
    >>> search = JudgedSearch(medical.Medical(), Sigmoid(2), Strategy(population_size=4))
    >>> params = search.params(sigma0=3.0, budget=12)
    >>> state = search.init(jax.random.key(0), params)
    >>> while not search.done(state, params):
    ...     asked = search.ask(state, params)
    ...     for first, second in asked.open_pairs:  # here judged by the tumour at the end
    ...         sizes = [asked.of(i).next_state.tumour[0, -1] for i in (first, second)]
    ...         state = search.tell(state, np.sign(sizes[1] - sizes[0]).astype(int), params)
    >>> int(state.answers), int(state.generation), state.best.shape
    (12, 2, (3,))
    """

    env: Environment
    policy: Policy
    strategy: Strategy = dataclasses.field(default_factory=lambda: Strategy(population_size=5))
    shown: int = 1

    def __post_init__(self) -> None:
        require_kind("strategy", self.strategy, Strategy)
        require_integer("shown", self.shown, 1)

    @property
    def num_pairs(self) -> int:
        """P, the answers that a generation takes."""
        return self.strategy.population_size * (self.strategy.population_size - 1) // 2

    @property
    def pairs(self) -> np.ndarray:
        """Who is shown first and second: int32 [P, 2]."""
        pairs = np.column_stack(np.triu_indices(self.strategy.population_size, 1))
        odd = pairs.sum(1, keepdims=True) % 2 == 1
        return np.where(odd, pairs, pairs[:, ::-1]).astype(np.int32)

    def params(
        self, sigma0: float | None = None, budget: int = 100, env_params: Any = None
    ) -> JudgedParams:
        """The numbers of a search; ValueError if one is outside its range.

        Args:
            sigma0: Initial step size, for strategies that have one; evosax's default unless given.
            budget: Most answers; at least those of a generation.
            env_params: The simulator's params; its ``default_params`` unless given.
        """
        require_integer("budget", budget, self.num_pairs, 2**30)
        require_held("env_params", env_params)
        return JudgedParams(
            strategy=self.strategy.params(self.policy.example(), sigma0),
            env=self.env.default_params if env_params is None else env_params,
            budget=jax.device_put(np.int32(budget)),
        )

    def init(self, key: jax.Array, params: JudgedParams) -> JudgedState:
        """The state before the first answer."""
        require_keys("key", key, ndim=0)
        start, none = self.policy.example(), jnp.zeros((), jnp.int32)
        return JudgedState(
            key=key,
            generation=none,
            strategy=self.strategy.init(jax.random.fold_in(key, 0), start, params.strategy),
            answers=none,
            signs=jnp.full(self.num_pairs, _OPEN, jnp.int32),
            best=jax.tree.map(jnp.asarray, start),
        )

    def done(self, state: JudgedState, params: JudgedParams) -> jax.Array:
        """Is the rest of the budget too small for another generation? A bool []."""
        begun = (state.signs != _OPEN).sum(dtype=jnp.int32)
        return state.answers - begun + self.num_pairs > params.budget

    @verb
    def ask(self, state: JudgedState, params: JudgedParams) -> ShownPairs:
        """The policies of this generation, what they did, and the pairs that wait for a sign."""
        keys = self._keys(state)
        population, _ = self._population(keys, state, params)
        own = option_keys(keys[1][None], 1, True)[0, 0]

        def play(theta: Any, number: jax.Array) -> Any:
            option = PolicyInTask(theta, params.env)
            return history(self.env, self.policy, jax.random.fold_in(own, number), option)

        numbers = jnp.arange(self.shown, dtype=jnp.int32)
        return ShownPairs(
            population=population,
            histories=jax.vmap(jax.vmap(play, (None, 0)), (0, None))(population, numbers),
            pairs=jnp.asarray(self.pairs),
            is_open=(state.signs == _OPEN) & ~self.done(state, params),
        )

    @verb
    def tell(self, state: JudgedState, signs: ArrayLike, params: JudgedParams) -> JudgedState:
        """The state after the ``signs`` of the next open pairs: integers [] or [q].

        +1: the history that was shown first is preferred; -1: the second; 0: they are equal, or
        cannot be compared. ValueError, outside of jit, for others, or for more than were asked.
        """
        told = jnp.ravel(signs).astype(jnp.int32)
        before = (state.signs != _OPEN).sum(dtype=jnp.int32)
        counts = jnp.minimum((told != _OPEN).sum(dtype=jnp.int32), self.num_pairs - before)
        places = jnp.where(
            told == _OPEN, self.num_pairs, before + jnp.arange(told.size, dtype=jnp.int32)
        )
        done = self.done(state, params)
        answered = dataclasses.replace(
            state,
            answers=state.answers + counts,
            signs=state.signs.at[places].set(told, mode="drop"),
        )
        is_whole = (answered.signs != _OPEN).all() & ~done
        following = lax.cond(
            is_whole, functools.partial(self._next, params), lambda state: state, answered
        )
        return absorb(done, state, following)

    def _checked_tell(self, state: JudgedState, signs: Any, params: JudgedParams) -> tuple:
        signs = as_host_array("signs", signs)
        if not np.issubdtype(signs.dtype, np.integer) or signs.ndim > 1:
            got = f"{signs.dtype}{list(signs.shape)}"
            raise BadArgument("signs", "an integer sign, or a list of them", got)
        if is_traced((state, signs, params)):
            return state, signs, params
        told = np.ravel(np.asarray(signs))
        if (np.abs(told) > 1).any():
            wanted = "+1 (the first is preferred), 0 or -1 (the second)"
            raise BadArgument("signs", wanted, str(told[np.abs(told) > 1][0]))
        num_open = int((np.asarray(state.signs) == _OPEN).sum())
        num_open = 0 if self.done(state, params) else num_open
        if not 1 <= told.size <= num_open:
            wanted = f"1 to {num_open}, for the pairs that are open"
            wanted = wanted if num_open else "none, as the search is done"
            raise BadArgument("signs", wanted, str(told.size))
        padding = (0, self.num_pairs - told.size)  # one program, whatever the number of signs
        return state, np.pad(told.astype(np.int32), padding, constant_values=_OPEN), params

    def _keys(self, state: JudgedState) -> jax.Array:
        """Of the population, of chance, and of the strategy's update, as in ``PolicySearch``."""
        return jax.random.split(jax.random.fold_in(state.key, state.generation + 1), 3)

    def _population(self, keys: jax.Array, state: JudgedState, params: JudgedParams) -> Any:
        example = self.policy.example()
        return self.strategy.ask(keys[0], state.strategy, params.strategy, example)

    def _next(self, params: JudgedParams, state: JudgedState) -> JudgedState:
        """The next generation, once all signs are told."""
        keys, size = self._keys(state), self.strategy.population_size
        population, asked = self._population(keys, state, params)
        first, second = self.pairs.T
        signs = jnp.zeros((size, size), jnp.int32).at[first, second].set(state.signs)
        signs = signs - signs.T
        copeland, borda = (signs > 0).sum(1, dtype=jnp.int32), signs.sum(1, dtype=jnp.int32)
        ranking = kernels.ranking(copeland, borda)
        example = self.policy.example()
        return JudgedState(
            key=state.key,
            generation=state.generation + 1,
            strategy=self.strategy.tell(
                asked, population, ranking, params.strategy, keys[2], example
            ),
            answers=state.answers,
            signs=jnp.full_like(state.signs, _OPEN),
            best=jax.tree.map(lambda x: x[ranking[0]], population),
        )
