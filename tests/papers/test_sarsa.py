"""SARSA(lambda): the plain reference, known optima, the medical task, budgets and bad input."""

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference.sarsa import learn_episode

from jaxrace.agents.policies import UniformChoice
from jaxrace.envs import medical
from papers.preference_racing.learners.sarsa import Sarsa
from papers.preference_racing.learners.tabular import GreedyTable, Grid


@dataclasses.dataclass(frozen=True)
class Mdp:
    """A finite decision process; params = (start [S], next [S, A, S], reward [S, A], end [S]).

    The first two are cumulative probabilities, `end` says which states are terminal. With
    `poison` the steps after the end are NaN, which must not be seen.
    """

    horizon: int
    default_params: Any = None
    continues_after_terminal: bool = False
    poison: bool = False

    def reset(self, key, params):
        noise = jax.random.uniform(key, (self.horizon + 1,), jnp.float32)
        start = (noise[0] >= params[0]).sum(dtype=jnp.int32)
        return start, noise[1:], jnp.zeros((), jnp.int32), jnp.zeros((), bool)

    def step(self, key, state, action, params):
        place, noise, time, ended = state
        action = action.astype(jnp.int32)
        _, successors, rewards, ends = params
        place_after = (noise[time] >= successors[place, action]).sum(dtype=jnp.int32)
        reward = rewards[place, action]
        if self.poison:
            reward = jnp.where(ended, jnp.nan, reward)
        ended = ends[place_after]
        return (place_after, noise, time + 1, ended), reward, ended

    def observe(self, state, params):
        return state[0][None].astype(jnp.float32)


def table_of(num_states, num_actions):
    """One cell for every state of an `Mdp`."""
    grid = Grid(low=(-0.5,), high=(num_states - 0.5,), bins=num_states)
    return GreedyTable(grid, tuple(float(action) for action in range(num_actions)))


def deterministic(successors, rewards, ends, start):
    """The params of an `Mdp` without chance, but for its uniform start among some states."""
    num_states = len(ends)
    first = np.isin(np.arange(num_states), start) / len(start)
    return (
        jnp.asarray(np.minimum(np.cumsum(first), 1), jnp.float32),
        jnp.asarray(np.cumsum(np.eye(num_states)[np.array(successors)], -1), jnp.float32),
        jnp.asarray(rewards, jnp.float32),
        jnp.asarray(ends, bool),
    )


def random_mdp(seed, num_states, num_actions):
    rng = np.random.default_rng(seed)

    def cumulative(shape):
        return np.cumsum(rng.dirichlet(np.ones(num_states), shape), -1).astype(np.float32)

    start, successors = cumulative(()), cumulative((num_states, num_actions))
    start[-1], successors[..., -1] = 1, 1
    rewards = rng.normal(size=(num_states, num_actions)).astype(np.float32)
    ends = np.arange(num_states) == num_states - 1
    return jax.tree.map(jnp.asarray, (start, successors, rewards, ends))


def play_reference(values, key, tau, horizon, params, rates):
    """The reference on the very episode that the learner plays; keys as `Sarsa` promises them."""
    start, successors, rewards, ends = params
    key = jax.random.fold_in(key, tau)
    draw = functools.partial(jax.random.uniform, dtype=jnp.float32)
    chance = np.asarray(draw(jax.random.fold_in(key, 0), (horizon + 1,)))
    noise = np.asarray(draw(jax.random.fold_in(key, 1), (horizon + 1, 2)))

    def step(t, cell, action):
        after = int((chance[t] >= successors[cell, action]).sum())
        return after, float(rewards[cell, action]), bool(ends[after])

    def reset():
        return int((chance[0] >= start).sum())

    return learn_episode(values, tau, horizon, reset, step, noise.__getitem__, **rates)


@pytest.mark.parametrize("seed", [1, 3])
def test_every_episode_agrees_with_the_reference(seed):
    num_states, num_actions, horizon = 3 + seed % 3, 2 + seed % 2, 8
    mdp = random_mdp(seed, num_states, num_actions)
    rates: dict[str, Any] = {
        "learning_rate": [0.1, 0.5, 1.0][seed % 3],
        "exploration": [0.2, 0.9][seed % 2],
        "trace_decay": [0.95, 0.5, 1.0][seed // 2],
        "discount": [1.0, 0.9][seed // 3],
        "episodes_per_divisor": [10, 10, 7, 1, 10, 60][seed],
    }
    env = Mdp(horizon, poison=True)
    learner = Sarsa(env, table_of(num_states, num_actions), episodes_per_step=1)
    params = learner.params(budget=60, env_params=mdp, **rates)
    key = jax.random.key(seed)
    state = learner.init(key, params)
    step = jax.jit(learner.step)
    mdp = jax.tree.map(np.asarray, mdp)
    values = np.zeros((num_states, num_actions))
    lengths, total_revisits = [], 0
    for tau in range(1, 61):
        length, revisits, lead = play_reference(values, key, tau, horizon, mdp, rates)
        state, row = step(state, params)

        assert lead > 1e-5  # no choice hangs on how float32 is rounded
        np.testing.assert_allclose(row.best, values, rtol=1e-4, atol=1e-5, err_msg=f"{tau}")
        assert row.valid
        lengths.append(length)
        total_revisits += revisits
    assert min(lengths) < horizon  # some ended before the horizon,
    assert total_revisits > 10  # and traces were replaced


def learn(learner, params, repeats, seed=0):
    """All rows [R, generations, ...] of some repeats."""
    keys = jax.random.split(jax.random.key(seed), repeats)
    generations = -(-int(params.budget) // learner.episodes_per_step)
    return _learn(learner, generations, keys, params)


@functools.partial(jax.jit, static_argnums=(0, 1))
def _learn(learner, generations, keys, params):
    def one(key):
        state = learner.init(key, params)
        return jax.lax.scan(lambda s, _: learner.step(s, params), state, None, generations)[1]

    return jax.vmap(one)(keys)


def test_a_chain_is_walked_to_its_end():
    """Every step costs 1, action 1 goes right and 0 left: Q(s, right) = s - 4 in states 0 to 3."""
    places = np.arange(5)
    successors = np.stack([np.maximum(places - 1, 0), np.minimum(places + 1, 4)], 1)
    params = deterministic(successors, -np.ones((5, 2)), places == 4, start=places[:4])
    learner = Sarsa(Mdp(horizon=30), table_of(5, 2))
    numbers = learner.params(2000, learning_rate=0.5, exploration=0.5, env_params=params)

    tables = learn(learner, numbers, repeats=8).best[:, -1]

    assert (jnp.argmax(tables[:, :4], -1) == 1).all()
    np.testing.assert_allclose(tables[:, :4, 1], np.tile(places[:4] - 4.0, (8, 1)), atol=0.2)
    np.testing.assert_array_equal(tables[:, 4], np.zeros((8, 2)))  # the terminal state


MEDICAL = Sarsa(
    medical.Medical(),
    GreedyTable(Grid(low=(0.0, -2.0), high=(8.0, 8.0), bins=20), medical.DOSES),
)


def stack(*settings):
    """Settings with a leading axis."""
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *settings)


def test_episodes_are_counted_until_the_budget_is_used_up():
    learner = dataclasses.replace(MEDICAL, episodes_per_step=30)
    params = learner.params(budget=100)
    state = learner.init(jax.random.key(0), params)
    step = jax.jit(learner.step)
    rows = []
    while not learner.done(state, params):
        state, row = step(state, params)
        rows.append(row)
    assert [int(row.episodes) for row in rows] == [30, 60, 90, 120]
    assert [int(row.generation) for row in rows] == [1, 2, 3, 4]
    assert {(bool(row.ran), int(row.simulated), bool(row.valid)) for row in rows} == {
        (True, 30, True)
    }

    after, row = step(state, params)

    for name in ("generation", "episodes", "table"):
        np.testing.assert_array_equal(getattr(after, name), getattr(state, name))
    assert (jax.random.key_data(after.key) == jax.random.key_data(state.key)).all()
    assert (bool(row.ran), int(row.simulated), bool(row.valid)) == (False, 0, True)
    np.testing.assert_array_equal(row.best, state.table)
    assert int(row.generation) == 4


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_a_reward_that_is_no_number_is_invalid(number):
    """Only in state 1, to which action 1 leads; the first episodes stay in state 0."""
    successors, rewards = [[0, 1], [0, 1]], [[1, 0], [0, number]]
    params = deterministic(successors, rewards, [False, False], start=[0])
    learner = Sarsa(Mdp(horizon=4), table_of(2, 2), episodes_per_step=1)
    numbers = learner.params(100, exploration=0.1, env_params=params)
    valid = learn(learner, numbers, repeats=1).valid[0]
    assert valid[0]
    assert not valid[-1]


def test_an_observation_that_is_nan_is_invalid():
    @dataclasses.dataclass(frozen=True)
    class Blind(Mdp):
        def observe(self, state, params):
            return jnp.where(state[2] == 1, jnp.nan, super().observe(state, params))

    params = deterministic([[0]], [[1.0]], [False], start=[0])
    for horizon, valid in ((1, True), (2, False)):  # after the last step nobody looks
        learner = Sarsa(Blind(horizon), table_of(1, 1))
        rows = learn(learner, learner.params(100, env_params=params), repeats=1)
        assert bool(rows.valid[0, 0]) == valid


SARSA: Any = Sarsa


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: SARSA(Mdp(0), table_of(1, 1)), "env.horizon: expected an integer of at least"),
        (lambda: SARSA(Mdp(1, default_params=[]), table_of(1, 1)), "env: expected a hashable"),
        (lambda: SARSA(Mdp(1), UniformChoice(2)), "policy: expected a GreedyTable, got"),
        (lambda: SARSA(Mdp(1), table_of(1, 1), 0), "episodes_per_step: expected an integer"),
        (lambda: MEDICAL.params(budget=0), "budget: expected an integer of at least 1, got 0"),
        (lambda: MEDICAL.params(learning_rate=0.0), "learning_rate: expected a positive number"),
        (lambda: MEDICAL.params(learning_rate=1.5), "learning_rate: expected .* at most 1, got"),
        (lambda: MEDICAL.params(exploration=-0.1), "exploration: expected a number in"),
        (lambda: MEDICAL.params(trace_decay=1.1), "trace_decay: expected a number of at most 1"),
        (lambda: MEDICAL.params(discount=np.nan), "discount: expected a number in"),
        (lambda: MEDICAL.params(episodes_per_divisor=0), "episodes_per_divisor: expected an int"),
        (lambda: MEDICAL.init(jnp.zeros(2), MEDICAL.params()), "key: expected a key from"),
    ],
)
def test_bad_arguments_are_named(act, message):
    with pytest.raises(ValueError, match=message):
        act()
