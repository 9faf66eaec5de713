"""How many more samples a dominance race may need: a forecast, on which no guarantee depends.

Axes: K options.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jaxrace.racing.dominance import decision

if TYPE_CHECKING:
    from jaxrace.racing.dominance.result import DominanceResult

FloatArray = NDArray[np.float64]


def further_samples(result: "DominanceResult") -> FloatArray:
    """Of each option, until no pair in doubt is in doubt any more: float64 [K], of one race.

    The logarithm of an e-value is taken to grow by 3 gap^2 / (1 + 1 / 2b) per sample, with the
    gap S_ij - 1/2 as it looks (docs/dominance_race.md), and blocks to be filled. 0 where nothing is
    in doubt; infinity where it takes more than the race's n_max, and none are left to be drawn.
    Of a pair without a common block only what fills one.

    Args:
        result: Of one race, certified or not.
    """
    blocks = result.race.blocks
    doubtful = np.asarray(result.doubtful)
    shared = decision.shared_blocks(blocks.complete(result.samples))
    margin = np.asarray(decision.mean_margin(result.margin, shared, blocks), np.float64)
    shared = np.asarray(shared)
    growth = decision.growth_by_gap(blocks) * (margin / 2) ** 2
    # Of the two orders of a pair the one that looks right.
    log_e = np.where(margin >= 0, result.log_evidence, result.log_evidence.T)
    with np.errstate(divide="ignore"):
        lacking = (float(result.params.level) - log_e) / growth
    further = np.where(shared > 0, np.maximum(np.ceil(lacking / blocks.later), 1), 1)
    wanted = blocks.first + (shared + further - 1) * blocks.later
    wanted = np.where(wanted > int(result.params.max_rounds), np.inf, wanted)
    wanted = np.where(doubtful | doubtful.T, wanted, 0).max(1)
    return np.maximum(wanted - np.asarray(result.simulated), 0)
