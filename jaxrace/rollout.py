"""Rollouts: one policy in one environment, folded into an outcome; populations by vmap.

Axes: K policies, n episodes, T = horizon.
"""

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace.envs import Environment, OutcomeFold, Transition
from jaxrace.policies import Policy


class PolicyInTask(NamedTuple):
    """An option of a race between policies: parameters, and the simulator they act in."""

    theta: Any
    env_params: Any


@dataclasses.dataclass(frozen=True)
class Rollout:
    """``rollout(key, option) -> outcome`` of one episode: a sampler for races.

    The reward after a terminal step is 0, and the state stays as it was unless the environment
    continues after it. The key of ``reset`` is fold_in(key, 0); step t (from 1) takes
    fold_in(key, 2 t) for the environment and fold_in(key, 2 t - 1) for the policy.

    Attributes:
        env: See ``envs.Environment``; frozen and hashable, as are the others.
        policy: See ``policies.Policy``.
        fold: Makes the outcome; see ``envs.OutcomeFold``.

    >>> import jax
    >>> from jaxrace.envs import medical
    >>> from jaxrace.policies import Constant
    >>> env = medical.Medical()
    >>> rollout = Rollout(env, Constant(), medical.TreatmentOutcome())
    >>> option = PolicyInTask(theta=jax.numpy.float32(0.4), env_params=env.default_params)
    >>> outcome = rollout(jax.random.key(0), option)
    >>> outcome._fields
    ('alive', 'worst_toxicity', 'tumour_size')
    """

    env: Environment
    policy: Policy
    fold: OutcomeFold

    def __call__(self, key: jax.Array, option: PolicyInTask) -> Any:
        """Play one episode.

        Args:
            key: Used up.
            option: Parameters theta of the policy, and params of the environment.

        Returns:
            The outcome, a pytree without leading axes.
        """

        def step(carry: tuple[_Progress, Any], number: jax.Array) -> tuple[Any, None]:
            progress, folded = carry
            progress, transition = _step(self.env, self.policy, option, key, progress, number)
            return (progress, self.fold.update(folded, transition, option.env_params)), None

        start = _reset(self.env, option, key)
        first = (start, self.fold.init(start.state, option.env_params))
        numbers = jnp.arange(1, self.env.horizon + 1, dtype=jnp.uint32)
        (_, folded), _ = lax.scan(step, first, numbers)
        return self.fold.finish(folded, option.env_params)


@functools.partial(jax.jit, static_argnums=(0, 1))
def history(env: Environment, policy: Policy, key: jax.Array, option: PolicyInTask) -> Transition:
    """Play one episode and keep all of it.

    Args:
        env: The environment.
        policy: The policy.
        key: Used up; the episode is the one that ``Rollout`` plays with this key.
        option: Parameters of the policy and of the environment.

    Returns:
        A ``Transition`` whose leaves have the leading axis T.

    >>> import jax
    >>> from jaxrace.envs import medical
    >>> from jaxrace.policies import Constant
    >>> env = medical.Medical()
    >>> option = PolicyInTask(jax.numpy.float32(0.4), env.default_params)
    >>> history(env, Constant(), jax.random.key(0), option).reward.shape
    (6,)
    """

    def step(progress: _Progress, number: jax.Array) -> tuple[_Progress, Transition]:
        return _step(env, policy, option, key, progress, number)

    numbers = jnp.arange(1, env.horizon + 1, dtype=jnp.uint32)
    return lax.scan(step, _reset(env, option, key), numbers)[1]


@functools.partial(jax.jit, static_argnums=(0, 3))
def evaluate(rollout: Rollout, key: jax.Array, option: PolicyInTask, episodes: int) -> Any:
    """Outcomes of ``episodes`` independent episodes of one policy; vmap it for populations.

    Args:
        rollout: The sampler.
        key: Episode e is drawn with fold_in(key, e).
        option: Parameters of the policy and of the environment.
        episodes: n.

    Returns:
        Outcomes with leading axis n.

    >>> import jax
    >>> from jaxrace.envs import medical
    >>> from jaxrace.outcomes import Return
    >>> from jaxrace.policies import Constant
    >>> env = medical.Medical()
    >>> option = PolicyInTask(jax.numpy.float32(0.4), env.default_params)
    >>> evaluate(Rollout(env, Constant(), Return()), jax.random.key(0), option, 300).shape
    (300,)
    """
    keys = jax.vmap(jax.random.fold_in, (None, 0))(key, jnp.arange(episodes, dtype=jnp.uint32))
    return jax.vmap(rollout, (0, None))(keys, option)


class _Progress(NamedTuple):
    """An episode between two steps."""

    state: Any
    ended: jax.Array  # bool []


def _reset(env: Environment, option: PolicyInTask, key: jax.Array) -> _Progress:
    state = env.reset(jax.random.fold_in(key, 0), option.env_params)
    return _Progress(state, jnp.zeros((), bool))


def _step(
    env: Environment,
    policy: Policy,
    option: PolicyInTask,
    key: jax.Array,
    progress: _Progress,
    number: jax.Array,
) -> tuple[_Progress, Transition]:
    state, ended = progress
    # Keys that nobody uses cost nothing: the compiler drops their computation.
    policy_key, step_key = (
        jax.random.fold_in(key, 2 * number - 1),
        jax.random.fold_in(key, 2 * number),
    )
    action = policy(option.theta, env.observe(state, option.env_params), policy_key)
    next_state, reward, terminal = env.step(step_key, state, action, option.env_params)
    if not env.continues_after_terminal:
        next_state = jax.tree.map(lambda old, new: jnp.where(ended, old, new), state, next_state)
    transition = Transition(
        state=state,
        action=action,
        reward=jnp.where(ended, jnp.zeros_like(reward), reward),
        terminal=ended | terminal,
        next_state=next_state,
    )
    return _Progress(next_state, transition.terminal), transition
