"""The checkpoint of a shard, in the folder that all nodes see.

``shard-N.tar`` holds the lanes in flight and the names of files ``shard-N-NAME.npz``, the rows so
far. A file of rows is written once. Its name is its own, so that a node that was thought dead, and
plays the same shard, writes others.
"""

import io
import tarfile
import uuid
from collections.abc import Collection
from pathlib import Path

from jaxrace.runs import files
from jaxrace.sweep.shared_folder import SharedFolder

# What reading a damaged checkpoint raises.
DAMAGED = (ValueError, FileNotFoundError)

_ROWS, _NAMES = "rows-*.npz", "names.json"


class ShardCheckpoint:
    """The last checkpoint of a shard called ``name``, and its way to a folder of one process."""

    def __init__(self, folder: SharedFolder, name: str) -> None:
        self._folder, self._name, self._tar = folder, name, f"{name}.tar"
        self._names: dict[str, str] = {}  # of files of rows: here, and in the shared folder

    def is_in(self, names: Collection[str]) -> bool:
        """Is it among the files of the shared folder?"""
        return self._tar in names

    def forget(self) -> None:
        """Name none of the rows so far: the shard begins anew."""
        self._names = {}

    def fetch(self, here: Path) -> None:
        """Put it into a folder of this process; one of ``DAMAGED`` if it is not whole."""
        with tarfile.open(fileobj=io.BytesIO(self._folder.read(self._tar))) as archive:
            archive.extractall(here, filter="data")
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
