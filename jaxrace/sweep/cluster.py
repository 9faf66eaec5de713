"""A cluster of Ray: connecting, what a task gets, and how processes there are set up."""

import contextlib
import math
import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import jax

from jaxrace.sweep.work import Jobs

# Shards for each task that the cluster runs at once when the sweep begins: so many pieces are
# shared out evenly, nodes that join find some, and little is lost with one of them.
_SHARDS_PER_TASK = 8

# Of a GPU's memory for the tasks on it: what JAX takes where it is alone.
_MEMORY_SHARE = 0.75

# Ray begins a task anew so often when its process ends without a word.
_MOST_CRASHES = 1


@contextlib.contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """The package ``ray``, connected to a cluster; a local one (None) ends with the block.

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
    if address is None:
        settings["include_dashboard"] = False
    in_main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGTERM)
    with warnings.catch_warnings():
        # Of a fork beside JAX's threads: the child becomes another program at once.
        warnings.filterwarnings("ignore", "os.fork", RuntimeWarning)
        ray.init(address=address or "local", **settings)
    if in_main:
        signal.signal(signal.SIGTERM, handler)  # Ray's own would end the process
    try:
        yield ray
    finally:
        ray.shutdown()


def gpus_of_task(ray: Any, asked: float | None) -> float:
    """What was asked for, or one where the cluster has any."""
    return asked if asked is not None else float(ray.cluster_resources().get("GPU", 0) > 0)


def lanes_per_shard(ray: Any, num_cpus: int, num_gpus: float, jobs: Jobs, width: int) -> int:
    """Jobs of each lane in a shard, if every task that runs at once is to have several shards."""
    resources = ray.cluster_resources()
    at_once = resources.get("CPU", 1) // num_cpus
    if num_gpus:
        at_once = min(at_once, math.floor(resources.get("GPU", 1) / num_gpus + 1e-6))
    widths = math.ceil(jobs.count / width)
    return max(int(widths // (_SHARDS_PER_TASK * max(at_once, 1))), 1)


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
