"""Rollouts: one policy in one environment, folded into an outcome; populations by vmap.

Axes: K policies, n episodes, T = horizon.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace.agents.policies import Policy
from jaxrace.core.compilation import jit
from jaxrace.core.float32 import require_held
from jaxrace.core.validation import (
    require_function,
    require_hashable,
    require_integer,
    require_keys,
)
from jaxrace.envs import Environment, OutcomeFold, Transition
from jaxrace.envs.environment import absorb, require_same_types, require_scalars

# Of one search, which counts them in int32, those beyond the budget included.
MOST_EPISODES = 2**30


class PolicyInTask(NamedTuple):
    """An option of a race between policies: parameters, and the simulator they act in."""

    theta: Any
    env_params: Any


@dataclasses.dataclass(frozen=True)
class Rollout:
    """``rollout(key, option) -> outcome`` of one episode: a sampler for races.

    After a terminal step rewards are 0, and the state stays as it is unless the environment says
    that it continues. ``reset`` has the key fold_in(key, 0); step t, from 1, has fold_in(key, 2 t)
    for the environment and fold_in(key, 2 t - 1) for the policy.

    >>> from jaxrace.envs import medical
    >>> from jaxrace.agents.policies import Constant
    >>> env = medical.Medical()
    >>> option = PolicyInTask(theta=jnp.float32(0.4), env_params=env.default_params)
    >>> Rollout(env, Constant(), medical.TreatmentOutcome())(jax.random.key(0), option)._fields
    ('alive', 'worst_toxicity', 'tumour_size')
    """

    env: Environment
    policy: Policy
    fold: OutcomeFold

    def __post_init__(self) -> None:
        require_integer("env.horizon", getattr(self.env, "horizon", None), 1)
        require_hashable("env", self.env)
        require_function("policy", self.policy)
        require_hashable("fold", self.fold)

    def __call__(self, key: jax.Array, option: PolicyInTask) -> Any:
        """The outcome of one episode, a pytree without leading axes.

        ValueError if a step of the environment or an update of the fold changes structures, shapes
        or dtypes.
        """
        require_keys("key", key, ndim=0)
        start, play, numbers = _episode(self.env, self.policy, key, option)

        def step(carry: tuple[EpisodeState, Any], number: jax.Array) -> tuple[Any, None]:
            progress, folded = carry
            progress, transition = play(progress, number)
            updated = self.fold.update(folded, transition, option.env_params)
            require_same_types(f"{type(self.fold).__name__}.update", "carry", folded, updated)
            return (progress, updated), None

        first = (start, self.fold.init(start.state, option.env_params))
        (_, folded), _ = lax.scan(step, first, numbers)
        return self.fold.finish(folded, option.env_params)


def history(env: Environment, policy: Policy, key: jax.Array, option: PolicyInTask) -> Transition:
    """All transitions, leaves [T, ...], of the episode that ``Rollout`` plays with this key.

    >>> from jaxrace.envs import medical
    >>> from jaxrace.agents.policies import Constant
    >>> env = medical.Medical()
    >>> option = PolicyInTask(jnp.float32(0.4), env.default_params)
    >>> history(env, Constant(), jax.random.key(0), option).action.shape
    (6,)
    """
    require_held("option", option)
    return _history(env, policy, key, option)


@jit(2)
def _history(env: Environment, policy: Policy, key: jax.Array, option: PolicyInTask) -> Transition:
    start, play, numbers = _episode(env, policy, key, option)
    return lax.scan(play, start, numbers)[1]


def evaluate(rollout: Rollout, key: jax.Array, option: PolicyInTask, episodes: int) -> Any:
    """Outcomes, leaves [n, ...], of n ``episodes`` of one policy; vmap it for populations.

    Episode e has the key fold_in(key, e). ``jaxrace.evaluate`` says what the policy is worth.

    Raises:
        BadArgument: ``episodes`` is no positive integer, ``key`` not one key of
            ``jax.random.key``, or ``option`` has numbers that 32 bits do not hold.

    >>> from jaxrace.envs import medical
    >>> from jaxrace.agents.policies import Constant
    >>> env = medical.Medical()
    >>> rollout = Rollout(env, Constant(), medical.TreatmentOutcome())
    >>> def play(dose):
    ...     option = PolicyInTask(dose, env.default_params)
    ...     return evaluate(rollout, jax.random.key(0), option, 100)
    >>> jax.vmap(play)(jnp.array([0.2, 0.8], jnp.float32)).alive.shape  # 100 episodes of each
    (2, 100)
    """
    require_integer("episodes", episodes, 1)
    require_keys("key", key, ndim=0)
    require_held("option", option)
    return _evaluate(rollout, episodes, key, option)


@jit(2)
def _evaluate(rollout: Rollout, episodes: int, key: jax.Array, option: PolicyInTask) -> Any:
    keys = jax.vmap(jax.random.fold_in, (None, 0))(key, jnp.arange(episodes, dtype=jnp.uint32))
    return jax.vmap(rollout, (0, None))(keys, option)


class EpisodeState(NamedTuple):
    """An episode between two steps."""

    state: Any
    ended: jax.Array  # bool []


def _episode(
    env: Environment, policy: Policy, key: jax.Array, option: PolicyInTask
) -> tuple[
    EpisodeState, Callable[[EpisodeState, jax.Array], tuple[EpisodeState, Transition]], jax.Array
]:
    """The start of an episode, the function that plays a step, and the steps' numbers."""

    def play(progress: EpisodeState, number: jax.Array) -> tuple[EpisodeState, Transition]:
        # The compiler drops keys without a use.
        policy_key = jax.random.fold_in(key, 2 * number - 1)
        step_key = jax.random.fold_in(key, 2 * number)
        action = policy(option.theta, env.observe(progress.state, option.env_params), policy_key)
        return advance(env, step_key, progress, action, option.env_params)

    state = env.reset(jax.random.fold_in(key, 0), option.env_params)
    numbers = jnp.arange(1, env.horizon + 1, dtype=jnp.uint32)
    return EpisodeState(state, jnp.zeros((), bool)), play, numbers


def advance(
    env: Environment, key: jax.Array, progress: EpisodeState, action: Any, env_params: Any
) -> tuple[EpisodeState, Transition]:
    """One step of an episode; after its end it earns nothing, see ``Rollout``."""
    state, ended = progress
    next_state, reward, terminal = env.step(key, state, action, env_params)
    # A scan would say less, and ``where`` broadcasts.
    name = f"{type(env).__name__}.step"
    require_same_types(name, "state", state, next_state)
    require_scalars(name, reward, terminal)
    if not env.continues_after_terminal:
        next_state = absorb(ended, state, next_state)
    transition = Transition(
        state=state,
        action=action,
        reward=jnp.where(ended, jnp.zeros_like(reward), reward),
        terminal=ended | terminal,
        next_state=next_state,
    )
    return EpisodeState(next_state, transition.terminal), transition
