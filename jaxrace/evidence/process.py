"""The evidence of ordered pairs of options: what all kinds of tables have in common.

Intervals of how much better one is come from the same e-processes. The nulls E d <= mu that have
been rejected are all up to some mu, since the evidence falls with mu: that mu is the lower end, and
the upper one is that of the reverse order. Axes: K options, P ordered pairs, L bets.
"""

import math
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from jaxrace.evidence.levels import Bets, FloatArray, IntArray, log_sum
from jaxrace.evidence.task_bets import winnings

# Numbers at once, in the largest array of a step: they stay in a processor's cache.
MOST_NUMBERS = 2**17

# With more options evidence is found for the pairs across the boundary alone.
MOST_OF_ALL_PAIRS = 300

# More runs than there are: of evidence that never was at a level.
NEVER = np.iinfo(np.int64).max

_HALVINGS = 15  # of the range of mu, first at the null: a last step of at most 0.0001


class Process(NamedTuple):
    """The e-processes of "i over j", whose null is that differences have a mean of at most mu."""

    log_bets: FloatArray  # [P, L], ln of the products of factors so far
    highest: FloatArray  # [P], the largest ln E so far; inf if certain, -inf without runs
    mean: FloatArray  # [P], of the differences that counted; 0 without any
    common: IntArray  # [P], runs of each of the two that counted
    whole: NDArray[np.bool_]  # [P], both have run the whole list of tasks
    tied: NDArray[np.bool_]  # [P], and their mean is mu, on the whole list


class Pairs(Protocol):
    """A table of which any two options can be compared."""

    @property
    def bets(self) -> Bets:
        """The mixture."""
        ...

    def process(self, first: IntArray, second: IntArray, null: float | FloatArray = 0.0) -> Process:
        """The e-processes of the options ``first`` over ``second``, [P]; ``null`` is mu, or [P]."""
        ...

    def least_further(self, process: Process, null: float, level: float) -> IntArray:
        """Further runs of both until a verdict if i wins them all by 1: [P]; 0 with a verdict."""
        ...


class Evidence:
    """What is known of all ordered pairs, of which some are looked at.

    Attributes:
        highest: float [K, K], the largest ln E so far of the null that is asked about.
        plain: The same without a tolerance; the same array if there is none.
        mean: float [K, K], of the differences; without runs a guess.
        has_runs: bool [K, K], have both?
        whole, tied: bool [K, K], as in ``Process`` without a tolerance.
    """

    def __init__(self, guess: FloatArray, null: float) -> None:
        self._null = null
        self.plain = np.full(guess.shape, -np.inf)
        self.highest = self.plain.copy() if null else self.plain
        self.mean = guess
        self.has_runs, self.whole, self.tied = np.zeros((3, *guess.shape), bool)

    def look_at(self, pairs: Pairs, wanted: NDArray[np.bool_]) -> None:
        """Find the evidence of the pairs ``wanted``, bool [K, K]."""
        at = first, second = np.nonzero(wanted)
        found = pairs.process(first, second)
        self.plain[at], self.whole[at], self.tied[at] = found.highest, found.whole, found.tied
        self.has_runs[at] = found.common > 0
        self.mean[at] = np.where(found.common > 0, found.mean, self.mean[at])
        if self._null:
            self.highest[at] = pairs.process(first, second, self._null).highest


def wanted_pairs(scores: FloatArray, top: int) -> NDArray[np.bool_]:
    """All pairs [K, K]; of many options those across the boundary, by a score of each [K]."""
    num_options = len(scores)
    if num_options <= MOST_OF_ALL_PAIRS:
        return ~np.eye(num_options, dtype=bool)
    leads = np.zeros(num_options, bool)
    leads[np.argsort(-scores, kind="stable")[:top]] = True
    return leads[:, None] != leads[None, :]


def lower_ends(
    pairs: Pairs, first: IntArray, second: IntArray, level: float, null: float = 0.0
) -> FloatArray:
    """The largest mu, rounded down, whose null "E d <= mu" has evidence of ``level``: [P].

    At least ``null`` if and only if that null is rejected: an interval says what a verdict says.
    """
    low, high = np.full(len(first), -1.0), np.full(len(first), 1.0)
    middle = np.full(len(first), null)
    for _ in range(_HALVINGS):
        is_rejected = pairs.process(first, second, middle).highest >= level
        low, high = np.where(is_rejected, middle, low), np.where(is_rejected, high, middle)
        middle = (low + high) / 2
    process = pairs.process(first, second)
    return np.where(process.whole, process.mean, low)


def intervals(
    pairs: Pairs, first: IntArray, second: IntArray, level: float, null: float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """The means of the differences lie between these, [P] each, but for exp(-level) at each end.

    The lower end reaches ``null`` if "i over j" is decided, the upper one if the opposite is.
    """
    lower = lower_ends(pairs, first, second, level, null)
    return lower, -lower_ends(pairs, second, first, level, -null)


def confidence(level: float) -> float:
    """The probability that an interval holds at all looks whose ends take evidence of ``level``.

    >>> round(confidence(math.log(10 / (0.95 * 0.05))), 4)
    0.9905
    """
    return max(1 - 2 * math.exp(-level), 0.0)


def least_wins(
    process: Process, null: float, mixture: Bets, level: float, at_once: int
) -> IntArray:
    """``Pairs.least_further`` where each factor is 1 + lambda (1 - mu), in steps of so many."""
    gain = np.log1p(winnings(np.array(mixture.bets), 1, null)) * at_once
    logs = process.log_bets + np.log(mixture.weights)
    lacking = level - logs
    steps = np.ceil(lacking / gain).min(-1).clip(0).astype(int)  # by one of the bets alone
    while True:  # all together may need a little less
        fewer = np.maximum(steps - 1, 0)
        log_e = log_sum(logs + fewer[:, None] * gain)
        does = (log_e >= level) & (steps > 0)
        if not does.any():
            return np.where(process.highest >= level, 0, steps * at_once)
        steps = np.where(does, fewer, steps)


def in_chunks(count: int, numbers_each: int) -> list[slice]:
    """Slices of ``count`` pairs that each need so many numbers."""
    size = max(MOST_NUMBERS // max(numbers_each, 1), 1)
    return [slice(start, min(start + size, count)) for start in range(0, count, size)]
