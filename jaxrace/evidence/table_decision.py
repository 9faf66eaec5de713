"""Decisions on tables: a ranking, a certificate, and runs that may still help.

Runs of a table came as they came; a race draws for all pairs in doubt alike. Axes: K options.
"""

import math
from typing import Literal, NamedTuple

import numpy as np

from jaxrace.evidence.decision import Seen, SortKeys, in_doubt, sort_keys
from jaxrace.evidence.levels import BoolArray, FloatArray, IntArray

Certificate = Literal["dominance", "counts"]

# What the certificate "counts" says. It is no dominance: in a circle each beats one other.
COUNTED = "certain wins and losses show that no option beats more of the others"

# Sums of estimates, and evidence, that agree in so many digits are equal.
DIGITS = 9


class TableDecision(NamedTuple):
    """What comes of a look at a table."""

    ranking: IntArray  # [K], options, best first
    leads: BoolArray  # [K], T: the first kappa of the ranking
    certificate: Certificate | None
    doubtful: BoolArray  # [K, K], pairs that more runs are for
    served: BoolArray  # [K, K], those of them that are behind, or hardly ahead


def keys_of(over: BoolArray, mean: FloatArray) -> SortKeys:
    """What the options of a table are ranked by."""
    return sort_keys(over, mean, mean.sum(1).round(DIGITS))


def decide(
    seen: Seen, top: int, level: float, slack: float, *, is_tolerant: bool = False
) -> TableDecision:
    """Certify kappa options, or say which pairs are in doubt: on the host."""
    keys = keys_of(seen.over, seen.mean)
    leads = keys.first(top)
    found = in_doubt(seen, leads, level, slack, is_tolerant=is_tolerant)
    certificate: Certificate | None = "counts" if found.is_counted else None
    certificate = "dominance" if found.dominates else certificate
    return TableDecision(keys.ranking(), leads, certificate, found.doubtful, found.served)


def who_may_help(seen: Seen, top: int, *, is_tolerant: bool = False) -> BoolArray:
    """Pairs that may still lead to certificate (a), if no pair is in doubt: bool [K, K].

    A certified set with i in it also has every j that is over i. Count i itself among them, and
    follow chains. An option that needs more than kappa options is out. An option that more than
    K - kappa options need is in. If no set of kappa options is left, no pair helps. Else every
    undecided pair helps, unless both of its options are in, or both are out.
    """
    num_options = len(seen.over)
    itself = np.eye(num_options, dtype=bool)
    # Pairs (i, j) with a verdict for j: only a wrong verdict can still put i over j.
    against = seen.over.T & (not is_tolerant)
    undecided = ~(seen.over | against) & ~itself
    takes = against | itself
    for _ in range(math.ceil(math.log2(num_options))):
        # Chains of twice the length.
        takes = takes.astype(np.float32) @ takes.astype(np.float32) > 0
    is_out = takes.sum(1) > top
    is_in = takes.sum(0) > num_options - top
    if is_out.sum() > num_options - top or is_in.sum() > top or (is_in & is_out).any():
        return np.zeros_like(undecided)
    both_alike = (is_in[:, None] & is_in[None, :]) | (is_out[:, None] & is_out[None, :])
    return undecided & ~both_alike
