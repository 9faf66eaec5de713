"""The dominance race as one would write it in NumPy: one race, its pairs in a loop.

A block's factors for all permutations and bets are one expression; draws are made when asked for.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FIRST, LATER = 11, 5
SHARE = 0.05


def _permutations(size: int) -> NDArray[np.int64]:
    return np.array(
        [[(u * a + v) % size for a in range(size)] for u in range(1, size) for v in range(size)]
    )


_PERMUTATIONS = {size: _permutations(size) for size in (FIRST, LATER)}


class Result(NamedTuple):
    """One race."""

    best: NDArray[np.int64]  # [top], the best first
    certified: bool
    samples: NDArray[np.int64]  # [K]


def play(
    draw: Callable[[int, int], NDArray[np.float32]],
    num_options: int,
    top: int,
    delta: float,
    max_rounds: int,
    bets: NDArray[np.float64],
    weights: NDArray[np.float64],
    slack: float,
) -> Result:
    """Play a race on numbers, the larger preferred.

    Args:
        draw: ``draw(option, count)``, the option's next samples.
        num_options: K.
        top: kappa.
        delta: Probability of a wrong certificate.
        max_rounds: n_max.
        bets: lambda [L].
        weights: w [L].
        slack: How far pairs may be ahead of the most doubtful one, and are drawn for.
    """
    log_weights = np.log(weights)
    most = 1 + (max_rounds - FIRST) // LATER
    level = math.log(num_options / ((1 - SHARE) * delta))
    strong_level = math.log(num_options * (num_options - 1) / (SHARE * delta))
    blocks = [[draw(i, FIRST)] for i in range(num_options)]
    shape = (num_options, num_options)
    played = np.zeros(shape, int)
    log_bets = np.zeros((*shape, len(bets)))
    highest = np.full(shape, -np.inf)
    margin = np.zeros(shape)
    while True:
        for i in range(num_options):
            for j in range(i):
                for block in range(played[i, j], min(len(blocks[i]), len(blocks[j]))):
                    signs = np.sign(blocks[i][block][:, None] - blocks[j][block][None, :])
                    matched = signs[np.arange(len(signs)), _PERMUTATIONS[len(signs)]]
                    for x, y, sign in ((i, j, 1), (j, i, -1)):
                        products = (1 + sign * bets[:, None, None] * matched / 2).prod(-1)
                        log_bets[x, y] += np.log(products.mean(-1))
                        log_e = np.log(np.exp(log_weights + log_bets[x, y]).sum())
                        highest[x, y] = max(highest[x, y], log_e)
                        margin[x, y] += sign * signs.mean()
                    played[i, j] += 1
                    played[j, i] += 1
        mean = margin / np.maximum(played, 1)
        over, strong = highest >= level, highest >= strong_level
        wins = (over | (~over.T & (margin > 0))).sum(1)
        ranking = np.lexsort((-mean.sum(1), -wins))
        inside, outside = ranking[:top], ranking[top:]
        cross = np.zeros(shape, bool)
        cross[np.ix_(inside, outside)] = True
        count = np.array([len(x) for x in blocks])
        samples = FIRST + LATER * (count - 1)
        certain = strong.sum(1)[inside].min() + strong.sum(0)[outside].min() >= num_options - 1
        if over[cross].all() or certain:
            return Result(inside, True, samples)
        doubtful = cross & ~over & ~over.T
        # Where all is decided, and not all for the leaders, a full race would look for counts.
        shared = np.minimum(count[:, None], count[None, :])
        if not doubtful.any() or (doubtful & (shared >= most)).any():
            return Result(_best_guess(blocks, top), False, samples)
        deficit = np.where(doubtful, level - highest, -np.inf)
        served = doubtful & (deficit >= deficit.max() - slack)
        lags = count[:, None] <= count[None, :]
        for i in map(int, np.flatnonzero(((served | served.T) & lags).any(1))):
            blocks[i].append(draw(i, LATER))


def _best_guess(blocks: list[list[NDArray[np.float32]]], top: int) -> NDArray[np.int64]:
    """By the U-statistics of all common samples."""
    samples = [np.concatenate(x) for x in blocks]
    net = np.zeros((len(samples), len(samples)))
    for i, x in enumerate(samples):
        for j, y in enumerate(samples[:i]):
            shared = min(len(x), len(y))
            net[i, j] = np.sign(x[:shared, None] - y[None, :shared]).mean()
            net[j, i] = -net[i, j]
    return np.lexsort((-net.sum(1), -(net > 0).sum(1)))[:top]
