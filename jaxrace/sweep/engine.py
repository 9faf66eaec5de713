"""Many jobs at once: blocks of lanes, each refilled from one queue until no job is left.

Axes: J jobs, W lanes of a block, n rows of the log.
"""

import concurrent.futures
import dataclasses
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike, NDArray

from jaxrace.compilation import compile_ahead
from jaxrace.sweep import lanes, sizing
from jaxrace.sweep.bare import zeros
from jaxrace.sweep.queue import Queue, by_cost, lane_of_jobs
from jaxrace.sweep.rows import Rows, in_order, taken_from
from jaxrace.sweep.sizing import Device
from jaxrace.sweep.work import Jobs, Work
from jaxrace.validation import require_integer

# A burst ends when this share of its lanes has to be refilled.
_REFILL_SHARE = 8

OnRows = Callable[[int, Rows], None]


@dataclasses.dataclass(frozen=True)
class SweepLog:
    """What a sweep leaves.

    Attributes:
        rows: In the order of jobs and their steps.
        failed: int64 [f], the jobs that failed, in order; each one's last row shows why.
        width: W.
        num_blocks: The number of blocks.
        lane_steps: Steps that were computed, all lanes together.
        compile_seconds: Time to trace and compile the programs.
        run_seconds: Time to run them.
    """

    rows: Rows
    failed: NDArray[np.int64]
    width: int
    num_blocks: int
    num_jobs: int
    lane_steps: int
    compile_seconds: float
    run_seconds: float

    @property
    def utilisation(self) -> float:
        """The share of the computed steps that were a job's."""
        return len(self.rows.job) / self.lane_steps if self.lane_steps else 1.0

    @property
    def jobs_per_second(self) -> float:
        """Without the time to compile."""
        return self.num_jobs / self.run_seconds if self.run_seconds else 0.0


def run(
    work: Work,
    jobs: Jobs,
    *,
    width: int | None = None,
    num_blocks: int | None = None,
    burst: int = lanes.MOST_STEPS,
    order: ArrayLike | None = None,
    devices: Sequence[Device] | None = None,
    on_rows: OnRows | None = None,
) -> SweepLog:
    """Do every job.

    A job runs in the same lane of a block, by its number, whatever else runs beside it. So its
    rows are the same bit for bit for any ``num_blocks``, ``burst``, ``order`` and ``devices`` of
    one type, as long as ``width`` is the same.

    Args:
        work: What to do with each.
        jobs: What to do it with.
        width: W, lanes of a block; 32 on a CPU and 4,096 elsewhere unless given.
        num_blocks: Blocks that advance independently of each other; on a CPU one per core, on
            other devices two each, unless given. Never more than there are jobs for.
        burst: Most steps from one look at a block to the next, 1 .. 32.
        order: int [J], all job numbers in the order in which they begin. Unless given, those that
            cost most come first; 0, 1, ... if no costs are known.
        devices: Those of JAX on this host unless given; all of one type.
        on_rows: Called with the number of jobs that have ended and the rows of each burst, which
            come in no order.

    Raises:
        ValueError: An argument is not what it should be.

    >>> import dataclasses
    >>> import jax.numpy as jnp
    >>> from jaxrace import sweep
    >>> @jax.tree_util.register_dataclass
    ... @dataclasses.dataclass(frozen=True)
    ... class Countdown:
    ...     def init(self, job):
    ...         return job
    ...     def step(self, state):
    ...         return state - 1, {"left": state - 1}
    ...     def done(self, state):
    ...         return state <= 0
    ...     def failed(self, row):
    ...         return jnp.bool_(False)
    >>> log = run(Countdown(), sweep.stacked(np.array([2, 0, 3], np.int32)))
    >>> log.rows.job.tolist(), log.rows.step.tolist(), log.rows.row["left"].tolist()
    ([0, 0, 2, 2, 2], [1, 2, 1, 2, 3], [1, 0, 2, 1, 0])
    """
    devices = list(jax.local_devices() if devices is None else devices)
    width = sizing.default_width(devices) if width is None else width
    num_blocks = sizing.default_num_blocks(devices) if num_blocks is None else num_blocks
    _check(work, jobs, width, num_blocks, burst)
    costs = None if jobs.costs is None else np.asarray(jobs.costs, np.float64)
    queue = Queue(_checked_order(order, jobs, costs), lane_of_jobs(jobs.count, width, costs), width)
    started = time.perf_counter()
    blocks = _make_blocks(work, jobs, width, min(num_blocks, queue.most_in_a_lane()), devices)
    compiled = time.perf_counter()
    collected = _Collected(queue, on_rows)
    _play(blocks, collected, burst, sizing.num_threads(devices, len(blocks)))
    finished = time.perf_counter()
    return SweepLog(
        rows=in_order(collected.parts),
        failed=np.sort(np.array(collected.failed, np.int64)),
        width=width,
        num_blocks=len(blocks),
        num_jobs=jobs.count,
        lane_steps=sum(block.lane_steps for block in blocks),
        compile_seconds=compiled - started,
        run_seconds=finished - compiled,
    )


class _Programs:
    """The compiled programs for one device."""

    def __init__(self, work: Work, jobs: Jobs, width: int, device: Device) -> None:
        self._device = device
        self._work = self.put(work)
        some = self.put(jobs.rows(np.zeros(width, np.int64)))
        self._states = jax.eval_shape(jax.vmap(self._work.init), some)
        mask, count = self.put((np.zeros(width, bool), np.int32(0)))
        block = self.empty_block(width)
        self._refill = compile_ahead(lanes.refill, self._work, block, some, mask, mask)
        self._advance = compile_ahead(lanes.advance, self._work, block, count, count)

    def put(self, arrays: Any) -> Any:
        """Arrays on the device."""
        return jax.device_put(arrays, self._device)

    def refill(self, block: lanes.Block, *args: Any) -> lanes.Block:
        """See ``lanes.refill``."""
        return self._refill(self._work, block, *self.put(args))

    def advance(self, block: lanes.Block, *args: Any) -> tuple[lanes.Block, lanes.Burst]:
        """See ``lanes.advance``."""
        return self._advance(self._work, block, *self.put(args))

    def empty_block(self, width: int) -> lanes.Block:
        """A block without a job."""
        return self.put(lanes.Block(zeros(self._states), jnp.zeros(width, bool)))


class _Block:
    """A block of lanes, and whose jobs they are."""

    def __init__(self, programs: _Programs, jobs: Jobs, width: int) -> None:
        self._programs = programs
        self._jobs = jobs
        self._block = programs.empty_block(width)
        self._new = np.ones(width, bool)  # lanes without a state to step
        self._job = np.full(width, -1)
        self._step = np.zeros(width, np.int64)
        self.lane_steps = 0

    def turn(self, collected: "_Collected", limit: int) -> "_Ended | None":
        """Refill, and play a burst; None if there is nothing left to play."""
        waiting = self._refill(collected)
        if (self._job < 0).all():
            return None
        width = len(self._job)
        # Without jobs that wait, there is no reason to stop early.
        quota = max(1, width // _REFILL_SHARE) if waiting else width
        counts = np.int32(limit), np.int32(quota)
        self._block, burst = self._programs.advance(self._block, *counts)
        burst, alive = jax.device_get((burst, self._block.alive))
        rows = taken_from(burst, self._job, self._step)
        self.lane_steps += int(burst.num_steps) * width
        self._step += burst.ran.sum(0)
        ended = (self._job >= 0) & ~alive
        failed = self._job[ended & burst.failed]
        self._job[ended], self._step[ended] = -1, 0
        return _Ended(rows, int(ended.sum()), failed)

    def _refill(self, collected: "_Collected") -> bool:
        """Give free lanes their next jobs; do any jobs wait still?"""
        job, waiting = collected.take(self._job < 0)
        taken = job >= 0
        if taken.any():
            self._job[taken] = job[taken]
            # Lanes that never had a job get a copy of another's.
            rows = self._jobs.rows(np.where(taken, job, job[taken][0]))
            new = taken | self._new
            self._block = self._programs.refill(self._block, rows, new, taken)
            self._new[:] = False
        return waiting


class _Ended(NamedTuple):
    """What a turn has brought."""

    rows: Rows
    num_jobs: int
    failed: NDArray[np.int64]


class _Collected:
    """What the blocks have in common: the jobs that wait, and what has been done."""

    def __init__(self, queue: Queue, on_rows: OnRows | None) -> None:
        self._queue = queue
        self._lock = threading.Lock()
        self._on_rows = on_rows
        self._num_ended = 0
        self.parts: list[Rows] = []
        self.failed: list[int] = []

    def take(self, free: NDArray[np.bool_]) -> tuple[NDArray[np.int64], bool]:
        """The next jobs for free lanes; and do any others wait? Called by several threads."""
        with self._lock:
            return self._queue.take(free), bool(len(self._queue))

    def add(self, ended: _Ended) -> None:
        """Keep what a turn has brought. Called by one thread."""
        self.parts.append(ended.rows)
        self.failed += ended.failed.tolist()
        self._num_ended += ended.num_jobs
        if self._on_rows is not None:
            self._on_rows(self._num_ended, ended.rows)


def _make_blocks(
    work: Work, jobs: Jobs, width: int, num_blocks: int, devices: list[Device]
) -> list[_Block]:
    """Blocks for the devices in turn, and their programs."""
    used = devices[:num_blocks]
    programs = [_Programs(work, jobs, width, device) for device in used]
    return [_Block(programs[number % len(used)], jobs, width) for number in range(num_blocks)]


def _play(blocks: list[_Block], collected: _Collected, burst: int, num_threads: int) -> None:
    """Let the blocks take turns until nothing is left to do."""
    with concurrent.futures.ThreadPoolExecutor(max(num_threads, 1)) as pool:
        playing = {pool.submit(block.turn, collected, burst): block for block in blocks}
        while playing:
            ready, _ = concurrent.futures.wait(
                playing, return_when=concurrent.futures.FIRST_COMPLETED
            )
            for future in ready:
                block, ended = playing.pop(future), future.result()
                if ended is not None:
                    playing[pool.submit(block.turn, collected, burst)] = block
                    collected.add(ended)


def _check(work: Work, jobs: Jobs, width: int, num_blocks: int, burst: int) -> None:
    if not isinstance(work, Work):
        raise ValueError(
            f"work: expected an object with init, step, done and failed, got {type(work).__name__}"
        )
    if jax.tree_util.all_leaves([work]):
        raise ValueError(
            "work: expected a pytree, such as a dataclass that is registered as one, "
            f"got {type(work).__name__}"
        )
    if not isinstance(jobs, Jobs):
        raise ValueError(f"jobs: expected Jobs, such as stacked(...), got {type(jobs).__name__}")
    require_integer("width", width, 1)
    require_integer("num_blocks", num_blocks, 1)
    require_integer("burst", burst, 1)
    if burst > lanes.MOST_STEPS:
        raise ValueError(f"burst: expected at most {lanes.MOST_STEPS}, got {burst}")


def _checked_order(
    order: ArrayLike | None, jobs: Jobs, costs: NDArray[np.float64] | None
) -> NDArray[np.int64]:
    numbers = np.arange(jobs.count)
    if order is None:
        return numbers if costs is None else by_cost(costs)
    given = np.asarray(order)
    if given.shape != numbers.shape or not np.array_equal(np.sort(given), numbers):
        raise ValueError(f"order: expected each of the numbers 0 to {jobs.count - 1} once")
    return given.astype(np.int64)
