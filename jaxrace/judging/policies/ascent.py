"""Many maximisations side by side: L-BFGS. Axes: L searches, D numbers."""

from collections.abc import Callable

import numpy as np

# Values, [L], and their slopes, [L, D], for the searches with these numbers.
Worth = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]

_PAIRS = 8  # steps that are remembered
_ENOUGH = 1e-4  # of what a slope promises, a step must bring
_SHORTER, _MOST_SHORTER = 0.3, 12
_FIRST = 1.0  # length of the first step


def maximise(worth: Worth, start: np.ndarray, steps: int, exact: float) -> np.ndarray:
    """Where each search ends, [L, D] (Liu and Nocedal 1989), after so many looks at most.

    A search ends as soon as a step brings less than ``exact``. What is not finite is avoided.
    """
    x, lanes = start.copy(), np.arange(len(start))
    value, slope = worth(x, lanes)
    moves, turns = (np.zeros((_PAIRS, *x.shape)) for _ in range(2))
    inverse = np.zeros((_PAIRS, len(x)))  # 1 / (move . turn), 0 where there is none
    direction, length = _scaled(slope), np.ones(len(x))
    failures, is_over = np.zeros(len(x), int), ~np.isfinite(value)
    for _ in range(steps):
        lanes = np.flatnonzero(~is_over)
        if not len(lanes):
            break
        step = length[lanes, None] * direction[lanes]
        found, own = worth(x[lanes] + step, lanes)
        gain, promise = found - value[lanes], (step * slope[lanes]).sum(1)
        with np.errstate(invalid="ignore"):
            is_good = np.isfinite(found) & (gain >= _ENOUGH * promise)
        bad, good = lanes[~is_good], lanes[is_good]
        length[bad] *= _SHORTER
        failures[bad] += 1
        is_over[bad] = failures[bad] > _MOST_SHORTER
        if not len(good):
            continue
        turn = slope[good] - own[is_good]
        product = (step[is_good] * turn).sum(1)
        for kept, new in ((moves, step[is_good]), (turns, turn)):
            kept[:-1, good] = kept[1:, good]
            kept[-1, good] = new
        inverse[:-1, good] = inverse[1:, good]
        is_curved = product > 1e-12 * np.sqrt((step[is_good] ** 2).sum(1) * (turn**2).sum(1))
        inverse[-1, good] = np.where(is_curved, 1 / np.where(is_curved, product, 1), 0)
        x[good] += step[is_good]
        value[good], slope[good] = found[is_good], own[is_good]
        is_over[good] |= gain[is_good] < exact
        failures[good], length[good] = 0, 1
        ahead = _turned(slope[good], moves[:, good], turns[:, good], inverse[:, good])
        is_up = (ahead * slope[good]).sum(1) > 0
        direction[good] = np.where(is_up[:, None], ahead, _scaled(slope[good]))
    return x


def _scaled(slope: np.ndarray) -> np.ndarray:
    """Of the length of a first step, [L, D]."""
    size = np.sqrt((slope**2).sum(1, keepdims=True))
    return _FIRST * slope / np.maximum(size, np.finfo(np.float64).tiny)


def _turned(
    slope: np.ndarray, moves: np.ndarray, turns: np.ndarray, inverse: np.ndarray
) -> np.ndarray:
    """The direction of Newton's step, as far as the steps before tell: the two loops."""
    ahead, parts = slope.copy(), np.zeros_like(inverse)
    for k in reversed(range(_PAIRS)):
        parts[k] = inverse[k] * (moves[k] * ahead).sum(1)
        ahead -= parts[k][:, None] * turns[k]
    sizes = (turns[-1] ** 2).sum(1)
    scale = np.where(
        (inverse[-1] > 0) & (sizes > 0), 1 / np.maximum(inverse[-1] * sizes, 1e-300), 1
    )
    ahead *= scale[:, None]
    for k in range(_PAIRS):
        ahead += (parts[k] - inverse[k] * (turns[k] * ahead).sum(1))[:, None] * moves[k]
    return ahead
