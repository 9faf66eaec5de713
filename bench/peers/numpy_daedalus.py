"""Daedalus2 in the 4 x 4 gridworld by NumPy and pycma: a trial as one would write it.

Candidates are looked for without folds; the bound is BCa. A policy is a table theta [16, 4].
"""

import math

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
    """[16, 4]."""
    shifted = np.exp(theta - theta.max(1, keepdims=True))
    return shifted / shifted.sum(1, keepdims=True)


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


def bca(values: Array, counts: Array, delta: float) -> float:
    """Thomas et al. 2015, Algorithm 3, with resamples given as counts [B, n]."""
    mean = values.mean()
    if values.max() == values.min():
        return float(mean)
    means = np.sort(counts @ values / counts[0].sum())
    share = np.clip((means < mean).mean(), 1 / (RESAMPLES + 1), RESAMPLES / (RESAMPLES + 1))
    z0, z = ndtri(share), -ndtri(delta)
    apart = values - mean
    acceleration = (apart**3).sum() / (6 * (apart**2).sum() ** 1.5)
    z_low = z0 - (z - z0) / (1 + acceleration * (z - z0))
    place = (RESAMPLES + 1) * ndtr(z_low)
    below = int(np.clip(np.floor(place), 1, RESAMPLES - 1))
    left, right = ndtri(below / (RESAMPLES + 1)), ndtri((below + 1) / (RESAMPLES + 1))
    part = np.clip((z_low - left) / (right - left), 0, 1)
    return float(means[below - 1] + part * (means[below] - means[below - 1]))


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
        """[n]."""
        factors = np.log(np.maximum(probabilities(theta), 1e-300)).reshape(-1)
        return np.exp(self.visits @ factors - self.logs)

    def estimate(self, weights: Array) -> float:
        """The weighted one."""
        return float(weights @ self.returns / weights.sum()) if weights.sum() > 0 else 0.0

    def resamples(self, rng: np.random.Generator, number: int) -> Array:
        """Counts [B, n] of resamples of ``number`` values."""
        size = len(self.returns)
        return rng.multinomial(number, np.full(size, 1 / size), RESAMPLES).astype(float)


def trial(seed: int, batches: int, batch_size: int, floor: float, delta: float) -> Array:
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
        candidate = _search(rng, train, len(test.returns), start, floor, delta, seed + number + 1)
        counts = test.resamples(rng, len(test.returns))
        lower = bca(test.weights(candidate) * test.returns, counts, delta)
        seen = Set()
        for part in (train, test):
            seen.add(part.visits, part.returns, part.logs)
        worth = [seen.estimate(seen.weights(theta)) for theta in (*safe, candidate)]
        if lower >= floor and worth[-1] > max(worth[:-1]):
            safe.append(candidate)
        else:
            worth.pop()
        current = safe[int(np.argmax(worth))]
    return current


def _search(
    rng: np.random.Generator,
    train: Set,
    tested_on: int,
    start: Array,
    floor: float,
    delta: float,
    seed: int,
) -> Array:
    counts = train.resamples(rng, tested_on)

    def loss(flat: Array) -> float:
        weights = train.weights(np.reshape(flat, start.shape))
        lower = bca(weights * train.returns, counts, delta)
        return -(train.estimate(weights) if lower >= floor else lower)

    found, _ = cma.fmin2(loss, start.reshape(-1), 1.0, {**OPTIONS, "seed": seed})
    return np.reshape(found, start.shape)
