"""How many lanes, in how many blocks, and on which devices."""

import os
from typing import Any

import jax

from jaxrace.sweep.work import Jobs

# ``jax.Device`` is no type to type checkers.
Device = Any

# Lanes of a block on a CPU: with one block per core, 32 of them ran the most searches per second
# of 8 to 128 (docs/performance.md). Elsewhere a block fills the device.
_CPU_WIDTH = 32
_WIDTH = 4096

# An accelerator computes one block while the host reads another.
_BLOCKS_PER_DEVICE = 2


def default_width(devices: list[Device], num_jobs: int) -> int:
    """W for these devices, and a little less where that leaves no lane without a job.

    >>> [default_width(jax.devices("cpu"), num_jobs) for num_jobs in (1000, 100, 3)]
    [32, 25, 3]
    """
    most = _CPU_WIDTH if devices[0].platform == "cpu" else _WIDTH
    num_turns = max(-(-num_jobs // most), 1)
    return max(-(-num_jobs // num_turns), 1)


def default_sizes(jobs: Jobs) -> dict[str, int]:
    """The ``width`` and ``num_blocks`` that ``run`` takes for these jobs on this host.

    >>> from jaxrace.sweep import stacked
    >>> default_sizes(stacked(jax.numpy.zeros(3)))["width"]
    3
    """
    devices = jax.local_devices()
    width = default_width(devices, jobs.count)
    most = -(-jobs.count // width)
    return {"width": width, "num_blocks": min(default_num_blocks(devices), max(most, 1))}


def default_num_blocks(devices: list[Device]) -> int:
    """How many blocks keep these devices busy: on a CPU, one per core.

    >>> default_num_blocks(jax.devices("cpu")) >= 1
    True
    """
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


def num_threads(devices: list[Device], num_blocks: int) -> int:
    """Blocks that advance at once: on a CPU, no more than there are cores or devices.

    >>> num_threads(jax.devices("cpu"), 1)
    1
    """
    if devices[0].platform != "cpu":
        return num_blocks
    return min(num_blocks, max(num_cores(), len(devices)))
