"""A folder that all nodes of a cluster see, of files that are whole or absent."""

import contextlib
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jaxrace import files, runs


class SharedFolder:
    """A folder of whole files: a path, or an address of fsspec such as ``s3://bucket/grid``."""

    def __init__(self, folder: str | Path) -> None:
        self._path = str(folder)
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
        """The content of a file."""
        if self.is_path:
            return (Path(self._path) / name).read_bytes()
        files_of, root = self._remote()
        return files_of.cat_file(f"{root}/{name}")

    def write(self, name: str, content: bytes) -> None:
        """Write a file as a whole."""
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

    def _remote(self) -> Any:
        import fsspec

        return fsspec.core.url_to_fs(self._path)
