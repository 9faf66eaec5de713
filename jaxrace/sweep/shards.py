"""A sweep on a cluster: shards of whole lane widths, each a task of Ray.

A ``SharedFolder`` holds ``shards.json``, the last checkpoint of a shard in flight, and
``shard-N.npz``, the rows of one that is done. Axes: J jobs, n rows.
"""

import contextlib
import dataclasses
import functools
import hashlib
import io
import math
import tempfile
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from jaxrace.core.inputs import require_address
from jaxrace.core.validation import BadArgument, require_integer, require_number
from jaxrace.runs import files
from jaxrace.sweep.checkpoint import (
    NAME,
    SHARDS,
    Checkpoints,
    identity_of,
    require_same,
    surroundings,
)
from jaxrace.sweep.cluster import connected, gpus_of_task, lanes_per_shard, remote_function
from jaxrace.sweep.engine import Interrupted, OnRows, run
from jaxrace.sweep.lanes import default_width, traced
from jaxrace.sweep.log import Rows, SweepLog
from jaxrace.sweep.shared_folder import DAMAGED, ShardCheckpoint, SharedFolder
from jaxrace.sweep.work import Jobs, Work

_MOST_FAILURES = 3  # of a shard
_LOOK, _PAUSE = 0.5, 5.0  # seconds between looks at ``stop``, and before a failed shard is retried


@dataclasses.dataclass(frozen=True)
class _ShardedSweep:
    """What all shards have in common."""

    work: Work
    jobs: Jobs
    width: int
    plan: tuple[NDArray[np.int64], NDArray[np.int64]]  # see ``Jobs.plan``
    size: int  # jobs of a shard, in the order in which they begin
    folder: SharedFolder
    every: float  # seconds between checkpoints
    surroundings: dict[str, Any]  # required of every node

    def numbers(self, shard: int) -> NDArray[np.int64]:
        """The numbers of a shard's jobs."""
        return self.plan[0][shard * self.size : (shard + 1) * self.size]


@dataclasses.dataclass(frozen=True)
class Ray:
    """A cluster of Ray; needs the extra: ``pip install "jaxrace[ray]"``.

    Attributes:
        address: Of the cluster: ``auto``, ``10.0.0.1:6379`` or ``ray://10.0.0.1:10001``; None
            starts one on this machine, for as long as the sweep takes.
        cpus_per_task: Cores of a task, each of which has W lanes.
        gpus_per_task: GPUs of a task, or a share of one, .5 say, and of its memory; None for one if
            the cluster has any.
        lanes_per_shard: Jobs of each lane in a shard; None for eight shards for every task that the
            cluster can run at once.
    """

    address: str | None = None
    cpus_per_task: int = 1
    gpus_per_task: float | None = None
    lanes_per_shard: int | None = None

    def __post_init__(self) -> None:
        if self.address is not None:
            require_address("address", self.address)
        require_integer("cpus_per_task", self.cpus_per_task, 1)
        if self.gpus_per_task is not None:
            require_number("gpus_per_task", self.gpus_per_task, least=0)
            if self.gpus_per_task > 1 and self.gpus_per_task % 1:
                wanted = "a whole number, or a share of one GPU"
                raise BadArgument("gpus_per_task", wanted, str(self.gpus_per_task))
        if self.lanes_per_shard is not None:
            require_integer("lanes_per_shard", self.lanes_per_shard, 1)

    def run(
        self,
        work: Work,
        jobs: Jobs,
        width: int | None,
        on_rows: OnRows | None,
        checkpoints: Checkpoints | None,
        stop: Callable[[], bool] | None,
    ) -> SweepLog:
        """Do every job; for the arguments see ``sweep.run``."""
        if checkpoints is None:
            raise BadArgument("checkpoints", "a folder that all nodes see", "none")
        started = time.perf_counter()
        folder = SharedFolder(checkpoints.folder)
        row = traced(work, jobs).out_info[1]
        with folder.locked(), connected(self.address) as ray:
            names = folder.names()
            cut = _read_cut(folder, names, checkpoints)
            num_gpus = cut["GPUs of a task"] if cut else gpus_of_task(ray, self.gpus_per_task)
            remote = functools.partial(remote_function, ray, self.cpus_per_task, num_gpus)
            here, own_width = _described(ray, remote, work, jobs)
            width = width or own_width
            identity = here | identity_of(work, jobs, width, checkpoints.config)
            is_resumed = bool(cut)
            if is_resumed:
                require_same(cut["identity"], identity)
            else:
                resources = ray, self.cpus_per_task, num_gpus
                size = width * (self.lanes_per_shard or lanes_per_shard(*resources, jobs, width))
                cut = {"size": size, "GPUs of a task": num_gpus, "identity": identity}
                folder.write(SHARDS, files.to_json(cut, SHARDS))
            sealed = hashlib.sha256(files.to_json(cut, SHARDS)).digest()
            folder, size = SharedFolder(checkpoints.folder, sealed), cut["size"]
            plan = jobs.plan(width)
            task = _ShardedSweep(work, jobs, width, plan, size, folder, checkpoints.every, here)
            shards = range(math.ceil(jobs.count / size))
            counts = width, 1, jobs.count, 0, 0, is_resumed, 0
            log = SweepLog(lambda: row, [], np.zeros(0, np.int64), *counts, read=folder.read)
            left = [shard for shard in shards if _done(shard) not in names]
            for shard in sorted(set(shards) - set(left)):
                _add(log, task, shard)
            num_before = log.num_ended
            with contextlib.closing(_done_shards(ray, remote, task, left, stop)) as ended:
                for shard, error in ended:
                    if error is not None:
                        _lose(log, task, shard, error)
                        continue
                    rows = _add(log, task, shard)
                    if on_rows is not None:
                        on_rows(log.num_ended, rows)
        log.num_ended -= num_before
        log.run_seconds = time.perf_counter() - started
        return log

    def default_width(self, work: Work, jobs: Jobs) -> int:
        """The lanes of a task unless they are given, as a node has it."""
        with connected(self.address) as ray:
            num_gpus = gpus_of_task(ray, self.gpus_per_task)
            remote = functools.partial(remote_function, ray, self.cpus_per_task, num_gpus)
            return _described(ray, remote, work, jobs)[1]


def _read_cut(folder: SharedFolder, names: set[str], checkpoints: Checkpoints) -> dict[str, Any]:
    """How the sweep in a folder was cut, if there is one; ValueError if it cannot go on here."""
    where = str(checkpoints.folder)
    if NAME in names:
        got = f"a sweep of one process in '{where}'"
        raise BadArgument("folder", "a sweep that began here", got)
    if SHARDS not in names:
        return {}
    cut = files.from_json(folder.read(SHARDS), f"checkpoint: {where}/{SHARDS}")
    if not checkpoints.resume:
        raise BadArgument("folder", "a folder without a sweep, or resume=True", f"'{where}'")
    return cut


def _add(log: SweepLog, task: _ShardedSweep, shard: int) -> Rows:
    """Add a shard that is done to the log, and return its rows, which are not kept in memory."""
    rows, arrays = log.load(_done(shard))
    log.parts.append(_done(shard))
    log.failed = np.union1d(log.failed, arrays["failed"])
    log.num_rows += len(rows.job)
    log.num_ended += len(task.numbers(shard))
    log.lane_steps += int(arrays["lane_steps"])
    return rows


def _lose(log: SweepLog, task: _ShardedSweep, shard: int, error: str) -> None:
    numbers = task.numbers(shard)
    log.failed = np.union1d(log.failed, numbers)
    log.num_ended += len(numbers)
    log.errors[f"shard {shard}, {len(numbers)} jobs from {numbers[0]}"] = error


def _done_shards(
    ray: Any,
    remote: Callable[..., Any],
    task: _ShardedSweep,
    shards: list[int],
    stop: Callable[[], bool] | None,
) -> Generator[tuple[int, str | None]]:
    """Do the shards; yields each once it is done, or with the error that it raised three times."""
    do, shared = remote(_do_shard), ray.put(task)
    pending = {do.remote(shared, shard): shard for shard in shards}
    failures, later = dict.fromkeys(shards, 0), list[tuple[float, int]]()
    try:
        while pending or later:
            if stop is not None and stop():
                raise Interrupted
            now = time.monotonic()
            for due, shard in [entry for entry in later if entry[0] <= now]:
                later.remove((due, shard))
                pending[do.remote(shared, shard)] = shard
            if not pending:
                time.sleep(_LOOK)
            for reference in ray.wait(list(pending), timeout=_LOOK)[0] if pending else []:
                shard = pending.pop(reference)
                try:
                    other = ray.get(reference)
                except ray.exceptions.RayError as error:
                    # A lost node does not count.
                    failures[shard] += not isinstance(error, ray.exceptions.NodeDiedError)
                    if failures[shard] == _MOST_FAILURES:
                        yield shard, _in_a_line(error)
                    else:
                        later.append((now + _PAUSE, shard))
                else:
                    if other is not None:
                        require_same(other, task.surroundings)
                    yield shard, None
    finally:
        for reference in pending:
            ray.cancel(reference)


def _in_a_line(error: Any) -> str:
    cause = getattr(error, "cause", None) or error
    lines = str(cause).strip().splitlines() or [""]
    return f"{type(cause).__name__}: {lines[0]}"


def _described(
    ray: Any, remote: Callable[..., Any], work: Work, jobs: Jobs
) -> tuple[dict[str, Any], int]:
    """``_describe`` on a node; ValueError if it cannot trace the work."""
    try:
        return ray.get(remote(_describe).remote(work, jobs))
    except ray.exceptions.RayError as error:
        is_main = b"__main__" in ray.cloudpickle.dumps((work, jobs))
        hint = "; JAX does not know classes of __main__ there: put them into a module"
        wanted, got = "some that a node can do", _in_a_line(error)
        raise BadArgument("work", wanted, got, hint if is_main else "") from error


def _describe(work: Work, jobs: Jobs) -> tuple[dict[str, Any], int]:
    """On a node: what the bits depend on there, and how many lanes suit its device."""
    return surroundings(work, jobs), default_width(work, jobs)


def _do_shard(task: _ShardedSweep, shard: int) -> dict[str, Any] | None:
    """On a node: do a shard, from its last checkpoint if there is one, and leave its rows.

    If the bits depend on something else there, it returns that and does nothing.
    """
    here = surroundings(task.work, task.jobs)
    if here != task.surroundings:
        return here
    saved = ShardCheckpoint(task.folder, f"shard-{shard:06}")
    names = task.folder.names()
    if _done(shard) not in names:
        try:
            rows = _rows_of_shard(task, shard, saved, saved.is_in(names))
        except DAMAGED:
            if not saved.is_in(names):
                raise
            saved.forget()
            rows = _rows_of_shard(task, shard, saved, False)
        task.folder.write(_done(shard), rows)
    saved.remove()
    return None


def _rows_of_shard(task: _ShardedSweep, shard: int, saved: ShardCheckpoint, goes_on: bool) -> bytes:
    """Do a shard, perhaps from where it was saved: the content of its file of rows."""
    numbers, whole = task.numbers(shard), task.jobs
    is_whole = len(numbers) == whole.count and whole.costs is None
    # A part of a sweep runs the program of the whole.
    jobs = Jobs(
        len(numbers),
        lambda own: whole.inputs(numbers[own]),
        brief=whole.brief,
        lanes=None if is_whole else task.plan[1][numbers],
    )
    with tempfile.TemporaryDirectory() as name:
        here = Path(name)
        if goes_on:
            saved.fetch(here)
        send = functools.partial(saved.send, here)
        local = Checkpoints(here, every=task.every, resume=True, on_saved=send)
        log = run(task.work, jobs, width=task.width, checkpoints=local)
        rows = log.rows._replace(job=numbers[log.rows.job])
        failed, lane_steps = numbers[log.failed], np.array(log.lane_steps)
        content = io.BytesIO()
        np.savez(content, *jax.tree.leaves(rows), failed=failed, lane_steps=lane_steps)
        return content.getvalue()


def _done(shard: int) -> str:
    return f"shard-{shard:06}.npz"
