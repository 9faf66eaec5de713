"""Independent runs: the e-process of block permutations. Axes: K options, P pairs, b runs, L bets.

Block m of a pair are the runs with the same numbers of both options. A permutation p matches
independent runs, and a bet is placed on each match:

    F_m = mean over p of  prod_a (1 + lambda (d(x^a, y^p(a)) - mu)),   p(a) = u a + v modulo b,

u = 1 .. b - 1, v = 0 .. b - 1, b a prime. If E d <= mu, then E F_m <= 1: docs/tables.md.
"""

import dataclasses
import functools
from collections.abc import Callable

import numpy as np

from jaxrace.judging.levels import Bets
from jaxrace.judging.process import (
    MOST_NUMBERS,
    FloatArray,
    IntArray,
    Process,
    cut_bets,
    in_chunks,
    least_wins,
    log_mixture,
)

# Differences [P, b, b] of the runs start .. start + b of the options in two lists, all three [P].
Differences = Callable[[IntArray, IntArray, IntArray, int], np.ndarray]


@dataclasses.dataclass(frozen=True)
class BlockPairs:
    """Tables of independent runs.

    Attributes:
        differences: Of the runs of pairs of options, in [-1, 1].
        counts: Runs of each option, int [K].
        bets: The mixture.
        first_block: Runs of the first block, a prime.
        block: Runs of every other block, a prime.
    """

    differences: Differences
    counts: IntArray
    bets: Bets
    first_block: int
    block: int

    def complete(self) -> IntArray:
        """Whole blocks of each option, int [K]."""
        later = (self.counts - self.first_block) // self.block
        return np.where(self.counts < self.first_block, 0, 1 + later)

    def start(self, block: int) -> int:
        """Runs before a block, or in so many blocks."""
        return self.first_block + (block - 1) * self.block if block else 0

    def process(self, first: IntArray, second: IntArray, null: float | FloatArray = 0.0) -> Process:
        """The e-processes of ordered pairs; see ``process.Pairs``."""
        null = np.broadcast_to(np.asarray(null, float), first.shape)
        bets = cut_bets(self.bets.bets, null)
        complete = self.complete()
        shared = np.minimum(complete[first], complete[second])
        log_bets = np.zeros(bets.shape)
        highest = np.full(first.shape, -np.inf)
        mean = np.zeros(first.shape)
        number, end = 0, int(shared.max(initial=0))
        while number < end:
            size = self.block if number else self.first_block
            here = np.flatnonzero(shared > number)
            each = 2 * size**2 * bets.shape[1]
            # Several blocks of a few pairs at once.
            most = MOST_NUMBERS // (each * len(here)) if number else 1
            blocks = number + np.arange(min(max(most, 1), end - number))
            starts = np.array([self.start(int(block)) for block in blocks])
            for part in in_chunks(len(here), each * len(blocks)):
                at = here[part]
                rows = np.repeat(at, len(blocks))
                at_starts = np.tile(starts, len(at))
                found = self.differences(first[rows], second[rows], at_starts, size).astype(float)
                logs = log_factors(found - null[rows, None, None], bets[rows])
                counts = blocks < shared[at, None]  # [P, blocks]
                logs = np.where(counts[..., None], logs.reshape(*counts.shape, -1), 0.0)
                # Every block counts the same, as in the dominance race.
                means = found.mean((1, 2)).reshape(counts.shape)
                mean[at] += np.where(counts, means, 0.0).sum(1)
                so_far = log_bets[at, None] + logs.cumsum(1)
                log_bets[at] = so_far[:, -1]
                now = np.where(counts, log_mixture(so_far, self.bets.weights), -np.inf)
                highest[at] = np.maximum(highest[at], now.max(1))
            number += len(blocks)
        mean /= np.maximum(shared, 1)
        common = np.where(shared > 0, self.first_block + (shared - 1) * self.block, 0)
        never = np.zeros(first.shape, bool)
        return Process(log_bets, highest, mean, common, never, never)

    def least_further(self, process: Process, null: float, level: float) -> IntArray:
        """Further runs of both at best; see ``process.Pairs``."""
        opened = process.common > 0
        # Before the first block, which may be longer, as if all blocks were like it.
        sizes = (self.block, self.first_block)
        later, first = (least_wins(process, null, self.bets, level, size) for size in sizes)
        return np.where(opened, later, np.minimum(first, later + abs(sizes[0] - sizes[1])))


def block_values(
    values: np.ndarray, first: IntArray, second: IntArray, start: IntArray, size: int
) -> tuple[np.ndarray, np.ndarray]:
    """The numbers [K, N] in blocks of pairs, [P, b, 1] and [P, 1, b]; see ``Differences``."""
    runs = start[:, None] + np.arange(size)
    return values[first[:, None], runs][:, :, None], values[second[:, None], runs][:, None, :]


def log_factors(differences: FloatArray, bets: FloatArray) -> FloatArray:
    """ln F of one block of P pairs, [P, L]; differences [P, b, b], bets [P, L].

    >>> won = np.ones((1, 2, 2))  # both runs beat both: (1 + 1/2)^2
    >>> print(np.exp(log_factors(won, np.array([[0.5]]))))
    [[2.25]]
    """
    size = differences.shape[1]
    flat = differences.reshape(len(differences), 1, size * size)
    logs = np.log1p(bets[:, :, None] * flat)
    products = logs.reshape(-1, size * size) @ _matches(size)
    products = products.reshape(*bets.shape, -1)  # [P, L, permutations]
    largest = products.max(-1)
    return largest + np.log(np.exp(products - largest[..., None]).mean(-1))


@functools.cache
def _matches(size: int) -> FloatArray:
    """Which cells (a, p(a)) of a block a permutation uses: float [b * b, b (b - 1)]."""
    found = np.zeros((size, size, size - 1, size))
    slope, shift, run = np.ogrid[1:size, :size, :size]
    found[run, (slope * run + shift) % size, slope - 1, shift] = 1
    return found.reshape(size * size, -1)
