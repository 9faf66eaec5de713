"""Importance sampling of many policies at once.

Axes: L policies, A actions, p features, n trajectories with s steps in all, in u contexts.
"""

import dataclasses
from typing import NamedTuple, Self

import numpy as np

from jaxrace.judging.policies.softmax import softmax

_AT_ONCE = 2**20  # probabilities of policies that are in memory at the same time


class Mixed(NamedTuple):
    """alpha pi + (1 - alpha) pi_0, a softmax policy mixed with the one in use."""

    theta: np.ndarray  # float64 [..., A, p]
    alpha: np.ndarray  # [...]


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
        return np.concatenate([self._weigh(part)[0] for part in self._parts(policies)])

    def weigh(self, policies: Mixed) -> tuple[np.ndarray, list]:
        """The same, and what ``pull`` needs."""
        found = [self._weigh(part) for part in self._parts(policies)]
        return np.concatenate([weights for weights, _ in found]), [kept for _, kept in found]

    def pull(self, slopes: np.ndarray, kept: list) -> np.ndarray:
        """Slopes by weights, [L, n], as slopes by theta, [L, A, p]."""
        found, start = [], 0
        for chances, shares in kept:
            end = start + len(shares)
            found.append(self._pull(slopes[start:end], chances, shares))
            start = end
        return np.concatenate(found)

    def _parts(self, policies: Mixed) -> list[Mixed]:
        size = max(_AT_ONCE // (self.num_actions * len(self.contexts)), 1)
        starts = range(0, len(policies.theta), size)
        return [Mixed(*(x[start : start + size] for x in policies)) for start in starts]

    def _weigh(self, policies: Mixed) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
        alpha = policies.alpha[:, None]
        size = len(alpha), self.num_actions, len(self.contexts)
        # One product of two matrices, not one for each policy.
        logits = policies.theta.reshape(-1, self.contexts.shape[1]) @ self.contexts.T
        chances = softmax(logits.reshape(size), 1)
        own = chances.reshape(len(alpha), -1)[:, self.chosen]
        own *= alpha * (self.is_known / self.logged)
        ratios = own + (1 - alpha)
        # The part of each ratio that theta moves.
        shares = np.divide(own, ratios, out=np.zeros_like(own), where=ratios > 0)
        if len(self.starts) == len(self.chosen):
            weights = ratios
        else:
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
