"""How much evidence a verdict needs, and the bets and factors that it comes from.

The evidence of "i over j" is an e-process E_ij: it starts at 1, and if i is not over j it ever
reaches 1 / alpha with probability at most alpha. A verdict is E_ij >= exp(level): the level shares
delta among the statements that must not be wrong (proofs: docs/theory/tables.md). A factor of E is
1 + lambda (d - mu), for a difference d in [-1, 1] of mean mu under the null and a bet lambda in
[0, 1); the dominance race writes 2 lambda, for d / 2. Axes: K options, L bets, P pairs, b runs.
"""

import dataclasses
import functools
import math
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaxrace.core.validation import BadArgument, require_number

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

By = Literal["wins", "mean"]
Gaps = Literal["lost", "skip"]

# The share of delta that certificate (b) of wins may use; the rest is (a)'s, which does nearly all
# the work.
COUNTS_SHARE = 0.05

_LARGEST_SCORE = 1e300  # sums of many are numbers

# The largest bet: with 1 a lost bet would lose all.
LARGEST_BET = 0.95
BET_RATIO = 2.2

# From so many on it pays to compile more for ``log_factors``.
_MANY_PAIRS = 256


def require_scale(by: By, low: float | None, high: float | None) -> None:
    """Raise ValueError unless a race by mean has a range of scores, and one by wins none."""
    if by == "wins":
        if low is not None or high is not None:
            expected = "none for a race by wins, which needs no range"
            raise BadArgument("low, high", expected, f"{low}, {high}")
    elif low is None or high is None:
        expected = "the range of the scores for a race by mean"
        raise BadArgument("low, high", expected, f"{low}, {high}")
    else:
        for name, end in (("low", low), ("high", high)):
            require_number(name, end, -math.inf, most=_LARGEST_SCORE)
        if not low < high:
            raise BadArgument("low, high", "low < high", f"{low}, {high}")


class Levels(NamedTuple):
    """Log e-values that statements need; delta is the error of each of the three."""

    verdict: float  # of certificate (a): each of the best over each of the rest
    strong: float  # of certificate (b): counts of certain wins and losses; infinite without it
    possible: float  # to leave the set of those who may be among the best


def levels(
    by: By, num_options: int, top: int, delta: float, *, has_tolerance: bool = False
) -> Levels:
    """The levels for K options of which kappa are wanted.

    wins: verdict ln(K / ((1 - eps) delta)), strong ln(K (K - 1) / (eps delta)), eps = 0.05.
    mean: verdict ln((K - 1) / delta). Who may be among the best: ln(kappa (K - kappa) / delta).
    With a tolerance: wins ln(K (K - 1) / (2 delta)), mean ln(kappa (K - kappa) / delta).

    >>> [round(level, 3) for level in levels("wins", 10, 3, 0.05)]
    [5.35, 10.491, 6.04]
    >>> [round(level, 3) for level in levels("mean", 10, 1, 0.05)]
    [5.193, inf, 5.193]
    """
    possible = math.log(top * (num_options - top) / delta)
    pairs = num_options * (num_options - 1)
    if by == "mean":
        verdict = possible if has_tolerance else math.log((num_options - 1) / delta)
        return Levels(verdict, math.inf, possible)
    if has_tolerance:
        return Levels(math.log(pairs / (2 * delta)), math.inf, possible)
    verdict = math.log(num_options / ((1 - COUNTS_SHARE) * delta))
    return Levels(verdict, math.log(pairs / (COUNTS_SHARE * delta)), possible)


class Bets(NamedTuple):
    """A mixture of bets: E = sum_k w_k prod (1 + lambda_k ...)."""

    bets: tuple[float, ...]  # lambda [L], each in (0, 1)
    weights: tuple[float, ...]  # w [L], positive, with sum 1


def dominance_bets(level: float, max_rounds: int) -> list[float]:
    """2 lambda for so many runs: from the best bet on the smallest gap that fits, to 1.9.

    ``level`` is the log e-value of a verdict.

    >>> [round(bet, 2) for bet in dominance_bets(5.35, 300)]
    [0.5, 1.11, 1.9]
    """
    # From 3 gap^2 n_max = level + 1 (the 1 for the mixture) and the best 2 lambda = 6 gap.
    largest = 2 * LARGEST_BET
    smallest = min(1.0, math.sqrt(12 * (level + 1) / max_rounds))
    count = math.ceil(math.log(largest / smallest) / math.log(BET_RATIO) - 0.3)
    return [smallest * BET_RATIO**k for k in range(max(count, 1))] + [largest]


def dominance_weights(num_bets: int) -> list[float]:
    """w: two fifths for the smallest bet, which decides the closest pairs; the rest evenly.

    >>> [round(weight, 6) for weight in dominance_weights(3)]
    [0.4, 0.3, 0.3]
    """
    if num_bets == 1:
        return [1.0]
    return [0.4] + [0.6 / (num_bets - 1)] * (num_bets - 1)


@dataclasses.dataclass(frozen=True)
class Blocks:
    """How the runs of an option are cut into blocks, the same for all options."""

    first: int  # runs of the first block, a prime
    later: int  # runs of every other block, a prime
    scale: int | None = None  # the unit of margins that are no whole numbers

    @property
    def unit(self) -> int:
        """What a margin of 1 in a block counts in sums of margins, to which all add alike."""
        return self.scale or (self.first * self.later) ** 2

    def complete(self, runs: Any, xp: Any = np) -> Any:
        """How many whole blocks so many runs hold."""
        return xp.where(runs < self.first, 0, 1 + (runs - self.first) // self.later)

    def start(self, block: Any, xp: Any = np) -> Any:
        """Runs before a block, or in so many blocks."""
        return xp.where(block > 0, self.first + (block - 1) * self.later, 0)

    def lacking(self, runs: IntArray) -> IntArray:
        """Further runs that complete the next block."""
        return self.start(self.complete(runs) + 1) - runs


def log_factors(differences: Any, bets: Any, xp: Any = np) -> Any:
    """ln F of one block of P pairs, [L, ..., P]; differences d - mu [b, b, ..., P], bets alike.

    A permutation matches the runs of two options, and each match has a factor:
    F = mean over p of prod_a (1 + lambda (d(x^a, y^p(a)) - mu)), p(a) = u a + v modulo the prime b,
    u = 1 .. b - 1, v = 0 .. b - 1.

    >>> won = np.ones((2, 2, 1))  # both runs beat both: (1 + 1/2)^2
    >>> print(np.exp(log_factors(won, np.array([[0.5]]))))
    [[2.25]]
    """
    size = len(differences)
    factors = 1 + differences[:, :, None] * bets
    twice = xp.concatenate([factors, factors], 1)  # modulo b, without an index
    # XLA compiles few large steps soon, and runs many small ones fast.
    together = size if bets.shape[-1] < _MANY_PAIRS else 1
    total = xp.zeros_like(factors[0, 0])
    for slope in range(1, size):
        # Sums of sums: rounding grows with b, and not with b^2.
        of_slope = xp.zeros_like(total)
        for shift in range(0, size, together):
            starts = enumerate((slope * run + shift) % size for run in range(size))
            matched = (twice[run, start : start + together] for run, start in starts)
            of_slope = of_slope + functools.reduce(xp.multiply, matched).sum(0)
        total = total + of_slope
    return xp.log(total / (size * (size - 1)))


def log_sum(logs: Any, axis: int = -1, xp: Any = np) -> Any:
    """ln of the sum of exp(logs) along an axis."""
    largest = logs.max(axis, keepdims=True)
    return xp.log(xp.exp(logs - largest).sum(axis)) + largest.squeeze(axis)
