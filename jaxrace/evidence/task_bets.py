"""Bets on shared tasks, on the null that a factor is taken under; see ``levels``."""

import math
from typing import Any

import numpy as np

from jaxrace.evidence.levels import BET_RATIO, LARGEST_BET, Bets, dominance_weights

# No factor is below this, so that no single run loses all.
LEAST_FACTOR = 0.01

# Bets for shared tasks of unknown number: tuned to 30, 130, 650, 3,000, 15,000 and 75,000 of them.
_NUM_BETS = 6


def shared_bets(level: float, num_tasks: int | None = None) -> Bets:
    """The bets of shared tasks: lambda = 2 sqrt((level + 1) / n) 2.2^k up to 0.95.

    That is for n = ``num_tasks``, with two fifths for the smallest; without a number for any, and
    then bets do not depend on it, and all weigh the same.

    >>> [round(bet, 3) for bet in shared_bets(5.0, 300).bets]
    [0.283, 0.622, 0.95]
    >>> [round(bet, 3) for bet in shared_bets(5.0).bets]
    [0.018, 0.041, 0.089, 0.196, 0.432, 0.95]
    """
    if num_tasks is None:
        found = [LARGEST_BET / BET_RATIO**k for k in range(_NUM_BETS)][::-1]
    else:
        found = [2 * math.sqrt((level + 1) / num_tasks)]
        while found[-1] * BET_RATIO < LARGEST_BET:
            found.append(found[-1] * BET_RATIO)
        found = [bet for bet in found if bet < LARGEST_BET] + [LARGEST_BET]
        return Bets(tuple(found), tuple(dominance_weights(len(found))))
    return Bets(tuple(found), (1 / len(found),) * len(found))


def cut_bets(bets: Any, mean: Any, growth: Any = 1.0, xp: Any = np) -> Any:
    """The bets times ``growth``, for nulls of this mean; no factor is below 0.01.

    Arguments are broadcast. The factor 1 + lambda (d - mean) falls with the mean, cut or not:
    evidence against one null is evidence against all smaller ones.
    """
    return xp.minimum(bets * growth, (1 - LEAST_FACTOR) / xp.maximum(1 + mean, 1e-6))


def winnings(bets: Any, differences: Any, mean: Any, growth: Any = 1.0, xp: Any = np) -> Any:
    """Factors less 1: lambda (d - mean), of bets that are cut for a null of this mean."""
    return cut_bets(bets, mean, growth, xp) * (differences - mean)


def frame_of_list(
    null: Any, total: Any, number: Any, num_tasks: Any, xp: Any = np
) -> tuple[Any, Any]:
    """c_s, and by what bets grow, of task s = ``number`` in a list of N after the sum S_{s-1}.

    c_s = (mu N - S_{s-1}) / (N - s + 1), lambda_s = lambda N / (N - s + 1): what is missing to the
    null has ever fewer tasks to come from. A c_s below -1 is impossible, and any bet on it wins.
    """
    left = xp.maximum(num_tasks - number + 1, 1)
    return xp.maximum((null * num_tasks - total) / left, -1.0), num_tasks / left


def frame_of_groups(null: Any, differences: Any, shares: Any) -> tuple[Any, Any]:
    """c_s, and by what bets grow, of tasks in groups: [P, T] and [T].

    ``differences`` [P, T] are those of each step, ``shares`` [T] the w_g / N_g of its group. Like
    ``frame_of_list``, which it is where all shares are 1 / N.
    """
    left = np.maximum(1 - (shares.cumsum() - shares), shares)  # Q_s; the last one but for rounding
    weighted = differences * shares
    done = weighted.cumsum(-1) - weighted
    return np.maximum((null - done) / left, -1.0), 1 / left
