"""Who is certainly best, who may be, and for which pairs more runs would help.

The theorems are in docs/tables.md. Axes: K options; arrays [K, K] are about "i over j".
"""

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaxrace.judging.process import FloatArray, IntArray

BoolArray = NDArray[np.bool_]
Certificate = Literal["dominance", "counts"]

# How far, in log e-values, pairs may be ahead of the most doubtful one and still be run for. With 5
# of it, guesses from independent runs are as good as those of a race that runs all options that are
# not settled; on shared tasks more than 1 costs more than it brings.
SLACK, SHARED_SLACK = 5.0, 1.0

# Sums of estimates that are as close as this are equal.
_DIGITS = 9


class Seen(NamedTuple):
    """What a decision is taken on."""

    highest: FloatArray  # [K, K], the largest ln E_ij so far
    over: BoolArray  # [K, K], verdicts
    strong: BoolArray  # [K, K], verdicts that all hold together
    mean: FloatArray  # [K, K], of the differences; positive where i looks better


class Decision(NamedTuple):
    """What comes of it."""

    ranking: IntArray  # [K], options, best first
    wins: IntArray  # [K], options that one is over, or looks better than
    leads: BoolArray  # [K], T: the first kappa of the ranking
    certificate: Certificate | None
    doubtful: BoolArray  # [K, K], pairs that more runs are for
    served: BoolArray  # [K, K], those of them that are behind, or hardly ahead


def ranking_of(over: BoolArray, mean: FloatArray) -> tuple[IntArray, IntArray]:
    """Options, best first, and how many each is over: verdicts, and where there is none the mean.

    Ties go by the sum of the means, then to the smaller index.
    """
    ahead = over | (~over.T & (mean > 0))
    wins = ahead.sum(1)
    return np.lexsort((-mean.sum(1).round(_DIGITS), -wins)), wins


def decide(
    seen: Seen, top: int, level: float, slack: float, *, is_tolerant: bool = False
) -> Decision:
    """Certify kappa options, or say which pairs are in doubt.

    (a) "dominance": each of T is over each of the rest. (b) "counts": strong verdicts settle how
    many each is over. Pairs in doubt are those across the boundary without a verdict, and where
    there is none of those, pairs whose strong verdict is likeliest to settle the counts. Within a
    tolerance (``is_tolerant``) each of two may be over the other: only the first over the second
    settles a pair.
    """
    num_options = len(seen.over)
    ranking, wins = ranking_of(seen.over, seen.mean)
    leads = np.zeros(num_options, bool)
    leads[ranking[:top]] = True
    cross = leads[:, None] & ~leads[None, :]
    certain_wins, certain_losses = seen.strong.sum(1), seen.strong.sum(0)
    # K - 1 and not K: a tie across the boundary is a top kappa, too.
    lacking = cross & (certain_wins[:, None] + certain_losses[None, :] < num_options - 1)
    certificate: Certificate | None = None
    if not (cross & ~seen.over).any():
        certificate = "dominance"
    elif not lacking.any():
        certificate = "counts"
    doubtful = cross & ~(seen.over | _against(seen, is_tolerant))
    if certificate is None and not doubtful.any():
        doubtful = _stand_ins(lacking, seen.highest, seen.strong)
    deficit = np.where(doubtful, level - seen.highest, -np.inf)
    served = doubtful & (deficit >= deficit.max() - slack)
    return Decision(ranking, wins, leads, certificate, doubtful, served)


def behind(served: BoolArray, progress: IntArray) -> BoolArray:
    """Of each pair the option that lags, both if neither does: bool [K]."""
    lags = progress[:, None] <= progress[None, :]
    return np.asarray(((served | served.T) & lags).any(1))


def perhaps_best(beats: BoolArray, top: int) -> tuple[BoolArray, BoolArray]:
    """Who may be among the best kappa, and who certainly is, by verdicts ``beats``: bool [K] each.

    An option is out if kappa others are over it, and in if it is over all but kappa - 1 of the
    others. If too many are out or in, no kappa options are over all others: verdicts run in
    circles, and nobody is out or in.
    """
    possible, sure = beats.sum(0) < top, beats.sum(1) >= len(beats) - top
    if possible.sum() < top or sure.sum() > top:
        return np.ones_like(possible), np.zeros_like(sure)
    return possible, sure


def who_may_help(
    seen: Seen, doubtful: BoolArray, used_up: BoolArray, top: int, *, is_tolerant: bool = False
) -> BoolArray:
    """Pairs that may still matter to certificate (a): bool [K, K]; ``used_up`` ones have no runs.

    A race, which draws for all pairs in doubt alike, ends where one has no runs left. Runs that
    came otherwise may have left options behind, which change who is in doubt.

    If j over i is decided, or the pair is undecided and used up, a set that is ever certified has
    j in it with i. Who takes more than kappa options with it is out, who is taken by more than
    K - kappa is in; nobody helps if that leaves no set. First come the pairs in doubt, then others
    of which not both options are in, nor both out.
    """
    num_options = len(seen.over)
    itself = np.eye(num_options, dtype=bool)
    against = _against(seen, is_tolerant)
    undecided = ~(seen.over | against) & ~itself
    takes = against | (undecided & used_up) | itself
    for _ in range(math.ceil(math.log2(num_options))):
        # With all that those take.
        takes = takes.astype(np.float32) @ takes.astype(np.float32) > 0
    is_out = takes.sum(1) > top
    is_in = takes.sum(0) > num_options - top
    if is_out.sum() > num_options - top or is_in.sum() > top or (is_in & is_out).any():
        return np.zeros_like(undecided)
    both_alike = (is_in[:, None] & is_in[None, :]) | (is_out[:, None] & is_out[None, :])
    is_open = undecided & ~used_up & ~both_alike
    first = is_open & (doubtful | doubtful.T)
    return first if first.any() else is_open


def _against(seen: Seen, is_tolerant: bool) -> BoolArray:
    """Pairs (i, j) of which i will not be over j any more, but by a wrong verdict: bool [K, K]."""
    return np.zeros_like(seen.over) if is_tolerant else seen.over.T


def _stand_ins(lacking: BoolArray, highest: FloatArray, strong: BoolArray) -> BoolArray:
    """For each pair (i, j) that lacks counts: the likeliest of (i, p) and (p, j) to give one.

    Likeliest is the largest e-value without a strong verdict either way; equals go by p.
    """
    candidate = ~np.eye(len(strong), dtype=bool) & ~strong & ~strong.T
    value = np.where(candidate, highest, -np.inf)
    chosen = np.zeros_like(candidate)
    for i, j in np.argwhere(lacking):
        partner, rival = value[i].argmax(), value[:, j].argmax()
        own, other = value[i, partner], value[rival, j]
        if own > other or (own == other and partner <= rival):
            chosen[i, partner] = True
        else:
            chosen[rival, j] = True
    return chosen & candidate
