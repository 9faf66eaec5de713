"""A policy's performance from single decisions and a model of their rewards.

Axes: n decisions, p features, A actions. Everything is float64, in NumPy.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

_RIDGE = 1.0  # in units of one decision


def fit_rewards(
    features: ArrayLike, actions: ArrayLike, rewards: ArrayLike, num_actions: int
) -> NDArray[np.float64]:
    """A linear model of the reward of each action, [A, p], by least squares with a small ridge.

    Of ``features`` [n, p], the first of which is 1 and has no penalty, ``actions`` [n] below
    ``num_actions`` and ``rewards`` [n]. An action that was never taken is worth the mean reward.
    """
    features, rewards = np.asarray(features, np.float64), np.asarray(rewards, np.float64)
    actions, width = np.asarray(actions), features.shape[1]
    model = np.zeros((num_actions, width))
    model[:, 0] = rewards.mean()
    penalty = _RIDGE * np.eye(width)
    penalty[0, 0] = 0
    for action in np.unique(actions):
        mine = actions == action
        seen = features[mine]
        model[action] = np.linalg.solve(seen.T @ seen + penalty, seen.T @ rewards[mine])
    return model


def doubly_robust(
    chances: ArrayLike,
    expected: ArrayLike,
    actions: ArrayLike,
    logged: ArrayLike,
    rewards: ArrayLike,
) -> NDArray[np.float64]:
    """The doubly robust value of each decision, [n] (Dudik, Langford and Li 2011).

    V = sum_a pi(a | x) q(x, a) + pi(a_t | x) / p_t (r_t - q(x, a_t)). Its mean over decisions is
    an unbiased estimate of what pi earns if q does not depend on these decisions and the logged
    probabilities are right, however wrong q is; the better q, the less it varies. Values may be
    negative and large, so that no bound for values in [0, 1], or above 0, holds for them: those
    are approximate (t, bca, percentile).

    Args:
        chances: pi(a | x), [n, A].
        expected: q(x, a), [n, A].
        actions: a_t, [n]; one of A or more has probability 0 under pi.
        logged: p_t, the probability it was taken with, [n].
        rewards: r_t, [n].
    """
    chances, expected = np.asarray(chances, np.float64), np.asarray(expected, np.float64)
    actions, rows = np.asarray(actions), np.arange(len(chances))
    is_known = actions < chances.shape[1]
    own = np.where(is_known, actions, 0)
    weights = np.where(is_known, chances[rows, own], 0) / np.asarray(logged, np.float64)
    left = np.asarray(rewards, np.float64) - expected[rows, own]
    return (chances * expected).sum(1) + weights * left
