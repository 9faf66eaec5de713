"""What a run leaves on disk: a folder with config.json, log.csv and summary.json."""

import contextlib
import dataclasses
import importlib.metadata
import itertools
import json
import math
import os
import platform
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from jaxrace.runs.files import StrPath, checksum_of, read_json, unfinished_in, write_json
from jaxrace.runs.tables import read_table, write_table

CONFIG, LOG, SUMMARY, TIMING = "config.json", "log.csv", "summary.json", "timing.json"
_LOCK = ".jaxrace-lock"  # no user's file is called so
_locked: list[Path] = []  # the folders that this process works in, that of the run first
_CHECKSUMS = "checksums"  # in a summary: the checksums of the tables and arrays beside it
_PACKAGES = ("jaxrace", "jax", "jaxlib", "numpy", "evosax")


@contextlib.contextmanager
def new_folder(out: StrPath | None, stem: str, parent: StrPath = "runs") -> Iterator[Path]:
    """Make the folder of a run; if the block fails, what is still empty is removed again.

    That is ``out``, which must be new or empty, or else the first of ``parent/stem-1``,
    ``parent/stem-2`` and so on that is free. A lock in it keeps other processes out.

    >>> with new_folder(None, "medical-edps") as folder:
    ...     print(folder.as_posix())
    runs/medical-edps-1
    """
    made: list[Path] = []
    try:
        try:
            folder = _number(Path(parent), stem, made) if out is None else _claim(Path(out), made)
        except OSError as error:
            raise ValueError(
                f"out: expected a folder that can be written, got '{error.filename or out}' "
                f"({error.strerror})"
            ) from error
        with locked(folder):
            if out is not None:
                _require_empty(folder)
            yield folder
    except BaseException:
        for path in reversed(made):
            with contextlib.suppress(OSError):  # not empty
                path.rmdir()
        raise


def _number(parent: Path, stem: str, made: list[Path]) -> Path:
    _make(parent, made)
    for number in itertools.count(1):
        folder = parent / f"{stem}-{number}"
        with contextlib.suppress(FileExistsError):
            folder.mkdir()
            made.append(folder)
            return folder
    raise AssertionError


def _claim(out: Path, made: list[Path]) -> Path:
    if out.exists() and not out.is_dir():
        raise ValueError(f"out: expected a new or an empty folder, got '{out}', which is a file")
    if out.exists():
        _require_empty(out)
    _make(out, made)
    if not os.access(out, os.W_OK | os.X_OK):
        raise PermissionError(13, "Permission denied", str(out))
    return out


def _require_empty(folder: Path) -> None:
    """Raise if there is anything but what a process that was killed may have left."""
    left = {folder / _LOCK, *unfinished_in(folder)}
    if any(path not in left for path in folder.iterdir()):
        raise ValueError(
            f"out: expected a new or an empty folder, got '{folder}', which is not empty"
        )


def _make(folder: Path, made: list[Path]) -> None:
    """Make a folder and those above it; those that are new are added to ``made``."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        with contextlib.suppress(FileExistsError):  # another run was quicker
            path.mkdir()
            made.append(path)


@contextlib.contextmanager
def locked(folder: StrPath) -> Iterator[None]:
    """Keep other processes out of a folder as long as the block runs, or this process lives.

    What a process that was killed has left half-written there is removed.

    >>> with locked("."), locked("."):
    ...     pass
    Traceback (most recent call last):
    ValueError: folder: expected one that no other process works on, got '.'
    """
    import filelock  # late: an answer about a table needs no more than NumPy

    # The system drops such a lock when its process dies, however it dies.
    path = Path(folder) / _LOCK
    lock = filelock.FileLock(path, timeout=0)
    try:
        lock.acquire()
    except filelock.Timeout as error:
        raise ValueError(
            f"folder: expected one that no other process works on, got '{folder}'"
        ) from error
    _locked.append(Path(folder))
    try:
        for unfinished in unfinished_in(folder):
            unfinished.unlink()
        yield
    finally:
        _locked.remove(Path(folder))
        with contextlib.suppress(OSError):  # some systems keep a file that is open
            path.unlink(missing_ok=True)
        lock.release()


def let_go() -> Path | None:
    """Give up the folders of this process, which is about to end while it works in them.

    Returned is that of the run, if it can be resumed.
    """
    for folder in _locked:
        with contextlib.suppress(OSError):
            (folder / _LOCK).unlink()
            folder.rmdir()  # unless there is something in it
    return next((folder for folder in _locked[:1] if (folder / CONFIG).exists()), None)


def reopened(out: StrPath | None, asked: Mapping[str, Any]) -> Path:
    """The folder of an interrupted run, to go on with it, or of a finished one.

    What the run is ``asked`` to do must be what config.json says: the "command", its "config", and,
    of its "inputs", the checksums of files. A finished run must not have been changed since.
    """
    if out is None:
        raise ValueError("resume: expected the folder of a run as out, got none")
    try:
        found = read_config(out)
    except (OSError, ValueError) as error:
        got = f", got '{out}'" if isinstance(error, OSError) else f": {error}"
        raise ValueError(f"out: expected the folder of a run to resume{got}") from error
    if found.get("command") != asked["command"]:
        raise ValueError(
            f"out: expected the folder of a run of {asked['command']}, got '{out}', which is of "
            f"{found.get('command')}"
        )
    # As JSON has it.
    for name, value in json.loads(json.dumps(asked["config"])).items():
        before = found.get("config", {}).get(name)
        if before != value:
            raise ValueError(f"{name}: expected {before!r} as in '{out}', got {value!r}")
    for name, checksum in asked.get("inputs", {}).items():
        if found.get("inputs", {}).get(name) != checksum:
            raise ValueError(
                f"{name}: expected the file that the run in '{out}' has read, got another one, or "
                "one that has changed: it needs a folder of its own"
            )
    folder = Path(out)
    try:
        summary = read_json(folder / SUMMARY) if (folder / SUMMARY).exists() else {}
        for name, checksum in summary.get(_CHECKSUMS, {}).items():
            if checksum_of(folder / name) != checksum:
                raise ValueError(f"{folder / name} is not as it was written")
    except (OSError, ValueError) as error:
        raise ValueError(f"out: expected the files of a finished run: {error}") from error
    return folder


def asked_of(command: str, config: Any) -> dict[str, Any]:
    """What a run is asked to do: the ``command``, its config, and checksums of its ``inputs``."""
    # A pipe can be read only once.
    checksums = {
        name: checksum_of(path) if Path(path).is_file() else None
        for name, path in getattr(config, "inputs", {}).items()
    }
    return {"command": command, "config": dataclasses.asdict(config), "inputs": checksums}


def write_config(folder: StrPath, config: Mapping[str, Any], *, has_device: bool = True) -> None:
    """Write config.json: ``config``, which is all that is needed to run again, with versions.

    Starts a JAX backend, to name the device, where there is one.
    """
    where = {"device": device()} if has_device else {}
    write_json(Path(folder) / CONFIG, {**config, "versions": versions(), **where})


def add_to_config(folder: StrPath, more: Mapping[str, Any]) -> None:
    """Write config.json again, with more in it."""
    write_json(Path(folder) / CONFIG, {**read_config(folder), **more})


def write_log(folder: StrPath, columns: Mapping[str, Any] | Iterable[Mapping[str, Any]]) -> None:
    """Write log.csv: columns [rows] by name, or several such pieces, as for ``write_table``.

    >>> write_log(".", {"repeat": np.array([0, 1]), "reward": np.array([0.1, 2], np.float32)})
    >>> read_log(".")["reward"].tolist()
    [0.1, 2.0]
    """
    write_table(Path(folder) / LOG, columns)


def write_summary(folder: StrPath, summary: Mapping[str, Any]) -> None:
    """Write summary.json: numbers, text, lists and mappings of them; no NaN, no infinity.

    It is written last, with the checksums of the tables and arrays that the folder has then.

    >>> write_summary(".", {"reward": mean_and_stderr([1.0, 2.0, 3.0])})
    >>> read_summary(".")["reward"]["mean"]
    2.0
    """
    tables = [path for path in Path(folder).iterdir() if path.suffix in (".csv", ".npz")]
    checksums = {path.name: checksum_of(path) for path in sorted(tables)}
    write_json(Path(folder) / SUMMARY, {**summary, _CHECKSUMS: checksums})


def write_timing(folder: StrPath, timing: Mapping[str, float | None]) -> None:
    """Write timing.json: what differs when the same numbers are computed again."""
    write_json(Path(folder) / TIMING, timing)


def read_config(folder: StrPath) -> dict[str, Any]:
    """What ``write_config`` has written."""
    return read_json(Path(folder) / CONFIG)


def read_log(folder: StrPath) -> dict[str, np.ndarray]:
    """The columns of a run's log.csv, each [rows]: int64, float64, bool or text."""
    return read_table(Path(folder) / LOG)


def read_summary(folder: StrPath) -> dict[str, Any]:
    """What ``write_summary`` was given."""
    return {k: v for k, v in read_json(Path(folder) / SUMMARY).items() if k != _CHECKSUMS}


def read_timing(folder: StrPath) -> dict[str, Any]:
    """What ``write_timing`` was given."""
    return read_json(Path(folder) / TIMING)


def mean_and_stderr(values: ArrayLike) -> dict[str, float | int | None]:
    """Mean, standard error of the mean and count of numbers [n], computed in float64.

    A single number has the standard error None.

    >>> mean_and_stderr([1.0, 2.0, 3.0, 4.0, 5.0])
    {'mean': 3.0, 'stderr': 0.7071067811865476, 'count': 5}
    """
    numbers = np.asarray(values, np.float64)
    if numbers.ndim != 1 or numbers.size == 0:
        raise ValueError(f"values: expected a list of numbers, got shape {list(numbers.shape)}")
    count = numbers.size
    stderr = float(numbers.std(ddof=1)) / math.sqrt(count) if count > 1 else None
    return {"mean": float(numbers.mean()), "stderr": stderr, "count": count}


def versions() -> dict[str, str]:
    """The versions that numbers may depend on."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):  # tables need no JAX
            found[name] = importlib.metadata.version(name)
    return found


def processor() -> str:
    """The model of the processor, where the system tells it."""
    with contextlib.suppress(OSError):
        text = Path("/proc/cpuinfo").read_text("utf-8")
        for model in re.findall(r"^model name\s*:\s*(.+)$", text, re.MULTILINE):
            return model
    return platform.processor() or platform.machine()


def device() -> dict[str, Any]:
    """The devices that JAX computes on; starts its backend."""
    import jax

    first, count = jax.devices()[0], jax.device_count()
    found = {"platform": first.platform, "kind": first.device_kind, "count": count}
    return {**found, "system": platform.platform()}
