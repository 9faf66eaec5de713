"""What every test may use."""

import gc
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

import hypothesis
import jax
import jaxlib.version
import processor_time
import pytest
import slow_cases
from plain_process import plain_process

from jaxrace.commands.device import has_gpu

# The first example of a test compiles, which takes far longer than hypothesis allows for one.
hypothesis.settings.register_profile("jaxrace", deadline=None)
hypothesis.settings.load_profile("jaxrace")


# Files that take a minute or more begin first: at the end they would keep one worker busy alone.
LONG = (
    "examples",
    "notebooks",
    "cli_grids",
)

# The folder of compiled programs, and the bytes from which it is emptied.
PROGRAMS = pytest.StashKey[str]()
MOST_KEPT = 2 * 10**9

# Files of tests that have been run by this process, and after how many all is dropped.
FILES = itertools.count(1)
KEPT_FILES = 8


def pytest_configure(config: pytest.Config) -> None:
    """Choose the compiler's settings, before JAX starts.

    Four fifths of the tests' time went into compiling. Without fusion emitters that takes half as
    long, but long arithmetic ten times (tests/plain_process.py): not for the slow tests.
    Whoever sets XLA_FLAGS, be it to "", has flags of their own. Flags come and go, and an unknown
    one ends the process.
    """
    # For `papers`, which no wheel has; at the end, so that an installed jaxrace comes before.
    sys.path.append(str(config.rootpath))
    if config.option.markexpr == "not slow" and jaxlib.version.__version_info__ < (0, 11):
        # Other workers keep the cores busy: several threads per program only cost more.
        flags = (
            "--xla_backend_optimization_level=0",
            "--xla_cpu_use_fusion_emitters=false",
            "--xla_cpu_parallel_codegen_split_count=1",
        )
        os.environ.setdefault("XLA_FLAGS", " ".join(flags))
    # For the workers, which start later: threads of OpenBLAS would wait busily for small matrices.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # With a GPU, commands in processes of their own would choose the CPU for their small jobs.
    if has_gpu():
        os.environ.setdefault("JAX_PLATFORMS", "cuda,cpu")
        jax.config.update("jax_platforms", os.environ["JAX_PLATFORMS"])
    # For sweeps, whatever the machine.
    jax.config.update("jax_num_cpu_devices", 4)
    _keep_programs(config)
    # Tracing makes many objects, of which few are garbage: to look for it took a twentieth.
    gc.set_threshold(100_000, 50, 100)
    config.pluginmanager.register(processor_time.Clock(), "processor_time")


def _keep_programs(config: pytest.Config) -> None:
    """On disk, for the workers of this run, the processes that tests start, and later runs.

    A worker may read what another one is just writing; JAX then warns and compiles, see
    ``filterwarnings`` in pyproject.toml.
    """
    if hasattr(config, "cache"):
        folder = config.cache.mkdir("jaxrace-programs")
        if sum(file.stat().st_size for file in folder.iterdir()) > MOST_KEPT:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True, exist_ok=True)
    else:
        folder = Path(tempfile.mkdtemp(prefix="jaxrace-tests-"))
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    config.stash[PROGRAMS] = str(folder)
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


@pytest.fixture(scope="module")
def plain() -> Iterator[Callable[..., list]]:
    """``plain(function, *args, **kwargs)``: ``list`` of it, in a process for long arithmetic.

    See ``plain_process``; one process for all of a file, with what it has compiled.
    """
    with plain_process() as run:
        yield run


@pytest.fixture(scope="module")
def shared_programs(pytestconfig: pytest.Config) -> Iterator[None]:
    """Processes that a test starts one after the other find what this worker has compiled."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAX_COMPILATION_CACHE_DIR", pytestconfig.stash[PROGRAMS])
        patch.setenv("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
        patch.setenv("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
        yield


@pytest.hookimpl(tryfirst=True)  # before what is marked slow is left out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the slow cases; the long files come first, in their order, then the others."""
    for item in items:
        if f"{item.path.name}::{item.name}" in slow_cases.SLOW_CASES:
            item.add_marker(pytest.mark.slow)
    places = {f"test_{name}": place for place, name in enumerate(LONG)}
    items.sort(key=lambda item: places.get(item.path.stem, len(LONG)))


@pytest.fixture(scope="module", autouse=True)
def drop_compiled_programs() -> Iterator[None]:
    """Programs of a file are of some use to the next ones, but every one keeps dozens of mappings.

    The kernel allows a process 65,530 of them (vm.max_map_count); the compiler crashes beyond. What
    was traced takes memory, too: of so many files a worker keeps some 300 MB.
    """
    yield
    if next(FILES) % KEPT_FILES == 0:
        jax.clear_caches()


class CompilationCounter:
    """Counts the programs that JAX compiles, or finds in its cache on disk, inside a `with` block.

    Operations outside `jax.jit` compile too, so make the inputs before the block.
    """

    def __init__(self) -> None:
        self.count = 0

    def __enter__(self) -> Self:
        jax.monitoring.register_event_duration_secs_listener(self._listen)
        return self

    def __exit__(self, *exception: object) -> None:
        jax.monitoring.unregister_event_duration_listener(self._listen)

    def _listen(self, event: str, duration_secs: float, **kwargs: Any) -> None:
        if event == "/jax/core/compile/backend_compile_duration":
            self.count += 1


@pytest.fixture
def count_compilations() -> Callable[[], CompilationCounter]:
    """Use `with count_compilations() as compilations: ...`, then look at `compilations.count`."""
    return CompilationCounter


@pytest.fixture
def float64() -> Iterator[None]:
    """Numbers of 64 bits, for comparisons with references in NumPy."""
    with jax.enable_x64(True):
        yield


@pytest.fixture
def small_disk(tmp_path):
    """A file system of a few megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", folder]
    try:
        done = subprocess.run(mount, capture_output=True, text=True, check=False)
    except OSError as error:
        pytest.skip(f"no file system can be mounted: {error}")
    if done.returncode:
        pytest.skip(f"no file system can be mounted: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs are not looked at for dependence: one table in a hundred would say so by chance."""
    monkeypatch.setattr("jaxrace.judging.table_race.doubt_about", lambda runs: None)
