"""Preference-based approximate policy iteration: PBPI (Fürnkranz, Hüllermeier, Cheng, Park 2012).

A baseline of Busa-Fekete et al. 2014, section 6.2. Axes: N sampled states, A actions,
P = A (A - 1) / 2 pairs of them, R rollouts, T = horizon.
"""

import dataclasses
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace.agents.rollout import MOST_EPISODES, Rollout
from jaxrace.core.float32 import require_held
from jaxrace.core.validation import (
    require_function,
    require_integer,
    require_keys,
    require_kind,
    require_number,
    require_probability,
)
from jaxrace.envs import Environment, OutcomeFold
from jaxrace.envs.environment import absorb
from jaxrace.racing.comparing import require_sign
from papers.preference_racing.learners import label_ranking
from papers.preference_racing.learners.label_ranking import LabelRanking
from papers.preference_racing.learners.restarts import Behaviour, Restarts


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class IterationParams:
    """The numbers of a policy iteration; make them with ``PolicyIteration.params``."""

    env: Any  # the simulator's
    sign_test: jax.Array  # int32 [R + 1], see sign_test_table
    budget: jax.Array  # int32 [], episodes
    max_iterations: jax.Array  # int32 []
    min_change: jax.Array  # float32 [], share of the sampled states


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class IterationState:
    """A policy iteration between two iterations."""

    key: jax.Array
    generation: jax.Array  # int32 [], iterations so far; before the first, the policy is random
    episodes: jax.Array  # int32 [], rollouts so far
    converged: jax.Array  # bool [], the last iteration changed too few actions
    best: jax.Array  # theta of the policy, float32 [P, inputs + 1]


class IterationRow(NamedTuple):
    """What one iteration leaves in the log; ``generation`` is its number, as in a ``SearchRow``."""

    ran: jax.Array  # bool [], False for the rows of an iteration that was done before
    generation: jax.Array  # int32 [], from 1
    episodes: jax.Array  # int32 [], rollouts up to and with this iteration
    simulated: jax.Array  # int32 [], this iteration's rollouts and ways to the sampled states
    num_preferences: jax.Array  # int32 [], examples for the label ranking, of N P
    converged: jax.Array  # bool [], the policy has changed too little, and stays as it is
    best: jax.Array  # theta of the policy, float32 [P, inputs + 1]
    valid: jax.Array  # bool [], every outcome of a rollout, and theta, was finite


@dataclasses.dataclass(frozen=True)
class PolicyIteration:
    """Policy iteration from preferences, as init / step / done so that vmap can batch it.

    One iteration (Fürnkranz et al. 2012) samples N states and tries every action R times in each:
    the action first, then the current policy until the horizon. Rollout r of one action is compared
    with rollout r of another. An action is preferred in a state if a one-sided sign test on the
    pairs that are not tied says so, and a new label ranking is trained on these preferences. The
    first policy acts uniformly at random.

    What the papers leave open: a state is drawn uniformly from those that one history of the
    current policy meets before its end; an outcome folds what follows the sampled state only;
    ``env.renew`` gives each rollout chance of its own where the environment has it; every iteration
    forgets the examples of the last one. Only rollouts count as episodes: N A R an iteration, 800
    by default with four actions, as in Busa-Fekete et al. 2014, section 6.2.

    Attributes:
        env: See ``envs.Environment``.
        policy: The label ranking.
        fold: Makes the outcomes that are compared.
        compare: The preference between outcomes; see ``preferences``.
        num_states: N.
        num_rollouts: R.
        level: Of each sign test, below 1/2.

    >>> from jaxrace.envs import medical
    >>> env, fold = medical.Medical(), medical.TreatmentOutcome()
    >>> learner = PolicyIteration(env, LabelRanking(2, medical.DOSES), fold, medical.prefer)
    >>> params = learner.params(budget=1600)
    >>> state, row = jax.jit(learner.step)(learner.init(jax.random.key(0), params), params)
    >>> int(row.generation), int(row.episodes), row.best.shape
    (1, 800, (6, 3))
    """

    env: Environment
    policy: LabelRanking
    fold: OutcomeFold
    compare: Callable[[Any, Any], jax.Array]
    num_states: int = 20
    num_rollouts: int = 10
    level: float = 0.1

    def __post_init__(self) -> None:
        require_kind("policy", self.policy, LabelRanking)
        Rollout(self.env, self.policy, self.fold)  # makes its own checks
        require_function("compare", self.compare)
        require_integer("num_states", self.num_states, 1)
        sign_test_table(self.num_rollouts, self.level)  # checks both

    def params(
        self,
        budget: int = 10_000,
        env_params: Any = None,
        max_iterations: int = 10,
        min_change: float = 0.01,
    ) -> IterationParams:
        """The numbers of a policy iteration; ValueError if one is outside its range.

        Args:
            budget: Episodes; the iteration in which they are used up is still finished.
            env_params: The simulator's params; its ``default_params`` unless given.
            max_iterations: The most there are; 10 in Fürnkranz et al. 2012.
            min_change: It ends when the action changes in a smaller share of the sampled states
                (the paper gives no number): with fewer than 100 states, 1 % means in none.
        """
        require_integer("budget", budget, 1, MOST_EPISODES)
        require_held("env_params", env_params)
        require_integer("max_iterations", max_iterations, 1)
        require_number("min_change", min_change, 0)
        return IterationParams(
            env=self.env.default_params if env_params is None else env_params,
            sign_test=jnp.asarray(sign_test_table(self.num_rollouts, self.level)),
            budget=jnp.asarray(budget, jnp.int32),
            max_iterations=jnp.asarray(max_iterations, jnp.int32),
            min_change=jnp.asarray(min_change, jnp.float32),
        )

    def init(self, key: jax.Array, params: IterationParams) -> IterationState:
        """The state before the first iteration; ValueError if ``key`` is no key."""
        require_keys("key", key, ndim=0)
        return IterationState(
            key=key,
            generation=jnp.zeros((), jnp.int32),
            episodes=jnp.zeros((), jnp.int32),
            converged=jnp.zeros((), bool),
            best=jnp.asarray(self.policy.example()),
        )

    def done(self, state: IterationState, params: IterationParams) -> jax.Array:
        """Is the budget used up, or the last iteration made, or the policy found? A bool []."""
        last = state.generation >= params.max_iterations
        return (state.episodes >= params.budget) | last | state.converged

    def step(
        self, state: IterationState, params: IterationParams
    ) -> tuple[IterationState, IterationRow]:
        """One iteration. One that is done stays as it is."""
        done = self.done(state, params)
        keys = jax.random.split(jax.random.fold_in(state.key, state.generation), 2)
        behaviour = Behaviour(state.best, state.generation == 0)
        restarts = Restarts(self.env, self.policy, self.fold, behaviour, params.env)
        starts = restarts.sample(keys[0], self.num_states)
        outcomes = restarts.roll_out(keys[1], self.num_rollouts, starts)
        preferred = self._preferences(outcomes, params.sign_test)
        observations = jax.vmap(self.env.observe, (0, None))(starts.state, params.env)
        trained = label_ranking.fit(self.policy, observations, preferred)
        choose = jax.vmap(self.policy.choose, (None, 0))
        change = choose(state.best, observations) != choose(trained, observations)
        rollouts = self.num_states * len(self.policy.actions) * self.num_rollouts
        next_state = IterationState(
            key=state.key,
            generation=state.generation + 1,
            episodes=state.episodes + jnp.int32(rollouts),
            converged=~behaviour.is_random & (change.mean(dtype=jnp.float32) < params.min_change),
            best=trained,
        )
        next_state = absorb(done, state, next_state)
        row = IterationRow(
            ran=~done,
            generation=next_state.generation,
            episodes=next_state.episodes,
            simulated=jnp.where(done, 0, jnp.int32(rollouts + self.num_states)),
            num_preferences=jnp.where(done, 0, (preferred != 0).sum(dtype=jnp.int32)),
            converged=next_state.converged,
            best=next_state.best,
            valid=done | _all_finite((outcomes, trained)),
        )
        return next_state, row

    def _preferences(self, outcomes: Any, sign_test: jax.Array) -> jax.Array:
        """The signs [N, P] of the sign tests between the actions of a state; int8, 0 for none."""
        single = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape[3:], x.dtype), outcomes)
        require_sign(self.compare, single)
        compare = jax.vmap(jax.vmap(jax.vmap(self.compare)))
        first, second = self.policy.pairs.T
        of_first = jax.tree.map(lambda x: x[:, first], outcomes)
        of_second = jax.tree.map(lambda x: x[:, second], outcomes)
        signs = compare(of_first, of_second)  # [N, P, R]
        wins = (signs > 0).sum(axis=2, dtype=jnp.int32)
        losses = (signs < 0).sum(axis=2, dtype=jnp.int32)
        needed = sign_test[wins + losses]
        return (wins >= needed).astype(jnp.int8) - (losses >= needed).astype(jnp.int8)


def sign_test_table(num_rollouts: int, level: float) -> np.ndarray:
    """How many wins of n that are not tied a one-sided sign test needs: int32 [R + 1], n = 0 .. R.

    The least w such that a fair coin gives at least w of n with probability ``level`` or less;
    n + 1 if there is none. Below level 1/2 two opposite tests never both succeed.

    >>> sign_test_table(10, 0.1).tolist()
    [1, 2, 3, 4, 4, 5, 6, 6, 7, 7, 8]
    """
    require_integer("num_rollouts", num_rollouts, 1)
    require_probability("level", level)
    require_number("level", level, 0, below=0.5)
    return np.array([_least_wins(n, level) for n in range(num_rollouts + 1)], np.int32)


def _least_wins(num_untied: int, level: float) -> int:
    # In integers, because level may be a multiple of 1 / 2^n that a rounded sum would miss.
    limit = Fraction(level) * 2**num_untied
    wins, tail, ways = num_untied + 1, 0, 1
    while tail + ways <= limit:
        wins, tail = wins - 1, tail + ways  # sequences with at least that many wins
        ways = ways * wins // (num_untied - wins + 1)  # those with one win less
    return wins


def _all_finite(tree: Any) -> jax.Array:
    """Is every floating number finite? A bool []."""
    numbers = [x for x in jax.tree.leaves(tree) if jnp.issubdtype(x.dtype, jnp.inexact)]
    return jnp.stack([jnp.isfinite(x).all() for x in numbers]).all()
