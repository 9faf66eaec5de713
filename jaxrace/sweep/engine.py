"""A sweep in this process: lanes on all devices, refilled until no job is left.

Axes: J jobs, D devices, W lanes of each.
"""

import dataclasses
import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from jaxrace import files
from jaxrace.keys import with_keys, without_keys
from jaxrace.sweep import checkpoint
from jaxrace.sweep.lanes import MOST_STEPS, Lanes, program, traced
from jaxrace.sweep.log import Rows, SweepLog
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
class Sweep:
    """A sweep on its way: whose the lanes are, and what has ended; for the rest see ``run``."""

    work: Work
    jobs: Jobs
    width: int
    plan: tuple[NDArray[np.int64], NDArray[np.int64]]  # see ``lane_plan``
    devices: Sequence[Any]
    own: Any  # see ``own_program``
    checkpoints: checkpoint.Checkpoints | None
    identify: Callable[[], dict[str, Any]]  # what has to be the same when it goes on
    most_steps: int = MOST_STEPS  # of a burst
    on_rows: OnRows | None = None
    stop: Callable[[], bool] | None = None

    def run(self) -> SweepLog:
        """Play bursts until no job is left."""
        # The library behind LAPACK, SciPy's, has threads of its own, which would take the devices'
        # cores. They are found only once it is imported.
        import scipy.linalg  # noqa: F401

        with (
            threadpool_limits(limits=1, user_api="blas"),
            checkpoint.opened(self.checkpoints) as self._folder,
        ):
            self._begin()
            num_before, started = int(self._ended.sum()), time.perf_counter()
            saved_at = started
            while not self._ended.all():
                rows = self._burst()
                if self.on_rows is not None:
                    self.on_rows(int(self._ended.sum()), rows)
                stops, seconds = self._stops(), time.perf_counter() - saved_at
                # What takes a few seconds is done again rather than saved.
                ends = self._ended.all() and (self.own is None or saved_at > started)
                kept = self.checkpoints
                if kept is not None and (stops or ends or seconds >= kept.every):
                    self._save()
                    kept.on_saved()
                    saved_at = time.perf_counter()
                if stops:
                    raise Interrupted
        self._log.failed = np.flatnonzero(self._failed)
        self._log.num_ended = int(self._ended.sum()) - num_before
        self._log.run_seconds = time.perf_counter() - started
        return self._log

    def _begin(self) -> None:
        """Make the program, and go on from the last checkpoint if there is one."""
        started, width, num_jobs = time.perf_counter(), self.width, self.jobs.count
        arrays, facts = checkpoint.load(self._folder, self.identify)
        self._asked_at = math.inf
        self._next_steps = 1  # of a burst: how long a step takes is not known yet
        # Of every job: is it done or failed, and has it failed?
        none, (order, lane) = np.zeros(num_jobs, bool), self.plan
        self._ended, self._failed = (np.array(arrays.get(x, none)) for x in ("ended", "failed"))
        # More devices than jobs that wait for a lane have nothing to do.
        devices = self.devices[: max(np.bincount(lane[~self._ended], minlength=1).max(), 1)]
        # Of every lane: its job, or -1, and how many steps that has played.
        self._job = np.full(len(devices) * width, -1)
        self._step = np.zeros_like(self._job)
        self._log = SweepLog(
            lambda: traced(self.work, self.jobs).out_info[1],
            [f"rows-{number:06}.npz" for number in range(facts.get("files of rows", 0))],
            np.flatnonzero(self._failed),
            *(width, len(devices), num_jobs, 0, 0, bool(facts), facts.get("lane steps", 0)),
            compiles_as_it_runs=self.own is not None,
            read=lambda name, folder=self._folder or Path(): (folder / name).read_bytes(),
        )
        # Of every job, how many rows, its first ones, were there before: there may be too few
        # devices, so that it begins again.
        self._known = self._log.rows_of_jobs()
        self._log.num_rows = int(self._known.sum())
        if not self._ended.all():
            self._lanes, self._play = program(self.work, self.jobs, width, devices, self.own)
            if facts:
                self._restore(arrays)
            self._log.compile_seconds = time.perf_counter() - started
        waits = ~self._ended
        waits[self._job[self._job >= 0]] = False
        # Of every lane of a device, the next job first.
        self._waiting = [deque[int]() for _ in range(width)]
        for job in order[waits[order]].tolist():
            self._waiting[lane[job]].append(job)

    def _burst(self) -> Rows:
        """Refill the lanes, step them, and note what they have done."""
        begins, width = np.zeros(len(self._job), bool), self.width
        for place in np.flatnonzero(self._job < 0):
            if waiting := self._waiting[place % width]:
                self._job[place], begins[place] = waiting.popleft(), True
        # Other lanes without a job get a copy of one, so that there is a state to step.
        jobs = np.where(begins, self._job, self._job.max())
        begun = (self.jobs.inputs(jobs), begins) if begins.any() else None
        # Without jobs that wait, there is no reason to stop early.
        quota = max(1, width // _REFILL_SHARE) if any(self._waiting) else width
        started = time.perf_counter()
        limit = min(self.most_steps, self._next_steps)
        self._lanes, burst = self._play(self._lanes, begun, limit, quota)
        pause = 1e-4
        while not burst.ran.is_ready():
            pause = min(1.02 * pause, 0.1)
            time.sleep(pause)
            if pause == 0.1 and self._stops(_PATIENCE):
                raise Interrupted
        burst, alive = jax.device_get((burst, self._lanes.alive))
        seconds = max(time.perf_counter() - started, 1e-6)
        # A device has played the steps in which any of its lanes ran.
        num_steps = burst.ran.reshape(len(burst.ran), -1, width).any(-1).sum(0)
        self._next_steps = max(int(num_steps.max() * _LONGEST_BURST / seconds), 1)

        number = self._step + np.cumsum(burst.ran, axis=0)
        at = np.nonzero(burst.ran & (number > self._known[self._job]))
        job = np.broadcast_to(self._job, number.shape)[at]
        rows = Rows(job, number[at], jax.tree.map(lambda x: x[at], burst.rows))
        self._log.parts.append(rows)
        self._log.num_rows += len(rows.job)
        self._log.lane_steps += int(num_steps.sum()) * width
        has_ended = (self._job >= 0) & ~alive
        self._ended[self._job[has_ended]] = True
        self._failed[self._job[has_ended & burst.failed.any(0)]] = True
        self._step = np.where(has_ended, 0, number[-1])
        self._job[has_ended] = -1
        return rows

    def _stops(self, patience: float = 0.0) -> bool:
        """Has ``stop`` said so, now or before, and so many seconds ago?"""
        if self._asked_at == math.inf and self.stop is not None and self.stop():
            self._asked_at = time.perf_counter()
        return time.perf_counter() >= self._asked_at + patience

    def _states(self) -> dict[str, np.ndarray]:
        """Copies of all states, without keys, by names: leaves [D W, ...]."""
        leaves = jax.device_get(jax.tree.leaves(without_keys(self._lanes.states)))
        return {f"leaf_{number:03}": np.array(leaf) for number, leaf in enumerate(leaves)}

    def _save(self) -> None:
        parts, number, folder = self._log.parts, self._log.lane_steps, self._folder or Path()
        if new := [part for part in parts if isinstance(part, Rows)]:
            parts[-len(new) :] = [f"rows-{len(parts) - len(new):06}.npz"]
            files.write_file(folder / str(parts[-1]), Rows.together(new).packed())
        of_jobs = {"ended": self._ended, "failed": self._failed}
        arrays = of_jobs | {"job": self._job, "step": self._step} | self._states()
        facts = {"lane steps": number, "files of rows": len(parts), "identity": self.identify()}
        checkpoint.save(folder, arrays, number, facts)

    def _restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Put the jobs in flight into the lanes, of more or fewer devices than there were."""
        job, lane, like = arrays["job"], np.arange(self.width), self._lanes.states
        # Of every lane, the devices where it is busy first.
        device = np.argsort(job.reshape(-1, len(lane)) < 0, axis=0, kind="stable")
        kept = (device * len(lane) + lane).ravel()[: self._job.size]
        self._job[: kept.size], self._step[: kept.size] = job[kept], arrays["step"][kept]
        # What devices more than before are given is nobody's, and what has no elements not there.
        places = np.resize(kept, self._job.size)
        leaves = [arrays[name][places] if x.size else x for name, x in self._states().items()]
        states = jax.tree.unflatten(jax.tree.structure(like), leaves)
        self._lanes = Lanes(with_keys(states, like), self._job >= 0)
