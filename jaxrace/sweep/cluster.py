"""A cluster of Ray: connecting, what a task gets, and how processes there are set up."""

import contextlib
import math
import os
import secrets
import signal
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import jax

from jaxrace.core.validation import BadArgument
from jaxrace.sweep.work import Jobs

# Shards for each task that the cluster runs at once when the sweep begins: an even share, some for
# nodes that join, and little to lose with a node.
_SHARDS_PER_TASK = 8
_MEMORY_SHARE = 0.75  # of a GPU's memory for its tasks, as JAX takes alone
_MOST_CRASHES = 1  # after which Ray begins a task anew


@contextlib.contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """The package ``ray``, connected to a cluster; a local one (None) ends with the block.

    Sweeps inside of the block use the same one. A local one listens on addresses of this machine
    alone, and asks for a token. ValueError if Ray is not installed.
    """
    # Ray reads these before it starts: no report of its use, and no words about GPUs.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError as error:
        hint = ': pip install "jaxrace[ray]"'
        raise BadArgument("ray", "the package ray", "none", hint) from error
    if ray.is_initialized():
        yield ray
        return
    settings: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    in_main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGTERM)
    with _closed_to_others() if address is None else contextlib.nullcontext({}) as own:
        with warnings.catch_warnings():  # a fork beside JAX's threads becomes another program
            warnings.filterwarnings("ignore", "os.fork", RuntimeWarning)
            ray.init(address=address or "local", **settings, **own)
        if in_main:
            signal.signal(signal.SIGTERM, handler)  # Ray's own would end the process
        try:
            node = ray.util.get_node_ip_address()
            if address is None and node not in ("127.0.0.1", "::1"):
                raise RuntimeError(f"ray: expected to listen on this machine alone, got {node}")
            yield ray
        finally:
            ray.shutdown()


@contextlib.contextmanager
def _closed_to_others() -> Iterator[dict[str, Any]]:
    """What starts in the block listens on loopback, asks for a token, and has a folder of ours.

    Ray has no arguments for the first two. Yields further arguments.
    """
    from ray import _raylet
    from ray._private import ray_constants

    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    own = token | {ray_constants.ENABLE_RAY_CLUSTERS_ENV_VAR: "0"}  # for the processes
    before = os.environ.copy(), ray_constants.ENABLE_RAY_CLUSTER

    def set_all(variables: Mapping[str, str], is_open: bool) -> None:
        for name in own:
            os.environ.pop(name, None)
            os.environ.update({name: variables[name]} if name in variables else {})
        ray_constants.ENABLE_RAY_CLUSTER = is_open
        compiled: Any = _raylet  # it may have read both by now
        compiled.Config.initialize("")
        compiled.AuthenticationTokenLoader.instance().reset_cache()

    above = "/tmp" if sys.platform == "darwin" else None  # names of sockets must be short
    set_all(own, False)
    try:
        with tempfile.TemporaryDirectory("", "ray-", above, ignore_cleanup_errors=True) as folder:
            # Ray opens its own folder to all users.
            yield {"include_dashboard": False, "_temp_dir": f"{folder}/r"}
    finally:
        set_all(*before)


def gpus_of_task(ray: Any, asked: float | None) -> float:
    """What was asked for, or one if the cluster has any."""
    return asked if asked is not None else float(ray.cluster_resources().get("GPU", 0) > 0)


def lanes_per_shard(ray: Any, num_cpus: int, num_gpus: float, jobs: Jobs, width: int) -> int:
    """Jobs of each lane in a shard, so that every task that runs at once has several shards."""
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
    # A process keeps its GPU, so the next task gets another process.
    calls = {"max_calls": 1} if num_gpus else {}
    make = ray.remote(
        num_cpus=num_cpus,
        num_gpus=num_gpus,
        max_retries=_MOST_CRASHES,
        runtime_env={"env_vars": settings},
        **calls,
    )
    return make(function)
