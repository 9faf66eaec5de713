"""Many preference-based races at once in NumPy, all of them in step: a loop over old samples.

The straightforward batched form: arrays [R, K, K, m] of counts, one pass per old sample over all
new samples of a chunk, one decision per round for all races. Races in blocks that fit the cache;
a block ends when its last race does. Bound and rule as in ``numpy_plain_race``; no ties.
"""

import numpy as np
from numpy.typing import NDArray

from peers.numpy_batched_race import Draw


def play(
    draw: Draw,
    thresholds: NDArray[np.int32],
    num_races: int,
    num_options: int,
    top: int,
    chunk: int = 50,
    block: int = 50,
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Samples counted [R, K] and rankings [R, K]."""
    starts = range(0, num_races, block)
    blocks = [np.arange(start, min(start + block, num_races)) for start in starts]
    played = [_play_block(draw, races, thresholds, num_options, top, chunk) for races in blocks]
    return np.concatenate([p[0] for p in played]), np.concatenate([p[1] for p in played])


def _play_block(
    draw: Draw,
    races: NDArray[np.int64],
    thresholds: NDArray[np.int32],
    num_options: int,
    top: int,
    chunk: int,
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    shape = (len(races), num_options, num_options)
    net, rounds = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
    active = np.broadcast_to(~np.eye(num_options, dtype=bool), shape).copy()
    beats = np.zeros(shape, bool)
    samples = np.zeros(shape[:2], np.int32)
    outcomes = np.zeros((*shape[:2], len(thresholds)), np.float32)
    for first in range(0, len(thresholds), chunk):
        if not active.any():
            break
        last = min(first + chunk, len(thresholds))
        outcomes[:, :, first:last] = draw(races, first, last - first)
        gains = _gains(outcomes[:, :, :last], first)
        for n in range(first, last):
            samples += active.any(-1)
            net += active * gains[..., n - first]
            rounds[active] = n + 1
            beats |= active & (net >= thresholds[n])
            active &= _still_open(beats, top)
    ahead = beats | (~(beats | beats.swapaxes(1, 2)) & (net > 0))
    margins = net / np.maximum(rounds, 1).astype(np.float64) ** 2
    return samples, np.lexsort((-margins.sum(-1), -ahead.sum(-1)))


def _gains(outcomes: NDArray[np.float32], first: int) -> NDArray[np.int32]:
    """Net counts that each round from ``first`` on adds: [R, K, K, m] from [R, K, last]."""
    num_races, num_options, last = outcomes.shape
    # An old sample of i that is larger than a new one of j wins.
    wins = np.zeros((num_races, num_options, num_options, last - first), np.int16)
    for old in range(last - 1):
        later = max(first, old + 1)
        won = outcomes[:, :, None, None, old] > outcomes[:, None, :, later:]
        wins[..., later - first :] += won
    newest = outcomes[..., first:]
    same_round = (newest[:, :, None] > newest[:, None, :]).astype(np.int32)
    # Older ones of i that won, less older ones of j that won: the losses cancel.
    doubled = 2 * (wins.astype(np.int32) - wins.swapaxes(1, 2))
    return doubled + same_round - same_round.swapaxes(1, 2)


def _still_open(beats: NDArray[np.bool_], top: int) -> NDArray[np.bool_]:
    """Pairs that are neither decided nor settled by the sharp rule."""
    num_options = beats.shape[-1]
    better = beats.sum(-1)[:, :, None] + beats.sum(-2)[:, None, :] >= num_options
    settled = (better.sum(-1) >= num_options - top) | (better.sum(-2) >= top)
    return ~(settled[:, :, None] & settled[:, None, :]) & ~(beats | beats.swapaxes(1, 2))
