"""What every job of the papers needs: sweeps that are saved, tables, figures, numbers in words."""

import dataclasses
import math
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from jaxrace import runs, sweep
from jaxrace.commands.job import CHECKPOINT, Job, run_folder, sweep_width
from jaxrace.runs import files, plots, tables

REPORT = "report.md"
Columns = Mapping[str, Any]  # of a table: see ``tables.write_table``
NO_JOB = Job(None)


@dataclasses.dataclass
class Workbench:
    """A folder in which a job works."""

    folder: Path  # where everything goes
    quick: bool = False  # at a fraction of the size: to see that it works, not what comes out
    seed: int = 0  # of all random numbers
    title: str = ""  # of the report
    # How it is watched and stopped, and whether it goes on from what is in the folder.
    job: Job = NO_JOB
    uniform: Any = "variance"  # of the problems of ``selection.thurstone``
    problems: int | None = None  # so many, if it is said
    compile_seconds: float = 0.0  # spent so far
    _started: float = dataclasses.field(default_factory=time.perf_counter, init=False)

    def size(self, full: int, quick: int) -> int:
        """How many of something, at full size or for a quick look."""
        return quick if self.quick else full

    def num_problems(self, full: int, quick: int) -> int:
        """The same, unless the user says how many."""
        return self.size(full, quick) if self.problems is None else self.problems

    def few(self, things: Iterable[Any], quick: int) -> list[Any]:
        """All of them, or the first ones for a quick look: to see that it works, they will do."""
        found = list(things)
        return found[: self.size(len(found), quick)]

    def sweep(
        self,
        name: str,
        work: sweep.Work,
        jobs: sweep.Jobs,
        width: int | None = None,
        rows_per_job: int = 1,
    ) -> sweep.SweepLog:
        """Do all jobs that were not done before an interruption; RuntimeError if some fail.

        Progress is counted in rows if it is known how many there are of each job. A width counts
        unless the user asks for another, or the run has begun with another.
        """
        total, seen = jobs.count * rows_per_job, 0
        self.job.on_stage(name, 0, total)

        def on_rows(ended: int, rows: sweep.Rows) -> None:
            nonlocal seen
            # Rows from before an interruption are not seen again.
            seen = max(seen + len(rows.job), ended * rows_per_job)
            self.job.on_stage(name, ended if rows_per_job == 1 else min(seen, total), total)

        config = {"name": name, "quick": self.quick, "seed": self.seed}
        folder = self.folder / CHECKPOINT / name.replace(" ", "-").replace(",", "")
        checkpoints = sweep.Checkpoints(folder, config, resume=self.job.resume)
        log = sweep.run(
            work,
            jobs,
            width=sweep_width(self.folder, self.job, work, jobs, width, name),
            on_rows=on_rows,
            checkpoints=checkpoints,
            stop=self.job.stop,
            cluster=self.job.cluster,
        )
        self.compile_seconds += log.compile_seconds
        if log.failed.size:
            why = "".join(f"; {shard}: {error}" for shard, error in log.errors.items())
            raise RuntimeError(f"{name}: {log.failed.size} of {jobs.count} jobs went wrong{why}")
        return log

    def write_table(self, name: str, columns: Columns | Iterable[Columns]) -> None:
        """Write a CSV file, of one piece or several; see ``tables.write_table``."""
        tables.write_table(self.folder / name, columns)

    def write_figure(self, name: str, figure: "plots.Figure") -> None:
        """Write a PNG file."""
        plots.save(figure, self.folder / name)

    def write_report(self, *paragraphs: str) -> None:
        """Write report.md, with the size, the time that it took, and on what."""
        device = runs.device()
        size = "A quick look, not the full size" if self.quick else "Full size"
        if self.problems is not None:
            size = f"{self.problems:,} problems, as asked for"
        seconds = time.perf_counter() - self._started
        took = (
            f"{size}, seed {self.seed}. Took {seconds:.0f} s, "
            f"{self.compile_seconds:.0f} s of them to compile, on {device['count']} x "
            f"{device['kind']} ({sweep.num_cores()} cores{', resumed' if self.job.resume else ''})."
        )
        heading = f"# {self.title[:1].upper()}{self.title[1:]}"
        text = "\n\n".join([heading, *paragraphs, took])
        files.write_file(self.folder / REPORT, f"{text}\n".encode())


def run_job(command: str, job: Job, work: Callable[[Workbench], None]) -> Path:
    """Do a job of a verb in a run folder of its own, which it ends with a summary.

    The config may have a ``seed``, and ``inputs``: the paths of files by the names of options.
    ``work`` is not done again in a folder that has its summary.
    """
    config = job.config
    asked = runs.asked_of(command, config)
    with run_folder(job, command, asked) as folder:
        if not (folder / runs.SUMMARY).exists():
            work(Workbench(folder, seed=getattr(config, "seed", 0), job=job))
        shutil.rmtree(folder / CHECKPOINT, ignore_errors=True)
    return folder


def rows_of_jobs(log: sweep.SweepLog, count: int, records: int) -> tuple[Any, np.ndarray]:
    """The rows of J jobs, leaves [J, T, ...], and how many each has: the last one is repeated."""
    lengths = np.bincount(log.rows.job, minlength=count)
    places = np.minimum(np.arange(records), lengths[:, None] - 1)
    places += (np.cumsum(lengths) - lengths)[:, None]
    return jax.tree.map(lambda x: x[places], log.rows.row), lengths


def band(
    panel: Any, x: Any, middle: Any, half: Any, label: str = "", *, color: str, **looks: Any
) -> None:
    """A curve, and a pale band of a width to both sides of it."""
    panel.plot(x, middle, color=color, label=label, **looks)
    panel.fill_between(x, middle - half, middle + half, color=color, alpha=0.15, lw=0)


def as_columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, np.ndarray]:
    """The columns of a table, from its rows, of which there is at least one."""
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def mean_and_error(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean over the last axis, and its standard error."""
    return values.mean(-1), values.std(-1, ddof=1) / np.sqrt(values.shape[-1])


def mean_columns(name: str, values: np.ndarray) -> dict[str, Any]:
    """The same as columns of a table."""
    mean, error = mean_and_error(values)
    return {name: mean, f"{name}_stderr": error}


def mean_in_words(values: np.ndarray, digits: int | None = None) -> str:
    """The same in words."""
    return with_error(*mean_and_error(values), digits=digits)


def with_error(mean: Any, stderr: Any, digits: int | None = None) -> str:
    """A mean and its standard error, by default with two digits of the error or more."""
    if digits is None:
        of_error = 1 - math.floor(math.log10(stderr)) if 0 < stderr < math.inf else None
        digits = _digits(mean) if of_error is None else max(0, of_error)
    return f"{mean:,.{digits}f} ± {stderr:,.{digits}f}"


def _digits(value: Any) -> int:
    return 3 if abs(value) < 10 else 1 if abs(value) < 1_000 else 0


def report_table(rows: Iterable[Columns], names: str) -> str:
    """Some columns of rows in Markdown, numbers with their standard errors; blanks for None."""

    def cell(row: Columns, name: str) -> str:
        value, error = row[name], row.get(f"{name}_stderr")
        if value is None or isinstance(value, str):
            return value or ""
        if error is not None:
            return with_error(value, error)
        return f"{value:,.{0 if isinstance(value, int | np.integer) else _digits(value)}f}"

    heads = names.split()
    cells = [[cell(row, name) for name in heads] for row in rows]
    return tables.markdown_table([name.replace("_", " ") for name in heads], cells)
