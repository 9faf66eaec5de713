"""A cluster of Ray: connecting, what a task gets, and how processes there are set up."""

import contextlib
import dataclasses
import math
import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import jax

from jaxrace.sweep.work import Jobs
from jaxrace.validation import require_address, require_integer, require_number

# Shards for each task that the cluster runs at once when the sweep begins: so many pieces are
# shared out evenly, nodes that join find some, and little is lost with one of them.
_SHARDS_PER_TASK = 8

# Of a GPU's memory for the tasks on it: what JAX takes where it is alone.
_MEMORY_SHARE = 0.75

# Ray begins a task anew so often when its process ends without a word.
_MOST_CRASHES = 1


@dataclasses.dataclass(frozen=True)
class Ray:
    """A cluster of Ray; needs the extra: ``pip install "jaxrace[ray]"``.

    Attributes:
        address: Of the cluster: ``auto``, ``10.0.0.1:6379`` or ``ray://10.0.0.1:10001``; None
            starts one on this machine, for as long as the sweep takes.
        cpus_per_task: Cores of a task, each of which has W lanes.
        gpus_per_task: GPUs of a task, or a share of one, .5 say, and of its memory; None for one if
            the cluster has any.
        lanes_per_shard: Jobs of each lane in a shard. None for what gives every task that the
            cluster can run at once eight shards.

    Raises:
        ValueError: A number is out of range, or ``address`` does not look like one.

    >>> Ray(cpus_per_task=2).address is None
    True
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
                raise ValueError(
                    "gpus_per_task: expected a whole number, or a share of one GPU, got "
                    f"{self.gpus_per_task}"
                )
        if self.lanes_per_shard is not None:
            require_integer("lanes_per_shard", self.lanes_per_shard, 1)


@contextlib.contextmanager
def connected(cluster: Ray) -> Iterator[Any]:
    """The package ``ray``, connected to the cluster; a local one ends with the block.

    Sweeps inside of the block use the same one.

    Raises:
        ValueError: Ray is not there.
    """
    # Ray asks for these before it starts: no report of its use, and no words about GPUs.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError as error:
        raise ValueError('ray: expected it to be installed: pip install "jaxrace[ray]"') from error
    if ray.is_initialized():
        yield ray
        return
    settings: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if cluster.address is None:
        settings["include_dashboard"] = False
    in_main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGTERM)
    with warnings.catch_warnings():
        # Of a fork beside JAX's threads: the child becomes another program at once.
        warnings.filterwarnings("ignore", "os.fork", RuntimeWarning)
        ray.init(address=cluster.address or "local", **settings)
    if in_main:
        signal.signal(signal.SIGTERM, handler)  # Ray's own would end the process
    try:
        yield ray
    finally:
        ray.shutdown()


def gpus_of_task(ray: Any, cluster: Ray) -> float:
    """What was asked for, or one where the cluster has any."""
    if cluster.gpus_per_task is not None:
        return cluster.gpus_per_task
    return float(ray.cluster_resources().get("GPU", 0) > 0)


def shard_size(ray: Any, cluster: Ray, num_gpus: float, jobs: Jobs, width: int) -> int:
    """Jobs of a shard."""
    resources = ray.cluster_resources()
    at_once = resources.get("CPU", 1) // cluster.cpus_per_task
    if num_gpus:
        at_once = min(at_once, math.floor(resources.get("GPU", 1) / num_gpus + 1e-6))
    widths = math.ceil(jobs.count / width)
    own = max(int(widths // (_SHARDS_PER_TASK * max(at_once, 1))), 1)
    return width * (cluster.lanes_per_shard or own)


def remote_function(ray: Any, num_cpus: int, num_gpus: float, function: Callable[..., Any]) -> Any:
    """A function that runs on a node, in a process with settings of JAX as here."""
    as_here = (
        *("jax_enable_x64", "jax_numpy_dtype_promotion", "jax_threefry_partitionable"),
        *("jax_default_prng_impl", "jax_default_matmul_precision"),
        *("jax_enable_compilation_cache", "jax_compilation_cache_dir"),
    )
    found = {name: getattr(jax.config, name) for name in as_here}
    found["jax_num_cpu_devices"] = num_cpus + 1  # see ``use_all_cores``
    found["jax_platforms"] = None if num_gpus else "cpu"
    settings = {name.upper(): str(value) for name, value in found.items() if value is not None}
    settings |= {name: os.environ[name] for name in ("XLA_FLAGS",) if name in os.environ}
    if 0 < num_gpus < 1:  # a process of JAX takes as much of the memory when it starts
        settings["XLA_CLIENT_MEM_FRACTION"] = f"{_MEMORY_SHARE * num_gpus:.3f}"
    # A process keeps the GPU with which JAX began: the next task gets another process.
    calls = {"max_calls": 1} if num_gpus else {}
    make = ray.remote(
        num_cpus=num_cpus,
        num_gpus=num_gpus,
        max_retries=_MOST_CRASHES,
        runtime_env={"env_vars": settings},
        **calls,
    )
    return make(function)
