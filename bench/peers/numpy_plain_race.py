"""One preference-based race after the other in NumPy, round by round, as researchers write it.

Vectorised over the pairs of a race and over old samples, with counts that are updated and not
computed anew; any bound with a table of thresholds, sharp rule. Axes: K options, N rounds.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class RaceOutcome(NamedTuple):
    """The outcome of one race."""

    samples: NDArray[np.int64]  # [K]
    ranking: NDArray[np.int64]  # [K]


def play(outcomes: NDArray[np.float32], thresholds: NDArray[np.int32], top: int) -> RaceOutcome:
    """Play the race on samples [K, N] drawn beforehand, of which it reads what it asks for."""
    num_options, max_rounds = outcomes.shape
    net = np.zeros((num_options, num_options), np.int64)
    rounds = np.zeros_like(net)
    samples = np.zeros(num_options, np.int64)
    active = ~np.eye(num_options, dtype=bool)
    beats = np.zeros_like(active)
    for n in range(1, max_rounds + 1):
        if not active.any():
            break
        samples += active.any(1)
        older, newest = outcomes[:, : n - 1], outcomes[:, n - 1]
        against_older = np.sign(newest[:, None, None] - older[None, :, :]).sum(-1)
        against_newest = np.sign(newest[:, None] - newest[None, :])
        gains = against_older - against_older.T + against_newest
        net[active] += gains[active].astype(np.int64)
        rounds[active] = n
        beats |= active & (net >= thresholds[n - 1])
        wins, losses = beats.sum(1), beats.sum(0)
        better = wins[:, None] + losses[None, :] >= num_options
        settled = (better.sum(1) >= num_options - top) | (better.sum(0) >= top)
        active &= ~(settled[:, None] & settled[None, :]) & ~(beats | beats.T)
    ahead = beats | (~(beats | beats.T) & (net > 0))
    margins = net / np.maximum(rounds, 1) ** 2
    return RaceOutcome(samples, np.lexsort((-margins.sum(1), -ahead.sum(1))))
