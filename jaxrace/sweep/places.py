"""Where jobs run: how many devices and lanes there are, and which lane a job has.

Axes: J jobs, W lanes of a device.
"""

import itertools
import math
import os
from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import jax
import numpy as np
from numpy.typing import NDArray

from jaxrace.sweep.lanes import MOST_STEPS, is_small, traced
from jaxrace.sweep.work import Jobs, Work

# Of 8 to 128 lanes on a CPU, 32 ran the most searches per second.
_CPU_WIDTH, _WIDTH = 32, 4096

# A lane takes several times its state: the next one, what a step computes on its way, and the rows
# of a burst. Lanes may have this share of the memory, if a step takes ten times its state.
_MEMORY_SHARE, _STEP_SHARE = 0.5, 10

# The golden section: equal jobs that come periodically are spread evenly.
_TURN = (math.sqrt(5) - 1) / 2


def num_cores() -> int:
    """The cores that this process may use.

    >>> num_cores() >= 1
    True
    """
    has_affinity = hasattr(os, "sched_getaffinity")
    return len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1


def use_all_cores() -> None:
    """Let sweeps use all cores of a CPU; called before JAX computes anything, else RuntimeError.

    JAX gets a device for each core, and one more. XLA has a thread for each, and a batch of
    matrices is cut in parts for these threads, while one of them waits for all parts. Should every
    device of a sweep wait, the last thread still does the parts.

    >>> use_all_cores()  # doctest: +SKIP
    """
    jax.config.update("jax_num_cpu_devices", num_cores() + 1)


def default_devices() -> list[Any]:
    """The devices of JAX on this machine; of those of a CPU one for each core, and one is left out.

    >>> len(default_devices()) <= len(jax.devices())
    True
    """
    devices = jax.local_devices()
    is_cpu = devices[0].platform == "cpu"
    return devices[: max(min(num_cores(), len(devices) - 1), 1)] if is_cpu else devices


def default_width(work: Work, jobs: Jobs, devices: Sequence[Any] | None = None) -> int:
    """The lanes of each device unless they are given: see ``run``."""
    if is_small(work, jobs, jobs.count):
        return jobs.count
    device = (default_devices() if devices is None else devices)[0]
    most = _CPU_WIDTH if device.platform == "cpu" else _WIDTH
    room = (device.memory_stats() or {}).get("bytes_limit", math.inf) * _MEMORY_SHARE
    state, row = (
        sum(x.size * x.dtype.itemsize for x in jax.tree.leaves(shapes))
        for shapes in traced(work, jobs).out_info[:2]
    )
    most = max(int(min(most, room / max(_STEP_SHARE * state + MOST_STEPS * row, 1))), 1)
    # A little less where that leaves no lane without a job.
    num_rounds = max(math.ceil(jobs.count / most), 1)
    return max(math.ceil(jobs.count / num_rounds), 1)


class LanePlan(NamedTuple):
    """The lane of every job, whatever the device, and the order in which they begin."""

    order: NDArray[np.int64]  # [J]
    lane: NDArray[np.int64]  # [J]
    width: int  # W

    @classmethod
    def of(cls, jobs: Jobs, width: int) -> Self:
        """Every W successive jobs have the W lanes, and the next W are turned by about .618 W.

        Equal jobs often come in a period that divides W. With costs the most expensive W jobs have
        a lane each, the next W of them in reverse, and so on, and they begin in that order.

        >>> LanePlan.of(Jobs(8, lambda numbers: numbers), 4).lane.tolist()
        [0, 1, 2, 3, 3, 0, 1, 2]
        >>> LanePlan.of(Jobs(4, lambda numbers: numbers, [1.0, 4.0, 3.0, 2.0]), 2).lane.tolist()
        [0, 0, 1, 1]
        """
        rank = np.arange(jobs.count)
        time, place = np.divmod(rank, width)
        if jobs.costs is None:
            turns = itertools.count(round(_TURN * width))
            turn = next(turn for turn in turns if math.gcd(turn, width) == 1)
            return cls(rank, (place + time * turn) % width, width)
        order = np.argsort(-np.asarray(jobs.costs, np.float64), kind="stable")
        lane = np.where(time % 2, width - 1 - place, place)
        return cls(order, lane[np.argsort(order)], width)

    def waiting(self, waits: NDArray[np.bool_]) -> list[deque[int]]:
        """The jobs of each lane that wait, a mask [J]; the next one first."""
        jobs = self.order[waits[self.order]]
        jobs = jobs[np.argsort(self.lane[jobs], kind="stable")]
        ends = np.cumsum(np.bincount(self.lane[jobs], minlength=self.width))
        return [deque(of_lane.tolist()) for of_lane in np.split(jobs, ends[:-1])]
