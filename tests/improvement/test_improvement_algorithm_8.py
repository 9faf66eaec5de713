"""Daedalus, batch by batch: which data it holds, which policies, and which one is run."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference import improvement as reference

from jaxrace.agents.bases import Fourier
from jaxrace.improvement import (
    BOUNDS,
    CandidateSearch,
    Daedalus,
    LinearSoftmax,
    PolicyImprovement,
    ReturnRange,
    trajectories,
)
from jaxrace.search.strategies import Strategy

BATCH, BATCHES, HORIZON = 23, 6, 2
RETURNS = ReturnRange(0, 2)
METHOD = PolicyImprovement(
    LinearSoftmax(Fourier(1, 1), 2),
    RETURNS,
    BOUNDS["t"],
    # So few evaluations that later candidates are sometimes better, and sometimes not.
    CandidateSearch(evaluations=12, strategy=Strategy("CMA_ES", population_size=6)),
)


@functools.cache
def params():
    """Made when a test needs it, not when tests are collected."""
    return METHOD.params(floor=0.45)


def chances(theta, observation):
    """Softmax probabilities; the features of x are 1 and cos(pi x)."""
    powers = np.exp(np.asarray(theta, float) @ [1.0, np.cos(np.pi * observation[0])])
    return powers / powers.sum()


def run_in_numpy(rng, theta):
    """A batch: the action that equals the state pays."""
    batch = []
    for _ in range(BATCH):
        one = []
        for _ in range(HORIZON):
            observation = np.array([float(rng.integers(2))])
            listed = chances(theta, observation)
            action = int(rng.uniform() > listed[0])
            reward = float(action == observation[0]) * rng.uniform(0.5, 1)
            one.append(reference.Step(observation, action, listed[action], reward))
        batch.append(one)
    return batch


def as_data(batch):
    """``Trajectories`` of lists of steps."""
    observations, actions, probabilities, rewards = (
        np.array([[getattr(step, name) for step in one] for one in batch])
        for name in ("observation", "action", "probability", "reward")
    )
    return trajectories(observations, actions, probabilities, rewards)


def worth(theta, data):
    """g, in the reference; a policy is its theta, as a tuple."""
    policy = functools.partial(chances, np.reshape(theta, (2, 2)))
    return reference.weighted(data, policy, RETURNS.low, RETURNS.high) if data else 0.0


def check_held(held, count, expected):
    """The rewards of the rows that there are, in their order."""
    assert int(count) == len(expected)
    rewards = np.array([[step.reward for step in one] for one in expected])
    found = np.asarray(held.rewards)[np.asarray(held.present)]
    np.testing.assert_allclose(found, rewards.reshape(-1, HORIZON), rtol=1e-6)


def test_every_batch():
    """The candidates and their bounds are taken over, everything else is found anew."""
    daedalus = Daedalus(METHOD, BATCH, BATCHES, keeps_test=False)
    added = refused = emptied = 0
    for seed in range(9):
        rng, state = np.random.default_rng(seed), None
        mine = reference.Daedalus(tuple(np.zeros(4)), BATCH, 0.45, False, worth)
        for number in range(BATCHES):
            asked = daedalus.ask(state, params()).mixed
            assert asked.alpha == 1
            current = np.reshape(mine.policies[mine.current()], (2, 2))
            np.testing.assert_allclose(asked.theta, current, rtol=1e-6)
            batch = run_in_numpy(rng, asked.theta)
            key = jax.random.fold_in(jax.random.key(seed), number)
            # The first fifth of the batch trains, once it is in random order.
            order = jax.random.permutation(jax.random.split(key)[0], BATCH)
            mine.collect([batch[place] for place in order])
            size = len(mine.test)
            state, row = daedalus.tell(state, as_data(batch), params(), key)

            candidate = tuple(np.asarray(row.candidate.theta, float).ravel())
            # The bound is that of the test set before it is emptied.
            policy = functools.partial(chances, np.reshape(candidate, (2, 2)))
            returns = reference.weighted_returns(mine.test, policy, 0, 2)
            expected = reference.student_bound(returns, 0.05, len(returns))
            np.testing.assert_allclose(row.lower_bound, expected, rtol=1e-3, atol=1e-4)
            np.testing.assert_allclose(row.estimate, worth(candidate, mine.known()), rtol=1e-4)

            is_found, is_added = mine.judge(candidate, float(row.lower_bound))
            assert (bool(row.is_found), bool(row.is_added)) == (is_found, is_added)
            assert int(state.num_policies) == len(mine.policies)
            assert int(row.current_number) == int(state.current) == mine.current()
            assert int(row.trajectories) == BATCH * (number + 1)
            check_held(state.train, state.num_train, mine.train)
            check_held(state.test, state.num_test, mine.test)
            added += is_added
            refused += is_found and not is_added
            emptied += len(mine.test) < size
    # All of these happen.
    assert added >= 9
    assert refused >= 1
    assert emptied == added


def test_the_first_tests_spend_a_half_and_a_sixth_of_delta():
    daedalus = Daedalus(METHOD, BATCH, BATCHES, keeps_test=False, spends=True)
    rng, state, deltas = np.random.default_rng(0), None, []
    for number in range(2):
        theta = daedalus.ask(state, params()).mixed.theta
        data = as_data(run_in_numpy(rng, theta))
        state, row = daedalus.tell(state, data, params(), jax.random.key(number))
        deltas.append(float(row.delta))
    np.testing.assert_allclose(deltas, [0.05 / 2, 0.05 / 6], rtol=1e-6)


# Compiled once for all that follows.
OF_ALL = Daedalus(METHOD, BATCH, BATCHES, keeps_test=False)


def test_a_batch_of_other_shapes():
    """It would be written over a part of other trajectories, without a word."""
    daedalus, key = OF_ALL, jax.random.key(0)
    data = as_data(run_in_numpy(np.random.default_rng(0), jnp.zeros((2, 2))))
    state, _ = daedalus.tell(None, data, params(), key)
    short = dataclasses.replace(
        data,
        **{
            name: getattr(data, name)[:, :1]
            for name in ("observations", "actions", "probabilities", "rewards", "taken")
        },
    )
    with pytest.raises(ValueError, match=r"^data: expected trajectories of 2 steps, as before"):
        daedalus.tell(state, short, params(), key)
    wide = dataclasses.replace(data, observations=jnp.tile(data.observations, (1, 1, 3)))
    with pytest.raises(ValueError, match=r"before, \(2, 1\), got \(2, 3\)"):
        daedalus.tell(state, wide, params(), key)
