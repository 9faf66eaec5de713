"""What has become of each job of a sweep, and which is next. Axes: J jobs."""

import threading

import numpy as np
from numpy.typing import NDArray

from jaxrace.sweep.blocks import Turn
from jaxrace.sweep.hosts import Hosts, share_of_host
from jaxrace.sweep.queue import Queue, lane_of_jobs
from jaxrace.sweep.rows import RowStore
from jaxrace.sweep.work import Jobs


class Ledger:
    """The jobs that wait, those that have ended, and all rows.

    Args:
        jobs: Of the sweep.
        order: int64 [J], in which they begin.
        width: W.
        hosts: Which host this is: the others' jobs do not wait here.
        store: Of the rows.

    Attributes:
        store: The rows.
        ended: bool [J], done or failed.
        failed: bool [J].
        num_rows: Rows in the store.
        lane_steps: Steps that were computed, all lanes together.
    """

    def __init__(
        self, jobs: Jobs, order: NDArray[np.int64], width: int, hosts: Hosts, store: RowStore
    ) -> None:
        costs = None if jobs.costs is None else np.asarray(jobs.costs, np.float64)
        self._lane = lane_of_jobs(jobs.count, width, costs)
        self._order = share_of_host(order, self._lane, hosts)
        self._width = width
        self._queue = Queue(self._order, self._lane, width)
        self._lock = threading.Lock()
        self.store = store
        self.ended = np.zeros(jobs.count, bool)
        self.failed = np.zeros(jobs.count, bool)
        self.num_rows = 0
        self.lane_steps = 0

    @property
    def is_done(self) -> bool:
        """Have all jobs of this host ended?"""
        return bool(self.ended[self._order].all())

    def most_in_a_lane(self) -> int:
        """See ``Queue``."""
        return self._queue.most_in_a_lane()

    def leave_out(self, jobs: NDArray[np.int64]) -> None:
        """Let these jobs, which have begun, and those that have ended, wait no more."""
        waits = ~self.ended
        waits[jobs] = False
        self._queue = Queue(self._order[waits[self._order]], self._lane, self._width)

    def take(self, free: NDArray[np.bool_]) -> tuple[NDArray[np.int64], bool]:
        """See ``blocks.Source``; may be called by several threads."""
        with self._lock:
            return self._queue.take(free), bool(len(self._queue))

    def enter(self, turn: Turn) -> None:
        """Note what a block has done; called by one thread."""
        self.store.add(turn.rows)
        self.ended[turn.ended] = True
        self.failed[turn.failed] = True
        self.num_rows += len(turn.rows.job)
        self.lane_steps += turn.lane_steps
