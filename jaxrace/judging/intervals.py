"""How much better: intervals that hold at every look, from the same e-processes. Axes: P pairs.

The nulls E d <= mu that have been rejected are all up to some mu, since the evidence falls with mu.
That mu is the lower end; the upper one is that of the reverse order.
"""

import numpy as np

from jaxrace.judging.process import FloatArray, IntArray, Pairs

_HALVINGS = 14  # of the range from -1 to 1: a last step of 0.0001


def lower_ends(pairs: Pairs, first: IntArray, second: IntArray, level: float) -> FloatArray:
    """The largest mu, rounded down, whose null "E d <= mu" has evidence of ``level``: [P]."""
    low, high = np.full(len(first), -1.0), np.full(len(first), 1.0)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        is_rejected = pairs.process(first, second, middle).highest >= level
        low, high = np.where(is_rejected, middle, low), np.where(is_rejected, high, middle)
    process = pairs.process(first, second)
    return np.where(process.whole, process.mean, low)


def intervals(
    pairs: Pairs, first: IntArray, second: IntArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """The means of the differences lie between these, [P] each, but for exp(-level) at each end."""
    return lower_ends(pairs, first, second, level), -lower_ends(pairs, second, first, level)
