"""A dominance race on samples that there are, decided on the host. Axes: K options, L bets.

The evidence and the decisions are those of ``jaxrace.judging``, which knows no JAX; here they are
asked for a race with its numbers, and put down as the race itself would have them.
"""

import dataclasses
from typing import Any

import numpy as np

from jaxrace.judging import decision
from jaxrace.judging.blocks import BlockPairs, Differences
from jaxrace.judging.decision import Decision, Seen
from jaxrace.judging.levels import Bets
from jaxrace.judging.process import FloatArray, evidence_of
from jaxrace.racing.dominance.decision import growth_by_gap
from jaxrace.racing.dominance.state import (
    COUNTS,
    DOMINANCE,
    EXHAUSTED,
    GIVEN_UP,
    RUNNING,
    Blocks,
    DominanceParams,
    DominanceState,
)

_CERTIFICATES = {"dominance": DOMINANCE, "counts": COUNTS}


def judged(
    state: DominanceState,
    params: DominanceParams,
    differences: Differences,
    counts: np.ndarray,
    *,
    blocks: Blocks,
    top: int,
) -> DominanceState:
    """Decide a race that has not begun on all samples that it will get, ``counts`` int [K]."""
    num_options = len(counts)
    limit = int(params.max_rounds)
    most = blocks.num_complete(limit)
    within = np.minimum(counts, limit)
    pairs = BlockPairs(differences, within, _bets(params), blocks.first, blocks.later)
    null, is_tolerant = float(params.null), float(params.tolerance) > 0
    evidence = evidence_of(pairs, ~np.eye(num_options, dtype=bool), null)
    # In 32 bits, as a race that draws its samples has them.
    highest = evidence.highest.astype(np.float32).astype(float)
    level = np.float32(params.level)
    over = highest >= level
    seen = Seen(highest, over, highest >= np.float32(params.strong_level), evidence.mean)
    complete = pairs.complete()
    shared = np.minimum(complete[:, None], complete[None, :])
    asked = within < min(blocks.first, limit)
    certificate = RUNNING if limit > 0 else EXHAUSTED
    if certificate == RUNNING and not asked.any():
        slack = float(params.slack)
        found = decision.decide(seen, top, float(level), slack, is_tolerant=is_tolerant)
        reach = _reach(evidence.mean, shared, params, most, blocks)
        certificate = _certificate(found, shared >= most, float(level) - highest > reach)
        served = found.served
        if certificate == EXHAUSTED:
            # Samples that came otherwise may have left options behind.
            served = decision.who_may_help(
                seen, found.doubtful, shared >= most, top, is_tolerant=is_tolerant
            )
            certificate = RUNNING if served.any() else EXHAUSTED
        if certificate == RUNNING:
            asked = decision.behind(served, complete)
    played = within if limit < blocks.first else [pairs.start(int(m)) for m in complete]
    return dataclasses.replace(
        state,
        simulated=counts.astype(np.int32),
        samples=np.asarray(played, np.int32),
        log_bets=evidence.log_bets.astype(np.float32),
        highest=highest.astype(np.float32),
        margin=np.rint(evidence.mean * shared * blocks.unit).astype(np.int32),
        asked=asked & (certificate == RUNNING),
        certificate=np.int32(certificate),
    )


def _bets(params: DominanceParams) -> Bets:
    """Of d in [-1, 1], where the race writes them for d / 2."""
    bets = np.asarray(params.bets, float) / 2
    return Bets(tuple(bets), tuple(np.exp(np.asarray(params.log_weights, float))))


def _certificate(found: Decision, used_up: Any, hopeless: Any) -> int:
    if found.certificate is not None:
        return _CERTIFICATES[found.certificate]
    if not found.doubtful.any() or (found.doubtful & used_up).any():
        return EXHAUSTED
    return GIVEN_UP if (found.doubtful & hopeless).any() else RUNNING


def _reach(
    mean: FloatArray, shared: np.ndarray, params: DominanceParams, most: int, blocks: Blocks
) -> FloatArray:
    """What log e-values [K, K] may still grow by; see ``decision.decide`` of the race."""
    played = np.where(shared > 0, blocks.first + (shared - 1) * blocks.later, 0)
    # Without a limit to give up at it is infinite, and not a number where nothing is left to play.
    with np.errstate(divide="ignore", invalid="ignore"):
        margin = float(params.give_up) / np.sqrt(6.0 * played)
        gap = np.maximum((mean - float(params.null)) / 2 + margin, 0)
        return (most - shared) * blocks.later * growth_by_gap(blocks) * gap**2
