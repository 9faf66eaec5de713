"""Every environment of ours keeps the contract, in all of JAX's modes, and names bad arguments."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace.envs import GymnaxAdapter, check, gridworld, medical, mountain_car
from papers.improvements import grid, marketing
from papers.improvements.open_bandit import load, one_step
from papers.preference_racing import options

ENVIRONMENTS = [
    (gridworld.Gridworld(), np.int32(1)),
    (mountain_car.MountainCar(), np.int32(1)),
    (marketing.Marketing(), np.int32(1)),
    (medical.Medical(), np.float32(0.4)),
]


@pytest.mark.parametrize(("env", "action"), ENVIRONMENTS, ids=repr)
def test_contract(env, action):
    check(env, action)
    assert len({env, dataclasses.replace(env)}) == 1


@pytest.mark.parametrize(("env", "action"), ENVIRONMENTS, ids=repr)
def test_an_action_must_be_a_scalar(env, action):
    params = env.default_params
    with pytest.raises(AssertionError):
        env.step(jax.random.key(0), env.reset(jax.random.key(0), params), action[None], params)


@pytest.mark.parametrize(("env", "action"), ENVIRONMENTS, ids=repr)
def test_strict_promotion_and_x64_change_nothing(env, action):
    def play():
        params = env.default_params
        state = env.reset(jax.random.key(7), params)
        state, reward, terminal = env.step(jax.random.key(8), state, action, params)
        worth = grid.expected_return(grid.initial_probabilities(4), 10)
        return state, reward, terminal, env.observe(state, params), worth

    plain = jax.jit(play)()
    with jax.enable_x64(True), jax.numpy_dtype_promotion("strict"):
        found = jax.jit(play)()
    for ours, theirs in zip(jax.tree.leaves(found), jax.tree.leaves(plain), strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)


# Much here has the wrong type on purpose, so type checkers are told nothing of these.
MEDICAL: Any = medical.Medical
CAR: Any = mountain_car.MountainCar
GRID: Any = gridworld.Gridworld
MARKETING: Any = marketing.Marketing
ADAPTER: Any = GymnaxAdapter
LOAD: Any = load
ONE_STEP: Any = one_step
EVEN = jnp.full((16, 4), 0.25, jnp.float32)
TASKS = (options.Normal(), options.BernoulliDrift(), options.Uniform())

BAD = [
    *(
        (lambda env=env: env(horizon=0), "horizon: expected an integer of at least 1, got 0")
        for env in (GRID, CAR, MARKETING, MEDICAL)
    ),
    (lambda: MARKETING(20.0), "horizon: expected an integer of at least 1, got 20.0"),
    (lambda: GRID(size=1), "size: expected an integer of at least 2, got 1"),
    (lambda: GRID(4.0), "size: expected an integer of at least 2, got 4.0"),
    (
        lambda: grid.initial_probabilities(0),
        "size: expected an integer of at least 2, got 0",
    ),
    (
        lambda: grid.expected_return(EVEN, 0),
        "horizon: expected an integer of at least 1, got 0",
    ),
    (lambda: grid.expected_return(EVEN[:15], 1), r"expected shape .* got \[15, 4\]"),
    (lambda: grid.expected_return(EVEN[:, :3], 1), r"expected shape .* got \[16, 3\]"),
    (lambda: grid.expected_return(EVEN[0], 1), r"expected shape .* got \[4\]"),
    (lambda: MEDICAL("zaho"), "reward: expected one of zhao, printed, got 'zaho'"),
    (lambda: MEDICAL.make_params("zhao"), "coefficients: expected one of .* got 'zhao'"),
    (lambda: MEDICAL.make_params("seed000", "C"), "hazard: expected one of .* got 'C'"),
    (lambda: CAR(hold=True), "hold: expected an integer of at least 1, got True"),
    (lambda: ADAPTER(object(), 8), "env: expected a gymnax environment with reset_env, got"),
    (lambda: LOAD("kids"), "campaign: expected one of .* got 'kids'"),
    (lambda: LOAD("all", "ts"), "logger: expected one of .* got 'ts'"),
    (lambda: ONE_STEP(load(), 3), "position: expected None or an integer in 0..2, got 3"),
    (lambda: ONE_STEP(load(), 1.0), "position: expected .* got 1.0"),
    *(
        (
            lambda task=task: task.draw(jax.random.key(0), 1.0, num_options=0),
            "num_options: expected an integer of at least 1, got 0",
        )
        for task in TASKS
    ),
    (lambda: options.BernoulliDrift(0.0), "drift_scale: expected a positive number, got 0"),
]


@pytest.mark.parametrize(("make", "message"), BAD)
def test_bad_arguments_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
