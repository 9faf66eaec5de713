"""Doing many jobs at once, here or on a cluster. Axes: W lanes of a device."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax

from jaxrace.sweep.checkpoint import Checkpoints, identity_of, surroundings
from jaxrace.sweep.cluster import Ray
from jaxrace.sweep.engine import OnRows, Sweep
from jaxrace.sweep.lanes import MOST_STEPS, default_devices, default_width, own_program
from jaxrace.sweep.log import SweepLog
from jaxrace.sweep.shards import run_shards
from jaxrace.sweep.work import Jobs, Work, lane_plan
from jaxrace.validation import require_integer


def run(
    work: Work,
    jobs: Jobs,
    *,
    width: int | None = None,
    burst: int = MOST_STEPS,
    devices: Sequence[Any] | None = None,
    on_rows: OnRows | None = None,
    checkpoints: Checkpoints | None = None,
    stop: Callable[[], bool] | None = None,
    cluster: Ray | None = None,
) -> SweepLog:
    """Do every job.

    A job runs in the same lane of a device, by its number, whatever else runs beside it. So its
    rows are the same bit for bit for any ``burst`` and any ``devices`` of one kind, as long as
    ``width`` is the same.

    Args:
        work: What to do with each.
        jobs: What to do it with.
        width: W, lanes of a device; 32 on a CPU and 4,096 elsewhere unless given, or fewer for
            few jobs or little memory.
        burst: Most steps from one look at the lanes to the next, 1 .. 32; fewer where that would
            take more than five seconds.
        devices: Those of JAX on this machine unless given; all of one kind, see ``use_all_cores``.
        on_rows: Called with the number of jobs that have ended, and the rows of each burst, which
            come in no order.
        checkpoints: Where to save it, and whether to go on from there. Not saved unless given.
        stop: Called after each burst and now and then in between; once it says so, the sweep is
            saved and ends. A burst that has not ended eight seconds later is left: the checkpoint
            before counts then.
        cluster: Do it on a cluster; its tasks choose ``devices`` and ``burst``.

    Raises:
        ValueError: An argument is not what it should be, or a checkpoint is damaged or of another
            sweep.
        Interrupted: ``stop`` said so.
        OSError: A checkpoint could not be written; the one before is still there.

    >>> import numpy as np
    >>> from jaxrace import sweep
    >>> work = sweep.Once(lambda constant, job: constant + job, np.float32(0.5))
    >>> log = run(work, sweep.stacked(np.array([2, 0, 3], np.float32)))
    >>> log.rows.job.tolist(), log.rows.step.tolist(), log.rows.row.tolist()
    ([0, 1, 2], [1, 1, 1], [2.5, 0.5, 3.5])
    """
    if not isinstance(work, Work) or jax.tree_util.all_leaves([work]):
        raise ValueError(
            "work: expected a pytree, such as a registered dataclass, with init, step, done and "
            f"failed, got {type(work).__name__}"
        )
    if not isinstance(jobs, Jobs):
        raise ValueError(f"jobs: expected Jobs, such as stacked(...), got {type(jobs).__name__}")
    if width is not None:
        require_integer("width", width, 1)
    require_integer("burst", burst, 1, MOST_STEPS)
    if cluster is not None:
        return run_shards(work, jobs, width, cluster, on_rows, checkpoints, stop)
    devices = default_devices() if devices is None else list(devices)
    width = width or default_width(work, jobs, devices)
    own = own_program(work, jobs, width)

    @functools.cache
    def identify() -> dict[str, Any]:
        if own is not None:
            # What has been traced for its steps, and how, shows in the whole program.
            jax.clear_caches()
        config = checkpoints.config if checkpoints else {}
        return surroundings(work, jobs) | identity_of(work, jobs, width, config)

    how = width, lane_plan(jobs, width), devices, own
    return Sweep(work, jobs, *how, checkpoints, identify, burst, on_rows, stop).run()
