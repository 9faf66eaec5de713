"""Files that are there as a whole or not at all: written under a temporary name and renamed."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


def write_file(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file as a whole or not at all; one of that name is replaced.

    >>> write_file("note.txt", b"done")
    >>> Path("note.txt").read_text()
    'done'
    """
    with new_file(path) as file:
        file.write(content)


@contextlib.contextmanager
def new_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to be written piece by piece; it is there when the block has ended without error.

    >>> with new_file("note.txt") as file:
    ...     _ = file.write(b"do")
    ...     _ = file.write(b"ne")
    >>> Path("note.txt").read_text()
    'done'
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
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


def sync_tree(folder: str | os.PathLike[str]) -> None:
    """Let all files below a folder, and their names, outlive a loss of power.

    >>> Path("notes").mkdir()
    >>> write_file("notes/note.txt", b"done")
    >>> sync_tree("notes")
    """
    for path, _, names in os.walk(folder, topdown=False):
        for name in names:
            with Path(path, name).open("rb+") as file:
                os.fsync(file.fileno())
        sync_folder(path)


def sync_folder(folder: str | os.PathLike[str]) -> None:
    """Let the names in a folder outlive a loss of power, where the system can.

    >>> sync_folder(".")
    """
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
