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


class Rows(NamedTuple):
    """Rows of jobs: NumPy arrays."""

    job: NDArray[np.int64]  # [n]
    step: NDArray[np.int64]  # [n], from 1
    row: Any  # what ``step`` returned, leaves [n, ...]

    @property
    def is_last(self) -> NDArray[np.bool_]:
        """Of rows in order: is this the last one of its job? [n]."""
        return np.append(self.job[1:] != self.job[:-1], np.ones(min(len(self.job), 1), bool))


def rows_of(
    burst: Any, jobs: NDArray[np.int64], steps: NDArray[np.int64], known: NDArray[np.int64]
) -> Rows:
    """The rows of a burst of NumPy arrays.

    Args:
        burst: A ``Burst``.
        jobs: [D W], the job of each lane.
        steps: [D W], the steps that it had played before.
        known: [J], rows of each job, the first ones, that are not wanted.
    """
    number = steps + np.cumsum(burst.ran, axis=0)
    at = np.nonzero(burst.ran & (number > known[jobs]))
    job = np.broadcast_to(jobs, number.shape)[at]
    return Rows(job, number[at], jax.tree.map(lambda x: x[at], burst.rows))


class RowStore:
    """Rows in memory, and those that have been written to disk.

    Args:
        shapes: A row of ``jax.ShapeDtypeStruct``s, or a function that finds it, which may take a
            second and is called where no rows show their shapes.
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
        self._find_shapes = shapes if callable(shapes) else lambda: shapes
        self._folder = folder
        kept = [] if folder is None else _files(folder, num_parts)
        self._written: list[Callable[[], Rows]] = [
            functools.partial(self._read, path) for path in kept
        ]
        self._in_memory: list[Rows] = []
        if folder is not None:
            for path in set(folder.glob("rows-*.npz")) - set(kept):
                path.unlink()

    @functools.cached_property
    def shapes(self) -> Any:
        """A row of ``jax.ShapeDtypeStruct``s."""
        return self._find_shapes()

    @functools.cached_property
    def _none(self) -> Rows:
        none = np.zeros(0, np.int64)
        leaves = jax.tree.map(lambda x: np.zeros((0, *x.shape), x.dtype), self.shapes)
        return Rows(none, none, leaves)

    def add(self, rows: Rows) -> None:
        """Keep some rows."""
        self._in_memory.append(rows)

    def add_written(self, read: Callable[[], Rows]) -> None:
        """Keep rows that are to be read when they are wanted."""
        self._written.append(read)

    def count(self) -> int:
        """The rows that there are; ValueError if a file is damaged."""
        return sum(len(part.job) for part in self._parts())

    def flush(self) -> int:
        """Write what is in memory; returns how many files there are."""
        if self._in_memory and self._folder is not None:
            leaves = jax.tree.leaves(_together(self._in_memory))
            content = io.BytesIO()
            np.savez(content, *leaves)
            *_, path = _files(self._folder, len(self._written) + 1)
            files.write_file(path, content.getvalue())
            self.add_written(functools.partial(self._read, path))
            self._in_memory = []
        return len(self._written)

    def in_order(self, most_rows: int = _MOST_ROWS) -> Iterator[Rows]:
        """All rows, sorted by job and step, in pieces of whole jobs, of about so many rows.

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
            rows = _together(chosen)
            order = np.lexsort((rows.step, rows.job))
            yield jax.tree.map(lambda x, order=order: x[order], rows)

    def all_in_order(self) -> Rows:
        """All rows at once."""
        return _together(list(self.in_order()) or [self._none])

    def _parts(self) -> Iterator[Rows]:
        for read in self._written:
            yield read()
        yield from self._in_memory

    def _read(self, path: Path) -> Rows:
        return self.as_rows(self.arrays_in(path.read_bytes, path))

    def as_rows(self, leaves: list[np.ndarray]) -> Rows:
        """Rows from their arrays."""
        none, structure = jax.tree.flatten(self._none)
        # Files of NumPy do not name types that are not its own, such as bfloat16.
        typed = [leaf.view(like.dtype) for leaf, like in zip(leaves, none, strict=True)]
        return jax.tree.unflatten(structure, typed)

    def arrays_in(
        self, read: Callable[[], bytes], name: str | Path, extra: int = 0
    ) -> list[np.ndarray]:
        """The arrays of a file of rows, and some before them; ValueError if it is damaged."""
        count = len(jax.tree.leaves(self._none)) + extra
        try:
            # Every member of the archive has a checksum, which is compared as it is read.
            with np.load(io.BytesIO(read()), allow_pickle=False) as archive:
                return [archive[f"arr_{number}"] for number in range(count)]
        except Exception as error:  # OSError; zipfile, zlib and NumPy have many
            raise ValueError(f"checkpoint: {name} is damaged ({error})") from error


def _files(folder: Path, count: int) -> list[Path]:
    return [folder / f"rows-{number:06}.npz" for number in range(count)]


def _between(rows: Rows, first: int, last: int) -> Rows:
    chosen = (rows.job >= first) & (rows.job < last)
    return jax.tree.map(lambda x: x[chosen], rows)


def _together(parts: list[Rows]) -> Rows:
    return jax.tree.map(lambda *x: np.concatenate(x), *parts)
