"""Which jobs run in which lane, and in which order. Axes: J jobs, W lanes of a device."""

import itertools
import math
from collections import deque
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from jaxrace.sweep.work import Jobs

# The golden section: equal jobs that come periodically are spread evenly.
_TURN = (math.sqrt(5) - 1) / 2


class LanePlan(NamedTuple):
    """The lane of every job, whatever the device, and the order in which they begin."""

    order: NDArray[np.int64]  # [J]
    lane: NDArray[np.int64]  # [J]
    width: int  # W

    @classmethod
    def of(cls, jobs: Jobs, width: int) -> Self:
        """Share them out.

        Every W successive jobs have the W lanes, each once. The next W of them are turned by about
        .618 W, since equal jobs often come in a period that divides W: a grid whose fastest axis
        is the budget would give its longest jobs to a few lanes. With costs the most expensive W
        jobs have a lane each, the next W of them in reverse, and so on, and they begin in that
        order.

        >>> LanePlan.of(Jobs(8, lambda numbers: numbers), 4).lane.tolist()
        [0, 1, 2, 3, 3, 0, 1, 2]
        >>> costs = [1.0, 4.0, 3.0, 2.0]
        >>> LanePlan.of(Jobs(4, lambda numbers: numbers, costs), 2).lane.tolist()
        [0, 0, 1, 1]
        """
        rank = np.arange(jobs.count)
        if jobs.costs is None:
            turns = itertools.count(round(_TURN * width))
            turn = next(turn for turn in turns if math.gcd(turn, width) == 1)
            return cls(rank, (rank + rank // width * turn) % width, width)
        order = np.argsort(-np.asarray(jobs.costs, np.float64), kind="stable")
        lane = np.empty(jobs.count, np.int64)
        there, back = rank % width, width - 1 - rank % width
        lane[order] = np.where(rank // width % 2, back, there)
        return cls(order, lane, width)

    def waiting(self, waits: NDArray[np.bool_]) -> list[deque[int]]:
        """The jobs of each lane that wait, a mask [J]; the next one first."""
        jobs = self.order[waits[self.order]]
        jobs = jobs[np.argsort(self.lane[jobs], kind="stable")]
        ends = np.cumsum(np.bincount(self.lane[jobs], minlength=self.width))
        return [deque(of_lane.tolist()) for of_lane in np.split(jobs, ends[:-1])]
