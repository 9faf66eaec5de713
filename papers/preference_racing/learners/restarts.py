"""Rollouts that start in the midst of a history: sampled states, and what follows an action there.

For approximate policy iteration (Fürnkranz, Hüllermeier, Cheng and Park 2012). Axes: N sampled
states, A actions, R rollouts, T = horizon.
"""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace.agents.rollout import EpisodeState, advance
from jaxrace.envs import Environment, OutcomeFold
from papers.preference_racing.learners.label_ranking import LabelRanking


class Behaviour(NamedTuple):
    """What acts: a label ranking, or nothing but chance."""

    theta: Any  # float32 [P, inputs + 1], without effect where chance acts
    is_random: Any  # bool []


class Start(NamedTuple):
    """A state from which rollouts start."""

    state: Any
    number: Any  # int32 [], steps taken to reach it, below T


@dataclasses.dataclass(frozen=True)
class Restarts:
    """Samples states, and plays rollouts from them; pure, for compiled code."""

    env: Environment  # its ``renew``, if it has one, gives each rollout chance of its own
    policy: LabelRanking  # says what the actions are
    fold: OutcomeFold  # of what follows the sampled state only
    behaviour: Behaviour
    env_params: Any

    def sample(self, key: jax.Array, num_states: int) -> Start:
        """States on the way, one from each of N histories, drawn uniformly: leaves [N, ...]."""
        return jax.vmap(self._sample_one)(jax.random.split(key, num_states))

    def roll_out(self, key: jax.Array, num_rollouts: int, starts: Start) -> Any:
        """R rollouts from all states [N] with all actions: outcomes, leaves [N, A, R, ...].

        Each has chance of its own; what acts follows the action until the history has T steps.
        """
        actions = jnp.asarray(self.policy.actions, jnp.float32)
        keys = jax.random.split(key, (len(starts.number), len(actions), num_rollouts))
        of_rollouts = jax.vmap(self._roll_out_one, (0, None, None))
        of_actions = jax.vmap(of_rollouts, (0, None, 0))
        return jax.vmap(of_actions, (0, 0, None))(keys, starts, actions)

    def _sample_one(self, key: jax.Array) -> Start:
        reset_key, chance_key, step_key = jax.random.split(key, 3)
        lucks, random_actions = self._draw(chance_key)

        def visit(carry: tuple[EpisodeState, Start], step: Any) -> tuple[Any, None]:
            progress, start = carry
            number, random_action, luck = step
            # Reservoir sampling: the n-th state replaces the one kept with probability 1 / n.
            kept = ~progress.ended & (luck * (number + 1).astype(jnp.float32) < 1)
            start = _where(kept, Start(progress.state, number), start)
            action = self._choose(progress.state, random_action)
            key = jax.random.fold_in(step_key, number)
            progress, _ = advance(self.env, key, progress, action, self.env_params)
            return (progress, start), None

        first = self.env.reset(reset_key, self.env_params)
        carry = (EpisodeState(first, jnp.zeros((), bool)), Start(first, jnp.zeros((), jnp.int32)))
        numbers = jnp.arange(self.env.horizon, dtype=jnp.int32)
        (_, start), _ = lax.scan(visit, carry, (numbers, random_actions, lucks))
        return start

    def _roll_out_one(self, key: jax.Array, start: Start, first_action: jax.Array) -> Any:
        renew_key, chance_key, step_key = jax.random.split(key, 3)
        _, random_actions = self._draw(chance_key)
        env_params, renew = self.env_params, getattr(self.env, "renew", None)
        state = start.state if renew is None else renew(renew_key, start.state, env_params)

        def follow(carry: tuple[EpisodeState, Any], step: Any) -> tuple[Any, None]:
            progress, folded = carry
            number, random_action = step
            chosen = self._choose(progress.state, random_action)
            action = jnp.where(number == 0, first_action, chosen)
            key = jax.random.fold_in(step_key, number)
            progress, transition = advance(self.env, key, progress, action, env_params)
            after = (progress, self.fold.update(folded, transition, env_params))
            # All rollouts scan over T steps; what is beyond the horizon leaves no trace.
            return _where(start.number + number < self.env.horizon, after, carry), None

        carry = (EpisodeState(state, jnp.zeros((), bool)), self.fold.init(state, env_params))
        numbers = jnp.arange(self.env.horizon, dtype=jnp.int32)
        (_, folded), _ = lax.scan(follow, carry, (numbers, random_actions))
        return self.fold.finish(folded, env_params)

    def _draw(self, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        """For each step a number in [0, 1), float32 [T], and a random action, int32 [T]."""
        # All in one call: every further one costs compile time, and in the loop run time as well.
        chance = jax.random.uniform(key, (2, self.env.horizon), jnp.float32)
        return chance[0], (chance[1] * len(self.policy.actions)).astype(jnp.int32)

    def _choose(self, state: Any, random_action: jax.Array) -> jax.Array:
        """The action that is taken, by the number of a random one: float32 []."""
        observation = self.env.observe(state, self.env_params)
        chosen = self.policy.choose(self.behaviour.theta, observation)
        number = jnp.where(self.behaviour.is_random, random_action, chosen)
        return jnp.asarray(self.policy.actions, jnp.float32)[number]


def _where(condition: jax.Array, yes: Any, no: Any) -> Any:
    """``jnp.where`` on every leaf."""
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), yes, no)
