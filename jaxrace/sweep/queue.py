"""Which job is next in which lane. Axes: J jobs, W lanes of a block."""

import itertools
import math

import numpy as np
from numpy.typing import NDArray

# The golden section: equal jobs that come periodically are spread evenly.
_TURN = (math.sqrt(5) - 1) / 2


def lane_of_jobs(count: int, width: int, costs: NDArray[np.floating] | None) -> NDArray[np.int64]:
    """The lane of a block in which each job runs, whatever the block.

    Every W successive jobs have the W lanes, each once. The next W of them are turned by about
    .618 W, since equal jobs often come in a period that divides W: a grid whose fastest axis is
    the budget would give its longest jobs to a few lanes. With costs the most expensive W jobs
    have a lane each, the next W of them in reverse, and so on.

    Args:
        count: J.
        width: W.
        costs: [J], or None.

    >>> lane_of_jobs(8, 4, None).tolist()
    [0, 1, 2, 3, 3, 0, 1, 2]
    >>> lane_of_jobs(4, 2, np.array([1.0, 4.0, 3.0, 2.0])).tolist()
    [0, 0, 1, 1]
    """
    jobs = np.arange(count)
    if costs is None:
        turn = next(n for n in itertools.count(round(_TURN * width)) if math.gcd(n, width) == 1)
        return (jobs + jobs // width * turn) % width
    there, back = jobs % width, width - 1 - jobs % width
    lanes = np.empty(count, np.int64)
    lanes[by_cost(costs)] = np.where(jobs // width % 2, back, there)
    return lanes


def by_cost(costs: NDArray[np.floating]) -> NDArray[np.int64]:
    """The jobs, the most expensive first.

    >>> by_cost(np.array([1.0, 4.0, 3.0, 4.0])).tolist()
    [1, 3, 2, 0]
    """
    return np.argsort(-np.asarray(costs, np.float64), kind="stable")


class Queue:
    """The jobs that wait, in the order in which they begin, lane by lane.

    Args:
        order: Job numbers.
        lane: Of every job, see ``lane_of_jobs``.
        width: W.

    >>> queue = Queue(np.arange(6), lane_of_jobs(6, 4, None), width=4)
    >>> queue.take(np.array([True, False, False, True])).tolist()
    [0, -1, -1, 3]
    >>> queue.take(np.array([True, False, False, True])).tolist(), len(queue)
    ([5, -1, -1, 4], 2)
    """

    def __init__(self, order: NDArray[np.int64], lane: NDArray[np.int64], width: int) -> None:
        lanes = lane[order]
        by_lane = order[np.argsort(lanes, kind="stable")]
        ends = np.cumsum(np.bincount(lanes, minlength=width))
        self._waiting = np.split(by_lane, ends[:-1])

    def __len__(self) -> int:
        """How many jobs wait."""
        return sum(map(len, self._waiting))

    def take(self, free: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The next job of each free lane [W]; -1 where there is none, or the lane is not free."""
        taken = np.full(free.shape, -1, np.int64)
        for lane in np.flatnonzero(free):
            if self._waiting[lane].size:
                taken[lane], self._waiting[lane] = self._waiting[lane][0], self._waiting[lane][1:]
        return taken

    def most_in_a_lane(self) -> int:
        """The jobs of the lane that has most: more blocks than that have nothing to do."""
        return max(len(jobs) for jobs in self._waiting)
