"""The rows of a sweep, which come in bursts, in the order of jobs and steps. Axes: n rows."""

import functools
import io
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from numpy.typing import NDArray

from jaxrace import files

# Rows that are sorted at once.
_MOST_ROWS = 1_000_000


class Rows(NamedTuple):
    """Rows of jobs: NumPy arrays."""

    job: NDArray[np.int64]  # [n]
    step: NDArray[np.int64]  # [n], from 1
    row: Any  # what ``step`` returned, leaves [n, ...]

    @property
    def is_last(self) -> NDArray[np.bool_]:
        """Of rows in order: is this the last one of its job? [n]."""
        return np.append(self.job[1:] != self.job[:-1], np.ones(min(len(self.job), 1), bool))

    def packed(self, **more: Any) -> bytes:
        """The content of a file of these rows, and of more arrays, as NumPy writes them."""
        content = io.BytesIO()
        np.savez(content, *jax.tree.leaves(self), **more)
        return content.getvalue()


class RowStore:
    """Rows in memory, and in files; all of them, part by part, by iteration.

    Args:
        shapes: A row of ``jax.ShapeDtypeStruct``s, or a function that finds it, which may take a
            second and is called where no rows show their shapes.
        folder: Where the files are; None if there are none.
        num_files: How many ``flush`` has written there already.
        read: ``read(name)``, the content of a file; reads it in the folder unless given.

    >>> store = RowStore(jax.ShapeDtypeStruct((), np.int32))
    >>> for job in (1, 0):
    ...     store.add(Rows(np.array([job]), np.array([1]), np.array([8 * job], np.int32)))
    >>> [rows.row.tolist() for rows in store.in_order(most_rows=1)]
    [[0], [8]]
    """

    def __init__(
        self,
        shapes: Any,
        folder: Path | None = None,
        num_files: int = 0,
        read: Callable[[str], bytes] | None = None,
    ) -> None:
        self.folder = folder
        self._find_shapes = shapes if callable(shapes) else lambda: shapes
        self._read = read or (lambda name: Path(folder or "", name).read_bytes())
        self._names = [f"rows-{number:06}.npz" for number in range(num_files)]
        self._in_memory: list[Rows] = []

    @functools.cached_property
    def shapes(self) -> Any:
        """A row of ``jax.ShapeDtypeStruct``s."""
        return self._find_shapes()

    @functools.cached_property
    def _none(self) -> Rows:
        none = np.zeros(0, np.int64)
        leaves = jax.tree.map(lambda x: np.zeros((0, *x.shape), x.dtype), self.shapes)
        return Rows(none, none, leaves)

    def __iter__(self) -> Iterator[Rows]:
        for name in self._names:
            yield self.as_rows(self.arrays_in(name))
        yield from self._in_memory

    def add(self, rows: Rows) -> None:
        """Keep some rows."""
        self._in_memory.append(rows)

    def add_file(self, name: str) -> None:
        """Keep rows that are read when they are wanted."""
        self._names.append(name)

    def flush(self) -> int:
        """Write what is in memory to a file of its own; returns how many files there are."""
        if self._in_memory and self.folder is not None:
            name = f"rows-{len(self._names):06}.npz"
            files.write_file(self.folder / name, _together(self._in_memory).packed())
            self.add_file(name)
            self._in_memory = []
        return len(self._names)

    def in_order(self, most_rows: int = _MOST_ROWS) -> Iterator[Rows]:
        """All rows, sorted by job and step, in pieces of whole jobs, of about so many rows.

        ValueError if a file is damaged.
        """
        counts = np.zeros(0, np.int64)
        for part in self:
            found = np.bincount(part.job, minlength=len(counts))
            found[: len(counts)] += counts
            counts = found
        piece_of_job = np.maximum(np.cumsum(counts) - 1, 0) // most_rows
        for piece in np.unique(piece_of_job):
            first, last = np.searchsorted(piece_of_job, [piece, piece + 1])
            rows = _together(
                [_taken(part, (part.job >= first) & (part.job < last)) for part in self]
            )
            yield _taken(rows, np.lexsort((rows.step, rows.job)))

    def all_in_order(self) -> Rows:
        """All rows at once."""
        return _together(list(self.in_order()) or [self._none])

    def as_rows(self, arrays: Mapping[str, np.ndarray]) -> Rows:
        """Rows from the arrays of a file."""
        none, structure = jax.tree.flatten(self._none)
        # Files of NumPy do not name types that are not its own, such as bfloat16.
        leaves = [arrays[f"arr_{number}"].view(like.dtype) for number, like in enumerate(none)]
        return jax.tree.unflatten(structure, leaves)

    def arrays_in(self, name: str) -> dict[str, np.ndarray]:
        """All arrays of a file, by their names; ValueError if it is damaged."""
        try:
            # Every member of the archive has a checksum, which is compared as it is read.
            with np.load(io.BytesIO(self._read(name)), allow_pickle=False) as archive:
                return dict(archive)
        except Exception as error:  # OSError; zipfile, zlib and NumPy have many
            name = str(Path(self.folder or "", name))
            raise ValueError(f"checkpoint: {name} is damaged ({error})") from error


def _taken(rows: Rows, places: NDArray[Any]) -> Rows:
    return jax.tree.map(lambda x: x[places], rows)


def _together(parts: list[Rows]) -> Rows:
    return jax.tree.map(lambda *x: np.concatenate(x), *parts)
