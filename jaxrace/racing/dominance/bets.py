"""The bets of a dominance race, lambda and w; docs/dominance_race.md says how they are chosen."""

import math
from collections.abc import Sequence

from jaxrace import kernels
from jaxrace.validation import require_positive

# The largest bet by default; with 2 a lost bet would lose all.
_LARGEST_BET = 1.9
_BET_RATIO = 2.2


def default_bets(level: float, max_rounds: int) -> list[float]:
    """lambda for a horizon: from the best bet on the smallest gap that fits, to 1.9.

    Args:
        level: LA, the log e-value of a verdict.
        max_rounds: n_max.

    >>> [round(bet, 2) for bet in default_bets(5.35, 300)]
    [0.5, 1.11, 1.9]
    """
    # From 3 gap^2 n_max = LA + 1 (the 1 for the mixture) and the best lambda 6 gap.
    smallest = min(1.0, math.sqrt(12 * (level + 1) / max_rounds))
    count = math.ceil(math.log(_LARGEST_BET / smallest) / math.log(_BET_RATIO) - 0.3)
    return [smallest * _BET_RATIO**k for k in range(max(count, 1))] + [_LARGEST_BET]


def default_weights(num_bets: int) -> list[float]:
    """w: two fifths for the smallest bet, which decides the closest pairs; the rest evenly.

    >>> [round(weight, 6) for weight in default_weights(3)]
    [0.4, 0.3, 0.3]
    """
    if num_bets == 1:
        return [1.0]
    return [0.4] + [0.6 / (num_bets - 1)] * (num_bets - 1)


def require_bets(bets: Sequence[float], weights: Sequence[float]) -> None:
    """Raise ValueError unless each bet is in (0, 1.95], with a positive weight.

    >>> require_bets([0.5, 2.0], [1.0, 1.0])
    Traceback (most recent call last):
    ValueError: bets: expected at most 1.95, got 2.0
    """
    if not len(bets):
        raise ValueError("bets: expected at least one, got none")
    if len(bets) != len(weights):
        raise ValueError(f"weights: expected as many as bets, {len(bets)}, got {len(weights)}")
    for bet in bets:
        require_positive("bets", bet)
        if bet > kernels.MAX_BET:
            raise ValueError(f"bets: expected at most {kernels.MAX_BET}, got {bet}")
    for weight in weights:
        require_positive("weights", weight)
