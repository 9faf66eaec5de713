"""A sweep in this process: lanes on all devices, refilled until no job is left.

Axes: J jobs, D devices, W lanes of each.
"""

import dataclasses
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from threadpoolctl import threadpool_limits

from jaxrace import files
from jaxrace.keys import with_keys, without_keys
from jaxrace.sweep import checkpoint
from jaxrace.sweep.lanes import MOST_STEPS, Lanes, program, traced
from jaxrace.sweep.log import Rows, SweepLog
from jaxrace.sweep.stopping import Interrupted
from jaxrace.sweep.work import Jobs, LanePlan, Work

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
    """A sweep on its way: whose the lanes are, and what has ended. See ``run`` for the rest."""

    work: Work
    jobs: Jobs
    plan: LanePlan
    devices: Sequence[Any]
    is_small: bool = False  # it is played by small programs
    checkpoints: checkpoint.Checkpoints | None = None  # ``opened``
    identify: Callable[[], dict[str, Any]] = dict  # what has to be the same when it goes on

    def run(
        self,
        burst: int = MOST_STEPS,
        on_rows: OnRows | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> SweepLog:
        """Play bursts until no job is left."""
        # The library behind LAPACK, SciPy's, has threads of its own, which would take the devices'
        # cores. They are found only once it is imported.
        import scipy.linalg  # noqa: F401

        self._begin()
        self._stop = stop or (lambda: False)
        num_before, kept = int(self._ended.sum()), self.checkpoints
        started = saved_at = time.perf_counter()
        with threadpool_limits(limits=1, user_api="blas"):
            while not self._ended.all():
                rows = self._burst(burst)
                if on_rows is not None:
                    on_rows(int(self._ended.sum()), rows)
                stops, seconds = self._stops(), time.perf_counter() - saved_at
                # What takes a few seconds is done again rather than saved.
                is_worth_it = saved_at > started or not self.is_small
                ends = self._ended.all() and is_worth_it
                if kept and (stops or ends or seconds >= kept.every):
                    self._save(kept)
                    saved_at = time.perf_counter()
                if stops:
                    raise Interrupted
        self._log.failed = np.flatnonzero(self._failed)
        self._log.num_ended = int(self._ended.sum()) - num_before
        self._log.run_seconds = time.perf_counter() - started
        return self._log

    def _begin(self) -> None:
        """Make the program, and go on from the last checkpoint if there is one."""
        started, width, count = time.perf_counter(), self.plan.width, self.jobs.count
        folder = Path(self.checkpoints.folder) if self.checkpoints else Path()
        arrays, facts = checkpoint.load(folder, self.identify) if self.checkpoints else ({}, {})
        self._asked_at = math.inf
        self._most_steps = 1  # of a burst: how long a step takes is not known yet
        # Of every job: is it done or failed, and has it failed?
        none = np.zeros(count, bool)
        self._ended, self._failed = (np.array(arrays.get(x, none)) for x in ("ended", "failed"))
        # More devices than jobs that wait for a lane have nothing to do.
        devices = self.devices[: max(map(len, self.plan.waiting(~self._ended))) or 1]
        # Of every lane: its job, or -1, and how many steps that has played.
        self._job = np.full(len(devices) * width, -1)
        self._step = np.zeros_like(self._job)
        self._log = SweepLog(
            lambda: traced(self.work, self.jobs).out_info[1],
            list(map(_file, range(facts.get("files of rows", 0)))),
            np.flatnonzero(self._failed),
            *(width, len(devices), count, facts.get("rows", 0), 0, bool(facts)),
            facts.get("lane steps", 0),
            compiles_as_it_runs=self.is_small,
            read=lambda name: (folder / name).read_bytes(),
        )
        # Of every job, how many rows, its first ones, were there before: there may be too few
        # devices, so that it begins again.
        self._known = self._log.rows_of_jobs()
        if not self._ended.all():
            of_program = self.work, self.jobs, width, devices, self.is_small
            self._lanes, self._play = program(*of_program)
            if facts:
                self._restore(arrays)
            self._log.compile_seconds = time.perf_counter() - started
        waits = ~self._ended
        waits[self._job[self._job >= 0]] = False
        self._waiting = self.plan.waiting(waits)

    def _burst(self, most: int) -> Rows:
        """Refill the lanes, step them, and note what they have done."""
        begins, width = np.zeros(len(self._job), bool), self.plan.width
        for place in np.flatnonzero(self._job < 0):
            if waiting := self._waiting[place % width]:
                self._job[place], begins[place] = waiting.popleft(), True
        # Other lanes without a job get a copy of one, so that there is a state to step.
        jobs = np.where(begins, self._job, self._job.max())
        begun = (self.jobs.inputs(jobs), begins) if begins.any() else None
        # Without jobs that wait, there is no reason to stop early.
        quota = max(1, width // _REFILL_SHARE) if any(self._waiting) else width
        started = time.perf_counter()
        limit = min(most, self._most_steps)
        self._lanes, burst = self._play(self._lanes, begun, limit, quota)
        self._wait_for(burst.ran)
        burst, alive = jax.device_get((burst, self._lanes.alive))
        seconds = max(time.perf_counter() - started, 1e-6)
        # A device has played the steps in which any of its lanes ran.
        num_steps = burst.ran.reshape(len(burst.ran), -1, width).any(-1).sum(0)
        self._most_steps = max(int(num_steps.max() * _LONGEST_BURST / seconds), 1)

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
        self._job, self._step = (
            np.where(has_ended, -1, self._job),
            np.where(has_ended, 0, number[-1]),
        )
        return rows

    def _wait_for(self, array: Any) -> None:
        """Wait until it is computed; ``Interrupted`` long after ``stop`` said so."""
        pause = 1e-4
        while not array.is_ready():
            pause = min(1.02 * pause, 0.1)
            time.sleep(pause)
            if pause == 0.1 and self._stops() and time.perf_counter() > self._asked_at + _PATIENCE:
                raise Interrupted

    def _stops(self) -> bool:
        """Has ``stop`` said so, now or before?"""
        if self._asked_at == math.inf and self._stop():
            self._asked_at = time.perf_counter()
        return self._asked_at < math.inf

    def _states(self) -> dict[str, np.ndarray]:
        """Copies of all states, without keys, by names: leaves [D W, ...]."""
        leaves = jax.device_get(jax.tree.leaves(without_keys(self._lanes.states)))
        return {f"leaf_{number:03}": np.array(leaf) for number, leaf in enumerate(leaves)}

    def _save(self, kept: checkpoint.Checkpoints) -> None:
        log, folder = self._log, Path(kept.folder)
        if new := [part for part in log.parts if isinstance(part, Rows)]:
            name = _file(len(log.parts) - len(new))
            files.write_file(folder / name, Rows.together(new).packed())
            log.parts[-len(new) :] = [name]
        of_jobs = {"ended": self._ended, "failed": self._failed}
        arrays = of_jobs | {"job": self._job, "step": self._step} | self._states()
        facts = {
            "rows": log.num_rows,
            "lane steps": log.lane_steps,
            "files of rows": len(log.parts),
        }
        checkpoint.save(folder, arrays, log.lane_steps, facts | {"identity": self.identify()})
        kept.on_saved()

    def _restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Put the jobs in flight into the lanes, of more or fewer devices than there were."""
        job, lane, like = arrays["job"], np.arange(self.plan.width), self._lanes.states
        # Of every lane, the devices where it is busy first.
        device = np.argsort(job.reshape(-1, len(lane)) < 0, axis=0, kind="stable")
        kept = (device * len(lane) + lane).ravel()[: self._job.size]
        self._job[: kept.size], self._step[: kept.size] = job[kept], arrays["step"][kept]
        # What devices more than before are given is nobody's, and what has no elements not there.
        places = np.resize(kept, self._job.size)
        leaves = [arrays[name][places] if x.size else x for name, x in self._states().items()]
        states = jax.tree.unflatten(jax.tree.structure(like), leaves)
        self._lanes = Lanes(with_keys(states, like), self._job >= 0)


def _file(number: int) -> str:
    return f"rows-{number:06}.npz"
