"""The gridworld against a walk in plain Python, and its dynamic programme against rollouts."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace.envs.gridworld import RETURN_RANGE, Gridworld
from papers.improvements.grid import expected_return, initial_probabilities

UP, DOWN, LEFT, RIGHT = range(4)


def uniform(size=4):
    return jnp.full((size * size, 4), 0.25, jnp.float32)


def shortest_path(size=4):
    """Down the left side, then right along the bottom."""
    policy = np.zeros((size * size, 4), np.float32)
    policy[:, DOWN] = 1
    policy[-size:] = np.eye(4)[RIGHT]
    return jnp.asarray(policy)


def normalised(value):
    low, high = RETURN_RANGE
    return (value - low) / (high - low)


def walk(env, actions, state=None):
    """States, rewards and terminal flags, a step at a time."""
    state = env.reset(jax.random.key(0), env.default_params) if state is None else state
    history = []
    for action in actions:
        state, reward, terminal = env.step(
            jax.random.key(0), state, jnp.int32(action), env.default_params
        )
        history.append((tuple(map(int, state)), float(reward), bool(terminal)))
    return history


@jax.jit(static_argnums=(0, 3))
def returns(env, policy, key, episodes):
    """Undiscounted returns [episodes] of a policy [C, A]."""

    def one(key):
        def advance(carry, key):
            state, ended = carry
            row = policy[state[0] * env.size + state[1]]
            action = jax.random.categorical(key, jnp.log(row)).astype(jnp.int32)
            state, reward, terminal = env.step(key, state, action, {})
            return (state, ended | terminal), jnp.where(ended, 0.0, reward)

        start = (env.reset(key, {}), jnp.bool_(False))
        return jax.lax.scan(advance, start, jax.random.split(key, env.horizon))[1].sum()

    return jax.vmap(one)(jax.random.split(key, episodes))


@pytest.mark.parametrize(
    ("policy", "expected"),
    [(initial_probabilities, 0.2380), (uniform, 0.0170), (shortest_path, 1.0)],
)
def test_normalised_expected_returns(policy, expected):
    value = normalised(jax.jit(expected_return, static_argnums=1)(policy(), 10))
    assert value.dtype == jnp.float32
    assert abs(float(value) - expected) < 0.00005  # the digits that are given


@pytest.mark.parametrize("horizon", [1, 5, 10, 25])
@pytest.mark.parametrize("size", [2, 4])
def test_expected_return_agrees_with_powers_of_the_transition_matrix(size, horizon):
    rng = np.random.default_rng(size)
    policy = rng.dirichlet(np.ones(4), size * size).astype(np.float32)
    cells = size * size
    chain = np.zeros((cells, cells))
    for cell in range(cells):
        row, column = divmod(cell, size)
        targets = {
            UP: (max(row - 1, 0), column),
            DOWN: (min(row + 1, size - 1), column),
            LEFT: (row, max(column - 1, 0)),
            RIGHT: (row, min(column + 1, size - 1)),
        }
        for action, (to_row, to_column) in targets.items():
            chain[cell, to_row * size + to_column] += policy[cell, action]
    chain[-1] = np.eye(cells)[-1]
    # A step costs 1 for everybody who has not arrived before it.
    away = [1 - np.linalg.matrix_power(chain, t)[0, -1] for t in range(horizon)]
    np.testing.assert_allclose(expected_return(jnp.asarray(policy), horizon), -sum(away), rtol=1e-5)


@pytest.mark.parametrize("policy", [initial_probabilities(), uniform()])
def test_rollouts_agree_with_the_dynamic_programme(policy):
    sample = np.asarray(returns(Gridworld(), policy, jax.random.key(1), 40_000), np.float64)
    # The standard error is .007 (initial) and .002 (uniform).
    standard_error = sample.std() / np.sqrt(sample.size)
    assert 0.001 < standard_error < 0.01
    assert abs(sample.mean() - float(expected_return(policy, 10))) < 4 * standard_error
    assert set(sample) <= {-10.0, -9.0, -8.0, -7.0, -6.0}


def test_moves_and_walls():
    env = Gridworld()
    assert [place for place, _, _ in walk(env, (UP, LEFT, RIGHT, DOWN, UP, LEFT))] == [
        (0, 0),
        (0, 0),
        (0, 1),
        (1, 1),
        (0, 1),
        (0, 0),
    ]
    far = jnp.array([3, 0], jnp.int32)
    assert [place for place, _, _ in walk(env, (DOWN, LEFT), far)] == [(3, 0)] * 2
    far = jnp.array([0, 3], jnp.int32)
    assert [place for place, _, _ in walk(env, (UP, RIGHT), far)] == [(0, 3)] * 2


def test_the_shortest_path_ends_and_the_walker_stays():
    history = walk(Gridworld(), [DOWN] * 3 + [RIGHT] * 3 + [UP, LEFT])
    assert [terminal for _, _, terminal in history] == [False] * 5 + [True] * 3
    assert [reward for _, reward, _ in history] == [-1.0] * 6 + [0.0] * 2
    assert [place for place, _, _ in history[5:]] == [(3, 3)] * 3
    assert sum(reward for _, reward, _ in history) == RETURN_RANGE[1]


@pytest.mark.parametrize("size", [2, 4, 7, 10])
def test_observations_tell_the_cell(size):
    env = Gridworld(size=size)
    for cell in range(size * size):
        place = jnp.array(divmod(cell, size), jnp.int32)
        observation = env.observe(place, {})
        assert observation.dtype == jnp.float32
        np.testing.assert_allclose(observation, np.array(place) / (size - 1), rtol=1e-6)
