"""The machines of a sweep: how they find each other, and which jobs are whose.

Axes: J jobs.
"""

import dataclasses
import secrets
import socket

import jax
import numpy as np
from jax.experimental import multihost_utils
from jax.extend import backend
from numpy.typing import NDArray

from jaxrace.validation import require_integer, require_number


@dataclasses.dataclass(frozen=True)
class Hosts:
    """One of the hosts that do a sweep together; all of them see its folder.

    Attributes:
        index: Of this host, from 0.
        count: Of all hosts.
        meeting: A number that these hosts have in common, and no others before or after them.
        patience: Seconds without a sign of life after which a host counts as dead.

    Raises:
        ValueError: One of them is out of range.

    >>> Hosts(index=0, count=2, meeting=8191).patience
    30.0
    """

    index: int
    count: int
    meeting: int
    patience: float = 30.0

    def __post_init__(self) -> None:
        require_integer("count", self.count, 1)
        require_integer("index", self.index, 0)
        require_number("patience", self.patience, least=0)
        if self.index >= self.count:
            raise ValueError(f"index: expected less than count = {self.count}, got {self.index}")


def join_hosts(
    address: str | None = None, count: int | None = None, index: int | None = None
) -> Hosts:
    """Meet the other hosts by ``jax.distributed``; called on each of them before JAX is used.

    The hosts meet, and part again: afterwards JAX knows nothing of the others, and sees the
    devices of its own host only. Jobs are independent, so that nothing is to be exchanged while
    they run; and JAX would end every process as soon as that of the first host dies, before it
    could save what it has done. So it does while they meet: a process that has waited for the
    others for five minutes, or has lost one of them, is aborted.

    Started by Slurm or Open MPI on GPUs, a process takes one GPU, as is JAX's way there: start one
    task for each.

    Args:
        address: Of host 0 and a port that is free there, such as ``10.0.0.1:1234``.
        count: Of hosts.
        index: Of this one, from 0. All three are found out if Slurm or Open MPI have started the
            process.

    Raises:
        ValueError: They are not given, and cannot be found out.
        RuntimeError: JAX has computed before.

    >>> join_hosts("127.0.0.1:...", count=1, index=0)  # doctest: +SKIP
    Hosts(index=0, count=1, meeting=2860142390, patience=30.0)
    """
    platforms = jax.config.jax_platforms  # pyright: ignore[reportAttributeAccessIssue]
    _initialize(address, count, index)
    jax.config.update("jax_platforms", "cpu")  # an accelerator is not taken twice
    try:
        proposed = np.uint32(secrets.randbits(32))
        meeting = int(multihost_utils.broadcast_one_to_all(proposed))
        return Hosts(jax.process_index(), jax.process_count(), meeting)
    finally:
        jax.distributed.shutdown()
        backend.clear_backends()
        _be_alone()
        jax.config.update("jax_platforms", platforms)


def _initialize(address: str | None, count: int | None, index: int | None) -> None:
    try:
        jax.distributed.initialize(address, count, index, heartbeat_timeout_seconds=30)
    except ValueError as error:
        raise ValueError(
            "hosts: expected an address, a count and an index, or a process that Slurm or Open "
            f"MPI has started ({error})"
        ) from error


def _be_alone() -> None:
    """Make JAX forget that there was more than one process: it remembers the last meeting."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    jax.distributed.initialize(address, 1, 0, cluster_detection_method="deactivate")
    jax.distributed.shutdown()


def share_of_host(
    order: NDArray[np.int64], lane: NDArray[np.int64], hosts: Hosts
) -> NDArray[np.int64]:
    """The jobs of a host, in the order in which they begin.

    Every host gets the same number of each lane's jobs, or one more. The first job of a lane is
    that of another host in the next lane, since it may be the longest.

    Args:
        order: All jobs [J].
        lane: Of every job [J]; see ``lane_of_jobs``.
        hosts: Which host.

    >>> lane = np.array([0, 1, 0, 1, 0, 1])
    >>> [share_of_host(np.arange(6), lane, Hosts(i, 2, 0)).tolist() for i in range(2)]
    [[0, 3, 4], [1, 2, 5]]
    """
    lanes = lane[order]
    by_lane = np.argsort(lanes, kind="stable")
    starts = np.searchsorted(lanes[by_lane], lanes)
    place = np.empty_like(by_lane)
    place[by_lane] = np.arange(len(order))
    return order[(place - starts + lanes) % hosts.count == hosts.index]
