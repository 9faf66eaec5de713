"""What a sweep keeps on disk, so that it goes on as if it had never stopped.

A folder holds ``rows-N.npz``, the rows of finished steps; ``lanes-N.npz``, the lanes in flight; and
``checkpoint.json``, with digests of both, which is replaced as a whole when they are on the disk.
What came after it is computed again, bit for bit.
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
from jaxrace.core.validation import require_number
from jaxrace.runs import files
from jaxrace.sweep.lanes import traced
from jaxrace.sweep.work import Jobs, Work

NAME = "checkpoint.json"  # of a sweep in one process
SHARDS = "shards.json"  # of one on a cluster
_LANES = "lanes-{:06}.npz"
_JOBS_AT_ONCE = 4096  # are made, to be compared


@dataclasses.dataclass(frozen=True)
class Checkpoints:
    """Where and when a sweep is saved.

    Attributes:
        folder: Made if it is not there.
        config: What it was asked to do, as JSON has it; one of another config is not resumed.
        every: Seconds between checkpoints.
        resume: Go on from the last checkpoint; without one, begin.
        on_saved: Called after each checkpoint.

    Raises:
        ValueError: ``every`` is negative, or ``config`` is no JSON.

    >>> Checkpoints("runs/grid/checkpoint", {"seed": 0}).every
    30.0
    """

    folder: str | Path
    config: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    every: float = 30.0
    resume: bool = False
    on_saved: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        require_number("every", self.every, least=0)
        try:
            json.dumps(dict(self.config))
        except (TypeError, ValueError) as error:
            raise ValueError(f"config: expected what JSON can hold, got {error}") from error


def is_saved(folder: str | Path) -> bool:
    """Is there a whole checkpoint in the folder of a sweep, or some shards?"""
    return any((Path(folder) / name).is_file() for name in (NAME, SHARDS))


@contextlib.contextmanager
def opened(checkpoints: Checkpoints) -> Iterator[Checkpoints]:
    """The same with the whole path of the folder, which a sweep has for itself meanwhile.

    ValueError if another process works there, or there is a checkpoint and no ``resume``.
    """
    folder = Path(checkpoints.folder).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    with runs.locked(folder):
        if is_saved(folder) and not checkpoints.resume:
            raise ValueError(f"folder: expected no checkpoint in '{folder}', or resume=True")
        yield dataclasses.replace(checkpoints, folder=folder)


def load(folder: Path, identify: Callable[[], Any]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """What was saved last, if anything; ValueError if it is damaged, or of another sweep."""
    if not is_saved(folder):
        return {}, {}
    if (folder / SHARDS).is_file():
        raise ValueError(
            f"folder: expected a sweep that began here, got one on a cluster in '{folder}'"
        )
    with _told(ValueError, f"{folder / NAME} is damaged"):
        header = files.read_json(folder / NAME)
    if "digest of the lanes" not in header:
        raise ValueError(
            "folder: expected a sweep of this version of jaxrace, got one of an older version in "
            f"'{folder}': begin it anew in another folder, by --out"
        )
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
    """Write arrays under a new number, and header as JSON has them; OSError if that fails.

    Until it is done the checkpoint before counts.
    """
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
    """What the bits of a sweep depend on here, beside its numbers, as JSON has it."""
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
    """Name the first difference between two pieces of JSON."""
    if isinstance(found, dict) and isinstance(expected, dict):
        for part in expected | found:
            require_same(found.get(part), expected.get(part), part)
    elif found != expected:
        raise ValueError(f"checkpoint: expected one with {name} = {expected!r}, got {found!r}")


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
    """An error of a file that is damaged, missing or not written as one of a kind, in a line."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise kind(f"checkpoint: {what}: {error}") from error
