"""How many lanes, in how many blocks, and on which devices."""

import math
import os
from collections.abc import Sequence
from typing import Any

import jax

from jaxrace.sweep import lanes
from jaxrace.sweep.bare import bare
from jaxrace.sweep.work import Jobs, Work

# ``jax.Device`` is no type to type checkers.
Device = Any

# Lanes of a block on a CPU: with one block per core, 32 of them ran the most searches per second
# of 8 to 128 (docs/performance.md). Elsewhere a block fills the device.
_CPU_WIDTH = 32
_WIDTH = 4096

# An accelerator computes one block while the host reads another.
_BLOCKS_PER_DEVICE = 2

# A lane takes several times its state: the next one, what a step computes on its way, and the rows
# of a burst. Lanes may have this share of the memory, if a step takes ten times its state.
_MEMORY_SHARE, _STEP_SHARE = 0.5, 10


def default_sizes(
    work: Work,
    jobs: Jobs,
    devices: Sequence[Device] | None = None,
    width: int | None = None,
) -> dict[str, int]:
    """The ``width`` and ``num_blocks`` that ``run`` takes unless they are given.

    Args:
        work: See ``run``.
        jobs: See ``run``.
        devices: See ``run``.
        width: If it is given, the blocks are as many as there is something to do for.
    """
    devices = jax.local_devices() if devices is None else devices
    num_blocks = _num_blocks(devices)
    room = _memory(devices[0]) * len(devices) * _MEMORY_SHARE / num_blocks
    most = _CPU_WIDTH if devices[0].platform == "cpu" else _WIDTH
    most = max(int(min(most, room / max(_lane_bytes(work, jobs), 1))), 1)
    num_turns = max(-(-jobs.count // (width or most)), 1)
    if width is None:
        # A little less where that leaves no lane without a job.
        width = max(-(-jobs.count // num_turns), 1)
    return {"width": width, "num_blocks": min(num_blocks, num_turns)}


def _lane_bytes(work: Work, jobs: Jobs) -> float:
    """About what a lane takes."""
    state, row = lanes.shapes_of(work, jobs)
    state_bytes, row_bytes = (
        sum(math.prod(x.shape) * x.dtype.itemsize for x in jax.tree.leaves(tree))
        for tree in jax.eval_shape(bare, (state, row))
    )
    return _STEP_SHARE * state_bytes + lanes.MOST_STEPS * row_bytes


def _memory(device: Device) -> float:
    """Bytes of a device; devices of a CPU share what there is."""
    limit = (device.memory_stats() or {}).get("bytes_limit")
    if limit is not None:
        return limit
    try:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError):  # not on this system
        return math.inf
    return total / len(jax.local_devices())


def _num_blocks(devices: Sequence[Device]) -> int:
    """How many blocks keep these devices busy: on a CPU, one per core."""
    if devices[0].platform != "cpu":
        return _BLOCKS_PER_DEVICE * len(devices)
    return max(num_cores(), len(devices))


def num_cores() -> int:
    """The cores that this process may use.

    >>> num_cores() >= 1
    True
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def num_threads(devices: Sequence[Device], num_blocks: int) -> int:
    """Blocks that advance at once: on a CPU, no more than there are cores or devices.

    >>> num_threads(jax.devices("cpu"), 1)
    1
    """
    if devices[0].platform != "cpu":
        return num_blocks
    return min(num_blocks, max(num_cores(), len(devices)))
