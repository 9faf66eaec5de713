"""What the bits of a sweep depend on, as far as it can be told: compared when it is resumed.

Axes: J jobs.
"""

import dataclasses
import enum
import functools
import hashlib
import itertools
import json
import platform
import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np

from jaxrace import runs
from jaxrace.sweep import lanes
from jaxrace.sweep.bare import bare
from jaxrace.sweep.work import Jobs, Work

# Jobs that are made at once to be compared.
_JOBS_AT_ONCE = 4096

# Checksums of all jobs: of so many equal parts, so that it can be told where they differ.
_PARTS = 16

# Values are looked into so deep; what is below may be anything.
_DEPTH = 12

# What their text tells all of.
_PLAIN = (
    *(types.NoneType, bool, int, float, complex, str, bytes),
    *(enum.Enum, np.generic, np.dtype, frozenset),
)


def facts_of(work: Work, jobs: Jobs, width: int, device: Any) -> dict[str, Any]:
    """All but the configuration, as JSON has it.

    Makes every job once, but never more than a few thousand of them at a time.
    """
    versions = runs.versions()
    state, row = lanes.shapes_of(work, jobs)
    return {
        "jaxrace major version": versions["jaxrace"].split(".")[0],
        "jax": versions["jax"],
        "jaxlib": versions["jaxlib"],
        "x64": bool(jax.config.read("jax_enable_x64")),
        "device": device.device_kind,
        "processor": _processor(),
        "lanes of a block": width,
        "jobs": jobs.count,
        "costs of the jobs": None if jobs.costs is None else digest({"": np.asarray(jobs.costs)}),
        "states": _described(state),
        "rows": _described(row),
        "what is done": dict(_values("work", work)),
        "what the jobs share": digest(_named(work)),
        "what the jobs are given": _digests_of_jobs(jobs),
    }


def digest(arrays: Mapping[str, np.ndarray], facts: Mapping[str, Any] | None = None) -> str:
    """A checksum of arrays by name, and of what JSON can hold.

    >>> digest({"x": np.zeros(2)})[:8], digest({"x": np.zeros(3)})[:8]
    ('...', '...')
    """
    found = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
    _update(found, arrays)
    return found.hexdigest()


def _update(found: Any, arrays: Mapping[str, np.ndarray]) -> None:
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        found.update(f"{name} {array.dtype} {array.shape}".encode())
        found.update(array.tobytes())


def _digests_of_jobs(jobs: Jobs) -> dict[str, str]:
    """By the jobs that each is of."""
    ends = np.linspace(0, jobs.count, min(_PARTS, max(jobs.count, 1)) + 1).astype(int)
    return {
        f"jobs {first} to {end - 1}": _digest_of_jobs(jobs, first, end)
        for first, end in itertools.pairwise(ends.tolist())
    }


def _digest_of_jobs(jobs: Jobs, first: int, end: int) -> str:
    found = hashlib.sha256()
    for start in range(first, max(end, first + 1), _JOBS_AT_ONCE):
        _update(found, _named(jobs.rows(np.arange(start, min(start + _JOBS_AT_ONCE, end)))))
    return found.hexdigest()


def _named(tree: Any) -> dict[str, np.ndarray]:
    leaves = jax.tree.leaves(jax.device_get(bare(tree)))
    return {str(number): np.asarray(leaf) for number, leaf in enumerate(leaves)}


def _described(shapes: Any) -> list[str]:
    """Path, shape and kind of each leaf: the text of a class may hold its address."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(shapes)
    return [f"{jax.tree_util.keystr(path)} {x.dtype} {list(x.shape)}" for path, x in leaves]


def _values(name: str, value: Any, depth: int = _DEPTH) -> Iterator[tuple[str, str]]:
    """A value and everything below it, by where it is found.

    Of functions the name counts, and what they close over, not what they do: with another minor
    version of a library a sweep may go on.
    """
    yield name, _text(value)
    if depth:
        for part, below in _parts(value):
            yield from _values(f"{name}.{part}", below, depth - 1)


def _text(value: Any) -> str:
    """The value where that says everything, else of what kind it is."""
    if isinstance(value, frozenset):
        return repr(sorted(map(repr, value)))
    if isinstance(value, _PLAIN):
        return repr(value)
    if isinstance(value, jax.Array | np.ndarray):
        return digest(_named(value))
    kind = value if hasattr(value, "__qualname__") else type(value)
    return f"{kind.__module__}.{kind.__qualname__}"


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    """What a value is made of."""
    if isinstance(value, (*_PLAIN, jax.Array, np.ndarray, type, types.ModuleType)):
        return
    if dataclasses.is_dataclass(value):
        yield from ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
    elif isinstance(value, functools.partial):
        yield from (("func", value.func), ("args", value.args), ("keywords", value.keywords))
    elif isinstance(value, Mapping):
        yield from ((str(key), below) for key, below in value.items())
    elif isinstance(value, tuple | list):
        yield from ((str(number), below) for number, below in enumerate(value))
    elif isinstance(value, types.MethodType):
        yield "self", value.__self__
    elif isinstance(value, types.FunctionType):
        cells = map(_content, value.__closure__ or ())
        yield from zip(value.__code__.co_freevars, cells, strict=True)
        yield "defaults", value.__defaults__
    else:
        yield from sorted(getattr(value, "__dict__", {}).items())


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # of a name that is not bound yet
        return None


def _processor() -> str:
    """The model, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
