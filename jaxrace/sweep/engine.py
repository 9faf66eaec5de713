"""A sweep in this process: lanes on all devices, refilled until no job is left.

Axes: J jobs, D devices, W lanes of each, n rows of the log.
"""

import contextlib
import dataclasses
import functools
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from jaxrace.sweep.checkpoint import Checkpoints, Saver, Snapshot, identity_of, surroundings
from jaxrace.sweep.lanes import MOST_STEPS, Program, one_job, traced_job
from jaxrace.sweep.queue import LanePlan
from jaxrace.sweep.rows import Rows, RowStore, rows_of
from jaxrace.sweep.small import SmallProgram, is_small
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


@dataclasses.dataclass(frozen=True)
class SweepLog:
    """What a sweep leaves."""

    store: RowStore  # the rows; see ``rows`` and ``RowStore.in_order``
    failed: NDArray[np.int64]  # the jobs that failed, in order; the last row of each shows why
    width: int  # W
    num_devices: int  # D
    num_jobs: int  # J
    num_rows: int  # n
    num_ended: int  # jobs that ended since it began or was resumed
    is_resumed: bool  # did it go on from a checkpoint?
    lane_steps: int  # steps that were computed, all lanes together
    compile_seconds: float  # to trace and compile the program
    run_seconds: float  # to run it, since the sweep began or was resumed
    errors: Mapping[str, str] = dataclasses.field(default_factory=dict)  # of shards: see ``Ray``

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


def run_here(
    work: Work,
    jobs: Jobs,
    plan: LanePlan,
    devices: Sequence[Any],
    burst: int = MOST_STEPS,
    on_rows: OnRows | None = None,
    checkpoints: Checkpoints | None = None,
    stop: Callable[[], bool] | None = None,
    identity: Mapping[str, Any] | None = None,
) -> SweepLog:
    """Do every job in this process, in its lane; for the arguments see ``run``.

    The ``identity`` of its checkpoints is made from the work and the jobs unless it is given.
    """
    with contextlib.ExitStack() as stack:
        saver = None
        if checkpoints is not None:

            def identify() -> Mapping[str, Any]:
                if identity is not None:
                    return identity
                if is_small(work, jobs, plan.width):
                    # What has been traced for its steps, and how, shows in the whole program.
                    jax.clear_caches()
                return surroundings(work, jobs) | identity_of(work, jobs, plan.width)

            saver = stack.enter_context(Saver(checkpoints, identify))
        # The library behind LAPACK, SciPy's, has threads of its own, which would take the devices'
        # cores. They are found only once it is imported.
        import scipy.linalg  # noqa: F401

        stack.enter_context(threadpool_limits(limits=1, user_api="blas"))
        sweep = _Sweep(work, jobs, plan, devices, saver)
        stop = _latched(stop or (lambda: False))
        sweep.run_bursts(burst, on_rows or (lambda ended, rows: None), stop)
    return SweepLog(
        store=sweep.store,
        failed=np.flatnonzero(sweep.failed),
        width=plan.width,
        num_devices=sweep.num_devices,
        num_jobs=jobs.count,
        num_rows=sweep.facts["rows"],
        num_ended=int(sweep.ended.sum()) - sweep.num_before,
        is_resumed=sweep.is_resumed,
        lane_steps=sweep.facts["lane steps"],
        compile_seconds=sweep.compile_seconds,
        run_seconds=sweep.run_seconds,
    )


class _Sweep:
    """A sweep on its way: whose the lanes are, what has ended, and the rows."""

    def __init__(
        self,
        work: Work,
        jobs: Jobs,
        plan: LanePlan,
        devices: Sequence[Any],
        saver: Saver | None,
    ) -> None:
        width = plan.width
        self._jobs, self._width, self._saver = jobs, width, saver
        saved = None if saver is None else saver.load()
        self.is_resumed = saved is not None
        self.facts = {"rows": 0, "lane steps": 0, "files of rows": 0}
        # Of every job: is it done or failed, has it failed, and how many rows it has left before it
        # was begun again.
        self._of_jobs = {
            "ended": np.zeros(jobs.count, bool),
            "failed": np.zeros(jobs.count, bool),
            "known": np.zeros(jobs.count, np.int64),
        }
        if saved is not None:
            self.facts = saved.facts
            for name in self._of_jobs.keys() & saved.arrays.keys():  # not of no jobs
                self._of_jobs[name][:] = saved.arrays[name]
        self.ended, self.failed, self._known = self._of_jobs.values()
        folder = None if saver is None else saver.folder
        shapes = functools.partial(_row_shapes, work, jobs)
        self.store = RowStore(shapes, folder, self.facts["files of rows"])
        if saved is not None and self.store.count() != self.facts["rows"]:
            raise ValueError(f"checkpoint: {folder} is damaged: rows are missing")
        self.num_before = int(self.ended.sum())
        self.num_devices = min(len(devices), max(plan.most(~self.ended), 1))
        # Of every lane: its job, or -1, and how many steps that has played.
        count = self.num_devices * width
        self.job, self.step = np.full(count, -1), np.zeros(count, np.int64)
        self._has_state = np.zeros(count, bool)
        self._most_steps = 1  # of a burst: how long a step takes is not known yet
        started = time.perf_counter()
        self._program = None
        if not self.ended.all():
            kind = SmallProgram if is_small(work, jobs, width) else Program
            self._program = kind(work, jobs, width, devices[: self.num_devices])
            if saved is not None:
                self._restore(self._program, saved.arrays)
        self.compile_seconds, self.run_seconds = time.perf_counter() - started, 0.0
        waits = ~self.ended
        waits[self.job[self.job >= 0]] = False
        self._waiting = plan.waiting(waits)

    def run_bursts(self, most_steps: int, on_rows: OnRows, stop: Callable[[], bool]) -> None:
        """Play bursts until no job is left."""
        is_small_one = isinstance(self._program, SmallProgram)
        # What takes a few seconds of the processor is done again rather than saved.
        clock = time.process_time if is_small_one else time.perf_counter
        started, begun_at, is_saved = time.perf_counter(), clock(), False
        saved_at = begun_at
        while self._program is not None and not self.ended.all():
            rows = self._burst(self._program, most_steps, stop)
            on_rows(int(self.ended.sum()), rows)
            stops = stop()
            if self._saver is not None and (stops or clock() - saved_at >= self._saver.every):
                self._save(self._saver, self._program)
                saved_at, is_saved = clock(), True
            if stops:
                raise Interrupted
        is_brief = is_small_one and not is_saved
        if self._saver is not None and self._program is not None and not is_brief:
            self._save(self._saver, self._program)
        self.run_seconds = time.perf_counter() - started

    def _burst(self, program: Program, most: int, stop: Callable[[], bool]) -> Rows:
        """Refill the lanes, step them, and note what they have done."""
        begun = self._next_jobs()
        # Without jobs that wait, there is no reason to stop early.
        quota = max(1, self._width // _REFILL_SHARE) if any(self._waiting) else self._width
        started = time.perf_counter()
        dispatched = program.dispatch(begun, min(most, self._most_steps), quota)
        _wait_for(dispatched.num_steps, stop)
        burst, alive = jax.device_get((dispatched, program.lanes.alive))
        seconds = max(time.perf_counter() - started, 1e-6)
        self._most_steps = max(int(burst.num_steps.max() * _LONGEST_BURST / seconds), 1)

        rows = rows_of(burst, self.job, self.step, self._known)
        self.store.add(rows)
        self.facts["rows"] += len(rows.job)
        self.facts["lane steps"] += int(burst.num_steps.sum()) * self._width
        has_ended = (self.job >= 0) & ~alive
        self.ended[self.job[has_ended]] = True
        self.failed[self.job[has_ended & burst.failed]] = True
        self.step += burst.ran.sum(0)
        self.job[has_ended], self.step[has_ended] = -1, 0
        return rows

    def _next_jobs(self) -> tuple[Any, NDArray[np.bool_], NDArray[np.bool_]] | None:
        """For free lanes: what ``init`` is given, lanes that begin, and which have a job.

        None if no job begins.
        """
        taken = np.zeros(len(self.job), bool)
        for place in np.flatnonzero(self.job < 0):
            waiting = self._waiting[place % self._width]
            if waiting:
                self.job[place], taken[place] = waiting.popleft(), True
        if not taken.any():
            return None
        new = taken | ~self._has_state
        self._has_state |= new
        # A lane that never had a job gets a copy of another's.
        return self._jobs.inputs(np.where(taken, self.job, self.job.max())), new, taken

    def _save(self, saver: Saver, program: Program) -> None:
        named = {**self._of_jobs, "job": self.job, "step": self.step}
        named |= {_leaf(number): leaf for number, leaf in enumerate(program.saved())}
        self.facts["files of rows"] = self.store.flush()
        saver.save(Snapshot(named, self.facts))

    def _restore(self, program: Program, arrays: dict[str, np.ndarray]) -> None:
        """Put the jobs in flight into the lanes, of more or fewer devices than there were.

        Those for which there are too few devices begin again, and leave no row twice.
        """
        job, step = (arrays[name].reshape(-1, self._width) for name in ("job", "step"))
        places = np.argsort(job < 0, axis=0, kind="stable")  # of every lane, the busy ones first
        kept, left = np.split(places, [self.num_devices])
        lane = np.arange(self._width)
        waits = job[left, lane] >= 0
        begun = job[left, lane][waits]
        self._known[begun] = np.maximum(self._known[begun], step[left, lane][waits])
        source = (kept * self._width + lane).ravel()
        here = slice(len(source))
        self.job[here], self.step[here] = arrays["job"][source], arrays["step"][source]
        self._has_state[here] = True
        leaves = program.saved()
        for index, leaf in enumerate(leaves):
            if _leaf(index) in arrays:  # what has no elements is not stored
                leaf[here] = arrays[_leaf(index)][source]
        program.restore(leaves)


def _row_shapes(work: Work, jobs: Jobs) -> Any:
    return jax.eval_shape(traced_job, work, one_job(jobs))[1]


def _leaf(number: int) -> str:
    return f"leaf_{number:03}"


def _latched(stop: Callable[[], bool]) -> Callable[[], bool]:
    """``stop``, which says so for ever once it has said so."""
    said = False

    def has_said() -> bool:
        nonlocal said
        said = said or stop()
        return said

    return has_said


def _wait_for(array: jax.Array, stop: Callable[[], bool]) -> None:
    """Wait until it is computed; ``Interrupted`` if that takes long after ``stop`` has said so."""
    started, asked = time.perf_counter(), None
    while not array.is_ready():  # pyright: ignore[reportAttributeAccessIssue]
        now = time.perf_counter()
        pause = min((now - started) / 50, 0.1)
        if asked is None and pause == 0.1 and stop():
            asked = now
        if asked is not None and now - asked > _PATIENCE:
            raise Interrupted
        time.sleep(max(pause, 1e-4))
