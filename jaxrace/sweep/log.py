"""What a sweep leaves: rows, and what became of its jobs. Axes: n rows."""

import dataclasses
import functools
import io
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Self

import jax
import numpy as np
from numpy.typing import NDArray


class Rows(NamedTuple):
    """Rows of jobs: NumPy arrays."""

    job: NDArray[np.int64]  # [n]
    step: NDArray[np.int64]  # [n], from 1
    row: Any  # what ``step`` returned, leaves [n, ...]

    @property
    def is_last(self) -> NDArray[np.bool_]:
        """Is this the last row of its job? [n], of rows in order."""
        return np.append(self.job[1:] != self.job[:-1], np.ones(min(len(self.job), 1), bool))

    @classmethod
    def together(cls, parts: Iterable[Self]) -> Self:
        """All rows of at least one part."""
        return jax.tree.map(lambda *x: np.concatenate(x), *parts)

    def taken(self, which: NDArray[Any]) -> Self:
        """Some of them, by a mask or by indices."""
        return jax.tree.map(lambda x: x[which], self)


@dataclasses.dataclass
class SweepLog:
    """What a sweep leaves; it is filled while the sweep runs."""

    # Gives the shapes of a row, each a ``jax.ShapeDtypeStruct``; may take a second.
    shapes: Callable[[], Any] = dataclasses.field(repr=False)
    # Rows as they came, and the names of files of rows.
    parts: list[Rows | str] = dataclasses.field(repr=False)
    failed: NDArray[np.int64]  # the jobs that failed, in order; the last row of each shows why
    width: int  # W, lanes of a device
    num_devices: int
    num_jobs: int
    num_rows: int  # n
    num_ended: int  # jobs that ended since it began or was resumed
    is_resumed: bool  # did it go on from a checkpoint?
    lane_steps: int  # steps that were computed, all lanes together
    compile_seconds: float = 0.0  # to trace and compile the program
    run_seconds: float = 0.0  # to run it, since the sweep began or was resumed
    compiles_as_it_runs: bool = False  # is that in ``run_seconds``, as in small sweeps?
    errors: dict[str, str] = dataclasses.field(default_factory=dict)  # of shards: see ``Ray``
    # The content of a file.
    read: Callable[[str], bytes] = dataclasses.field(default=lambda name: b"", repr=False)

    @functools.cached_property
    def rows(self) -> Rows:
        """All rows at once, in the order of jobs and their steps."""
        return Rows.together(list(self.in_order()) or [self._no_rows()])

    @property
    def utilisation(self) -> float:
        """The share of the computed steps that were a job's."""
        return self.num_rows / self.lane_steps if self.lane_steps else 1.0

    @property
    def jobs_per_second(self) -> float:
        """Jobs that ended since the sweep began or was resumed, without the time to compile."""
        return self.num_ended / self.run_seconds if self.run_seconds else 0.0

    def in_order(self, most_rows: int = 1_000_000) -> Iterator[Rows]:
        """All rows, sorted by job and step, in pieces of whole jobs with about ``most_rows``."""
        piece_of_job = np.maximum(np.cumsum(self.rows_of_jobs()) - 1, 0) // most_rows
        for piece in np.unique(piece_of_job) if self.parts else ():
            parts = (part.taken(piece_of_job[part.job] == piece) for part in self._parts())
            rows = Rows.together(parts)
            yield rows.taken(np.lexsort((rows.step, rows.job)))

    def rows_of_jobs(self) -> NDArray[np.int64]:
        """How many rows each job has, by its number."""
        counts = np.zeros(self.num_jobs, np.int64)
        for part in self._parts():  # of some jobs of a grid, numbers may exceed their count
            found = np.bincount(part.job, minlength=len(counts))
            found[: len(counts)] += counts
            counts = found
        return counts

    def load(self, name: str) -> tuple[Rows, dict[str, np.ndarray]]:
        """The rows of a file, and all its arrays by name; ValueError if it is damaged."""
        try:
            with np.load(io.BytesIO(self.read(name)), allow_pickle=False) as archive:
                arrays = dict(archive)
        except Exception as error:  # OSError; zipfile, zlib and NumPy have many
            raise ValueError(f"checkpoint: {name} is damaged ({error})") from error
        like, structure = jax.tree.flatten(self._no_rows())
        # Files of NumPy do not name types that are not its own, such as bfloat16.
        leaves = [arrays[f"arr_{number}"].view(x.dtype) for number, x in enumerate(like)]
        return jax.tree.unflatten(structure, leaves), arrays

    def _parts(self) -> Iterator[Rows]:
        return (self.load(part)[0] if isinstance(part, str) else part for part in self.parts)

    def _no_rows(self) -> Rows:
        rows = jax.tree.map(lambda x: np.zeros((0, *x.shape), x.dtype), self.shapes())
        return Rows(np.zeros(0, np.int64), np.zeros(0, np.int64), rows)
