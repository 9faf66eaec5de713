"""The evidence of all pairs of options that matter. Axes: K options, L bets."""

from typing import NamedTuple

import numpy as np

from jaxrace.judging.decision import BoolArray
from jaxrace.judging.process import FloatArray, IntArray, Pairs, Process

# With more options evidence is found for the pairs across the boundary alone.
MOST_OF_ALL_PAIRS = 300


class Evidence(NamedTuple):
    """What is known about "i over j"; see ``Process``. Nothing about pairs that were left out."""

    log_bets: FloatArray  # [K, K, L]
    highest: FloatArray  # [K, K]
    mean: FloatArray  # [K, K]
    common: IntArray  # [K, K]
    whole: BoolArray  # [K, K]
    tied: BoolArray  # [K, K]

    def of(self, first: IntArray, second: IntArray) -> Process:
        """The processes of some pairs, [P]."""
        at = (first, second)
        return Process(
            self.log_bets[at],
            self.highest[at],
            self.mean[at],
            self.common[at],
            self.whole[at],
            self.tied[at],
        )


def evidence_of(pairs: Pairs, wanted: BoolArray, null: float) -> Evidence:
    """The evidence of the ordered pairs ``wanted``, bool [K, K]."""
    num_options = len(wanted)
    first, second = np.nonzero(wanted)
    found = pairs.process(first, second, null)
    square = (num_options, num_options)
    evidence = Evidence(
        np.zeros((*square, len(pairs.bets.bets))),
        np.full(square, -np.inf),
        np.zeros(square),
        np.zeros(square, int),
        np.zeros(square, bool),
        np.zeros(square, bool),
    )
    for array, of_pairs in zip(evidence, found, strict=True):
        array[first, second] = of_pairs
    return evidence


def wanted_pairs(scores: FloatArray, top: int) -> BoolArray:
    """All pairs [K, K]; of many options those across the boundary, by a score of each [K]."""
    num_options = len(scores)
    if num_options <= MOST_OF_ALL_PAIRS:
        return ~np.eye(num_options, dtype=bool)
    leads = np.zeros(num_options, bool)
    leads[np.argsort(-scores, kind="stable")[:top]] = True
    return leads[:, None] != leads[None, :]
