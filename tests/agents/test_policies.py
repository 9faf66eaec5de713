"""Policies against plain NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace.agents import policies

KEY = jax.random.key(0)


@pytest.mark.parametrize(
    ("inputs", "outputs", "bias"), [(1, 1, False), (2, 3, True), (16, 3, False), (17, 1, True)]
)
def test_linear_is_a_matrix_product(inputs, outputs, bias):
    policy = policies.Linear(inputs, outputs, bias)
    rng = np.random.default_rng(0)
    theta = rng.normal(size=policy.example().shape).astype(np.float32)
    observation = rng.normal(size=inputs).astype(np.float32)

    action = policy(jnp.asarray(theta), jnp.asarray(observation), KEY)

    weights = theta.reshape(outputs, inputs + bias).astype(np.float64)
    expected = weights[:, :inputs] @ observation + (weights[:, -1] if bias else 0)
    assert action.shape == (() if outputs == 1 else (outputs,))
    np.testing.assert_allclose(np.atleast_1d(action), expected, rtol=1e-5, atol=1e-5)


def test_sigmoid_is_the_logistic_of_the_linear_policy():
    policy = policies.Sigmoid(2)
    theta, observation = jnp.array([0.5, -2.0, 0.25]), jnp.array([1.5, 0.5])

    action = policy(theta, observation, KEY)

    np.testing.assert_allclose(action, 1 / (1 + np.exp(-(0.5 * 1.5 - 2.0 * 0.5 + 0.25))), rtol=1e-6)
    assert policies.Sigmoid(2, bias=False).example().shape == (2,)


def test_softmax_draws_with_its_probabilities():
    policy = policies.Softmax(features=lambda s: jnp.eye(3) * s, num_params=3)
    theta, observation = jnp.array([1.0, 0.0, -1.0]), jnp.float32(1.5)
    expected = np.exp([1.5, 0.0, -1.5]) / np.exp([1.5, 0.0, -1.5]).sum()
    np.testing.assert_allclose(policy.probabilities(theta, observation), expected, rtol=1e-5)

    keys = jax.random.split(KEY, 20_000)
    actions = np.asarray(jax.vmap(lambda key: policy(theta, observation, key))(keys))

    share = np.bincount(actions, minlength=3) / actions.size
    # Four standard errors of a share over 20,000 draws.
    assert (np.abs(share - expected) < 4 * np.sqrt(expected * (1 - expected) / 20_000)).all()


def test_mlp_is_its_layers():
    policy = policies.MLP((2, 5, 3), output=jnp.tanh)
    rng = np.random.default_rng(1)
    theta = jax.tree.map(lambda x: rng.normal(size=x.shape).astype(np.float32), policy.example())
    observation = np.array([0.3, -0.7], np.float32)

    action = policy(jax.tree.map(jnp.asarray, theta), jnp.asarray(observation), KEY)

    (w1, b1), (w2, b2) = theta
    expected = np.tanh(np.tanh(observation @ w1 + b1) @ w2 + b2)
    np.testing.assert_allclose(action, expected, rtol=1e-5, atol=1e-6)


def test_uniform_choice_takes_each_action_equally_often():
    doses = jnp.array([0.1, 0.4, 0.7, 1.0])
    keys = jax.random.split(KEY, 20_000)

    actions = np.asarray(jax.vmap(lambda k: policies.UniformChoice(4)(doses, None, k))(keys))

    values, counts = np.unique(actions, return_counts=True)
    np.testing.assert_array_equal(values, np.asarray(doses))
    assert (np.abs(counts / 20_000 - 0.25) < 4 * np.sqrt(0.25 * 0.75 / 20_000)).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: policies.Linear(0), "inputs: expected"),
        (lambda: policies.Linear(2, outputs=0), "outputs: expected"),
        (lambda: policies.Sigmoid(-1), "inputs: expected"),
        (lambda: policies.Softmax(None, 3), "features: expected"),  # pyright: ignore[reportArgumentType]
        (lambda: policies.Softmax(jnp.eye, 0), "num_params: expected"),
        (lambda: policies.MLP((3,)), "sizes: expected"),
        (lambda: policies.MLP((3, 0, 1)), "sizes: expected"),
        (lambda: policies.UniformChoice(0), "num_actions: expected"),
    ],
)
def test_bad_arguments_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
