"""Files that are whole or absent: written under a temporary name and renamed."""

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

from jaxrace.core.inputs import require_plain_file
from jaxrace.core.validation import BadArgument

StrPath = str | os.PathLike[str]
_UNFINISHED = re.compile(r"\..+\.jaxrace-\w+\.tmp")  # a file that is being written
_CHECKSUM = "checksum"


def write_file(path: StrPath, content: bytes) -> None:
    """Write a file as a whole or not at all; one of that name is replaced."""
    with new_file(path) as file:
        file.write(content)


@contextlib.contextmanager
def new_file(path: StrPath) -> Iterator[BinaryIO]:
    """A file to be written piece by piece; it appears when the block ends without error."""
    path = Path(path)
    temporary = path.with_name(f".{path.name}.jaxrace-{uuid.uuid4().hex}.tmp")
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        if hasattr(os, "O_DIRECTORY"):  # its name outlives a loss of power
            handle = os.open(path.parent, os.O_DIRECTORY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_arrays(path: StrPath, *arrays: Any, **named: Any) -> str:
    """Write a file of NumPy as a whole, and return its checksum."""
    with new_file(path) as file:
        np.savez(file, *arrays, **named)
    return checksum_of(path)


def unfinished_in(folder: StrPath) -> list[Path]:
    """The half-written files of killed processes in a folder."""
    found = Path(folder).glob(".*.tmp")
    return [path for path in found if _UNFINISHED.fullmatch(path.name) and path.is_file()]


def write_json(path: StrPath, content: Mapping[str, Any]) -> None:
    """Write JSON with a checksum, by which ``read_json`` sees if it was changed, cut or renamed.

    ``content`` is finite numbers, text, lists and mappings of them.
    """
    write_file(path, to_json(content, path))


def read_json(path: StrPath) -> dict[str, Any]:
    """What ``write_json`` was given; ValueError if the file is damaged, or another one."""
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
        # Checksums of older versions have no names.
        if isinstance(content, dict) and content.pop(_CHECKSUM, None) in (
            _checksum(content, path),
            _checksum(content, ""),
        ):
            return content
    got = "something else, or a part of it"
    raise BadArgument(str(path), "what was written there", got)


def _checksum(content: Mapping[str, Any], path: StrPath) -> str:
    text = Path(path).name + json.dumps(content, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def checksum_of(path: StrPath) -> str:
    """SHA-256 of a file."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
