"""The rows of a sweep, which come in bursts, in the order of jobs and steps. Axes: n rows."""

import functools
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from numpy.typing import NDArray

from jaxrace import files

# Rows that are sorted at once.
_MOST_ROWS = 1_000_000

_FILE = "rows-{:06}.npz"  # of a checkpoint


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
        read: ``read(name)``, the content of a file.
        num_files: How many ``flush`` has written before.

    >>> store = RowStore(jax.ShapeDtypeStruct((), np.int32))
    >>> for job in (1, 0):
    ...     store.add(Rows(np.array([job]), np.array([1]), np.array([8 * job], np.int32)))
    >>> [rows.row.tolist() for rows in store.in_order(most_rows=1)]
    [[0], [8]]
    """

    def __init__(
        self,
        shapes: Any,
        read: Callable[[str], bytes] = lambda name: Path(name).read_bytes(),
        num_files: int = 0,
    ) -> None:
        self._shapes, self._read = shapes, read
        self._names = [_FILE.format(number) for number in range(num_files)]
        self._in_memory: list[Rows] = []

    @functools.cached_property
    def shapes(self) -> Any:
        """A row of ``jax.ShapeDtypeStruct``s."""
        return self._shapes() if callable(self._shapes) else self._shapes

    @functools.cached_property
    def _none(self) -> Rows:
        none = np.zeros(0, np.int64)
        return Rows(
            none, none, jax.tree.map(lambda x: np.zeros((0, *x.shape), x.dtype), self.shapes)
        )

    def __iter__(self) -> Iterator[Rows]:
        for name in self._names:
            yield self.load(name)[0]
        yield from self._in_memory

    def add(self, rows: Rows) -> None:
        """Keep some rows."""
        self._in_memory.append(rows)

    def add_file(self, name: str) -> None:
        """Keep rows that are read when they are wanted."""
        self._names.append(name)

    def flush(self, folder: Path) -> int:
        """Write what is in memory to a file of its own; returns how many files there are."""
        if self._in_memory:
            name = _FILE.format(len(self._names))
            files.write_file(folder / name, _together(self._in_memory).packed())
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

    def load(self, name: str) -> tuple[Rows, dict[str, np.ndarray]]:
        """The rows of a file, and all its arrays by name; ValueError if it is damaged."""
        try:
            # Every member of the archive has a checksum, which is compared as it is read.
            with np.load(io.BytesIO(self._read(name)), allow_pickle=False) as archive:
                arrays = dict(archive)
        except Exception as error:  # OSError; zipfile, zlib and NumPy have many
            raise ValueError(f"checkpoint: {name} is damaged ({error})") from error
        none, structure = jax.tree.flatten(self._none)
        # Files of NumPy do not name types that are not its own, such as bfloat16.
        leaves = [arrays[f"arr_{number}"].view(like.dtype) for number, like in enumerate(none)]
        return jax.tree.unflatten(structure, leaves), arrays


def _taken(rows: Rows, places: NDArray[Any]) -> Rows:
    return jax.tree.map(lambda x: x[places], rows)


def _together(parts: list[Rows]) -> Rows:
    return jax.tree.map(lambda *x: np.concatenate(x), *parts)
