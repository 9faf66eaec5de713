"""Which policy is worth testing? Axes: L searches of D numbers, n trajectories.

Source: Thomas et al. 2015 (ICML), section 4, Algorithms 5 to 7. What is to be maximised is f, the
weighted estimate g where the bound is predicted to reach the floor, and else the predicted bound.
Its slopes are known, so that a search climbs (as in Swaminathan and Joachims 2015).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from jaxrace.judging.policies.bounds import LowerBound, Used
from jaxrace.judging.policies.trajectories import stratified_order
from jaxrace.judging.policies.weighing import LogEvidence, Mixed

# Values, [L], and their slopes, [L, D], for the searches with these numbers.
Worth = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]

KINDS = ("none", "k-fold")
MOST_FOLDS = 20
NUM_ALPHAS = 10  # without alpha = 0, the initial policy itself, which needs no search

# Looks of a search, and of one in cross-validation: there those that go on until nothing is left to
# gain repeat what few trajectories did, and say no to mixtures that would do well.
_STEPS, _FOLD_STEPS = 60, 5
_STARTS = 8  # of a search: the uniform policy, and others at random, as f has several tops

# What a search climbs is g, less a penalty where the bound is below the floor: so many times as
# steep, and rounded off within a part of the standard error of a test. It ends at steps of which
# each brings less than another part.
_STRICT, _SOFT, _EXACT = 30.0, 0.1, 1e-4
_TINY = float(np.finfo(np.float64).tiny)

# Of the ascent: steps that are remembered, what part of what a slope promises a step must bring,
# how much shorter a failed step becomes, and what part of Newton's is too short.
_PAIRS, _ENOUGH, _SHORTER, _SHORTEST = 8, 1e-4, 0.3, 3e-7


class LogTask(NamedTuple):
    """What a candidate must be good for, and what is known."""

    bound: LowerBound  # of the safety test
    known: LogEvidence
    delta: float  # error probability of the safety test
    floor: float  # rho_-
    tested_on: int  # m, trajectories of the safety test


def find_candidate(kind: str, rng: np.random.Generator, task: LogTask) -> tuple[Mixed, float]:
    """The policy to be tested, L = 1, and the estimate g of its performance."""
    alpha = 1.0
    if kind == "k-fold":
        alpha = _cross_validate(rng, task).argmax() / NUM_ALPHAS
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


def _cross_validate(rng: np.random.Generator, task: LogTask) -> np.ndarray:
    """The mean f on folds left out, for alpha = 0, 0.1, ..., 1: [11].

    All folds are searched side by side.
    """
    behaviour = task.known.behaviour
    count = len(behaviour)
    folds = min(max(count // 2, 1), MOST_FOLDS)
    fold = np.empty(count, np.int64)
    order = stratified_order(rng.random(count), behaviour, np.ones(count, bool))
    fold[order] = np.arange(count) % folds
    is_out = fold == np.arange(folds)[:, None]
    fit, out = _Searches(task, ~is_out), _Searches(task, is_out)
    scores = [out.worth(Mixed(fit.start, np.zeros(folds)))]
    for alpha in np.arange(1, NUM_ALPHAS + 1) / NUM_ALPHAS:
        alphas = np.full(folds, alpha)
        scores.append(out.worth(Mixed(fit.run(fit.start, alphas, _FOLD_STEPS), alphas)))
    return np.mean(scores, 1)


class _Searches:
    """Searches side by side, each of some ``rows`` of the evidence, bool [L, n].

    They move in coordinates in which features have a mean of 0 and a variance of 1.
    """

    def __init__(self, task: LogTask, rows: np.ndarray) -> None:
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
        return self._judge(self.task.known.weights(policies), slice(None))[0]

    def run(self, start: np.ndarray, alphas: np.ndarray, steps: int) -> np.ndarray:
        """The best theta that each search looks at, ``start`` included: [L, A, p]."""
        best, value = start.copy(), np.full(len(start), -np.inf)

        def merit(x: np.ndarray, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            theta = x.reshape(-1, *start.shape[1:]) / self._spreads
            theta[..., 0] -= theta @ self._means
            weights, kept = self.task.known.weigh(Mixed(theta, alphas[which]))
            worth, found, slopes = self._judge(weights, which)
            is_better = worth > value[which]
            best[which[is_better]] = theta[is_better]
            value[which[is_better]] = worth[is_better]
            slopes = self.task.known.pull(slopes, kept)
            slopes = (slopes - slopes[..., :1] * self._means) / self._spreads
            return found, slopes.reshape(len(x), -1)

        x = start * self._spreads
        x[..., 0] += start @ self._means
        maximise(merit, x.reshape(len(x), -1), steps, _EXACT * self._unit)
        return best

    def _judge(self, weights: np.ndarray, which: np.ndarray | slice) -> tuple[np.ndarray, ...]:
        """f and what is climbed, [L] each, and the slopes of that by weights, [L, n]."""
        task, used, returns = self.task, self.rows[which], self.task.known.returns
        # Neither can be told where weights or their squares leave the range of float64.
        with np.errstate(over="ignore", invalid="ignore"):
            own = np.where(used, weights, 0)
            total = np.maximum(own.sum(1), _TINY)
            estimate = (own * returns).sum(1) / total
            rows = Used(used, task.known.behaviour)
            given = weights * returns, rows, task.delta, task.tested_on
            lower, slopes = task.bound.predict(None, *given)
            worth = np.where(lower >= task.floor, estimate, lower)
            soft = _SOFT * self._unit
            missing = (task.floor - lower) / soft
            merit = estimate / _STRICT - soft * np.logaddexp(0, missing)
            press = np.exp(-np.logaddexp(0, -missing))
            of_estimate = used * (returns - estimate[:, None]) / (_STRICT * total)[:, None]
            slopes = press[:, None] * slopes * returns + of_estimate
        worth, merit = (np.where(np.isfinite(x), x, -np.inf) for x in (worth, merit))
        return worth, merit, slopes


def maximise(worth: Worth, start: np.ndarray, steps: int, exact: float) -> np.ndarray:
    """Where each search ends, [L, D]: L-BFGS (Liu and Nocedal 1989), so many looks at most.

    A search ends as soon as a step brings less than ``exact``. What is not finite is avoided.
    """
    x, going = start.copy(), np.arange(len(start))
    value, slope = worth(x, going)
    moves, turns = (np.zeros((_PAIRS, *x.shape)) for _ in range(2))
    inverse = np.zeros((_PAIRS, len(x)))  # 1 / (move . turn), or 0
    direction, length = _unit(slope), np.ones(len(x))
    is_over = ~np.isfinite(value)
    for _ in range(steps):
        going = np.flatnonzero(~is_over)
        if not len(going):
            break
        step = length[going, None] * direction[going]
        found, own = worth(x[going] + step, going)
        gain, promise = found - value[going], (step * slope[going]).sum(1)
        with np.errstate(invalid="ignore"):
            is_good = np.isfinite(found) & (gain >= _ENOUGH * promise)
        bad, good = going[~is_good], going[is_good]
        length[bad] *= _SHORTER
        is_over[bad] = length[bad] < _SHORTEST
        turn = slope[good] - own[is_good]
        product = (step[is_good] * turn).sum(1)
        is_curved = product > 1e-12 * np.sqrt((step[is_good] ** 2).sum(1) * (turn**2).sum(1))
        new = np.where(is_curved, 1 / np.where(is_curved, product, 1), 0)
        for kept, last in ((moves, step[is_good]), (turns, turn), (inverse, new)):
            kept[:-1, good] = kept[1:, good]
            kept[-1, good] = last
        x[good] += step[is_good]
        value[good], slope[good] = found[is_good], own[is_good]
        is_over[good] |= gain[is_good] < exact
        length[good] = 1
        ahead = _turned(slope[good], moves[:, good], turns[:, good], inverse[:, good])
        is_up = (ahead * slope[good]).sum(1) > 0
        direction[good] = np.where(is_up[:, None], ahead, _unit(slope[good]))
    return x


def _unit(slope: np.ndarray) -> np.ndarray:
    """Of length 1, as a first step is, [L, D]."""
    return slope / np.maximum(np.sqrt((slope**2).sum(1, keepdims=True)), _TINY)


def _turned(
    slope: np.ndarray, moves: np.ndarray, turns: np.ndarray, inverse: np.ndarray
) -> np.ndarray:
    """The direction of Newton's step, as far as the steps before tell: the two loops."""
    ahead, parts = slope.copy(), np.zeros_like(inverse)
    for k in reversed(range(_PAIRS)):
        parts[k] = inverse[k] * (moves[k] * ahead).sum(1)
        ahead -= parts[k][:, None] * turns[k]
    last = inverse[-1] * (turns[-1] ** 2).sum(1)
    ahead *= np.where(last > 0, 1 / np.maximum(last, 1e-300), 1)[:, None]
    for k in range(_PAIRS):
        ahead += (parts[k] - inverse[k] * (turns[k] * ahead).sum(1))[:, None] * moves[k]
    return ahead
