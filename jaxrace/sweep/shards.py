"""A sweep on a cluster: shards of whole lane widths, each a task of Ray.

A folder that all nodes see holds ``shards.json``, what the sweep is and how it was cut;
``shard-N.tar``, the last checkpoint of a shard in flight; and ``shard-N.npz``, the rows of one that
is done. Each is there as a whole or not at all. Axes: J jobs, n rows.
"""

import contextlib
import dataclasses
import io
import json
import os
import tarfile
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from jaxrace import files, runs
from jaxrace.sweep.checkpoint import Checkpoints, identity_of, require_same
from jaxrace.sweep.engine import OnRows, SweepLog, run_here
from jaxrace.sweep.lanes import one_job, traced_job
from jaxrace.sweep.queue import LanePlan
from jaxrace.sweep.rows import Rows, RowStore
from jaxrace.sweep.sizes import default_devices
from jaxrace.sweep.stopping import Interrupted
from jaxrace.sweep.work import Jobs, Work
from jaxrace.validation import require_integer, require_number

_CUT = "shards.json"

# Shards for each task that the cluster runs at once when the sweep begins: so many pieces are
# shared out evenly, and little is lost with one of them.
_SHARDS_PER_TASK = 4

# Of one shard, by errors of its own; and by nodes that die, where it goes on from its checkpoint.
_MOST_FAILURES, _MOST_DEATHS = 3, 100

# Seconds between two looks at ``stop``.
_LOOK = 0.5


@dataclasses.dataclass(frozen=True)
class Ray:
    """A cluster of Ray; needs the extra: ``pip install "jaxrace[ray]"``.

    Attributes:
        address: Of the cluster, such as ``auto`` or ``ray://10.0.0.1:10001``; None starts one on
            this machine, for as long as the sweep takes.
        cpus_per_task: Cores of a task, each of which has W lanes.
        gpus_per_task: GPUs of a task; None for one if the cluster has any.
        lanes_per_shard: Jobs of each lane in a shard. None for what gives every task that the
            cluster can run at once four shards.

    Raises:
        ValueError: A number is out of range.

    >>> Ray(cpus_per_task=2).address is None
    True
    """

    address: str | None = None
    cpus_per_task: int = 1
    gpus_per_task: float | None = None
    lanes_per_shard: int | None = None

    def __post_init__(self) -> None:
        require_integer("cpus_per_task", self.cpus_per_task, 1)
        if self.gpus_per_task is not None:
            require_number("gpus_per_task", self.gpus_per_task, least=0)
        if self.lanes_per_shard is not None:
            require_integer("lanes_per_shard", self.lanes_per_shard, 1)


class Folder:
    """A folder of whole files: a path, or an address of fsspec such as ``s3://bucket/grid``."""

    def __init__(self, folder: str | Path) -> None:
        self._path = str(folder)
        self.is_path = "://" not in self._path
        if self.is_path:
            self._path = str(Path(folder).absolute())
            Path(self._path).mkdir(parents=True, exist_ok=True)

    def names(self) -> set[str]:
        """Of all files."""
        if self.is_path:
            return {path.name for path in Path(self._path).iterdir()}
        files_of, root = self._remote()
        found = files_of.ls(root, detail=False) if files_of.exists(root) else []
        return {name.rstrip("/").rpartition("/")[2] for name in found}

    def read(self, name: str) -> bytes:
        """The content of a file."""
        if self.is_path:
            return (Path(self._path) / name).read_bytes()
        files_of, root = self._remote()
        return files_of.cat_file(f"{root}/{name}")

    def write(self, name: str, content: bytes) -> None:
        """Write a file as a whole."""
        if self.is_path:
            files.write_file(Path(self._path) / name, content)
            return
        files_of, root = self._remote()
        files_of.makedirs(root, exist_ok=True)
        files_of.pipe_file(f"{root}/{name}", content)  # stores of objects have no half ones

    def remove(self, name: str) -> None:
        """Remove a file."""
        if self.is_path:
            (Path(self._path) / name).unlink(missing_ok=True)
        elif name in self.names():
            files_of, root = self._remote()
            files_of.rm_file(f"{root}/{name}")

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other sweeps away; ValueError if one works there. Of addresses nothing is known."""
        with runs.locked(self._path) if self.is_path else contextlib.nullcontext():
            yield

    def _remote(self) -> Any:
        import fsspec

        return fsspec.core.url_to_fs(self._path)


@dataclasses.dataclass(frozen=True)
class _Task:
    """What all shards have in common."""

    work: Work
    jobs: Jobs
    plan: LanePlan
    size: int  # jobs of a shard, in the order in which they begin
    folder: Folder
    every: float  # seconds between checkpoints

    def numbers(self, shard: int) -> NDArray[np.int64]:
        """Of the jobs of a shard."""
        return self.plan.order[shard * self.size : (shard + 1) * self.size]


def run_shards(
    work: Work,
    jobs: Jobs,
    plan: LanePlan,
    device: Any,
    cluster: Ray,
    on_rows: OnRows | None,
    checkpoints: Checkpoints | None,
    stop: Callable[[], bool] | None,
) -> SweepLog:
    """Do every job on a cluster; for the arguments see ``run``."""
    if checkpoints is None:
        raise ValueError("checkpoints: expected some, with a folder that all nodes see")
    started = time.perf_counter()
    folder = Folder(checkpoints.folder)
    identity = identity_of(work, jobs, plan.width, device)
    identity = json.loads(json.dumps({**identity, "config": dict(checkpoints.config)}))
    row = jax.eval_shape(traced_job, work, one_job(jobs))[1]
    with folder.locked(), connected(cluster) as ray:
        size, is_resumed = _cut(ray, folder, identity, checkpoints, cluster, jobs, plan)
        task = _Task(work, jobs, plan, size, folder, checkpoints.every)
        shards = range(-(-jobs.count // size))
        before = [shard for shard in shards if _done(shard) in folder.names()]
        log = _Log(RowStore(row), jobs.count)
        for shard in before:
            log.add(folder, shard)
        num_before = log.num_ended
        options = {"num_cpus": cluster.cpus_per_task, "num_gpus": _gpus(ray, cluster)}
        for shard, error in _done_shards(ray, task, set(shards) - set(before), options, stop):
            if error is not None:
                log.lose(shard, task.numbers(shard), error)
                continue
            rows = log.add(folder, shard)
            if on_rows is not None:
                on_rows(log.num_ended, rows)
    return SweepLog(
        store=log.store,
        failed=np.flatnonzero(log.failed),
        width=plan.width,
        num_devices=1,
        num_jobs=jobs.count,
        num_rows=log.num_rows,
        num_ended=log.num_ended - num_before,
        is_resumed=is_resumed,
        lane_steps=log.lane_steps,
        compile_seconds=0.0,
        run_seconds=time.perf_counter() - started,
        errors=log.errors,
    )


class _Log:
    """What the shards have left."""

    def __init__(self, store: RowStore, count: int) -> None:
        self.store = store
        self.failed = np.zeros(count, bool)
        self.num_rows = self.num_ended = self.lane_steps = 0
        self.errors: dict[str, str] = {}

    def add(self, folder: Folder, shard: int) -> Rows:
        """A shard that is done; its rows, which are read again when they are wanted again."""
        name = _done(shard)

        def read() -> list[np.ndarray]:
            return self.store.arrays_in(lambda: folder.read(name), name, extra=2)

        facts, failed, *leaves = read()
        rows = self.store.as_rows(leaves)
        self.store.add_written(lambda: self.store.as_rows(read()[2:]))
        self.failed[failed] = True
        self.num_rows += len(rows.job)
        self.num_ended += int(facts[0])
        self.lane_steps += int(facts[1])
        return rows

    def lose(self, shard: int, numbers: NDArray[np.int64], error: str) -> None:
        self.failed[numbers] = True
        self.num_ended += len(numbers)
        self.errors[f"shard {shard}, {len(numbers)} jobs from {numbers[0]}"] = error


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
    with warnings.catch_warnings():
        # Of a fork beside JAX's threads: the child becomes another program at once.
        warnings.filterwarnings("ignore", "os.fork", RuntimeWarning)
        ray.init(address=cluster.address or "local", **settings)
    try:
        yield ray
    finally:
        ray.shutdown()


def _gpus(ray: Any, cluster: Ray) -> float:
    if cluster.gpus_per_task is not None:
        return cluster.gpus_per_task
    return float(ray.cluster_resources().get("GPU", 0) > 0)


def _cut(
    ray: Any,
    folder: Folder,
    identity: dict[str, Any],
    checkpoints: Checkpoints,
    cluster: Ray,
    jobs: Jobs,
    plan: LanePlan,
) -> tuple[int, bool]:
    """The jobs of a shard, and whether the sweep has begun before."""
    if _CUT in folder.names():
        if not checkpoints.resume:
            raise ValueError(f"folder: expected no sweep in '{checkpoints.folder}', or resume=True")
        cut = json.loads(folder.read(_CUT))
        require_same(cut["identity"], identity)
        return cut["size"], True
    num_gpus = _gpus(ray, cluster)
    resources = ray.cluster_resources()
    at_once = resources.get("CPU", 1) // cluster.cpus_per_task
    if num_gpus:
        at_once = min(at_once, resources.get("GPU", 1) // num_gpus)
    widths = -(-jobs.count // plan.width)
    own = max(int(widths // (_SHARDS_PER_TASK * max(at_once, 1))), 1)
    size = plan.width * (cluster.lanes_per_shard or own)
    folder.write(_CUT, json.dumps({"size": size, "identity": identity}).encode())
    return size, False


def _done_shards(
    ray: Any,
    task: _Task,
    shards: set[int],
    options: dict[str, float],
    stop: Callable[[], bool] | None,
) -> Iterator[tuple[int, str | None]]:
    """Do the shards; each as it is done, or with what went wrong three times."""
    environment = _environment(int(options["num_cpus"]), options["num_gpus"] > 0)
    remote = ray.remote(_do_shard).options(
        **options, max_retries=_MOST_DEATHS, runtime_env={"env_vars": environment}
    )
    shared = ray.put(task)
    pending = {remote.remote(shared, shard): (shard, 1) for shard in sorted(shards)}
    while pending:
        if stop is not None and stop():
            for reference in pending:
                ray.cancel(reference)
            raise Interrupted
        for reference in ray.wait(list(pending), timeout=_LOOK)[0]:
            shard, attempt = pending.pop(reference)
            try:
                ray.get(reference)
            except ray.exceptions.RayError as error:
                if attempt == _MOST_FAILURES:
                    yield shard, _in_a_line(error)
                else:
                    pending[remote.remote(shared, shard)] = shard, attempt + 1
            else:
                yield shard, None


def _in_a_line(error: Any) -> str:
    cause = getattr(error, "cause", None) or error
    lines = str(cause).strip().splitlines() or [""]
    return f"{type(cause).__name__}: {lines[0]}"


def _environment(cores: int, on_gpu: bool) -> dict[str, str]:
    """Settings of JAX on the nodes, which starts there before any of our code does."""
    as_here = ("jax_enable_x64", "jax_numpy_dtype_promotion", "jax_compilation_cache_dir")
    found = {name: getattr(jax.config, name) for name in as_here}
    found["jax_num_cpu_devices"] = cores + 1  # see ``use_all_cores``
    found["jax_platforms"] = None if on_gpu else "cpu"
    return {name.upper(): str(value) for name, value in found.items() if value is not None}


def _do_shard(task: _Task, shard: int) -> None:
    """On a node: do a shard, from its last checkpoint if there is one, and leave its rows."""
    numbers, folder, name = task.numbers(shard), task.folder, f"shard-{shard:06}.tar"
    jobs = Jobs(len(numbers), lambda places: task.jobs.rows(numbers[places]))
    plan = LanePlan(np.arange(len(numbers)), task.plan.lane[numbers], task.plan.width)
    if _done(shard) in folder.names():
        return
    with tempfile.TemporaryDirectory() as here:
        if name in folder.names():
            with tarfile.open(fileobj=io.BytesIO(folder.read(name))) as archive:
                archive.extractall(here, filter="data")
        local = Checkpoints(
            here, every=task.every, resume=True, on_saved=lambda: folder.write(name, _packed(here))
        )
        log = run_here(task.work, jobs, plan, default_devices(), checkpoints=local)
        content = io.BytesIO()
        rows = log.rows
        facts = np.array([jobs.count, log.lane_steps])
        leaves = jax.tree.leaves(rows._replace(job=numbers[rows.job]))
        np.savez(content, facts, numbers[log.failed], *leaves)
    folder.write(_done(shard), content.getvalue())
    folder.remove(name)


def _packed(folder: str) -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for path in sorted(Path(folder).iterdir()):
            if not path.name.startswith("."):
                archive.add(path, path.name)
    return content.getvalue()


def _done(shard: int) -> str:
    return f"shard-{shard:06}.npz"
