"""Where the time of a training job goes."""

import dataclasses
import time
from collections.abc import Iterator
from contextlib import contextmanager

from jaxrace.sweep import SweepLog


@dataclasses.dataclass
class Seconds:
    """Seconds by what they were spent on."""

    compile: float = 0.0
    run: float = 0.0
    train: float = 0.0  # the searches' part of ``run``
    sweep: SweepLog | None = None

    @contextmanager
    def spent(self, what: str) -> Iterator[None]:
        """Add the time that the block takes to what it is spent on: "compile" or "run"."""
        started = time.perf_counter()
        yield
        setattr(self, what, getattr(self, what) + time.perf_counter() - started)

    def add(self, log: SweepLog) -> None:
        """Add those of a sweep."""
        self.compile += log.compile_seconds
        self.run += log.run_seconds
        self.train += log.run_seconds
        self.sweep = log

    def timing(self, episodes: int) -> dict[str, float | None]:
        """What timing.json holds."""
        log = self.sweep
        # Of a job that was resumed, nobody knows which episodes were played since.
        whole = log is not None and not log.is_resumed
        return {
            "compile_seconds": self.compile,
            "run_seconds": self.run,
            "episodes_per_second": episodes / self.train if whole else None,
            "searches_per_second": log.jobs_per_second if log is not None else None,
            "lane_utilisation": log.utilisation if log is not None else None,
        }
