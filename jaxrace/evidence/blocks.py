"""Independent runs: the e-process of block permutations. Axes: K options, P pairs, b runs, L bets.

Block m of a pair are the runs with the same numbers of both options. A permutation p matches
independent runs, and a bet is placed on each match:

    F_m = mean over p of  prod_a (1 + lambda (d(x^a, y^p(a)) - mu))    (``levels.log_factors``)

If E d <= mu, then E F_m <= 1: docs/theory/tables.md.
"""

import dataclasses
from collections.abc import Callable, Iterator

import numpy as np

from jaxrace.evidence.levels import (
    Bets,
    Blocks,
    FloatArray,
    IntArray,
    dominance_bets,
    dominance_weights,
    log_factors,
    log_sum,
)
from jaxrace.evidence.process import MOST_NUMBERS, NEVER, Process, in_chunks, least_wins
from jaxrace.evidence.task_bets import cut_bets

# Differences [b, b, P] of the runs start .. start + b of the options in two lists, all three [P].
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

    @property
    def blocks(self) -> Blocks:
        """How runs are cut."""
        return Blocks(self.first_block, self.block)

    def complete(self) -> IntArray:
        """Whole blocks of each option, int [K]."""
        return self.blocks.complete(self.counts)

    def process(self, first: IntArray, second: IntArray, null: float | FloatArray = 0.0) -> Process:
        """The e-processes of ordered pairs; see ``process.Pairs``."""
        complete = self.complete()
        shared = np.minimum(complete[first], complete[second])
        log_bets = np.zeros((len(self.bets.bets), len(first)))
        highest = np.full(first.shape, -np.inf)
        sums = np.zeros(first.shape)
        for at, _, now, total in self._looks(first, second, null, log_bets):
            sums[at] += total
            highest[at] = np.maximum(highest[at], now.max(1))
        mean = sums / (self.blocks.unit * np.maximum(shared, 1))
        common = self.blocks.start(shared)
        never = np.zeros(first.shape, bool)
        return Process(log_bets.T, highest, mean, common, never, never)

    def reached(
        self, first: IntArray, second: IntArray, null: float | FloatArray, level: float
    ) -> IntArray:
        """Runs of both when the evidence first was at a level; see ``process.Pairs``."""
        found = np.full(first.shape, NEVER)
        log_bets = np.zeros((len(self.bets.bets), len(first)))
        for at, blocks, now, _ in self._looks(first, second, null, log_bets):
            is_there = now >= level
            runs = self.blocks.start(blocks[is_there.argmax(1)] + 1)
            found[at] = np.minimum(found[at], np.where(is_there.any(1), runs, NEVER))
        return found

    def _looks(
        self,
        first: IntArray,
        second: IntArray,
        null: float | FloatArray,
        log_bets: FloatArray,
    ) -> Iterator[tuple[IntArray, IntArray, FloatArray, FloatArray]]:
        """Of some pairs and their next blocks ln E after each, and the sums of differences.

        Yields numbers of pairs [p], of blocks [B], ln E [p, B], which is -inf without a block, and
        sums [p]; ``log_bets`` [L, P] are kept.
        """
        null = np.broadcast_to(np.asarray(null, float), first.shape)
        bets = cut_bets(np.array(self.bets.bets)[:, None], null)  # [L, P]
        complete = self.complete()
        shared = np.minimum(complete[first], complete[second])
        number, end = 0, int(shared.max(initial=0))
        while number < end:
            size = self.block if number else self.first_block
            here = np.flatnonzero(shared > number)
            # Several blocks of a few pairs at once.
            each = size**2 * len(bets)
            most = MOST_NUMBERS // (each * len(here)) if number else 1
            blocks = number + np.arange(min(max(most, 1), end - number))
            starts = self.blocks.start(blocks)
            for part in in_chunks(len(here), each * len(blocks)):
                at = here[part]
                rows = np.repeat(at, len(blocks))
                at_starts = np.tile(starts, len(at))
                found = self.differences(first[rows], second[rows], at_starts, size)
                counts = blocks < shared[at, None]  # [P, blocks]
                logs = log_factors(found - null[rows], bets[:, rows]).reshape(-1, *counts.shape)
                # Every block counts the same, as in the dominance race; sums of signs are exact.
                total = found.sum((0, 1), dtype=float).reshape(counts.shape)
                total = np.where(counts, total, 0.0).sum(1) * (self.blocks.unit // size**2)
                so_far = log_bets[:, at, None] + np.where(counts, logs, 0.0).cumsum(2)
                log_bets[:, at] = so_far[..., -1]
                log_e = log_sum(so_far + np.log(self.bets.weights)[:, None, None], 0)
                yield at, blocks, np.where(counts, log_e, -np.inf), total
            number += len(blocks)

    def least_further(self, process: Process, null: float, level: float) -> IntArray:
        """Further runs of both at best; see ``process.Pairs``."""
        opened = process.common > 0
        # Before the first block, which may be longer, as if all blocks were like it.
        sizes = (self.block, self.first_block)
        later, first = (least_wins(process, null, self.bets, level, size) for size in sizes)
        return np.where(opened, later, np.minimum(first, later + abs(sizes[0] - sizes[1])))


def independent_bets(level: float, horizon: int) -> Bets:
    """The bets of independent runs, for so many runs of an option.

    >>> [round(bet, 2) for bet in independent_bets(5.35, 300).bets]
    [0.25, 0.55, 0.95]
    """
    twice = dominance_bets(level, horizon)
    return Bets(tuple(bet / 2 for bet in twice), tuple(dominance_weights(len(twice))))


def block_values(
    values: np.ndarray, first: IntArray, second: IntArray, start: IntArray, size: int
) -> tuple[np.ndarray, np.ndarray]:
    """The numbers [K, N] in blocks of pairs, [b, 1, P] and [1, b, P]; see ``Differences``."""
    runs = start + np.arange(size)[:, None]
    return values[first, runs][:, None], values[second, runs][None]
