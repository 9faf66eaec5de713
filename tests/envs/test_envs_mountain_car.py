"""The mountain car against gymnasium's, step by step, and its extremes by exhaustive search."""

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace.envs.mountain_car import (
    GOAL,
    POSITION_LIMITS,
    RETURN_RANGE,
    SPEED_LIMIT,
    MountainCar,
    MountainCarState,
)

ENV = MountainCar()
PARAMS = ENV.default_params


def car(position, velocity):
    return MountainCarState(jnp.float32(position), jnp.float32(velocity))


@jax.jit(static_argnums=0)
def step(env, state, action):
    return env.step(jax.random.key(0), state, action, PARAMS)


@jax.jit
def next_states(states, actions):
    """Cars [N] after each of their decisions [N, 3]."""
    over_actions = jax.vmap(lambda s, a: ENV.step(jax.random.key(0), s, a, PARAMS)[0], (None, 0))
    return jax.vmap(over_actions, (0, None))(states, actions)


@pytest.fixture(scope="module")
def gym_car():
    with gymnasium.make("MountainCar-v0", disable_env_checker=True) as env:
        env.reset(seed=0)
        yield env.unwrapped


def test_random_states_step_as_in_gymnasium(gym_car):
    rng = np.random.default_rng(1)
    positions = rng.uniform(-1.2, 0.499, 500).astype(np.float32)
    positions[:50] = -1.2  # at the wall
    velocities = rng.uniform(-0.07, 0.07, 500).astype(np.float32)
    actions = rng.integers(0, 3, 500).astype(np.int32)
    env = MountainCar(hold=1)
    ours, _, terminal = jax.jit(jax.vmap(lambda s, a: env.step(jax.random.key(0), s, a, PARAMS)))(
        MountainCarState(jnp.asarray(positions), jnp.asarray(velocities)), jnp.asarray(actions)
    )
    theirs = []
    for state in zip(positions, velocities, actions, strict=True):
        gym_car.state = (float(state[0]), float(state[1]))
        observation, _, terminated, _, _ = gym_car.step(int(state[2]))
        theirs.append((*observation, terminated))
    np.testing.assert_allclose(np.column_stack(ours), np.array(theirs)[:, :2], rtol=1e-5, atol=2e-7)
    np.testing.assert_array_equal(terminal, np.array(theirs)[:, 2])
    assert 0 < np.sum(terminal) < 500


def test_a_decision_holds_for_twenty_steps():
    rng = np.random.default_rng(2)
    slow, fast = ENV.reset(jax.random.key(0), PARAMS), ENV.reset(jax.random.key(0), PARAMS)
    for action in rng.integers(0, 3, 8).astype(np.int32):
        slow, _, _ = step(ENV, slow, action)
        for _ in range(20):
            fast, _, _ = step(MountainCar(hold=1), fast, action)
        np.testing.assert_allclose(slow, fast, atol=1e-6)
    assert abs(float(slow.position) + 0.5) > 0.01  # it has moved


def test_the_car_stops_at_the_goal():
    state, reward, terminal = step(ENV, car(0.45, 0.06), jnp.int32(0))
    # Arrives in the first of the twenty steps, and would roll back in the others.
    assert GOAL <= float(state.position) < 0.52
    assert (float(reward), bool(terminal)) == (-1.0, True)
    again, reward, terminal = step(ENV, state, jnp.int32(0))
    np.testing.assert_array_equal(again, state)
    assert (float(reward), bool(terminal)) == (0.0, True)


def test_six_decisions_are_the_fewest():
    """Breadth-first over all sequences of decisions, states equal to four decimals merged."""
    states, depth = np.array([[-0.5, 0.0]], np.float32), 0
    decisions = jnp.arange(3, dtype=jnp.int32)
    while np.all(states[:, 0] < GOAL):
        assert len(states) <= 4096
        padded = np.resize(states, (4096, 2))  # one compiled shape
        after = next_states(MountainCarState(*jnp.asarray(padded.T)), decisions)
        children = np.stack(after, axis=-1)[: len(states)].reshape(-1, 2)
        _, first = np.unique(np.round(children, 4), axis=0, return_index=True)
        states, depth = children[first], depth + 1
    assert depth == 6
    assert (-ENV.horizon, -depth) == RETURN_RANGE


def test_observations():
    low, high = POSITION_LIMITS
    corners = [(low, -SPEED_LIMIT), (high, SPEED_LIMIT), (-0.3, 0.0)]
    for (position, velocity), expected in zip(corners, [(0, 0), (1, 1), (0.5, 0.5)], strict=True):
        observation = ENV.observe(car(position, velocity), PARAMS)
        assert observation.dtype == jnp.float32
        np.testing.assert_allclose(observation, expected, atol=1e-6)
        assert float(observation.min()) >= 0
        assert float(observation.max()) <= 1
