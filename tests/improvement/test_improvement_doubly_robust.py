"""Doubly robust values: exact with a right model, unbiased with any other."""

import numpy as np
import pytest

from jaxrace.improvement import doubly_robust, fit_rewards

rng = np.random.default_rng(0)
CHANCES, LOGGED = rng.dirichlet([1, 1, 1], 5), rng.dirichlet([2, 2, 2], 5)
REWARDS = rng.random((5, 3))
TRUTH = (CHANCES * REWARDS).sum(1)


def values(action, model):
    """Of five decisions, had each been the same action."""
    rewards, logged = REWARDS[:, action], LOGGED[:, action]
    return doubly_robust(CHANCES, model, np.full(5, action), logged, rewards)


def test_a_right_model_needs_no_luck():
    for action in range(3):
        np.testing.assert_allclose(values(action, REWARDS), TRUTH, rtol=1e-12)


@pytest.mark.parametrize("model", [np.zeros((5, 3)), np.ones((5, 3)), rng.normal(size=(5, 3))])
def test_any_model_is_unbiased(model):
    """Summed over all actions that may have been logged, with their probabilities."""
    expected = sum(LOGGED[:, action] * values(action, model) for action in range(3))
    np.testing.assert_allclose(expected, TRUTH, rtol=1e-12)


def test_without_a_model_it_is_importance_sampling():
    found = values(1, np.zeros((5, 3)))
    np.testing.assert_allclose(found, CHANCES[:, 1] / LOGGED[:, 1] * REWARDS[:, 1])


def test_an_action_that_the_policy_lacks_has_no_weight():
    found = doubly_robust([[0.25, 0.75]], [[1.0, 0.0]], [2], [0.1], [9.0])
    assert found.tolist() == [0.25]


def test_the_model_is_least_squares():
    features = np.insert(rng.normal(size=(4_000, 2)), 0, 1, axis=1)
    actions = rng.integers(2, size=4_000)
    truth = np.array([[0.3, 0.2, -0.1], [0.6, 0.0, 0.4]])
    rewards = (features * truth[actions]).sum(1) + rng.normal(0, 0.1, 4_000)
    np.testing.assert_allclose(fit_rewards(features, actions, rewards, 2), truth, atol=0.02)
