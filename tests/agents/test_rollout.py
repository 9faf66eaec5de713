"""Rollouts against a plain loop over the environment's own functions."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small_tasks import SmallTask

from jaxrace.agents import outcomes, policies, rollout
from jaxrace.agents.rollout import PolicyInTask, Rollout
from jaxrace.envs import medical


@dataclasses.dataclass(frozen=True)
class Countdown(SmallTask):
    """Terminal when the counter reaches zero; rewards would go on, and noise is in each step."""

    horizon: int = 6

    @property
    def default_params(self):
        return jnp.int32(3)

    def reset(self, key, params):
        return params

    def step(self, key, state, action, params):
        state = state - 1
        return state, 1.0 + jax.random.uniform(key, ()), state <= 0


@dataclasses.dataclass(frozen=True)
class LastState:
    """The state after the last step."""

    def init(self, state, params):
        return state

    def update(self, carry, transition, params):
        return transition.next_state

    def finish(self, carry, params):
        return carry


def loop(env, policy, key, option):
    """The documented keys, masks and freezing, in Python."""
    state = env.reset(jax.random.fold_in(key, 0), option.env_params)
    ended, rewards, states = False, [], [state]
    for t in range(1, env.horizon + 1):
        observation = env.observe(state, option.env_params)
        action = policy(option.theta, observation, jax.random.fold_in(key, 2 * t - 1))
        after, reward, terminal = env.step(
            jax.random.fold_in(key, 2 * t), state, action, option.env_params
        )
        rewards.append(0.0 if ended else float(reward))
        if env.continues_after_terminal or not ended:
            state = after
        ended = ended or bool(terminal)
        states.append(state)
    return rewards, states


@pytest.mark.parametrize("continues", [False, True])
def test_rewards_stop_and_states_freeze_after_a_terminal_step(continues):
    env = Countdown(continues_after_terminal=continues)
    option = PolicyInTask(jnp.float32(0), env.default_params)
    key = jax.random.key(3)
    rewards, states = loop(env, policies.Constant(), key, option)
    fold = outcomes.Both(outcomes.Return(), LastState())

    total, last = Rollout(env, policies.Constant(), fold)(key, option)

    assert rewards[3:] == [0.0] * 3
    np.testing.assert_allclose(total, sum(rewards), rtol=1e-6)
    assert last == states[-1] == (-3 if continues else 0)


@pytest.mark.parametrize("policy", [policies.Sigmoid(2), policies.UniformChoice(3)])
def test_medical_rollout_equals_the_loop(policy):
    env = medical.Medical()
    theta = jnp.array([0.5, -1.0, 0.3])
    option = PolicyInTask(jax.nn.sigmoid(theta), env.default_params)
    fold = outcomes.Both(medical.TreatmentOutcome(), outcomes.Return())
    for seed in range(3):
        key = jax.random.key(seed)
        rewards, states = loop(env, policy, key, option)

        outcome, total = Rollout(env, policy, fold)(key, option)

        np.testing.assert_allclose(total, sum(rewards), rtol=1e-6)
        np.testing.assert_allclose(outcome.tumour_size, states[-1].tumour, rtol=1e-5, atol=1e-6)
        worst = max(float(state.toxicity) for state in states)
        np.testing.assert_allclose(outcome.worst_toxicity, worst, rtol=1e-5)
        assert outcome.alive == states[-1].alive


def test_history_is_the_episode_of_the_rollout():
    env, policy = medical.Medical(), policies.Sigmoid(2)
    option = PolicyInTask(jnp.array([0.5, -1.0, 0.3]), env.default_params)
    key = jax.random.key(5)

    history = rollout.history(env, policy, key, option)
    rewards, states = loop(env, policy, key, option)

    np.testing.assert_allclose(history.reward, rewards, rtol=1e-6)
    np.testing.assert_allclose(
        history.next_state.tumour, [s.tumour for s in states[1:]], rtol=1e-5, atol=1e-6
    )
    np.testing.assert_array_equal(history.state.month, np.arange(6))


def test_evaluate_draws_independent_episodes_by_number():
    env = medical.Medical()
    sampler = Rollout(env, policies.Constant(), medical.TreatmentOutcome())
    option = PolicyInTask(jnp.float32(0.4), env.default_params)
    key = jax.random.key(1)

    few = rollout.evaluate(sampler, key, option, 5).worst_toxicity
    many = rollout.evaluate(sampler, key, option, 50).worst_toxicity

    np.testing.assert_array_equal(few, many[:5])
    fourth = sampler(jax.random.fold_in(key, 3), option).worst_toxicity
    np.testing.assert_allclose(few[3], fourth, rtol=1e-6)
    assert len(np.unique(many)) == 50
