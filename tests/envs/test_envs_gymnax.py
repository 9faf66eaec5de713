"""The gymnax adapter: with a stand-in of its interface, and with gymnax where installed."""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace.envs import GymnaxAdapter, check


class WalkState(NamedTuple):
    position: jax.Array
    time: int | jax.Array


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class WalkParams:
    drift: float = 0.25
    limit: int = 2


class NoisyWalk:
    """Written like a gymnax environment: Python numbers in state and parameters, a noisy sensor."""

    @property
    def default_params(self):
        return WalkParams()

    def step(self, key, state, action, params):
        raise AssertionError("the auto-reset of gymnax is not wanted")

    reset = step

    def reset_env(self, key, params):
        state = WalkState(jax.random.uniform(key, (), jnp.float32), 0)
        return self.get_obs(key, state), state

    def step_env(self, key, state, action, params):
        state = WalkState(state.position + action + params.drift, state.time + 1)
        # Integer rewards, as in some environments of gymnax.
        reward = jnp.where(state.position > 1.0, 1, 0)
        terminal = state.time > params.limit
        return self.get_obs(key, state), state, reward, terminal, {"discount": 1.0}

    def get_obs(self, key, state):
        return state.position + jax.random.normal(key, (1,), jnp.float32)


def test_contract():
    check(GymnaxAdapter(NoisyWalk(), horizon=8), action=0.5)


def test_steps_are_those_of_the_gymnax_environment():
    inner = NoisyWalk()
    env = GymnaxAdapter(inner, horizon=8)
    params = env.default_params
    key = jax.random.key(5)
    state = env.reset(key, params)
    observation, inner_state = inner.reset_env(key, inner.default_params)
    terminals = []
    for key in jax.random.split(jax.random.key(6), 6):
        np.testing.assert_array_equal(env.observe(state, params), observation)
        state, reward, terminal = env.step(key, state, 0.25, params)
        observation, inner_state, inner_reward, inner_terminal, _ = inner.step_env(
            key, inner_state, 0.25, inner.default_params
        )
        assert state.inner == inner_state
        assert reward == inner_reward
        assert terminal == inner_terminal
        assert (reward.dtype, terminal.dtype) == (jnp.float32, jnp.bool_)
        terminals.append(bool(terminal))
    assert True in terminals
    assert False in terminals


def test_numbers_become_strongly_typed():
    env = GymnaxAdapter(NoisyWalk(), horizon=8)
    state = env.reset(jax.random.key(0), env.default_params)
    leaves = [*jax.tree.leaves(env.default_params), *jax.tree.leaves(state)]
    assert [str(leaf.dtype) for leaf in leaves] == ["float32", "int32"] * 2 + ["float32"]
    assert not any(leaf.weak_type for leaf in leaves)


@pytest.mark.filterwarnings("ignore")  # not our code
@pytest.mark.slow
def test_gymnax_itself():
    gymnax = pytest.importorskip("gymnax")
    inner, inner_params = gymnax.make("CartPole-v1")
    env = GymnaxAdapter(inner, horizon=20)
    with jax.numpy_dtype_promotion("standard"):
        check(env, action=1)
        state = env.reset(jax.random.key(0), env.default_params)
        observation, inner_state = inner.reset_env(jax.random.key(0), inner_params)
        for key in jax.random.split(jax.random.key(1), 3):
            state, reward, _ = env.step(key, state, 1, env.default_params)
            observation, inner_state, inner_reward, *_ = inner.step_env(
                key, inner_state, 1, inner_params
            )
            np.testing.assert_allclose(reward, inner_reward, rtol=1e-5)
        np.testing.assert_allclose(env.observe(state, env.default_params), observation, rtol=1e-5)
