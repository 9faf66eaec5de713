"""The rows of a sweep: kept as bursts leave them, given back in the order of jobs and steps.

Axes: n rows.
"""

import io
from collections.abc import Iterator
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


def taken_from(burst: Any, jobs: NDArray[np.int64], steps: NDArray[np.int64]) -> Rows:
    """The rows of a burst.

    Args:
        burst: A ``Burst`` of NumPy arrays.
        jobs: [W], the job of each lane.
        steps: [W], the steps that it had played before.
    """
    ran = burst.ran
    number = steps + np.cumsum(ran, axis=0)
    at = np.nonzero(ran)
    return Rows(
        np.broadcast_to(jobs, ran.shape)[at],
        number[at],
        jax.tree.map(lambda x: x[at], burst.rows),
    )


class RowStore:
    """Rows in memory, and those that have been written to disk.

    Args:
        shapes: A row of ``jax.ShapeDtypeStruct``s.
        folder: Where ``flush`` writes; None if nothing is to be written.
        num_parts: How many files there are already; others are removed.

    >>> shapes = {"left": jax.ShapeDtypeStruct((), np.int32)}
    >>> store = RowStore(shapes, Path("."))
    >>> for job in (1, 0):
    ...     store.add(Rows(np.array([job]), np.array([1]), {"left": np.array([8 * job], np.int32)}))
    ...     num_parts = store.flush()
    >>> num_parts, [rows.row["left"].tolist() for rows in store.in_order(most_rows=1)]
    (2, [[0], [8]])
    """

    def __init__(self, shapes: Any, folder: Path | None = None, num_parts: int = 0) -> None:
        self.shapes = shapes
        none = np.zeros(0, np.int64)
        leaves = jax.tree.map(lambda x: np.zeros((0, *x.shape), x.dtype), shapes)
        self._none = Rows(none, none, leaves)
        self._folder = folder
        self._files = [] if folder is None else _files(folder, num_parts)
        self._in_memory: list[Rows] = []
        if folder is not None:
            for path in set(folder.glob("rows-*.npz")) - set(self._files):
                path.unlink()

    def check(self, num_rows: int) -> None:
        """Raise ValueError unless all files can be read and hold so many rows."""
        found = sum(len(part.job) for part in self._parts())
        if found != num_rows:
            raise ValueError(
                f"checkpoint: {self._folder} is damaged: expected {num_rows} rows, got {found}"
            )

    def add(self, rows: Rows) -> None:
        """Keep some rows."""
        self._in_memory.append(rows)

    def flush(self) -> int:
        """Write what is in memory; returns how many files there are."""
        if self._in_memory and self._folder is not None:
            leaves = jax.tree.leaves(_together([self._none, *self._in_memory]))
            content = io.BytesIO()
            np.savez(content, *leaves)
            *_, path = _files(self._folder, len(self._files) + 1)
            files.write_file(path, content.getvalue())
            self._files.append(path)
            self._in_memory = []
        return len(self._files)

    def join(self, folder: Path, num_parts: int) -> None:
        """Take in what another store has written to its folder; nothing is written afterwards."""
        self._files += _files(folder, num_parts)

    def in_order(self, most_rows: int = _MOST_ROWS) -> Iterator[Rows]:
        """All rows, sorted by job and step, in pieces of whole jobs.

        Args:
            most_rows: About so many rows are in a piece.

        Raises:
            ValueError: A file is damaged.
        """
        counts = np.zeros(0, np.int64)
        for part in self._parts():
            found = np.bincount(part.job, minlength=len(counts))
            found[: len(counts)] += counts
            counts = found
        piece_of_job = np.maximum(np.cumsum(counts) - 1, 0) // most_rows
        for piece in np.unique(piece_of_job):
            first, last = np.searchsorted(piece_of_job, [piece, piece + 1])
            chosen = [_between(part, first, last) for part in self._parts()]
            rows = _together([self._none, *chosen])
            order = np.lexsort((rows.step, rows.job))
            yield jax.tree.map(lambda x, order=order: x[order], rows)

    def all_in_order(self) -> Rows:
        """All rows at once."""
        return _together([self._none, *self.in_order()])

    def _parts(self) -> Iterator[Rows]:
        yield from map(self._read, self._files)
        yield from self._in_memory

    def _read(self, path: Path) -> Rows:
        leaves, structure = jax.tree.flatten(self._none)
        try:
            # Every member of the archive has a checksum, which is compared as it is read. A
            # damaged one would be left open if NumPy opened it.
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as archive:
                arrays = [archive[f"arr_{number}"] for number in range(len(leaves))]
        except Exception as error:  # zipfile, zlib and NumPy have many
            raise ValueError(f"checkpoint: {path} is damaged ({error})") from error
        return jax.tree.unflatten(structure, arrays)


def _files(folder: Path, count: int) -> list[Path]:
    return [folder / f"rows-{number:06}.npz" for number in range(count)]


def _between(rows: Rows, first: int, last: int) -> Rows:
    chosen = (rows.job >= first) & (rows.job < last)
    return jax.tree.map(lambda x: x[chosen], rows)


def _together(parts: list[Rows]) -> Rows:
    return jax.tree.map(lambda *x: np.concatenate(x), *parts)
