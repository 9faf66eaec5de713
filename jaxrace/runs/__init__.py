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

from jaxrace.core.validation import BadArgument
from jaxrace.runs.files import StrPath, checksum_of, read_json, unfinished_in, write_json
from jaxrace.runs.tables import read_table, write_table

CONFIG, LOG, SUMMARY, TIMING = "config.json", "log.csv", "summary.json", "timing.json"
_LOCK = ".jaxrace-lock"
_locked: list[Path] = []  # the folders that this process works in, that of the run first
_CHECKSUMS = "checksums"  # in a summary: the checksums of the tables and arrays beside it
_PACKAGES = ("jaxrace", "jax", "jaxlib", "numpy", "evosax")


@contextlib.contextmanager
def new_folder(out: StrPath | None, stem: str) -> Iterator[Path]:
    """Make the folder of a run, and lock it; if the block fails, empty folders are removed again.

    It is ``out``, which must be new or empty, or else the first of ``runs/stem-1``, ``runs/stem-2``
    and so on that is free.

    >>> with new_folder(None, "medical-edps") as folder:
    ...     print(folder.as_posix())
    runs/medical-edps-1
    """
    made: list[Path] = []
    try:
        try:
            if out is not None:
                folder = _claim(Path(out), made)
            else:
                _make(Path("runs"), made)
                folders = (Path("runs") / f"{stem}-{number}" for number in itertools.count(1))
                folder = next(folder for folder in folders if _make(folder, made))
        except OSError as error:
            got = f"'{error.filename or out}' ({error.strerror})"
            raise BadArgument("out", "a folder that can be written", got) from error
        with locked(folder):
            if out is not None:
                _require_empty(folder)
            yield folder
    except BaseException:
        for path in reversed(made):
            with contextlib.suppress(OSError):  # not empty
                path.rmdir()
        raise


def _claim(out: Path, made: list[Path]) -> Path:
    if out.exists():
        if not out.is_dir():
            raise BadArgument("out", "a new or an empty folder", f"'{out}', which is a file")
        _require_empty(out)
    _make(out, made)
    if not os.access(out, os.W_OK | os.X_OK):
        raise PermissionError(13, "Permission denied", str(out))
    return out


def _require_empty(folder: Path) -> None:
    """Raise if there is more than a killed process may have left."""
    left = {folder / _LOCK, *unfinished_in(folder)}
    if any(path not in left for path in folder.iterdir()):
        raise BadArgument("out", "a new or an empty folder", f"'{folder}', which is not empty")


def _make(folder: Path, made: list[Path]) -> bool:
    """Make a folder and those above it, and add new ones to ``made``; is the folder new?"""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        with contextlib.suppress(FileExistsError):  # another run was quicker
            path.mkdir()
            made.append(path)
    return folder in made


@contextlib.contextmanager
def locked(folder: StrPath) -> Iterator[None]:
    """Keep other processes out of a folder, while the block runs and this process lives.

    Half-written files of a killed process are removed.
    """
    import filelock  # late: an answer about a table needs no more than NumPy

    path = Path(folder) / _LOCK
    lock = filelock.FileLock(path, timeout=0)
    try:
        lock.acquire()
    except filelock.Timeout as error:
        wanted = "a folder that no other process works in"
        raise BadArgument("folder", wanted, f"'{folder}'") from error
    _locked.append(Path(folder))
    try:
        for unfinished in unfinished_in(folder):
            unfinished.unlink()
        yield
    finally:
        _locked.remove(Path(folder))
        with contextlib.suppress(OSError):  # some systems keep an open file
            path.unlink(missing_ok=True)
        lock.release()


def let_go() -> Path | None:
    """Give up the folders of this process, which ends now; returns that of a run to be resumed."""
    for folder in _locked:
        with contextlib.suppress(OSError):
            (folder / _LOCK).unlink()
            folder.rmdir()  # if it is empty
    return next((folder for folder in _locked[:1] if (folder / CONFIG).exists()), None)


def reopened(out: StrPath | None, asked: Mapping[str, Any]) -> Path:
    """The folder of an interrupted run, to go on with it, or of one that is done.

    config.json must say what the run is ``asked`` to do: the "command", its "config", and the
    checksums of its "inputs". A run that is done must not have been changed since.
    """
    if out is None:
        raise BadArgument("resume", "the folder of the run in out (--out)", "none")
    try:
        found = read_config(out)
    except (OSError, ValueError) as error:
        got = (
            f"'{out}', without config.json"
            if isinstance(error, OSError)
            else f"a damaged one: {error}"
        )
        raise BadArgument("out", "the folder of a run to resume", got) from error
    if found.get("command") != asked["command"]:
        wanted = f"the folder of a run of {asked['command']}"
        raise BadArgument("out", wanted, f"'{out}', which is of {found.get('command')}")
    for name, value in json.loads(json.dumps(asked["config"])).items():  # as JSON has it
        before = found.get("config", {}).get(name)
        if before != value:
            raise BadArgument(name, f"{before!r} as in '{out}'", repr(value))
    for name, checksum in asked.get("inputs", {}).items():
        if found.get("inputs", {}).get(name) != checksum:
            wanted, got = f"the file that the run in '{out}' has read", "another one, or one that"
            raise BadArgument(name, wanted, f"{got} has changed: it needs a folder of its own")
    folder = Path(out)
    try:
        summary = read_json(folder / SUMMARY) if (folder / SUMMARY).exists() else {}
        for name, checksum in summary.get(_CHECKSUMS, {}).items():
            if checksum_of(folder / name) != checksum:
                raise ValueError(f"{folder / name} is not as it was written")
    except (OSError, ValueError) as error:
        raise BadArgument("out", "the files of a finished run", f"others: {error}") from error
    return folder


def asked_of(command: str, config: Any) -> dict[str, Any]:
    """What a run is asked to do: the ``command``, its config, and checksums of its ``inputs``."""
    checksums = {
        name: checksum_of(path) if Path(path).is_file() else None  # a pipe is read only once
        for name, path in getattr(config, "inputs", {}).items()
    }
    return {"command": command, "config": dataclasses.asdict(config), "inputs": checksums}


def write_config(folder: StrPath, config: Mapping[str, Any], *, has_device: bool = True) -> None:
    """Write config.json: ``config``, with versions, and the device, which starts JAX's backend."""
    where = {"device": device()} if has_device else {}
    write_json(Path(folder) / CONFIG, {**config, "versions": versions(), **where})


def write_log(folder: StrPath, columns: Mapping[str, Any] | Iterable[Mapping[str, Any]]) -> None:
    """Write log.csv: columns [rows] by name, or several such pieces, as for ``write_table``."""
    write_table(Path(folder) / LOG, columns)


def write_summary(folder: StrPath, summary: Mapping[str, Any]) -> None:
    """Write summary.json, the last file: finite numbers, text, lists and mappings of them.

    It has the checksums of the tables and arrays in the folder.
    """
    tables = [path for path in Path(folder).iterdir() if path.suffix in (".csv", ".npz")]
    checksums = {path.name: checksum_of(path) for path in sorted(tables)}
    write_json(Path(folder) / SUMMARY, {**summary, _CHECKSUMS: checksums})


def read_config(folder: StrPath) -> dict[str, Any]:
    """What ``write_config`` has written."""
    return read_json(Path(folder) / CONFIG)


def read_log(folder: StrPath) -> dict[str, np.ndarray]:
    """The columns of a run's log.csv, each [rows]: int64, float64, bool or text."""
    return read_table(Path(folder) / LOG)


def read_policies(folder: StrPath, policy: Any) -> tuple[Any, dict[str, np.ndarray]]:
    """The policies that ``jaxrace train`` learned: theta, leaves [R, ...], and their rows.

    One of each repeat, and of each setting of a grid, that did not fail: the last row of its search
    in log.csv. That is what its final race found, or rank 1 of its last race.

    Args:
        folder: Of the run, such as runs/medical-pb-edps-fast-1.
        policy: Of the class that was searched, see ``policies.Policy``. That of an environment with
            A actions, of which d numbers are observed, and without a policy of its own is
            ``Softmax(PerAction(A), (A - 1) * (d + 1))``.

    Returns:
        theta as ``policy.example()`` has it, with a leading axis; and the columns of log.csv, each
        [R], such as repeat and mean_return.

    Raises:
        BadArgument: The run has learned nothing, or policies with another number of weights.

    >>> from jaxrace.agents.policies import Linear
    >>> log = {"repeat": [0, 0, 1], "generation": [1, 2, 1]}
    >>> log |= {"theta_0": [1.0, 2.0, 3.0], "theta_1": [0.0, 0.5, 0.0]}
    >>> with new_folder("a-run", "") as folder:
    ...     write_log(folder, log)
    ...     write_summary(folder, {"failed": []})
    >>> theta, last = read_policies("a-run", Linear(2))
    >>> theta.tolist(), last["repeat"].tolist()
    ([[2.0, 0.5], [3.0, 0.0]], [0, 1])
    """
    import jax  # late: an answer about a table needs no more than NumPy

    log, failed = read_log(folder), read_summary(folder)["failed"]
    flat = [column for name, column in log.items() if name.startswith("theta_")]
    if not flat:
        raise BadArgument("folder", "a run that learned policies", f"'{folder}'")
    leaves, structure = jax.tree.flatten(policy.example())
    sizes = [np.size(leaf) for leaf in leaves]
    if len(flat) != sum(sizes):
        raise BadArgument(
            "policy", f"one of {len(flat)} weights, as in '{folder}'", f"{sum(sizes)}"
        )
    # A search has its rows one after the other, and the next one begins again.
    kept = np.append(log["generation"][1:] <= log["generation"][:-1], True)
    for one in failed:
        kept &= ~np.all([log[name] == value for name, value in one.items() if name in log], 0)
    rows = np.stack(flat, -1)[kept]
    parts = np.split(rows, np.cumsum(sizes)[:-1], -1)
    theta = [
        part.reshape(len(rows), *np.shape(leaf)).astype(np.asarray(leaf).dtype)
        for part, leaf in zip(parts, leaves, strict=True)
    ]
    return jax.tree.unflatten(structure, theta), {name: x[kept] for name, x in log.items()}


def read_summary(folder: StrPath) -> dict[str, Any]:
    """What ``write_summary`` was given."""
    return {k: v for k, v in read_json(Path(folder) / SUMMARY).items() if k != _CHECKSUMS}


def mean_and_stderr(values: ArrayLike) -> dict[str, float | int | None]:
    """Mean, standard error of the mean (None of a single number) and count of numbers [n].

    >>> mean_and_stderr([1.0, 2.0, 3.0, 4.0, 5.0])
    {'mean': 3.0, 'stderr': 0.7071067811865476, 'count': 5}
    """
    numbers = np.asarray(values, np.float64)
    if numbers.ndim != 1 or numbers.size == 0:
        raise BadArgument("values", "a list of numbers", f"shape {list(numbers.shape)}")
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
    """The model of the processor, if the system tells it."""
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
