"""SARSA(lambda) with replacing traces, the value-based baseline of policy search.

The algorithm is that of Sutton and Barto (Reinforcement Learning, 1998, sections 7.5 and 7.8), the
task that of Zhao et al. 2009. The schedule follows the comparison in Busa-Fekete et al. 2014,
section 6.2, with its factor read as 1/ceil(tau/10). Axes: C cells, A actions, T = horizon.
"""

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace.agents.rollout import MOST_EPISODES
from jaxrace.core.float32 import require_held
from jaxrace.core.validation import (
    require_hashable,
    require_integer,
    require_keys,
    require_kind,
    require_number,
    require_positive,
)
from jaxrace.envs import Environment
from jaxrace.envs.environment import absorb
from papers.preference_racing.learners.tabular import GreedyTable, greedy


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class SarsaParams:
    """The numbers of a learner; make them with ``Sarsa.params``."""

    env: Any  # the simulator's
    budget: jax.Array  # int32 [], episodes
    learning_rate: jax.Array  # float32 [], alpha_0
    exploration: jax.Array  # float32 [], epsilon_0
    trace_decay: jax.Array  # float32 [], lambda_0
    discount: jax.Array  # float32 [], gamma
    episodes_per_divisor: jax.Array  # int32 [], of the schedule


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class SarsaState:
    """A learner between two generations."""

    key: jax.Array
    generation: jax.Array  # int32 []
    episodes: jax.Array  # int32 [], played so far
    table: jax.Array  # Q, float32 [C, A]


class SarsaRow(NamedTuple):
    """What one generation leaves in the log."""

    ran: jax.Array  # bool [], False for the rows of a learner that was done before
    generation: jax.Array  # int32 [], from 1
    episodes: jax.Array  # int32 [], played up to and with this generation
    simulated: jax.Array  # int32 [], played in this generation
    best: jax.Array  # Q after it, float32 [C, A]: theta of the greedy policy
    valid: jax.Array  # bool [], rewards and values were finite, and no observation was NaN


class _Episode(NamedTuple):
    """An episode before one of its steps."""

    state: Any  # the environment's
    ended: jax.Array  # bool []
    entry: jax.Array  # int32 [], of cell and action that come next
    values: jax.Array  # Q, row by row, float32 [C A]
    visited: jax.Array  # int32 [T], the entry of each step
    traces: jax.Array  # float32 [T], eligibilities of the visited ones
    valid: jax.Array  # bool []


@dataclasses.dataclass(frozen=True)
class Sarsa:
    """SARSA(lambda), written as init / step / done like ``PolicySearch``, to be batched by vmap.

    Actions are epsilon-greedy, the first of equal ones where they are greedy. The table Q starts
    at 0, which is optimistic where rewards are negative. In episode tau, from 1, alpha, epsilon and
    lambda are those given divided by ceil(tau / ``episodes_per_divisor``). The values after a
    terminal step and after the last step of the horizon are 0. A step costs O(T + A) however large
    the table: traces are kept for the entries that the episode has visited.

    Episode tau has the key fold_in(key, tau); of that key, fold_in(_, 0) goes to ``reset``,
    fold_in(_, 1) to the exploration, and fold_in(_, 2 t) to step t of the environment, from 1.

    Attributes:
        env: See ``envs.Environment``; its observations are float [d].
        policy: The cells and the actions, and the greedy policy that is learned.
        episodes_per_step: Episodes of one generation.

    >>> from jaxrace.envs import medical
    >>> from papers.preference_racing.learners.tabular import Grid
    >>> grid = Grid(low=(0.0, -2.0), high=(8.0, 8.0), bins=20)
    >>> sarsa = Sarsa(medical.Medical(), GreedyTable(grid, medical.DOSES))
    >>> params = sarsa.params(budget=300)
    >>> state, row = jax.jit(sarsa.step)(sarsa.init(jax.random.key(0), params), params)
    >>> int(row.episodes), row.best.shape
    (100, (400, 4))
    """

    env: Environment
    policy: GreedyTable
    episodes_per_step: int = 100

    def __post_init__(self) -> None:
        require_integer("env.horizon", getattr(self.env, "horizon", None), 1)
        require_hashable("env", self.env)
        require_kind("policy", self.policy, GreedyTable)
        require_integer("episodes_per_step", self.episodes_per_step, 1)

    def params(
        self,
        budget: int = 10_000,
        learning_rate: float = 0.1,
        exploration: float = 0.2,
        trace_decay: float = 0.95,
        discount: float = 1.0,
        env_params: Any = None,
        episodes_per_divisor: int = 10,
    ) -> SarsaParams:
        """The numbers of a learner; ValueError if one is outside its range.

        Args:
            budget: Episodes; the generation in which they are used up is still finished.
            learning_rate: alpha_0, above 0 and at most 1.
            exploration: epsilon_0, the probability of an action drawn uniformly, from 0 to 1.
            trace_decay: lambda_0, from 0 to 1.
            discount: gamma, from 0 to 1.
            env_params: The simulator's params; its ``default_params`` unless given.
            episodes_per_divisor: Of the schedule; at least 1.
        """
        require_integer("budget", budget, 1, MOST_EPISODES)
        require_held("env_params", env_params)
        require_positive("learning_rate", learning_rate)
        shares = {
            "learning_rate": learning_rate,
            "exploration": exploration,
            "trace_decay": trace_decay,
            "discount": discount,
        }
        for name, value in shares.items():
            require_number(name, value, 0, most=1)
        require_integer("episodes_per_divisor", episodes_per_divisor, 1)
        return SarsaParams(
            env=self.env.default_params if env_params is None else env_params,
            budget=jnp.asarray(budget, jnp.int32),
            **{name: jnp.asarray(value, jnp.float32) for name, value in shares.items()},
            episodes_per_divisor=jnp.asarray(episodes_per_divisor, jnp.int32),
        )

    def init(self, key: jax.Array, params: SarsaParams) -> SarsaState:
        """The state before the first episode; ValueError if ``key`` is no key."""
        require_keys("key", key, ndim=0)
        return SarsaState(
            key=key,
            generation=jnp.zeros((), jnp.int32),
            episodes=jnp.zeros((), jnp.int32),
            table=jnp.asarray(self.policy.example()),
        )

    def done(self, state: SarsaState, params: SarsaParams) -> jax.Array:
        """Is the budget used up? A bool []."""
        return state.episodes >= params.budget

    def step(self, state: SarsaState, params: SarsaParams) -> tuple[SarsaState, SarsaRow]:
        """One generation. A learner that is done stays as it is."""

        def play(carry: tuple[jax.Array, jax.Array], number: jax.Array) -> tuple[Any, None]:
            values, valid = carry
            key = jax.random.fold_in(state.key, number)
            values, all_valid = self._play_episode(key, values, params, number)
            return (values, valid & all_valid), None

        done = self.done(state, params)
        numbers = state.episodes + jnp.arange(1, self.episodes_per_step + 1, dtype=jnp.int32)
        start = (state.table.reshape(-1), jnp.ones((), bool))
        (values, valid), _ = lax.scan(play, start, numbers)
        simulated = jnp.where(done, 0, self.episodes_per_step).astype(jnp.int32)
        next_state = dataclasses.replace(
            state,
            generation=state.generation + (~done).astype(jnp.int32),
            episodes=state.episodes + simulated,
            table=jnp.where(done, state.table, values.reshape(state.table.shape)),
        )
        row = SarsaRow(
            ran=~done,
            generation=next_state.generation,
            episodes=next_state.episodes,
            simulated=simulated,
            best=next_state.table,
            valid=valid | done,
        )
        return next_state, row

    def _play_episode(
        self, key: jax.Array, values: jax.Array, params: SarsaParams, number: jax.Array
    ) -> tuple[jax.Array, jax.Array]:
        """Q after one more episode, and whether all its numbers were valid."""
        horizon = self.env.horizon
        divisor = (number + params.episodes_per_divisor - 1) // params.episodes_per_divisor
        factor = 1 / divisor.astype(jnp.float32)
        params = dataclasses.replace(
            params,
            learning_rate=params.learning_rate * factor,
            exploration=params.exploration * factor,
            trace_decay=params.discount * params.trace_decay * factor,  # gamma lambda
        )
        # One draw for the whole episode; the action after the last step is never taken.
        noise = jax.random.uniform(jax.random.fold_in(key, 1), (horizon + 1, 2), jnp.float32)
        env_state = self.env.reset(jax.random.fold_in(key, 0), params.env)
        entry, valid = self._next_entry(env_state, values, noise[0], params)
        visited, traces = jnp.zeros(horizon, jnp.int32), jnp.zeros(horizon, jnp.float32)
        episode = _Episode(env_state, jnp.bool_(False), entry, values, visited, traces, valid)

        numbers = jnp.arange(1, horizon + 1, dtype=jnp.int32)
        step = functools.partial(self._play_step, key, params)
        episode, _ = lax.scan(step, episode, (numbers, noise[1:]))
        return episode.values, episode.valid

    def _play_step(
        self, key: jax.Array, params: SarsaParams, episode: _Episode, inputs: tuple[Any, Any]
    ) -> tuple[_Episode, None]:
        """One pass through the inner loop of figure 7.11 of Sutton and Barto 1998."""
        (number, noise), ended, values = inputs, episode.ended, episode.values
        step_key = jax.random.fold_in(key, 2 * number)
        action = self.policy.action(episode.entry % len(self.policy.actions))
        state, reward, terminal = self.env.step(step_key, episode.state, action, params.env)
        if not self.env.continues_after_terminal:
            state = absorb(ended, episode.state, state)
        entry, observed = self._next_entry(state, values, noise, params)
        last = terminal | (number == self.env.horizon)
        # delta = r + gamma Q(s', a') - Q(s, a)
        bootstrap = jnp.where(last, 0.0, params.discount * values[entry])
        error = reward.astype(jnp.float32) + bootstrap - values[episode.entry]
        # Nothing counts after the end; masked here, since 0 times NaN would be NaN.
        error = jnp.where(ended, 0.0, error)
        visited = episode.visited.at[number - 1].set(episode.entry)
        # Replacing traces: a pair that comes again has its trace set to 1, so the old one goes.
        traces = jnp.where(episode.visited == episode.entry, 0.0, episode.traces)
        traces = traces.at[number - 1].set(1.0)
        change = params.learning_rate * error * traces
        following = _Episode(
            state=state,
            ended=ended | terminal,
            entry=entry,
            values=values.at[visited].add(change, mode="promise_in_bounds"),
            visited=visited,
            traces=params.trace_decay * traces,
            valid=episode.valid & (ended | ((observed | last) & jnp.isfinite(error))),
        )
        return following, None

    def _next_entry(
        self, state: Any, values: jax.Array, noise: jax.Array, params: SarsaParams
    ) -> tuple[jax.Array, jax.Array]:
        """Where the epsilon-greedy action stands in Q, and whether the observation was valid."""
        num_actions = len(self.policy.actions)
        observation = self.env.observe(state, params.env)
        first = self.policy.grid.cell(observation) * num_actions
        best = greedy(lax.dynamic_slice(values, (first,), (num_actions,)))
        drawn = (noise[1] * num_actions).astype(jnp.int32)  # below A, also when rounded
        action = jnp.where(noise[0] < params.exploration, drawn, best)
        return first + action, ~jnp.isnan(observation).any()
