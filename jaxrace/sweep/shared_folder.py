"""A folder that all nodes of a cluster see, and the checkpoints of shards in it.

Its files are whole or absent. Each ends with a seal: a digest of the sweep, of the file's name and
of its content. So a file that was changed, replaced or left by another sweep is told.
"""

import contextlib
import hashlib
import io
import re
import tarfile
import uuid
from collections.abc import Collection
from pathlib import Path
from typing import Any

from jaxrace import runs
from jaxrace.core.validation import BadArgument
from jaxrace.runs import files

DAMAGED = (ValueError, FileNotFoundError, tarfile.TarError)  # what reading a damaged file raises
_SEAL = hashlib.sha256().digest_size
_ROWS, _NAMES = "rows-*.npz", "names.json"
_PLAIN = re.compile(r"\w[\w.-]*", re.ASCII)  # the name of a file here, and nowhere else


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
            what = "the seal is wrong: the file was changed, or belongs to another sweep"
            raise ValueError(f"{what}; delete it to run its jobs again")
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

    def locked(self) -> contextlib.AbstractContextManager[None]:
        """Keep other sweeps out of a path, which raises ValueError if one is there."""
        return runs.locked(self._path) if self.is_path else contextlib.nullcontext()

    def _seal(self, name: str, content: bytes) -> bytes:
        found = hashlib.sha256(self._sweep + name.encode() + b"\0")
        found.update(content)
        return found.digest()

    def _remote(self) -> Any:
        import fsspec

        return fsspec.core.url_to_fs(self._path)


class ShardCheckpoint:
    """The last checkpoint of a shard called ``name``, and its way to a folder of one process.

    ``NAME.tar`` holds the lanes in flight and the names of files of rows, each written once. Their
    names are random: a node that was thought dead, and plays the same shard, writes others.
    """

    def __init__(self, folder: SharedFolder, name: str) -> None:
        self._folder, self._name, self._tar = folder, name, f"{name}.tar"
        self._names: dict[str, str] = {}  # of files of rows: here, and in the shared folder

    def is_in(self, names: Collection[str]) -> bool:
        """Is it among the files of the shared folder?"""
        return self._tar in names

    def forget(self) -> None:
        """Drop the names of rows so far: the shard begins anew."""
        self._names = {}

    def fetch(self, here: Path) -> None:
        """Put it into a folder of this process; raises one of ``DAMAGED`` if it is not whole."""
        with tarfile.open(fileobj=io.BytesIO(self._folder.read(self._tar))) as archive:
            # By hand: Python 3.11 has ``extractall(filter=)`` only from 3.11.4 on.
            for member in archive:
                if not member.isfile() or not _PLAIN.fullmatch(member.name):
                    expected = f"plain files without folders in {self._tar}"
                    raise BadArgument("checkpoint", expected, repr(member.name))
                content = archive.extractfile(member)
                assert content is not None  # as it is a file
                (here / member.name).write_bytes(content.read())
        self._names = files.read_json(here / _NAMES)
        for own, name in self._names.items():
            (here / own).write_bytes(self._folder.read(name))

    def send(self, here: Path) -> None:
        """Write what is new in a folder of this process, and then what names it."""
        rows = set(here.glob(_ROWS))
        for path in sorted(rows):
            if path.name not in self._names:
                name = f"{self._name}-{uuid.uuid4().hex}.npz"
                self._folder.write(name, path.read_bytes())
                self._names[path.name] = name
        files.write_json(here / _NAMES, self._names)
        content = io.BytesIO()
        with tarfile.open(fileobj=content, mode="w") as archive:
            for path in sorted(set(here.iterdir()) - rows):
                if not path.name.startswith("."):
                    archive.add(path, path.name)
        self._folder.write(self._tar, content.getvalue())

    def remove(self) -> None:
        """Remove it, with files of rows that nothing names any more."""
        for name in self._folder.names():
            if name == self._tar or name.startswith(f"{self._name}-"):
                self._folder.remove(name)
