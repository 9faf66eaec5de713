"""A sweep in this process: lanes on all devices, refilled until no job is left.

Axes: J jobs, D devices, W lanes of each, n rows of the log.
"""

import dataclasses
import functools
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from jaxrace.sweep.checkpoint import Saver
from jaxrace.sweep.lanes import MOST_STEPS, Program, traced
from jaxrace.sweep.places import LanePlan
from jaxrace.sweep.rows import Rows, RowStore
from jaxrace.sweep.stopping import Interrupted
from jaxrace.sweep.work import Jobs, Work

OnRows = Callable[[int, Rows], None]

# A burst ends when this share of a device's lanes has to be refilled.
_REFILL_SHARE = 10

# Seconds that a burst should take at most: only between two of them a sweep is shown, saved and
# stopped. A step may take a minute.
_LONGEST_BURST = 5.0

# Seconds after which a sweep that was asked to stop waits no more for a burst to end.
_PATIENCE = 8.0


@dataclasses.dataclass
class SweepLog:
    """What a sweep leaves; it is filled while the sweep runs."""

    store: RowStore  # the rows; see ``rows`` and ``RowStore.in_order``
    failed: NDArray[np.int64]  # the jobs that failed, in order; the last row of each shows why
    width: int  # W
    num_devices: int  # D
    num_jobs: int  # J
    num_rows: int  # n
    num_ended: int  # jobs that ended since it began or was resumed
    is_resumed: bool  # did it go on from a checkpoint?
    lane_steps: int  # steps that were computed, all lanes together
    compile_seconds: float = 0.0  # to trace and compile the program
    run_seconds: float = 0.0  # to run it, since the sweep began or was resumed
    compiles_as_it_runs: bool = False  # is that in ``run_seconds``, as in small sweeps?
    errors: dict[str, str] = dataclasses.field(default_factory=dict)  # of shards: see ``Ray``

    @functools.cached_property
    def rows(self) -> Rows:
        """All rows at once, in the order of jobs and their steps."""
        return self.store.all_in_order()

    @property
    def utilisation(self) -> float:
        """The share of the computed steps that were a job's."""
        return self.num_rows / self.lane_steps if self.lane_steps else 1.0

    @property
    def jobs_per_second(self) -> float:
        """Of those that were not done before it was resumed, without the time to compile."""
        return self.num_ended / self.run_seconds if self.run_seconds else 0.0


class Sweep:
    """A sweep on its way: whose the lanes are, what has ended, and the rows.

    What ``is_small`` is played by small programs; a ``saver`` keeps it, if there is one. For the
    other arguments see ``run``.
    """

    def __init__(
        self,
        work: Work,
        jobs: Jobs,
        plan: LanePlan,
        devices: Sequence[Any],
        saver: Saver | None = None,
        stop: Callable[[], bool] | None = None,
        is_small: bool = False,
    ) -> None:
        self._jobs, self._width, self._saver = jobs, plan.width, saver
        self._stop, self._asked_at = stop or (lambda: False), math.inf
        arrays, facts = ({}, {}) if saver is None else saver.load()
        folder = Path() if saver is None else saver.folder
        store = RowStore(
            lambda: traced(work, jobs).out_info[1],
            lambda name: (folder / name).read_bytes(),
            facts.get("files of rows", 0),
        )
        # Of every job: is it done or failed, has it failed, and how many rows, its first ones, were
        # there before: there may be too few devices, so that it begins again.
        none, self._known = np.zeros(jobs.count, bool), np.zeros(jobs.count, np.int64)
        self._ended, self._failed = (np.array(arrays.get(x, none)) for x in ("ended", "failed"))
        for rows in store:
            self._known += np.bincount(rows.job, minlength=jobs.count)
        num_rows = int(self._known.sum())
        if num_rows != facts.get("rows", 0):
            raise ValueError(f"checkpoint: {folder} is damaged: rows are missing")
        self._num_before = int(self._ended.sum())
        # More devices than jobs that wait for a lane have nothing to do.
        most = max(int(np.bincount(plan.lane[~self._ended], minlength=1).max()), 1)
        devices = devices[:most]
        counts = plan.width, len(devices), jobs.count, num_rows, 0, bool(facts)
        self._log = SweepLog(
            store, np.flatnonzero(self._failed), *counts, facts.get("lane steps", 0)
        )
        self._log.compiles_as_it_runs = is_small
        # Of every lane: its job, or -1, and how many steps that has played.
        self._job = np.full(len(devices) * plan.width, -1)
        self._step = np.zeros_like(self._job)
        self._most_steps = 1  # of a burst: how long a step takes is not known yet
        if not self._ended.all():
            started = time.perf_counter()
            self._program = Program(work, jobs, plan.width, devices, is_small)
            if facts:
                self._restore(arrays)
            self._log.compile_seconds = time.perf_counter() - started
        waits = ~self._ended
        waits[self._job[self._job >= 0]] = False
        self._waiting = plan.waiting(waits)

    def run(self, most_steps: int = MOST_STEPS, on_rows: OnRows | None = None) -> SweepLog:
        """Play bursts until no job is left."""
        # The library behind LAPACK, SciPy's, has threads of its own, which would take the devices'
        # cores. They are found only once it is imported.
        import scipy.linalg  # noqa: F401

        started = saved_at = time.perf_counter()
        with threadpool_limits(limits=1, user_api="blas"):
            while not self._ended.all():
                rows = self._burst(most_steps)
                if on_rows is not None:
                    on_rows(int(self._ended.sum()), rows)
                stops = self._stops()
                if self._saver is not None:
                    is_due = time.perf_counter() - saved_at >= self._saver.every
                    # What takes a few seconds is done again rather than saved.
                    is_worth_it = saved_at > started or not self._log.compiles_as_it_runs
                    if stops or is_due or (self._ended.all() and is_worth_it):
                        self._save(self._saver)
                        saved_at = time.perf_counter()
                if stops:
                    raise Interrupted
        self._log.failed = np.flatnonzero(self._failed)
        self._log.num_ended = int(self._ended.sum()) - self._num_before
        self._log.run_seconds = time.perf_counter() - started
        return self._log

    def _stops(self) -> bool:
        """Has ``stop`` said so, now or before?"""
        if self._asked_at == math.inf and self._stop():
            self._asked_at = time.perf_counter()
        return self._asked_at < math.inf

    def _burst(self, most: int) -> Rows:
        """Refill the lanes, step them, and note what they have done."""
        begun = self._next_jobs()
        # Without jobs that wait, there is no reason to stop early.
        quota = max(1, self._width // _REFILL_SHARE) if any(self._waiting) else self._width
        started = time.perf_counter()
        burst = self._program.dispatch(begun, min(most, self._most_steps), quota)
        self._wait_for(burst.num_steps)
        burst, alive = jax.device_get((burst, self._program.lanes.alive))
        seconds = max(time.perf_counter() - started, 1e-6)
        self._most_steps = max(int(burst.num_steps.max() * _LONGEST_BURST / seconds), 1)

        number = self._step + np.cumsum(burst.ran, axis=0)
        at = np.nonzero(burst.ran & (number > self._known[self._job]))
        job = np.broadcast_to(self._job, number.shape)[at]
        rows = Rows(job, number[at], jax.tree.map(lambda x: x[at], burst.rows))
        self._log.store.add(rows)
        self._log.num_rows += len(rows.job)
        self._log.lane_steps += int(burst.num_steps.sum()) * self._width
        has_ended = (self._job >= 0) & ~alive
        self._ended[self._job[has_ended]] = True
        self._failed[self._job[has_ended & burst.failed]] = True
        self._step += burst.ran.sum(0)
        self._job[has_ended], self._step[has_ended] = -1, 0
        return rows

    def _next_jobs(self) -> tuple[Any, NDArray[np.bool_]] | None:
        """What ``init`` is given, and which lanes begin a job; None if none does."""
        begins = np.zeros(len(self._job), bool)
        for place in np.flatnonzero(self._job < 0):
            if waiting := self._waiting[place % self._width]:
                self._job[place], begins[place] = waiting.popleft(), True
        # Other lanes without a job get a copy of one, so that there is a state to step.
        jobs = np.where(begins, self._job, self._job.max())
        return (self._jobs.inputs(jobs), begins) if begins.any() else None

    def _wait_for(self, array: jax.Array) -> None:
        """Wait until it is computed; ``Interrupted`` long after ``stop`` said so."""
        pause = 1e-4
        while not array.is_ready():  # pyright: ignore[reportAttributeAccessIssue]
            pause = min(1.02 * pause, 0.1)
            time.sleep(pause)
            if pause == 0.1 and self._stops() and time.perf_counter() > self._asked_at + _PATIENCE:
                raise Interrupted

    def _save(self, saver: Saver) -> None:
        of_jobs = {"ended": self._ended, "failed": self._failed}
        of_lanes = {"job": self._job, "step": self._step, **self._program.saved()}
        facts = {"rows": self._log.num_rows, "lane steps": self._log.lane_steps}
        facts["files of rows"] = self._log.store.flush(saver.folder)
        saver.save(of_jobs | of_lanes, facts)

    def _restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Put the jobs in flight into the lanes, of more or fewer devices than there were."""
        job, step, lane = arrays["job"], arrays["step"], np.arange(self._width)
        # Of every lane, the devices where it is busy first.
        device = np.argsort(job.reshape(-1, self._width) < 0, axis=0, kind="stable")
        kept = (device * self._width + lane)[: self._log.num_devices].ravel()
        self._job[: kept.size], self._step[: kept.size] = job[kept], step[kept]
        # What devices more than before are given is nobody's.
        self._program.restore(arrays, np.resize(kept, self._job.size), self._job >= 0)
