"""What a sweep keeps on disk, so that it goes on as if it had never stopped.

A folder holds ``rows-N.npz``, the rows so far; ``lanes-N.npz``, the lanes in flight; and
``checkpoint.json`` with digests of both, replaced as a whole once they are on the disk. What came
later is computed again, bit for bit.
"""

import contextlib
import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np

from jaxrace import runs
from jaxrace.core.keys import without_keys
from jaxrace.core.validation import BadArgument, require_number
from jaxrace.runs import files
from jaxrace.sweep.lanes import traced
from jaxrace.sweep.work import Jobs, Work

NAME = "checkpoint.json"  # of a sweep in one process
SHARDS = "shards.json"  # of one on a cluster
_LANES = "lanes-{:06}.npz"
_JOBS_AT_ONCE = 4096  # are made, to be compared


@dataclasses.dataclass(frozen=True)
class Checkpoints:
    """Where and when a sweep is saved."""

    folder: str | Path  # made if it is not there
    # What the sweep is asked to do, as JSON has it; one of another config is not resumed.
    config: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    every: float = 30.0  # seconds between checkpoints
    resume: bool = False  # go on from the last checkpoint, if there is one
    on_saved: Callable[[], None] = lambda: None  # called after each checkpoint

    def __post_init__(self) -> None:
        require_number("every", self.every, least=0)
        try:
            json.dumps(dict(self.config))
        except (TypeError, ValueError) as error:
            raise BadArgument("config", "what JSON can hold", str(error)) from error


def is_saved(folder: str | Path) -> bool:
    """Is there a whole checkpoint in the folder of a sweep, or some shards?"""
    return any((Path(folder) / name).is_file() for name in (NAME, SHARDS))


@contextlib.contextmanager
def opened(checkpoints: Checkpoints) -> Iterator[Checkpoints]:
    """The same with the absolute path of the folder, which is locked meanwhile."""
    folder = Path(checkpoints.folder).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    with runs.locked(folder):
        if is_saved(folder) and not checkpoints.resume:
            expected = "a folder without a checkpoint, or resume=True"
            raise BadArgument("folder", expected, f"'{folder}'")
        yield dataclasses.replace(checkpoints, folder=folder)


def load(folder: Path, identify: Callable[[], Any]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and the header saved last, if any; ValueError if damaged or of another sweep."""
    if not is_saved(folder):
        return {}, {}
    if (folder / SHARDS).is_file():
        got = f"a sweep of a cluster in '{folder}'"
        raise BadArgument("folder", "a sweep that began here", got)
    with _told(ValueError, f"{folder / NAME} is damaged"):
        header = files.read_json(folder / NAME)
    if "digest of the lanes" not in header:
        got, hint = f"that of an older version in '{folder}'", ": begin it anew, in another --out"
        raise BadArgument("folder", "a sweep of this version of jaxrace", got, hint)
    lanes = folder / _LANES.format(header["number"])
    with _told(ValueError, f"{lanes} is damaged"):
        if header["digest of the lanes"] != files.checksum_of(lanes):
            raise ValueError("its checksum does not fit")
        with np.load(lanes, allow_pickle=False) as archive:
            arrays = dict(archive)
    require_same(header["identity"], identify())
    return arrays, header


def save(
    folder: Path, arrays: Mapping[str, np.ndarray], number: int, header: Mapping[str, Any]
) -> None:
    """Write arrays and a header; until that is done the checkpoint before counts."""
    lanes = folder / _LANES.format(number)
    with _told(OSError, f"cannot write to {folder}"):
        digest = files.write_arrays(lanes, **arrays)
        header = {**header, "number": number, "digest of the lanes": digest}
        files.write_json(folder / NAME, header)
    for other in set(folder.glob("lanes-*")) - {lanes}:
        other.unlink(missing_ok=True)


def identity_of(work: Work, jobs: Jobs, width: int, config: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers of a sweep, as JSON has them; makes every job, a few at a time."""
    starts = range(0, jobs.count, _JOBS_AT_ONCE)
    parts = (np.arange(start, min(start + _JOBS_AT_ONCE, jobs.count)) for start in starts)
    return {
        "lanes of a device": width,
        "jobs": jobs.count,
        "costs of the jobs": None if jobs.costs is None else _digest(np.asarray(jobs.costs)),
        "what the jobs share": _digest(work),
        "what the jobs are given": _digest(*map(jobs.inputs, parts)),
        "config": json.loads(json.dumps(dict(config))),
    }


def surroundings(work: Work, jobs: Jobs) -> dict[str, Any]:
    """What else the bits of a sweep depend on here, as JSON has it."""
    versions = runs.versions()
    program = traced(work, jobs).lower().as_text()
    return {
        "jaxrace major version": versions["jaxrace"].split(".")[0],
        **{name: versions[name] for name in ("jax", "jaxlib")},
        "x64": bool(jax.config.read("jax_enable_x64")),
        "device": jax.local_devices()[0].device_kind,
        "processor": runs.processor(),
        "program of a job": hashlib.sha256(program.encode()).hexdigest(),
    }


def require_same(found: Any, expected: Any, name: str = "") -> None:
    """Raise for the first difference between two pieces of JSON."""
    if isinstance(found, dict) and isinstance(expected, dict):
        for part in expected | found:
            require_same(found.get(part), expected.get(part), part)
    elif found != expected:
        raise BadArgument("checkpoint", f"one with {name} = {expected!r}", repr(found))


def _digest(*trees: Any) -> str:
    found = hashlib.sha256()
    for tree in trees:
        for path, leaf in jax.tree.leaves_with_path(jax.device_get(without_keys(tree))):
            array = np.ascontiguousarray(leaf)
            found.update(f"{jax.tree_util.keystr(path)} {array.dtype} {array.shape}".encode())
            found.update(array.tobytes())
    return found.hexdigest()


@contextlib.contextmanager
def _told(kind: type[Exception], what: str) -> Iterator[None]:
    """Raise errors of a file as ``kind``, in a line."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise kind(f"checkpoint: {what}: {error}") from error
