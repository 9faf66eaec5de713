"""A sweep: lanes on all devices, refilled until no job is left. Axes: W lanes of each."""

import contextlib
import functools
import hashlib
import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from threadpoolctl import threadpool_limits

from jaxrace.core.keys import with_keys, without_keys
from jaxrace.core.validation import BadArgument, require_integer
from jaxrace.runs import files
from jaxrace.sweep import checkpoint, lanes
from jaxrace.sweep.log import Rows, SweepLog
from jaxrace.sweep.work import Jobs, Work

OnRows = Callable[[int, Rows], None]

_ROWS = "rows-{:06}.npz"  # of a checkpoint

# Seconds: of a burst, between which a sweep is shown, saved and stopped; and from a stop until a
# burst is no longer waited for.
_LONGEST_BURST, _PATIENCE = 5.0, 8.0


class Interrupted(Exception):  # noqa: N818 - not an error, and so without the ending
    """A sweep was asked to stop; if it is saved, it can be resumed from here."""


def run(
    work: Work,
    jobs: Jobs,
    *,
    width: int | None = None,
    burst: int = lanes.MOST_STEPS,
    devices: Sequence[Any] | None = None,
    on_rows: OnRows | None = None,
    checkpoints: checkpoint.Checkpoints | None = None,
    stop: Callable[[], bool] | None = None,
    cluster: Any = None,
) -> SweepLog:
    """Do every job.

    The number of a job gives its lane, whatever runs beside it. So its rows are the same bit for
    bit for any ``burst`` and any ``devices`` of one kind, as long as ``width`` is the same.

    Args:
        work: What to do with each.
        jobs: What to do it with.
        width: W, lanes of a device; 32 on a CPU and 4,096 elsewhere unless given, or fewer for few
            jobs or little memory.
        burst: Most steps between two looks at the lanes, 1 .. 32; fewer where they would take more
            than five seconds.
        devices: JAX's on this machine unless given; all of one kind, see ``use_all_cores``.
        on_rows: Called with the number of jobs that have ended, and the rows of each burst in any
            order.
        checkpoints: Where to save it, and whether to go on from there. Not saved unless given.
        stop: Called after each burst and in between; once it says so, the sweep is saved and ends,
            without a burst that takes eight seconds more.
        cluster: A ``Ray``, where to do it; its tasks choose ``devices`` and ``burst``.

    Raises:
        ValueError: An argument is wrong, or a checkpoint is damaged or of another sweep.
        Interrupted: ``stop`` said so.
        OSError: A checkpoint could not be written; the one before is still there.

    >>> from jaxrace import sweep
    >>> work = sweep.Once(lambda constant, job: constant + job, np.float32(0.5))
    >>> log = run(work, sweep.stacked(np.array([2, 0, 3], np.float32)))
    >>> log.rows.job.tolist(), log.rows.step.tolist(), log.rows.row.tolist()
    ([0, 1, 2], [1, 1, 1], [2.5, 0.5, 3.5])
    """
    if not isinstance(work, Work) or jax.tree_util.all_leaves([work]):
        wanted = "a pytree, such as a registered dataclass, with init, step, done and failed"
        raise BadArgument("work", wanted, type(work).__name__)
    if not isinstance(jobs, Jobs):
        raise BadArgument("jobs", "Jobs, such as stacked(...)", type(jobs).__name__)
    require_integer("width", 1 if width is None else width, 1)
    require_integer("burst", burst, 1, lanes.MOST_STEPS)
    if cluster is not None:
        return cluster.run(work, jobs, width, on_rows, checkpoints, stop)
    devices = lanes.default_devices() if devices is None else list(devices)
    width = width or lanes.default_width(work, jobs, devices)
    folder = checkpoint.opened(checkpoints) if checkpoints else contextlib.nullcontext()
    with contextlib.ExitStack() as stack:
        kept = stack.enter_context(folder)
        sweep = Sweep(work, jobs, width, devices, stop or (lambda: False), kept)
        # Threads of SciPy's OpenBLAS would take the devices' cores; JAX has loaded it by now.
        stack.enter_context(threadpool_limits(limits=1, user_api="blas"))
        started = saved_at = time.perf_counter()
        while not sweep.ended.all():
            rows = sweep.play(burst)
            if on_rows is not None:
                on_rows(int(sweep.ended.sum()), rows)
            stops, seconds = sweep.stops(), time.perf_counter() - saved_at
            # A sweep of a few seconds is done again rather than saved.
            ends = sweep.ended.all() and (sweep.own is None or saved_at > started)
            if kept is not None and (stops or ends or seconds >= kept.every):
                sweep.save()
                kept.on_saved()
                saved_at = time.perf_counter()
            if stops:
                raise Interrupted
        sweep.log.failed = np.flatnonzero(sweep.failed)
        sweep.log.run_seconds = time.perf_counter() - started
    return sweep.log


class Sweep:
    """A sweep on its way: the jobs of its lanes, and which have ended; see ``run``."""

    def __init__(
        self,
        work: Work,
        jobs: Jobs,
        width: int,
        devices: Sequence[Any],
        stop: Callable[[], bool],
        kept: checkpoint.Checkpoints | None,
    ) -> None:
        started = time.perf_counter()
        self._work, self._jobs, self._width, self._kept = work, jobs, width, kept
        self._stop, self._asked_at = stop, math.inf
        self._folder = Path(kept.folder if kept else "")
        self.own = lanes.host_step(work, jobs, width)
        arrays, header = checkpoint.load(self._folder, lambda: self._identity) if kept else ({}, {})
        order, lane = jobs.plan(width)
        self._digests: dict[str, str] = header.get("files of rows", {})  # by name
        # Of every job: is it done or failed, and has it failed?
        none = np.zeros(jobs.count, bool)
        self.ended, self.failed = (np.array(arrays.get(x, none)) for x in ("ended", "failed"))
        # No more devices than jobs that wait for the same lane.
        devices = devices[: max(np.bincount(lane[~self.ended], minlength=1).max(), 1)]
        self._job = np.full(len(devices) * width, -1)  # of every lane, or -1
        self._step = np.zeros_like(self._job)  # of every lane: how many its job has played
        self._most_steps = 1  # of a burst: how long a step takes is not known yet
        self.log = SweepLog(
            lambda: lanes.traced(work, jobs).out_info[1],
            list(self._digests),
            np.flatnonzero(self.failed),
            *(width, len(devices), jobs.count, 0, 0, bool(header), header.get("lane steps", 0)),
            compiles_as_it_runs=self.own is not None,
            read=self._read_rows,
        )
        # How many rows every job had before: with fewer devices it may have to begin again.
        self._known = self.log.rows_of_jobs()
        self.log.num_rows = int(self._known.sum())
        if not self.ended.all():
            self._lanes, self._advance = lanes.program(work, jobs, width, devices, self.own)
            if header:
                self._restore(arrays)
            self.log.compile_seconds = time.perf_counter() - started
        waits = ~self.ended
        waits[self._job[self._job >= 0]] = False
        # Of every lane of a device, the next job first.
        self._waiting = [deque[int]() for _ in range(width)]
        for job in order[waits[order]].tolist():
            self._waiting[lane[job]].append(job)

    @functools.cached_property
    def _identity(self) -> dict[str, Any]:
        """What has to be the same when it goes on; takes a second."""
        if self.own is not None:
            jax.clear_caches()  # traces of its steps would show in the whole program
        config = self._kept.config if self._kept else {}
        numbers = checkpoint.identity_of(self._work, self._jobs, self._width, config)
        return checkpoint.surroundings(self._work, self._jobs) | numbers

    def play(self, most: int) -> Rows:
        """Refill the lanes, step them, and note what they have done."""
        begins, width = np.zeros(len(self._job), bool), self._width
        for lane in np.flatnonzero(self._job < 0):
            if waiting := self._waiting[lane % width]:
                self._job[lane], begins[lane] = waiting.popleft(), True
        # Other lanes without a job step a copy of one.
        jobs = np.where(begins, self._job, self._job.max())
        begun = (self._jobs.inputs(jobs), begins) if begins.any() else None
        # While jobs wait, a burst ends when a tenth of a device's lanes has to be refilled.
        quota = max(1, width // 10) if any(self._waiting) else width
        started = time.perf_counter()
        self._lanes, burst = self._advance(self._lanes, begun, min(most, self._most_steps), quota)
        pause = 1e-4
        while not burst.ran.is_ready():
            pause = min(1.02 * pause, 0.1)
            time.sleep(pause)
            if pause == 0.1 and self.stops(_PATIENCE):
                raise Interrupted
        burst, alive = jax.device_get((burst, self._lanes.alive))
        seconds = max(time.perf_counter() - started, 1e-6)
        # A device has played the steps in which any of its lanes ran.
        num_steps = burst.ran.reshape(len(burst.ran), -1, width).any(-1).sum(0)
        self._most_steps = max(int(num_steps.max() * _LONGEST_BURST / seconds), 1)
        number = self._step + np.cumsum(burst.ran, axis=0)
        at = np.nonzero(burst.ran & (number > self._known[self._job]))
        job = np.broadcast_to(self._job, number.shape)[at]
        rows = Rows(job, number[at], jax.tree.map(lambda x: x[at], burst.rows))
        self.log.parts.append(rows)
        self.log.num_rows += len(rows.job)
        self.log.lane_steps += int(num_steps.sum()) * width
        has_ended = (self._job >= 0) & ~alive
        self.ended[self._job[has_ended]] = True
        self.failed[self._job[has_ended & burst.failed.any(0)]] = True
        self.log.num_ended += int(has_ended.sum())
        self._step = np.where(has_ended, 0, number[-1])
        self._job[has_ended] = -1
        return rows

    def stops(self, patience: float = 0.0) -> bool:
        """Has ``stop`` said so, at least ``patience`` seconds ago?"""
        if self._asked_at == math.inf and self._stop():
            self._asked_at = time.perf_counter()
        return time.perf_counter() >= self._asked_at + patience

    def _states(self) -> dict[str, np.ndarray]:
        """Copies of all states, without keys, by names: leaves [D W, ...]."""
        leaves = jax.device_get(jax.tree.leaves(without_keys(self._lanes.states)))
        return {f"leaf_{number:03}": np.array(leaf) for number, leaf in enumerate(leaves)}

    def save(self) -> None:
        """Write a checkpoint, with the rows since the one before."""
        parts, number = self.log.parts, self.log.lane_steps
        if new := [part for part in parts if isinstance(part, Rows)]:
            name = _ROWS.format(len(parts) - len(new))
            leaves = jax.tree.leaves(Rows.together(new))
            self._digests[name] = files.write_arrays(self._folder / name, *leaves)
            parts[-len(new) :] = [name]
        of_jobs = {"ended": self.ended, "failed": self.failed}
        arrays = of_jobs | {"job": self._job, "step": self._step} | self._states()
        facts = {"lane steps": number, "files of rows": self._digests, "identity": self._identity}
        checkpoint.save(self._folder, arrays, number, facts)

    def _read_rows(self, name: str) -> bytes:
        content = (self._folder / name).read_bytes()
        if hashlib.sha256(content).hexdigest() != self._digests[name]:
            raise ValueError("it is not what was written there")
        return content

    def _restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Put the jobs in flight into the lanes of more or fewer devices than before."""
        job, lane, like = arrays["job"], np.arange(self._width), self._lanes.states
        # Of every lane, first the devices where it is busy.
        device = np.argsort(job.reshape(-1, len(lane)) < 0, axis=0, kind="stable")
        kept = (device * len(lane) + lane).ravel()[: self._job.size]
        self._job[: kept.size], self._step[: kept.size] = job[kept], arrays["step"][kept]
        lanes_of = np.resize(kept, self._job.size)  # further devices get copies, which do not count
        # Files of NumPy do not name types that are not its own, such as bfloat16.
        leaves = [arrays[name][lanes_of].view(x.dtype) for name, x in self._states().items()]
        states = jax.tree.unflatten(jax.tree.structure(like), leaves)
        self._lanes = lanes.Lanes(with_keys(states, like), self._job >= 0)
