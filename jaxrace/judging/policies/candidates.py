"""Which policy is worth testing? Axes: L searches, n trajectories, A actions, p features.

Source: Thomas et al. 2015 (ICML), section 4, Algorithms 5 to 7. What is to be maximised is f, the
weighted estimate g where the bound is predicted to reach the floor, and else the predicted bound.
Its slopes are known, so that a search climbs (as in Swaminathan and Joachims 2015).
"""

from typing import NamedTuple

import numpy as np

from jaxrace.judging.policies.ascent import maximise
from jaxrace.judging.policies.bounds import LowerBound
from jaxrace.judging.policies.splits import stratified_order
from jaxrace.judging.policies.weighing import Evidence, Mixed

KINDS = ("none", "k-fold")

_MOST_FOLDS = 20
_ALPHAS = np.arange(1, 11) / 10  # without 0, the policy in use itself, which needs no search
# Looks of a search, and of one in cross-validation: there those that go on until nothing is left to
# gain repeat what few trajectories did, and say no to mixtures that would do well.
_STEPS, _FOLD_STEPS = 60, 5
_STARTS = 8  # of a search: the uniform policy, and others at random, as f has several tops

# What a search climbs is g, less a penalty where the bound is below the floor: so many times as
# steep, and rounded off within a part of the standard error of a test. It ends at steps of which
# each brings less than another part.
_STRICT, _SOFT, _EXACT = 30.0, 0.1, 1e-4
_TINY = float(np.finfo(np.float64).tiny)


class Task(NamedTuple):
    """What a candidate must be good for, and what is known."""

    bound: LowerBound  # of the safety test
    known: Evidence
    delta: float  # error probability of the safety test
    floor: float  # rho_-
    tested_on: int  # m, trajectories of the safety test


class _Judged(NamedTuple):
    worth: np.ndarray  # f, [L]
    merit: np.ndarray  # what is climbed, [L]
    slopes: np.ndarray  # of the merit by weights, [L, n]


def find_candidate(kind: str, rng: np.random.Generator, task: Task) -> tuple[Mixed, float]:
    """The policy to be tested, L = 1, and the estimate g of its performance."""
    alpha = 1.0
    if kind == "k-fold":
        alpha = _cross_validate(rng, task).argmax() / len(_ALPHAS)
    search = _Searches(task, np.ones((_STARTS, len(task.known.returns)), bool))
    start, alphas = search.start, np.full(_STARTS, alpha)
    if alpha > 0:
        start[1:] = rng.normal(size=start[1:].shape)
        start = search.run(start, alphas, _STEPS)
    best = search.worth(Mixed(start, alphas)).argmax()
    found = Mixed(start[best, None], alphas[best, None])
    weights = task.known.weights(found)[0]
    with np.errstate(over="ignore", invalid="ignore"):
        total = max(weights.sum(), _TINY)
        return found, float((weights * task.known.returns).sum() / total)


def _cross_validate(rng: np.random.Generator, task: Task) -> np.ndarray:
    """The mean f on folds left out, for alpha = 0, 0.1, ..., 1: [11].

    All folds are searched side by side.
    """
    behaviour = task.known.behaviour
    folds = min(max(len(behaviour) // 2, 1), _MOST_FOLDS)
    fold = np.empty(len(behaviour), np.int64)
    fold[stratified_order(rng, behaviour)] = np.arange(len(behaviour)) % folds
    is_out = fold == np.arange(folds)[:, None]
    fit, out = _Searches(task, ~is_out), _Searches(task, is_out)
    scores = [out.worth(Mixed(fit.start, np.zeros(folds)))]
    for alpha in _ALPHAS:
        alphas = np.full(folds, alpha)
        scores.append(out.worth(Mixed(fit.run(fit.start, alphas, _FOLD_STEPS), alphas)))
    return np.mean(scores, 1)


class _Searches:
    """Searches side by side, each of some ``rows`` of the evidence, bool [L, n].

    They move in coordinates in which features have a mean of 0 and a variance of 1.
    """

    def __init__(self, task: Task, rows: np.ndarray) -> None:
        known = task.known
        self.task, self.rows = task, rows
        self.start = np.zeros((len(rows), known.num_actions, known.contexts.shape[1]))
        self._unit = max(float(known.returns.std()), _TINY) / np.sqrt(task.tested_on)
        self._means, self._spreads = known.contexts.mean(0), known.contexts.std(0)
        # The first feature is 1, and takes up the means.
        self._means[0] = 0
        self._spreads[self._spreads < 1e-9] = 1

    def worth(self, policies: Mixed) -> np.ndarray:
        """f of a policy for each search, [L]."""
        return self._judge(self.task.known.weights(policies), slice(None)).worth

    def run(self, start: np.ndarray, alphas: np.ndarray, steps: int) -> np.ndarray:
        """The best theta that each search looks at, ``start`` included: [L, A, p]."""
        best, value = start.copy(), np.full(len(start), -np.inf)

        def merit(x: np.ndarray, lanes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            theta = x.reshape(-1, *start.shape[1:]) / self._spreads
            theta[..., 0] -= theta @ self._means
            weights, kept = self.task.known.weigh(Mixed(theta, alphas[lanes]))
            found = self._judge(weights, lanes)
            is_better = found.worth > value[lanes]
            best[lanes[is_better]], value[lanes[is_better]] = (
                theta[is_better],
                found.worth[is_better],
            )
            slopes = self.task.known.pull(found.slopes, kept)
            slopes = (slopes - slopes[..., :1] * self._means) / self._spreads
            return found.merit, slopes.reshape(len(x), -1)

        x = start * self._spreads
        x[..., 0] += start @ self._means
        maximise(merit, x.reshape(len(x), -1), steps, _EXACT * self._unit)
        return best

    def _judge(self, weights: np.ndarray, lanes: np.ndarray | slice) -> _Judged:
        task, rows, returns = self.task, self.rows[lanes], self.task.known.returns
        # Neither can be told where weights or their squares leave the range of float64.
        with np.errstate(over="ignore", invalid="ignore"):
            own = np.where(rows, weights, 0)
            total = np.maximum(own.sum(1), _TINY)
            estimate = (own * returns).sum(1) / total
            given = weights * returns, rows, task.delta, task.tested_on
            lower, slopes = task.bound.predict(*given)
            worth = np.where(lower >= task.floor, estimate, lower)
            soft = _SOFT * self._unit
            missing = (task.floor - lower) / soft
            merit = estimate / _STRICT - soft * np.logaddexp(0, missing)
            press = np.exp(-np.logaddexp(0, -missing))
            of_estimate = rows * (returns - estimate[:, None]) / (_STRICT * total)[:, None]
            slopes = press[:, None] * slopes * returns + of_estimate
        worth, merit = (np.where(np.isfinite(x), x, -np.inf) for x in (worth, merit))
        return _Judged(worth, merit, slopes)
