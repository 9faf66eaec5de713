"""Files that are there as a whole or not at all: written under a temporary name and renamed."""

import contextlib
import hashlib
import json
import os
import re
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from jaxrace.core.validation import require_plain_file

StrPath = str | os.PathLike[str]

# Of a file that is being written; no user's file is called so.
_UNFINISHED = re.compile(r"\..+\.jaxrace-\w+\.tmp")

_CHECKSUM = "checksum"


def write_file(path: StrPath, content: bytes) -> None:
    """Write a file as a whole or not at all; one of that name is replaced."""
    with new_file(path) as file:
        file.write(content)


@contextlib.contextmanager
def new_file(path: StrPath) -> Iterator[BinaryIO]:
    """A file to be written piece by piece; it is there when the block has ended without error.

    >>> with new_file("note.txt") as file:
    ...     _ = file.write(b"done")
    >>> Path("note.txt").read_text()
    'done'
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.jaxrace-{uuid.uuid4().hex}.tmp")
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        sync_folder(path.parent)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_arrays(path: StrPath, *arrays: Any, **named: Any) -> str:
    """Write a file of NumPy as a whole, and return its checksum."""
    with new_file(path) as file:
        np.savez(file, *arrays, **named)
    return checksum_of(path)


def unfinished_in(folder: StrPath) -> list[Path]:
    """What a process that was killed while it wrote has left half-written in a folder."""
    found = Path(folder).glob(".*.tmp")
    return [path for path in found if _UNFINISHED.fullmatch(path.name) and path.is_file()]


def write_json(path: StrPath, content: Mapping[str, Any]) -> None:
    """Write JSON with a checksum, so that ``read_json`` sees what has been changed, cut or renamed.

    ``content`` is numbers, text, lists and mappings of them; ValueError for NaN and infinity.

    >>> write_json("note.json", {"seed": 3})
    >>> read_json("note.json")
    {'seed': 3}
    """
    write_file(path, to_json(content, path))


def read_json(path: StrPath) -> dict[str, Any]:
    """What ``write_json`` has written; ValueError if it is something else, or damaged."""
    require_plain_file("file", path)
    return from_json(Path(path).read_bytes(), path)


def to_json(content: Mapping[str, Any], path: StrPath) -> bytes:
    """What ``write_json`` writes to a path."""
    # As it will be read: numbers as keys become text.
    content = json.loads(json.dumps(content, allow_nan=False))
    text = json.dumps({**content, _CHECKSUM: _checksum(content, path)}, indent=2)
    return f"{text}\n".encode()


def from_json(text: bytes, path: StrPath) -> dict[str, Any]:
    """What ``to_json`` was given; ValueError if it is damaged, or of a file of another name."""
    with contextlib.suppress(ValueError, RecursionError):  # no UTF-8, no JSON, too deep
        content = json.loads(text.decode())
        # Folders that were left before there were names in checksums are read, too.
        if isinstance(content, dict) and content.pop(_CHECKSUM, None) in (
            _checksum(content, path),
            _checksum(content, ""),
        ):
            return content
    raise ValueError(
        f"{path}: expected what was written there, got something else, or a part of it"
    )


def _checksum(content: Mapping[str, Any], path: StrPath) -> str:
    text = Path(path).name + json.dumps(content, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def checksum_of(path: StrPath) -> str:
    """SHA-256 of a file."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sync_folder(folder: StrPath) -> None:
    """Let the names in a folder outlive a loss of power, where the system can."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
