"""An option by itself: its mean score, or its win probability against all the others together.

Both are the mean of a difference of the option and one more option, number K: by mean of a score
and 0, by wins of the mean of the signs of the option against each of the others. So their intervals
are those of a pair, (i, K). Axes: K options, T tasks, R values, P pairs, b runs.
"""

import dataclasses

import numpy as np

from jaxrace.evidence.blocks import BlockPairs
from jaxrace.evidence.levels import FloatArray, IntArray
from jaxrace.evidence.process import Pairs, intervals
from jaxrace.evidence.tasks import SharedPairs


def own_scores(
    pairs: Pairs, scores: FloatArray | None, level: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Means, and intervals that hold but for exp(-level) at each end, at all looks: [K] each.

    ``scores`` are those of independent runs by mean, [K, N], NaN behind the last of an option. By
    wins what counts are the first tasks or blocks, as many as all options have. NaN without any.
    """
    if isinstance(pairs, SharedPairs):
        alone = tasks_alone(pairs)
        number = len(alone.values) - 1
    else:
        assert isinstance(pairs, BlockPairs)
        alone = _of_runs(pairs, scores)
        number = len(alone.counts) - 1
    at = np.arange(number), np.full(number, number)
    process = alone.process(*at)
    low, high = intervals(alone, *at, level)
    has_none = process.common == 0
    mean, low, high = (np.where(has_none, np.nan, x) for x in (process.mean, low, high))
    return mean, low, high


def tasks_alone(pairs: SharedPairs) -> SharedPairs:
    """Each option by itself, [K + 1, T, 1], and the one more that it is compared with."""
    number, num_tasks, _ = pairs.values.shape
    if pairs.by == "mean":
        own = pairs.task_means
    else:
        own = np.zeros((number, num_tasks))
        for other in range(number):
            rows = np.arange(number)
            found = pairs.differences(rows, np.full(number, other))
            found[other] = 0.0  # it is none of the others
            own += found / (number - 1)
        # A task that one lacks is a task that all lack, and what is behind it as well.
        own[:, np.isnan(own).any(0).cumsum() > 0] = np.nan
    values = np.concatenate([own, np.zeros((1, num_tasks))])[..., None]
    return dataclasses.replace(pairs, values=values, by="mean", compare=None)


def _of_runs(pairs: BlockPairs, scores: FloatArray | None) -> BlockPairs:
    number = len(pairs.counts)

    def own(option: IntArray, start: IntArray, size: int) -> FloatArray:
        """[b, b, P]: the runs of an option, against those of the others."""
        if scores is not None:
            runs = start + np.arange(size)[:, None]
            return np.broadcast_to(scores[option, runs][:, None], (size, size, len(option)))
        total = np.zeros((size, size, len(option)))
        for other in range(number):
            found = pairs.differences(option, np.full_like(option, other), start, size)
            total += np.where(option == other, 0.0, found)
        return total / (number - 1)

    def differences(first: IntArray, second: IntArray, start: IntArray, size: int) -> np.ndarray:
        turned = first == number
        found = own(np.where(turned, second, first), start, size)
        return np.where(turned, -found.swapaxes(0, 1), found)

    counts = pairs.counts if scores is not None else np.full(number, pairs.counts.min())
    return dataclasses.replace(
        pairs, differences=differences, counts=np.append(counts, pairs.counts.max())
    )
