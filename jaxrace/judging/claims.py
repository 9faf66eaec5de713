"""What may become certain of candidates against a baseline, of tables and of games. C candidates.

Four claims, in the order of ``CLAIMS``. Those for a candidate are one event, that the null E d <= D
is rejected, where D is the mean of its differences from the baseline, and those against it another
one: the theorem on gates in docs/theory/gate.md.
"""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaxrace.evidence.forecast import UNLIKELY, forecast
from jaxrace.evidence.levels import BoolArray, FloatArray, IntArray
from jaxrace.evidence.process import Pairs, Process, lower_ends
from jaxrace.judging.gate_result import CLAIMS, EQUAL, FALLS, PASSES

Want = Literal["either", "better", "not-worse"]


def shares(number: int, at_most: int | None) -> FloatArray:
    """The shares that candidates have of an error, in the order in which they came: [number].

    >>> shares(3, 4).tolist(), shares(2, None).round(3).tolist()
    ([0.25, 0.25, 0.25], [0.608, 0.152])
    """
    if at_most is not None:
        return np.full(number, 1 / at_most)
    return 6 / (math.pi * np.arange(1, number + 1)) ** 2


class Certain(NamedTuple):
    """What is certain of candidates, in the order of ``CLAIMS``."""

    claims: BoolArray  # [4, C]
    processes: list[Process]  # of each claim
    levels: FloatArray  # [4, C]

    def verdicts(
        self, want: Want, weights: Sequence[float], num_tasks: int | None = None
    ) -> tuple[NDArray[np.object_], FloatArray]:
        """The verdict on each, [C], and a forecast of further runs of both; inf if unlikely."""
        counted = counted_claims(want)
        of_counted = self.claims[counted]
        verdicts = np.array(CLAIMS)[counted][of_counted.argmax(0)].astype(object)
        is_open, process = ~of_counted.any(0), self.processes[0]
        verdicts[is_open] = "too few"
        verdicts[is_open & process.tied] = EQUAL
        ahead = [forecast(self.processes[k], self.levels[k], weights, num_tasks) for k in counted]
        further = np.where(verdicts == "too few", np.min(ahead, 0), 0)
        return verdicts, np.where(further <= UNLIKELY * process.common, further, np.inf)

    def ends(self, pairs: Pairs, first: IntArray, second: IntArray, margin: float) -> FloatArray:
        """Of the interval of each mean difference, [2, C]; past the margin if that is certain."""
        low = lower_ends(pairs, first, second, self.levels[0])
        high = -lower_ends(pairs, second, first, self.levels[2])
        low = np.where(self.claims[1], low.clip(-margin), low)
        return np.stack([low, np.where(self.claims[3], high.clip(max=margin), high)])


def counted_claims(want: Want) -> list[int]:
    """The places in ``CLAIMS`` of those that let a candidate pass, or reject it."""
    return [k for k, claim in enumerate(CLAIMS) if claim in (*PASSES[want], *FALLS[want])]


def certain_of(
    pairs: Pairs, first: IntArray, second: IntArray, margin: float, levels: FloatArray
) -> Certain:
    """Which claims are certain of the options ``first`` against the baseline ``second``, [C] each.

    ``margin`` is one of differences in [-1, 1]; ``levels`` [2, C] are log e-values, of the two
    claims for an option and of the two against it.
    """
    ways = (first, second), (second, first)
    found = [pairs.process(*way, null) for way in ways for null in (0.0, -margin)]
    level = np.repeat(levels, 2, 0)
    return Certain(np.stack([one.highest for one in found]) >= level, found, level)
