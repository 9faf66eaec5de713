"""Label ranking by one logistic regression per pair of actions, and votes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference import policy_iteration as reference

from jaxrace.envs import medical
from papers.preference_racing.learners import label_ranking
from papers.preference_racing.learners.label_ranking import LabelRanking

RANKING = LabelRanking(2, medical.DOSES)


def examples(seed, states=20):
    """Observations [n, 2] and preferences [n, 6]: separable, noisy, one-sided and missing ones."""
    rng = np.random.default_rng(seed)
    observations = rng.uniform(0, 8, (states, 2)).astype(np.float32)
    signs = np.sign((observations - 4) @ rng.normal(size=(2, 6)) + rng.normal(size=6))
    signs[:, 1] *= rng.choice([-1, 1], states, p=[0.3, 0.7])
    signs[:, 2] = 1
    signs[:, 3] = 0
    signs[:, 4] *= rng.random(states) < 0.3
    return observations, signs.astype(np.int8)


def probabilities(theta, observations):
    """f_ab [n, 6] of RANKING."""
    return jax.vmap(RANKING.probabilities, (None, 0))(theta, jnp.asarray(observations))


@pytest.mark.parametrize("seed", range(2))
def test_fitted_probabilities_agree_with_scipy(seed):
    observations, preferred = examples(seed)
    theta = label_ranking.fit(RANKING, observations, preferred)
    found = probabilities(theta, observations)
    expected = reference.fitted_probabilities(observations, preferred, label_ranking.RIDGE)
    np.testing.assert_allclose(found, expected, atol=1e-3)
    assert (found[:, 3] == 0.5).all()  # no examples


def test_a_component_that_never_changes_does_no_harm():
    observations, preferred = examples(0)
    observations[:, 1] = 7.0
    theta = label_ranking.fit(RANKING, observations, preferred)
    assert (theta[:, 1] == 0).all()
    assert np.isfinite(theta).all()


def test_votes_and_actions_agree():
    rng = np.random.default_rng(0)
    for _ in range(20):
        theta = jnp.asarray(rng.normal(size=(6, 3)), jnp.float32)
        observation = jnp.asarray(rng.normal(size=2), jnp.float32)
        margins = np.asarray(theta[:, :2] @ observation + theta[:, 2])
        expected = reference.votes(1 / (1 + np.exp(-margins)), 4)
        np.testing.assert_allclose(RANKING.votes(theta, observation), expected, atol=1e-5)
        action = RANKING(theta, observation, jax.random.key(0))
        np.testing.assert_allclose(action, medical.DOSES[expected.argmax()])


@pytest.mark.parametrize("actions", [(), (0.1,), (0.1, 0.1), (0.1, float("nan"))])
def test_bad_actions(actions):
    with pytest.raises(ValueError, match="actions: expected at least two"):
        LabelRanking(2, actions)


def test_shapes_that_do_not_fit():
    observations, preferred = examples(0)
    for arguments, message in (
        ((observations[:, :1], preferred), "observations: expected shape"),
        ((observations, preferred[:, :5]), "preferred: expected shape"),
    ):
        with pytest.raises(ValueError, match=message):
            label_ranking.fit(RANKING, *arguments)
    with pytest.raises(ValueError, match="theta: expected shape"):
        RANKING.votes(jnp.zeros((6, 2)), jnp.zeros(2))
