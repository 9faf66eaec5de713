"""Daedalus2 in the 4 x 4 gridworld by NumPy and pycma: a trial as one would write it.

Candidates are looked for without folds; the bound is BCa. A policy is a table theta [16, 4].
"""

import math
from collections.abc import Callable
from typing import Any

import cma
import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

SIZE, HORIZON, LOW, HIGH = 4, 10, -10.0, -6.0
INITIAL = np.array([0.09135, 0.40865, 0.09135, 0.40865])  # up, down, left, right
MOVES = np.array([[-1, 0], [1, 0], [0, -1], [0, 1]])
RESAMPLES, EVALUATIONS, POPULATION = 2000, 2000, 16

OPTIONS = {
    "popsize": POPULATION,
    "CMA_mu": POPULATION // 2,
    "CMA_active": False,  # no negative weights
    "updatecovwait": 4,  # generations between two decompositions of C, as in ours
    "maxfevals": EVALUATIONS,
    "verbose": -9,
    # The evaluations alone end a search.
    "tolfun": 0,
    "tolx": 0,
    "tolfunhist": 0,
    "tolstagnation": math.inf,
    "tolflatfitness": math.inf,
}

Array = NDArray[np.float64]


def probabilities(theta: Array) -> Array:
    """[..., 16, 4]."""
    shifted = np.exp(theta - theta.max(-1, keepdims=True))
    return shifted / shifted.sum(-1, keepdims=True)


def collect(rng: np.random.Generator, theta: Array, count: int) -> tuple[Array, Array, Array]:
    """How often each action was taken in each cell [n, 16, 4], returns [n], ln probability [n]."""
    chances = probabilities(theta)
    places = np.zeros((count, 2), int)
    visits = np.zeros((count, SIZE**2, 4))
    returns, logs = np.zeros(count), np.zeros(count)
    everyone = np.arange(count)
    for _ in range(HORIZON):
        cells = places[:, 0] * SIZE + places[:, 1]
        is_open = cells < SIZE**2 - 1
        uniform = rng.random((count, 1))
        actions = np.minimum((uniform > chances[cells].cumsum(1)).sum(1), 3)
        visits[everyone, cells, actions] += is_open
        logs += np.where(is_open, np.log(chances[cells, actions]), 0)
        returns -= is_open
        moved = np.clip(places + MOVES[actions], 0, SIZE - 1)
        places = np.where(is_open[:, None], moved, places)
    return visits, (returns - LOW) / (HIGH - LOW), logs


def bca(values: NDArray[Any], counts: NDArray[Any], delta: float) -> Array:
    """Thomas et al. 2015, Algorithm 3, of values [..., n], with resamples given as counts [n, B].

    All candidates' resamples are summed in one product, and no row of means is sorted.
    """
    rows = np.atleast_2d(values)
    mean = rows.mean(1)
    means = rows @ counts / counts[:, 0].sum()
    share = np.clip((means < mean[:, None]).mean(1), 1 / (RESAMPLES + 1), 1 - 1 / (RESAMPLES + 1))
    z0, z = ndtri(share), -ndtri(delta)
    apart = rows - mean[:, None]
    squares = apart * apart
    variances = np.maximum(squares.sum(1), 1e-100)  # of equal values; its cube is not 0
    acceleration = (squares * apart).sum(1) / (6 * variances**1.5)
    z_low = z0 - (z - z0) / (1 + acceleration * (z - z0))
    below = np.clip(np.floor((RESAMPLES + 1) * ndtr(z_low)), 1, RESAMPLES - 1).astype(int)
    left, right = ndtri(below / (RESAMPLES + 1)), ndtri((below + 1) / (RESAMPLES + 1))
    part = np.clip((z_low - left) / (right - left), 0, 1)
    lower, upper = _neighbours(means, below)
    is_constant = rows.max(1) == rows.min(1)
    return np.where(is_constant, mean, lower + part * (upper - lower)).reshape(values.shape[:-1])


def resampling_counts(rng: np.random.Generator, size: int, number: int) -> NDArray[np.float32]:
    """How often each of n = ``size`` values is in every resample of ``number``: [n, B].

    Drawing the values takes a ninth of the time of ``rng.multinomial``.
    """
    drawn = rng.integers(0, size, (RESAMPLES, number), np.int32)
    counts = np.empty((RESAMPLES, size), np.float32)
    for row, values in zip(counts, drawn, strict=True):
        row[:] = np.bincount(values, minlength=size)
    return np.ascontiguousarray(counts.T)


def _neighbours(means: Array, below: NDArray[np.intp]) -> tuple[Array, Array]:
    """The means [k, B] at the places ``below`` [k], counted from 1, and those after them."""
    found = np.empty((2, len(means)))
    for number, (row, place) in enumerate(zip(means, below, strict=True)):
        row.partition(place - 1)
        # What is left of the next place is no smaller than this one: its least is the neighbour.
        found[:, number] = row[place - 1], row[place:].min()
    return found[0], found[1]


class Set:
    """Trajectories."""

    def __init__(self) -> None:
        self.visits, self.returns = np.zeros((0, SIZE**2 * 4)), np.zeros(0)
        self.logs = np.zeros(0)

    def add(self, visits: Array, returns: Array, logs: Array) -> None:
        """More of them."""
        self.visits = np.concatenate([self.visits, visits.reshape(len(visits), -1)])
        self.returns = np.concatenate([self.returns, returns])
        self.logs = np.concatenate([self.logs, logs])

    def weights(self, theta: Array) -> Array:
        """[..., n] of policies [..., 16, 4]."""
        factors = np.log(np.maximum(probabilities(theta), 1e-300))
        return np.exp(factors.reshape(*theta.shape[:-2], -1) @ self.visits.T - self.logs)

    def estimate(self, weights: Array) -> Array:
        """The weighted one, [...]."""
        totals = weights.sum(-1)
        return np.where(totals > 0, weights @ self.returns / np.where(totals > 0, totals, 1), 0)

    def resamples(self, rng: np.random.Generator, number: int) -> Array:
        """Counts [n, B] of resamples of ``number`` values."""
        return resampling_counts(rng, len(self.returns), number).astype(float)


def search(
    rng: np.random.Generator,
    train: Set,
    tested_on: int,
    start: Array,
    floor: float,
    delta: float,
    seed: int,
) -> Array:
    """The candidate that the training set speaks for, [16, 4]; a generation is weighed at once."""
    counts = train.resamples(rng, tested_on)

    def losses(flat: list[Array]) -> list[float]:
        weights = train.weights(np.reshape(flat, (-1, *start.shape)))
        lower = bca(weights * train.returns, counts, delta)
        return (-np.where(lower >= floor, train.estimate(weights), lower)).tolist()

    strategy = cma.CMAEvolutionStrategy(start.reshape(-1), 1.0, {**OPTIONS, "seed": seed})
    while not strategy.stop():
        candidates = strategy.ask()
        strategy.tell(candidates, losses(candidates))
    return np.asarray(strategy.best.x, float).reshape(start.shape)


def trial(
    seed: int,
    batches: int,
    batch_size: int,
    floor: float,
    delta: float,
    search: Callable[..., Array] = search,
) -> Array:
    """The last policy in use, [16, 4], after so many batches."""
    rng = np.random.default_rng(seed)
    start = np.tile(np.log(INITIAL), (SIZE**2, 1))
    safe, train, test = [start], Set(), Set()
    current = start
    for number in range(batches):
        visits, returns, logs = collect(rng, current, batch_size)
        cut = -(-batch_size // 5)
        train.add(visits[:cut], returns[:cut], logs[:cut])
        test.add(visits[cut:], returns[cut:], logs[cut:])
        candidate = search(rng, train, len(test.returns), start, floor, delta, seed + number + 1)
        counts = test.resamples(rng, len(test.returns))
        lower = bca(test.weights(candidate) * test.returns, counts, delta)
        seen = Set()
        for part in (train, test):
            seen.add(part.visits, part.returns, part.logs)
        worth = seen.estimate(seen.weights(np.stack([*safe, candidate]))).tolist()
        if lower >= floor and worth[-1] > max(worth[:-1]):
            safe.append(candidate)
        else:
            worth.pop()
        current = safe[int(np.argmax(worth))]
    return current
