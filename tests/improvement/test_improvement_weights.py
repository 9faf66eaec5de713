"""Importance sampling: unbiased where all trajectories can be listed, and equal to a reference."""

import dataclasses
import itertools
import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference import improvement as reference

from jaxrace.agents.bases import Affine, Cells, Fourier
from jaxrace.improvement import LinearSoftmax, Mixed, ReturnRange, StudentT, trajectories, weights
from jaxrace.improvement.bounds import Used
from jaxrace.improvement.candidates import SearchTask, objective
from jaxrace.improvement.weights import empty_rows
from jaxrace.judging.policies.trajectories import require_actions, require_returns

# Compiled as a whole: operation by operation takes several times as long.
evidence = jax.jit(weights.evidence, static_argnums=(0, 2))
log_weights = jax.jit(weights.log_weights)
weighted_estimate, joined = jax.jit(weights.weighted_estimate), jax.jit(weights.joined)


@jax.jit
def weigh(policy, known):
    """Weights, and weighted returns."""
    found = jnp.exp(weights.log_weights(policy, known))
    return found, weights.weighted_returns(found, known)


def f32(numbers) -> Any:
    return np.asarray(numbers, np.float32)


def together(*parts):
    """All their rows."""
    return jax.tree.map(lambda *leaves: np.concatenate(leaves), *parts)


SOFTMAX = LinearSoftmax(Fourier(1, 1), num_actions=2)
HORIZON, DISCOUNT = 3, 0.9
RETURNS = ReturnRange(-1.5, 4.0, DISCOUNT)

# A decision process of two states (and an end), two actions, three steps.
START = np.array([0.7, 0.3])
NEXT = np.array([[[0.5, 0.3, 0.2], [0.1, 0.6, 0.3]], [[0.6, 0.0, 0.4], [0.25, 0.75, 0.0]]])
REWARDS = np.array([[1.0, -0.5], [0.3, 1.4]])  # of a state and an action

WORSE, BETTER, OTHER = (
    np.array(theta) for theta in np.random.default_rng(3).normal(0, 1, (3, 2, 2))
)


def chances(theta, observation):
    """Softmax probabilities; the features of x are 1 and cos(pi x)."""
    features = np.array([1.0, np.cos(np.pi * observation[0])])
    powers = np.exp(theta @ features)
    return powers / powers.sum()


def policy_of(theta, alpha=1.0, initial=None):
    def policy(observation):
        own = alpha * chances(theta, observation)
        return own if initial is None else own + (1 - alpha) * chances(initial, observation)

    return policy


def every_trajectory(policy):
    """All trajectories and their probabilities; the observation of state s is [s]."""
    found = []

    def extend(state, steps, probability):
        for action in range(2):
            observation = np.array([float(state)])
            chance = policy(observation)[action]
            step = reference.Step(observation, action, chance, REWARDS[state, action])
            now = probability * chance
            for following in range(3):
                here = now * NEXT[state, action, following]
                if here == 0:
                    continue
                if following == 2 or len(steps) + 1 == HORIZON:
                    found.append(([*steps, step], here))
                else:
                    extend(following, [*steps, step], here)

    for state in range(2):
        extend(state, [], START[state])
    return found


def value_of(policy):
    """The exact performance, backwards in time."""
    values = np.zeros(3)
    for _ in range(HORIZON):
        values = np.array(
            [
                *(
                    sum(
                        policy([s])[a] * (REWARDS[s, a] + DISCOUNT * NEXT[s, a] @ values)
                        for a in range(2)
                    )
                    for s in range(2)
                ),
                0.0,
            ]
        )
    return (START @ values[:2] - RETURNS.low) / (RETURNS.high - RETURNS.low)


def as_data(listed, behaviour=None):
    """``Trajectories`` of lists of steps, with rubbish beyond the end of each."""
    shape = len(listed), HORIZON
    actions, probabilities = np.full(shape, -7), np.full(shape, np.nan)
    observations, rewards = np.full((*shape, 1), np.nan), np.full(shape, np.inf)
    for i, t in itertools.product(*map(range, shape)):
        if t < len(listed[i]):
            step = listed[i][t]
            observations[i, t], actions[i, t] = step.observation, step.action
            probabilities[i, t], rewards[i, t] = step.probability, step.reward
    lengths = np.array([len(one) for one in listed])
    return trajectories(observations, actions, probabilities, rewards, lengths, behaviour)


def sampled(rng, count):
    """Trajectories by chance, of two policies."""
    listed = []
    for theta in (WORSE, OTHER):
        found, probabilities = zip(*every_trajectory(policy_of(theta)), strict=True)
        listed += [found[k] for k in rng.choice(len(found), count, p=np.array(probabilities))]
    return listed


@pytest.mark.parametrize("alpha", [1.0, 0.7, 0.0])
def test_weighted_returns_are_unbiased(alpha):
    """Half of the trajectories of each of two policies; the mixture is with a third one."""
    found = [every_trajectory(policy_of(theta)) for theta in (WORSE, OTHER)]
    probabilities = np.array([p / 2 for listed in found for _, p in listed])
    data = as_data([one for listed in found for one, _ in listed])
    initial = np.array([[0.3, -0.2], [0.1, 0.9]])
    known = evidence(SOFTMAX, data, RETURNS, f32(initial))
    found, returns = weigh(Mixed(f32(BETTER), f32(alpha)), known)
    np.testing.assert_allclose(probabilities @ np.asarray(found), 1, rtol=1e-5)
    mean = probabilities @ np.asarray(returns, np.float64)
    np.testing.assert_allclose(mean, value_of(policy_of(BETTER, alpha, initial)), rtol=1e-5)


def test_mixtures_with_whatever_generated_the_data():
    """Without a known initial policy, each trajectory is mixed with its own behaviour policy."""
    for theta in (WORSE, OTHER):
        listed = every_trajectory(policy_of(theta))
        known = evidence(SOFTMAX, as_data([one for one, _ in listed]), RETURNS, None)
        _, returns = weigh(Mixed(f32(BETTER), f32(0.4)), known)
        mean = np.array([p for _, p in listed]) @ np.asarray(returns, np.float64)
        np.testing.assert_allclose(mean, value_of(policy_of(BETTER, 0.4, theta)), rtol=1e-5)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_weighted_estimate_of_ragged_trajectories(seed):
    """With empty rows, which count for nothing."""
    listed = sampled(np.random.default_rng(seed), 8)
    data = as_data(listed)
    data = together(empty_rows(data, 3), data, empty_rows(data, 2))
    known = evidence(SOFTMAX, data, RETURNS, f32(BETTER))
    found, _ = weigh(Mixed(f32(BETTER), f32(1)), known)
    numbers = RETURNS.low, RETURNS.high, DISCOUNT
    expected = reference.weighted(listed, policy_of(BETTER), *numbers)
    np.testing.assert_allclose(weighted_estimate(found, known), expected, rtol=2e-5)


def test_what_cannot_be():
    done = np.array([[0, 1, 2]])
    data = trajectories(np.zeros((1, 3, 1)), done, np.full((1, 3), 0.5), np.full((1, 3), 5.0))
    softmax = LinearSoftmax(Affine(1), 3)
    theta = softmax.example()
    bad = {
        "theta: expected numbers [3, 2], got [2, 2]": lambda: softmax.require_theta(
            "theta", theta[:2]
        ),
        "theta[0, 0]: expected a finite number": lambda: softmax.require_theta(
            "theta", theta + np.nan
        ),
        "data: expected actions below 2, got 2": lambda: require_actions("data", data, 2),
        "data[0]: expected a return from 0 to 10": lambda: require_returns(
            "data[{}]".format, data, ReturnRange(0, 10)
        ),
        "observation: expected 2 numbers": lambda: evidence(
            LinearSoftmax(Fourier(1, 2), 3), data, ReturnRange(0, 20), None
        ),
    }
    for message, wrong in bad.items():
        with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
            wrong()


def test_the_objective():
    """f of four policies on some of the rows: two of each kind of value."""
    listed = sampled(np.random.default_rng(6), 20)
    known = evidence(SOFTMAX, as_data(listed), RETURNS, f32(WORSE))
    part = np.random.default_rng(7).uniform(size=40) < 0.8
    thetas = np.stack([WORSE, BETTER, OTHER, 3 * BETTER])
    alphas = np.array([1, 0.5, 0.8, 0.3])
    some = [one for one, is_in in zip(listed, part, strict=True) if is_in]
    estimate_of, bound_of = [], []
    for theta, alpha in zip(thetas, alphas, strict=True):
        arguments = some, policy_of(theta, alpha, WORSE), RETURNS.low, RETURNS.high, DISCOUNT
        estimate_of.append(reference.weighted(*arguments))
        values = reference.weighted_returns(*arguments)
        bound_of.append(reference.student_bound(values, 0.05, 160))
    floor = float(np.sort(bound_of)[1:3].mean())
    rows = Used(jnp.asarray(part), jnp.zeros(40, jnp.int32))
    needs = jnp.float32(0.05), jnp.float32(floor), jnp.int32(160), f32(WORSE), jnp.bool_(True)

    @jax.jit
    def judge(known, rows, needs, policies):
        return objective(SearchTask(StudentT(), known._replace(rows=rows), *needs), None, policies)

    found = judge(known, rows, needs, Mixed(f32(thetas), f32(alphas)))
    expected = list(map(reference.objective, estimate_of, bound_of, [floor] * 4))
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    assert sum(np.isclose(expected, estimate_of)) == 2


def test_weights_of_any_size():
    """Products of fifty ratios of 4 are e^69; of steps that cannot happen, 0, and then g is 0."""
    shape = (2, 50)
    data = trajectories(
        np.zeros((*shape, 1)), np.zeros(shape, int), np.full(shape, 0.125), np.ones(shape)
    )
    known = evidence(SOFTMAX, data, ReturnRange(0, 50), None)
    half = Mixed(f32(np.zeros((2, 2))), f32(1))
    np.testing.assert_allclose(log_weights(half, known), 50 * np.log(4), rtol=1e-6)
    found, returns = weigh(Mixed(f32([[-400, 0], [400, 0]]), f32(1)), known)
    np.testing.assert_array_equal(found, 0)
    assert weighted_estimate(found, known) == 0
    np.testing.assert_array_equal(returns, 0)


def test_tables_are_weighed_by_their_visits():
    """The same as step by step, with empty rows, short trajectories and mixtures."""
    rng = np.random.default_rng(11)
    softmax = LinearSoftmax(Cells(2, 1), num_actions=3)
    shape = 30, 6
    data = trajectories(
        rng.random((*shape, 1)),
        rng.integers(3, size=shape),
        rng.uniform(0.1, 1, shape),
        rng.random(shape),
        lengths=rng.integers(1, 7, 30),
    )
    data = dataclasses.replace(data, behaviour=np.where(np.arange(30) < 25, 0, -1).astype("i4"))
    initial = f32(rng.normal(size=(3, 2)))
    known = evidence(softmax, data, ReturnRange(0, 6), initial)
    assert known.visits is not None
    for alpha in (0.0, 0.3, 1.0):
        policy = Mixed(f32(3 * rng.normal(size=(3, 2))), f32(alpha))
        stepwise = log_weights(policy, known._replace(visits=None))
        np.testing.assert_allclose(log_weights(policy, known), stepwise, rtol=1e-4, atol=1e-4)
    found, _ = weigh(Mixed(f32([[500, 500], [0, 0], [0, 0]]), f32(1)), known)
    others = ((np.asarray(data.actions) != 0) & np.asarray(data.taken)).any(1)
    assert np.isfinite(found).all()
    assert (np.asarray(found)[others] == 0).all()
    assert (np.asarray(found)[~others] > 0).all()


@pytest.mark.parametrize("basis", [Cells(4, 2), Fourier(1, 2)])
def test_evidence_of_two_sets_together(basis):
    """Policies that are tables have counts of visits, too."""
    rng = np.random.default_rng(0)
    first, second = (
        trajectories(
            rng.integers(4, size=(count, 3, 2)),
            rng.integers(2, size=(count, 3)),
            np.full((count, 3), 0.5),
            rng.random((count, 3)),
        )
        for count in (3, 5)
    )
    softmax, returns = LinearSoftmax(basis, 2), ReturnRange(0, 3)
    initial = jnp.asarray(softmax.example())
    parts = [evidence(softmax, data, returns, initial) for data in (first, second)]
    expected = evidence(softmax, together(first, second), returns, initial)
    assert (expected.visits is None) == (not isinstance(basis, Cells))
    jax.tree.map(np.testing.assert_array_equal, joined(*parts), expected)
