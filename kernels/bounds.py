"""Confidence bounds for the pairwise estimates S_ij, as verdict thresholds and as intervals.

A verdict "i beats j" after n rounds depends on the net count C_ij = n^2 (2 S_ij - 1) alone: the
device compares it with an int32 threshold, which the host makes in float64. The U-statistic S(n) of
two samples of size n satisfies (Hoeffding 1963, section 5b)

    P(S - s >= e) <= exp(-n kl(s + e, s)) <= exp(-2 n e^2),

where kl is the divergence of two Bernoulli laws. A bound is made of three choices:

    divergence  "hoeffding" (radius sqrt(L / 2n)) or "kl" ({p : n kl(S, p) <= L}, never wider).
    union       how the error delta is shared among rounds:
        "published"  the paper's L = ln(2 K^2 n_max / delta) (Busa-Fekete et al. 2014, eq. 7);
        "rounds"     an equal share per round and unordered pair, L = ln(K (K-1) n_max / delta);
        "stitched"   m epochs n_1 < n_2 < ... that grow by a tenth, L = ln(m K (K-1) / delta): by
                     Doob one statement at n_k covers every n >= n_k, and its radius is epoch k's;
        "open"       the same without a horizon, epoch k at delta 2 / ((k + 1) (k + 2)).
    sides       2, or 1 for bounds that promise verdicts only: a pair that is not exactly tied can
                give one wrong verdict, which saves half of delta. Intervals are two-sided.
"""

import dataclasses
import functools
import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from jaxrace.core.validation import BadArgument

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]

NEVER = int(np.iinfo(np.int32).max)  # a threshold that no net count reaches
MAX_TABLE_CAPACITY = 2048

# A tenth more per epoch is near the best; a ratio of integers, as ceil(1.1 * 10) is 12 in floats.
_GROWTH = (11, 10)


@dataclasses.dataclass(frozen=True)
class Bound:
    """A confidence bound on all pairs and all rounds of a race; see the module for its parts."""

    divergence: Literal["hoeffding", "kl"]
    union: Literal["published", "rounds", "stitched", "open"]
    sides: Literal[1, 2] = 2


RACE_BOUNDS: dict[str, Bound] = {
    "published": Bound("hoeffding", "published"),
    "tight": Bound("hoeffding", "rounds"),
    "verdict": Bound("hoeffding", "rounds", sides=1),
    "kl": Bound("kl", "rounds"),
    "kl-verdict": Bound("kl", "rounds", sides=1),
    "stitched": Bound("hoeffding", "stitched"),
    "stitched-verdict": Bound("hoeffding", "stitched", sides=1),
    "stitched-kl": Bound("kl", "stitched"),
    "stitched-kl-verdict": Bound("kl", "stitched", sides=1),
    "open-stitched": Bound("hoeffding", "open"),
    "open-stitched-kl": Bound("kl", "open"),
}


def bound_named(name: str) -> Bound:
    """The bound of a name in ``RACE_BOUNDS``; ValueError for another."""
    if not isinstance(name, str) or name not in RACE_BOUNDS:
        raise BadArgument("bound", f"one of {', '.join(RACE_BOUNDS)}", repr(name))
    return RACE_BOUNDS[name]


def levels(
    bound: Bound, num_options: int, max_rounds: int, delta: float
) -> tuple[FloatArray, FloatArray]:
    """The level L of each round, and the sample size of its bound: float64 [max_rounds] each.

    For K options, the horizon n_max = ``max_rounds`` ("open" bounds ignore it) and the error
    probability ``delta`` of the whole race. The size is n, or the start of its epoch for stitched
    bounds; 0 before the first epoch, where nothing can be decided.

    >>> level, size = levels(RACE_BOUNDS["stitched-kl"], num_options=10, max_rounds=300, delta=0.05)
    >>> print(f"{level[0]:.2f}", size[14:18])
    10.86 [ 0. 16. 16. 18.]
    """
    # K (K-1) / 2 unordered pairs, each with one or two sides.
    events = bound.sides * num_options * (num_options - 1) / 2
    rounds = np.arange(1, max_rounds + 1, dtype=np.float64)
    if bound.union == "published":
        level = math.log(2 * num_options**2 * max_rounds / delta)
        return np.full(max_rounds, level), rounds
    if bound.union == "rounds":
        return np.full(max_rounds, math.log(events * max_rounds / delta)), rounds
    if bound.union == "open":
        # alpha_k = 2 (delta / pairs) / ((k + 1) (k + 2)), k = 1, 2, ...
        first = _first_decidable(bound, math.log(3 * events / delta))
        starts = _epoch_starts(first, max_rounds)
        epochs = np.arange(1, len(starts) + 1, dtype=np.float64)
        epoch_levels = np.log((epochs + 1) * (epochs + 2) * events / (2 * delta))
    else:
        starts = _stitched_starts(bound, events, max_rounds, delta)
        epoch_levels = np.full(len(starts), math.log(max(len(starts), 1) * events / delta))
    if not starts:
        return np.full(max_rounds, np.inf), np.zeros(max_rounds)
    epoch = np.searchsorted(starts, rounds, side="right") - 1  # -1 before the first
    size = np.where(epoch < 0, 0.0, np.asarray(starts, np.float64)[epoch])
    return epoch_levels[np.maximum(epoch, 0)], size


def _stitched_starts(bound: Bound, events: float, max_rounds: int, delta: float) -> list[int]:
    """Epochs whose number m and first start n_1, which depend on each other, agree."""

    def starts_for(num_epochs: int) -> list[int]:
        first = _first_decidable(bound, math.log(max(num_epochs, 1) * events / delta))
        return _epoch_starts(first, max_rounds)

    # A larger m starts later and leaves fewer epochs: the iteration ends in one m or in two. Of two
    # the later start serves: any starts fixed beforehand are valid.
    before, num_epochs = 1, len(starts_for(1))
    while (after := len(starts_for(num_epochs))) != before:
        before, num_epochs = num_epochs, after
    return starts_for(max(before, num_epochs))


def _first_decidable(bound: Bound, level: float) -> int:
    """n_1: the first round in which S = 1 is told from 1/2 at this level."""
    if bound.divergence == "kl":
        return math.floor(level / math.log(2)) + 1  # n kl(1, 1/2) = n ln 2 > L
    return math.floor(2 * level) + 1  # sqrt(L / 2n) < 1/2


def _epoch_starts(first: int, max_rounds: int) -> list[int]:
    numerator, denominator = _GROWTH
    starts = []
    start = first
    while start <= max_rounds:
        starts.append(start)
        start = max(start + 1, -(-start * numerator // denominator))
    return starts


def thresholds(
    bound: Bound, num_options: int, max_rounds: int, delta: float, epsilon: float = 0.0
) -> IntArray:
    """Smallest net count that decides a pair, for each round: int32 [max_rounds].

    After n rounds option i certainly beats j if C_ij >= threshold[n - 1]; ``NEVER`` where even
    S = 1 decides nothing. With a slack ``epsilon`` in (0, 1/2) a verdict needs only l_ij >= 1/2 -
    epsilon: thresholds may be negative, and where both options beat the other the sign of C_ij
    decides.

    >>> table = thresholds(RACE_BOUNDS["kl"], num_options=3, max_rounds=20, delta=0.1)
    >>> print(bool(table[0] == NEVER), table[-2:])  # of at most 361 and 400
    True [291 315]
    """
    level, size = levels(bound, num_options, max_rounds, delta)
    return _smallest_deciding(bound, np.arange(1, max_rounds + 1), level, size, epsilon)


@functools.lru_cache(maxsize=256)
def threshold_table(
    bound: Bound, num_options: int, capacity: int, delta: float, epsilon: float = 0.0
) -> IntArray:
    """``thresholds`` for every horizon up to ``capacity``, for races whose n_max adapts.

    Read-only int32 [capacity, capacity]: row n_max - 1 holds those of n_max rounds, and ``NEVER``
    beyond. ValueError if the capacity exceeds ``MAX_TABLE_CAPACITY``, 16 MB.

    >>> table = threshold_table(RACE_BOUNDS["tight"], num_options=3, capacity=50, delta=0.1)
    >>> bool((table[39, :40] == thresholds(RACE_BOUNDS["tight"], 3, 40, 0.1)).all())
    True
    """
    if capacity > MAX_TABLE_CAPACITY:
        raise BadArgument("capacity", f"at most {MAX_TABLE_CAPACITY}", str(capacity))
    rows, columns = np.tril_indices(capacity)
    rows_levels = [levels(bound, num_options, n, delta) for n in range(1, capacity + 1)]
    level, size = (np.concatenate(parts) for parts in zip(*rows_levels, strict=True))
    table = np.full((capacity, capacity), NEVER, np.int32)
    table[rows, columns] = _smallest_deciding(bound, columns + 1, level, size, epsilon)
    table.flags.writeable = False
    return table


def _smallest_deciding(
    bound: Bound, rounds: NDArray[np.int64], level: FloatArray, size: FloatArray, epsilon: float
) -> IntArray:
    """Smallest C with S = 1/2 + C / (2 n^2) decided in favour of the first option."""
    squares = rounds.astype(np.int64) ** 2
    lowest = -np.floor(2 * epsilon * squares).astype(np.int64)
    # Bisection over the integers: the verdict is monotone in C.
    low, high = lowest - 1, squares + 1  # undecided at low; high stands for never
    while (high - low > 1).any():
        middle = (low + high) // 2
        estimate = 0.5 + middle / (2.0 * squares)
        decided = _decides(bound, estimate, level, size, epsilon)
        low, high = np.where(decided, low, middle), np.where(decided, middle, high)
    return np.where(high > squares, NEVER, high).astype(np.int32)


def _decides(
    bound: Bound, estimate: FloatArray, level: FloatArray, size: FloatArray, epsilon: float
) -> NDArray[np.bool_]:
    """Is the lower bound above 1/2 (or at least 1/2 - epsilon)?"""
    centre = 0.5 - epsilon
    if bound.divergence == "kl":
        evidence = size * bernoulli_divergence(np.clip(estimate, 0, 1), centre)
    else:
        evidence = 2 * size * (estimate - centre) ** 2
    beyond = evidence > level if epsilon == 0 else evidence >= level
    return beyond & (estimate > centre) & (size > 0)


def bernoulli_divergence(mean: FloatArray | float, other: FloatArray | float) -> FloatArray:
    """kl(p, q) = p ln(p/q) + (1-p) ln((1-p)/(1-q)) in nats, float64, with 0 ln 0 = 0.

    >>> print(f"{bernoulli_divergence(1.0, 0.5):.4f}")
    0.6931
    """
    p, q = np.asarray(mean, np.float64), np.asarray(other, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.where(p > 0, p * np.log(p / q), 0.0)
        second = np.where(p < 1, (1 - p) * np.log((1 - p) / (1 - q)), 0.0)
    return first + second
