"""Many jobs at once: blocks of lanes, each refilled from one queue until no job is left.

Axes: J jobs, W lanes of a block, n rows of the log.
"""

import contextlib
import dataclasses
import functools
import pathlib
import time
from collections.abc import Callable, Sequence

import jax
import numpy as np
from numpy.typing import ArrayLike, NDArray

from jaxrace.sweep import lanes, lapack, sizing, snapshot
from jaxrace.sweep.beats import Beats
from jaxrace.sweep.blocks import LaneBlock, Programs
from jaxrace.sweep.checkpoint import Checkpoints, Saver, folders_of
from jaxrace.sweep.facts import facts_of
from jaxrace.sweep.hosts import Hosts
from jaxrace.sweep.ledger import Ledger
from jaxrace.sweep.player import OnRows, Player
from jaxrace.sweep.queue import by_cost
from jaxrace.sweep.rows import Rows, RowStore
from jaxrace.sweep.sizing import Device
from jaxrace.sweep.stopping import HostLost, Interrupted
from jaxrace.sweep.work import Jobs, Work
from jaxrace.validation import require_integer


@dataclasses.dataclass(frozen=True)
class SweepLog:
    """What a sweep leaves.

    Attributes:
        store: The rows; see ``rows`` and ``RowStore.in_order``.
        failed: int64 [f], the jobs that failed, in order; each one's last row shows why.
        width: W.
        num_blocks: The number of blocks of this host.
        num_jobs: J.
        num_rows: n.
        num_ended: The jobs that ended since it began or was resumed.
        is_resumed: Did it go on from a checkpoint?
        lane_steps: Steps that were computed, all lanes of all hosts together.
        compile_seconds: Time to trace and compile the programs.
        run_seconds: Time to run them, since the sweep began or was resumed.
    """

    store: RowStore
    failed: NDArray[np.int64]
    width: int
    num_blocks: int
    num_jobs: int
    num_rows: int
    num_ended: int
    is_resumed: bool
    lane_steps: int
    compile_seconds: float
    run_seconds: float

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
    checkpoints: Checkpoints | None = None,
    stop: Callable[[], bool] | None = None,
    hosts: Hosts | None = None,
) -> SweepLog:
    """Do every job.

    A job runs in the same lane of a block, by its number, whatever else runs beside it. So its
    rows are the same bit for bit for any ``num_blocks``, ``burst``, ``order``, ``hosts`` and
    ``devices`` of one type, as long as ``width`` is the same.

    Args:
        work: What to do with each.
        jobs: What to do it with.
        width: W, lanes of a block; 32 on a CPU and 4,096 elsewhere unless given, or fewer for
            few jobs or little memory.
        num_blocks: Blocks that advance independently of each other; on a CPU one per core, on
            other devices two each, unless given. Never more than there are jobs for.
        burst: Most steps from one look at a block to the next, 1 .. 32; fewer where that would
            take more than five seconds.
        order: int [J], all job numbers in the order in which they begin. Unless given, those that
            cost most come first; 0, 1, ... if no costs are known.
        devices: Those of JAX on this host unless given; all of one type.
        on_rows: Called with the number of jobs that have ended, on all hosts, and the rows of each
            burst of this one, which come in no order.
        checkpoints: Where to save the sweep, and whether to go on from there; its number of
            blocks is then the one that it began with. Not saved unless given.
        stop: Called after each turn of a block and every second; once it says so, the sweep is
            saved and ends. A block whose turn has not ended eight seconds later is not waited for:
            the checkpoint before counts then.
        hosts: Which of several hosts this is, see ``join_hosts``: each does its share of the
            jobs with its own devices, and when all are done, every one returns all rows. They
            meet in the folder of ``checkpoints``. One host unless given.

    Raises:
        ValueError: An argument is not what it should be, a checkpoint is damaged or of another
            sweep, or another host does another sweep.
        Interrupted: ``stop`` said so.
        HostLost: Another host has died or stopped; this one is saved.
        OSError: A checkpoint could not be written; the one before is still there.

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
    _check_kinds(work, jobs)
    _check_sizes(width, num_blocks, burst)
    sizes = sizing.default_sizes(work, jobs, devices, width)
    width = sizes["width"]
    most_blocks = sizes["num_blocks"] if num_blocks is None else num_blocks
    order = _checked_order(order, jobs)
    hosts = Hosts(index=0, count=1, meeting=0) if hosts is None else hosts
    _, shapes = lanes.shapes_of(work, jobs)
    with contextlib.ExitStack() as opened:
        beats = saver = saved = None
        folders: list[pathlib.Path] = []
        if checkpoints is not None:
            folders = folders_of(checkpoints.folder, hosts)
            own = dataclasses.replace(checkpoints, folder=folders[hosts.index])
            facts = {**facts_of(work, jobs, width, devices[0]), "hosts": hosts.count}
            if hosts.count > 1:
                shared = {**facts, "config": dict(checkpoints.config)}
                beats = opened.enter_context(Beats(checkpoints.folder, hosts, shared, stop))
            saver = opened.enter_context(Saver(own, facts))
            saved = saver.load()
        elif hosts.count > 1:
            raise ValueError("checkpoints: expected some, with a folder that all hosts see")
        store = RowStore(shapes, *_files_of(saver, saved))
        ledger = Ledger(jobs, order, width, hosts, store)
        if saved is not None:
            snapshot.open_ledger(saved, ledger)
            store.check(ledger.num_rows)
            num_blocks = 0 if ledger.is_done else int(saved.facts["blocks"])
        else:
            num_blocks = min(most_blocks, ledger.most_in_a_lane())
        num_before = int(ledger.ended.sum())
        started = time.perf_counter()
        programs = [Programs(work, jobs, width, device) for device in devices[:num_blocks]]
        blocks = _make_blocks(programs, jobs, width, num_blocks)
        num_threads = sizing.num_threads(devices, num_blocks)
        if num_threads > 1 and any(program.run_alone() for program in programs):
            num_threads = 1
        if saved is not None:
            snapshot.fill_blocks(saved, blocks)
        compiled = time.perf_counter()
        player = Player(blocks, ledger, _counting(on_rows, beats), _stopping(stop, beats), saver)
        try:
            with lapack.one_thread():
                player.play(burst, num_threads)
            reports = [snapshot.report(ledger, num_before)]
            if beats is not None:
                beats.finish(reports[0])
                reports = beats.wait_for_all()
        except Interrupted as error:
            if beats is not None and beats.lost is not None:
                raise HostLost(beats.lost) from error
            raise
        finished = time.perf_counter()
    for index, report in enumerate(reports):
        if index != hosts.index:
            store.join(folders[index], report["files of rows"])
    return SweepLog(
        store=store,
        failed=np.sort(np.concatenate([report["failed"] for report in reports])).astype(np.int64),
        width=width,
        num_blocks=len(blocks),
        num_jobs=jobs.count,
        num_rows=sum(report["rows"] for report in reports),
        num_ended=sum(report["ended"] for report in reports),
        is_resumed=saved is not None,
        lane_steps=sum(report["lane steps"] for report in reports),
        compile_seconds=compiled - started,
        run_seconds=finished - compiled,
    )


def _counting(on_rows: OnRows | None, beats: Beats | None) -> OnRows | None:
    """``on_rows``, with the jobs that have ended on other hosts."""
    if beats is None:
        return on_rows

    def count(num_ended: int, rows: Rows) -> None:
        num_ended = beats.tell(num_ended)
        if on_rows is not None:
            on_rows(num_ended, rows)

    return count


def _stopping(stop: Callable[[], bool] | None, beats: Beats | None) -> Callable[[], bool] | None:
    """``stop``, which says so too when another host is lost."""
    if beats is None:
        return stop
    return lambda: (stop is not None and stop()) or beats.are_lost()


def _files_of(
    saver: Saver | None, saved: snapshot.Snapshot | None
) -> tuple[pathlib.Path | None, int]:
    """The folder of the files of rows, and how many there are."""
    folder = None if saver is None else saver.folder
    return folder, 0 if saved is None else saved.facts["files of rows"]


def _make_blocks(
    programs: list[Programs], jobs: Jobs, width: int, num_blocks: int
) -> list[LaneBlock]:
    """Blocks for the devices in turn."""
    return [
        LaneBlock(programs[number % len(programs)], jobs, width) for number in range(num_blocks)
    ]


def _check_kinds(work: Work, jobs: Jobs) -> None:
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


def _check_sizes(width: int | None, num_blocks: int | None, burst: int) -> None:
    for name, size in (("width", width), ("num_blocks", num_blocks)):
        if size is not None:
            require_integer(name, size, 1)
    require_integer("burst", burst, 1, lanes.MOST_STEPS)


def _checked_order(order: ArrayLike | None, jobs: Jobs) -> NDArray[np.int64]:
    numbers = np.arange(jobs.count)
    if order is None:
        return numbers if jobs.costs is None else by_cost(np.asarray(jobs.costs))
    given = np.asarray(order)
    if given.shape != numbers.shape or not np.array_equal(np.sort(given), numbers):
        raise ValueError(f"order: expected each of the numbers 0 to {jobs.count - 1} once")
    return given.astype(np.int64)
