"""Softmax policies, and what they would earn: importance sampling of many at once.

Axes: L policies, A actions, p features, d inputs, n trajectories of s steps in all, in u contexts.
"""

import dataclasses
import itertools
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jaxrace.judging.policies.trajectories import Array

_AT_ONCE = 2**20  # probabilities of policies that are in memory at the same time
_RIDGE = 1.0  # in units of one decision


def num_features(order: int, inputs: int) -> int:
    """How many features a basis of an order has."""
    return (order + 1) ** inputs if order else 1 + inputs


def features_of(order: int, inputs: np.ndarray) -> np.ndarray:
    """Features of inputs in [0, 1], [..., d]: 1 and the inputs, or a Fourier basis: [..., p].

    That is cos(pi c . x) for all c in {0, ..., order}^d (Konidaris et al. 2011). The first feature
    is the constant 1.

    >>> features_of(0, np.array([0.25, 0.5]))
    array([1.  , 0.25, 0.5 ])
    """
    if order:
        listed = list(itertools.product(range(order + 1), repeat=inputs.shape[-1]))
        return np.cos(np.pi * (inputs @ np.array(listed, np.float64).T))
    return np.concatenate([np.ones((*inputs.shape[:-1], 1)), inputs], -1)


def softmax(logits: np.ndarray, axis: int = -1) -> np.ndarray:
    """Probabilities proportional to the exponentials of numbers, which are overwritten."""
    logits -= logits.max(axis, keepdims=True)
    np.exp(logits, out=logits)
    logits /= logits.sum(axis, keepdims=True)
    return logits


class Mixed(NamedTuple):
    """alpha pi + (1 - alpha) pi_0, a softmax policy mixed with the one in use; NumPy's or JAX's."""

    theta: Array  # [..., A, p], of pi
    alpha: Array  # [...], 1 for pi itself, 0 for pi_0


class _Pairs(NamedTuple):
    """The steps by what was seen and done, for sums over equal ones."""

    order: np.ndarray  # int [s]
    starts: np.ndarray  # int, into the order
    places: np.ndarray  # int, each in [A, u]


@dataclasses.dataclass(frozen=True, eq=False)
class Evidence:
    """Trajectories, and all that weighing many policies needs and does not depend on them."""

    contexts: np.ndarray  # float64 [u, p], features that differ
    chosen: np.ndarray  # int [s], place of what was done in [A, u]
    is_known: np.ndarray  # bool [s], is it one of the A actions?
    logged: np.ndarray  # float64 [s], its probability
    starts: np.ndarray  # int [n], the first step of each
    returns: np.ndarray  # float64 [n], normalised
    behaviour: np.ndarray  # int [n], who generated them
    num_actions: int
    pairs: _Pairs

    @classmethod
    def of(
        cls,
        features: np.ndarray,
        actions: np.ndarray,
        logged: np.ndarray,
        starts: np.ndarray,
        returns: np.ndarray,
        behaviour: np.ndarray,
        num_actions: int,
    ) -> Self:
        """From what was seen, [s, p], done and logged, [s], in trajectories beginning at [n]."""
        contexts, context = np.unique(features, axis=0, return_inverse=True)
        is_known = actions < num_actions
        chosen = np.where(is_known, actions, 0) * len(contexts) + context.reshape(-1)
        order = np.argsort(chosen, kind="stable")
        listed = chosen[order]
        first = np.flatnonzero(np.r_[True, listed[1:] != listed[:-1]])
        pairs = _Pairs(order, first, listed[first])
        own = returns, behaviour, num_actions, pairs
        return cls(contexts, chosen, is_known, logged, starts, *own)

    def weights(self, policies: Mixed) -> np.ndarray:
        """w(tau) of every trajectory, [L, n]; of an action that policies lack, what pi_0 does."""
        return self.weigh(policies)[0]

    def weigh(self, policies: Mixed) -> tuple[np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
        """The same, and what ``pull`` needs."""
        size = max(_AT_ONCE // (self.num_actions * len(self.contexts)), 1)
        starts = range(0, len(policies.theta), size)
        parts = [self._weigh(*(x[start : start + size] for x in policies)) for start in starts]
        return np.concatenate([weights for weights, _ in parts]), [kept for _, kept in parts]

    def pull(self, slopes: np.ndarray, kept: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
        """Slopes by weights, [L, n], as slopes by theta, [L, A, p]."""
        ends = np.cumsum([len(shares) for _, shares in kept])[:-1]
        parts = zip(np.split(slopes, ends), kept, strict=True)
        return np.concatenate([self._pull(part, *one) for part, one in parts])

    def _weigh(
        self, theta: np.ndarray, alpha: np.ndarray
    ) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
        alpha = alpha[:, None]
        size = len(alpha), self.num_actions, len(self.contexts)
        # One product of two matrices, not one for each policy.
        logits = theta.reshape(-1, self.contexts.shape[1]) @ self.contexts.T
        chances = softmax(logits.reshape(size), 1)
        own = chances.reshape(len(alpha), -1)[:, self.chosen]
        own *= alpha * (self.is_known / self.logged)
        ratios = own + (1 - alpha)
        # The part of each ratio that theta moves.
        shares = np.divide(own, ratios, out=np.zeros_like(own), where=ratios > 0)
        weights = ratios
        if len(self.starts) < len(self.chosen):
            with np.errstate(divide="ignore", over="ignore"):
                weights = np.exp(np.add.reduceat(np.log(ratios), self.starts, 1))
        return weights, (chances, shares * self._by_step(weights))

    def _by_step(self, values: np.ndarray) -> np.ndarray:
        """Of trajectories, [L, n], for each of their steps, [L, s]."""
        count = len(self.chosen)
        if len(self.starts) == count:
            return values
        return np.repeat(values, np.diff(np.append(self.starts, count)), 1)

    def _pull(self, slopes: np.ndarray, chances: np.ndarray, shares: np.ndarray) -> np.ndarray:
        by_step = (self._by_step(slopes) * shares)[:, self.pairs.order]
        by_logit = np.zeros_like(chances)
        flat = by_logit.reshape(len(chances), -1)
        flat[:, self.pairs.places] = np.add.reduceat(by_step, self.pairs.starts, 1)
        by_logit -= chances * by_logit.sum(1, keepdims=True)
        found = by_logit.reshape(-1, len(self.contexts)) @ self.contexts
        return found.reshape(*by_logit.shape[:2], -1)


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
    """The doubly robust value of each single decision, [n] (Dudik, Langford and Li 2011).

    V = sum_a pi(a | x) q(x, a) + pi(a_t | x) / p_t (r_t - q(x, a_t)). Its mean is an unbiased
    estimate of what pi earns if the logged probabilities are right and the model q does not depend
    on these decisions, however wrong it is; the better q, the less it varies. Values may be
    negative and large: only approximate bounds hold for them (t, bca, percentile).

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
