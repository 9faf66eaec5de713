"""A folder that all nodes of a cluster see, of files that are whole or absent.

A file of a sweep ends with a seal: a digest of the sweep, of the file's name and of all before it.
So what has changed, what was put in its place, and what another sweep has left are told from it.
"""

import contextlib
import hashlib
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jaxrace import runs
from jaxrace.runs import files

_SEAL = hashlib.sha256().digest_size


class SharedFolder:
    """A folder of whole files: a path, or an address of fsspec such as ``s3://bucket/grid``.

    With a ``sweep``, a name of that one alone, its files are sealed.
    """

    def __init__(self, folder: str | Path, sweep: bytes = b"") -> None:
        self._path, self._sweep = str(folder), sweep
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
        """The content of a file; ValueError if its seal does not fit."""
        if self.is_path:
            content = (Path(self._path) / name).read_bytes()
        else:
            files_of, root = self._remote()
            content = files_of.cat_file(f"{root}/{name}")
        if not self._sweep:
            return content
        content, seal = content[:-_SEAL], content[-_SEAL:]
        if seal != self._seal(name, content):
            raise ValueError("its seal does not fit; without it, its jobs are done again")
        return content

    def write(self, name: str, content: bytes) -> None:
        """Write a file as a whole."""
        if self._sweep:
            content += self._seal(name, content)
        if self.is_path:
            files.write_file(Path(self._path) / name, content)
            return
        files_of, root = self._remote()
        files_of.makedirs(root, exist_ok=True)
        unfinished = f"{root}/unfinished-{uuid.uuid4().hex}"  # two tasks may write the same file
        files_of.pipe_file(unfinished, content)
        files_of.mv(unfinished, f"{root}/{name}")

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

    def _seal(self, name: str, content: bytes) -> bytes:
        found = hashlib.sha256(self._sweep + name.encode() + b"\0")
        found.update(content)
        return found.digest()

    def _remote(self) -> Any:
        import fsspec

        return fsspec.core.url_to_fs(self._path)
