"""What every reproduction of a figure needs: sweeps that are saved, tables, figures, a report."""

import contextlib
import dataclasses
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxrace import files, plots, runs, sweep, tables
from jaxrace.commands.run_options import ANY_LANES, Lanes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REPORT, CHECKPOINT = "report.md", "checkpoint"

OnStage = Callable[[str, int, int], None]
Columns = Mapping[str, np.ndarray]


def ignore_stages(stage: str, done: int, total: int) -> None:
    """Say nothing.

    >>> ignore_stages("HR plain", 0, 40000)
    """


@dataclasses.dataclass
class Workbench:
    """A folder in which a reproduction works.

    Attributes:
        folder: Where everything goes.
        quick: At a fraction of the size: to see that it works, not what comes out.
        seed: Of all random numbers.
        resume: Go on from what an interrupted run has left in the folder.
        stop: See ``sweep.run``.
        on_stage: Called with what is being done, the jobs that have ended, and how many there are.
        lanes: How wide the sweeps are to be.
        compile_seconds: Spent so far.

    >>> bench = Workbench(Path("."), quick=True)
    >>> bench.write_report("A title", ["Some text."])
    >>> Path("report.md").read_text().splitlines()[:3]
    ['# A title', '', 'Some text.']
    """

    folder: Path
    quick: bool = False
    seed: int = 0
    resume: bool = False
    stop: Callable[[], bool] | None = None
    on_stage: OnStage = ignore_stages
    lanes: Lanes = ANY_LANES
    compile_seconds: float = 0.0
    _started: float = dataclasses.field(default_factory=time.perf_counter, init=False)

    def size(self, full: int, quick: int) -> int:
        """How many of something, at full size or for a quick look."""
        return quick if self.quick else full

    def _sizes(
        self, name: str, work: sweep.Work, jobs: sweep.Jobs, width: int | None
    ) -> dict[str, int]:
        """Those of the stage, which config.json keeps: on another machine they might be others."""
        has_config = (self.folder / runs.CONFIG).exists()
        config = runs.read_config(self.folder) if has_config else {}
        stages = config.get("sweep", {})
        if name in stages:
            self.lanes.require(stages[name], self.folder)
            return stages[name]
        width = self.lanes.lanes or width
        sizes = self.lanes.instead_of(sweep.default_sizes(work, jobs, width=width))
        if has_config:
            runs.add_to_config(self.folder, {"sweep": {**stages, name: sizes}})
        return sizes

    def sweep(
        self,
        name: str,
        work: sweep.Work,
        jobs: sweep.Jobs,
        width: int | None = None,
        rows_per_job: int = 1,
    ) -> sweep.SweepLog:
        """Do all jobs; what was done before an interruption is not done again.

        Args:
            name: Of the stage, another one for each.
            work: See ``sweep.run``.
            jobs: See ``sweep.run``.
            width: See ``sweep.run``; unless the user has asked for another, or the run has begun
                with another.
            rows_per_job: If it is known: progress is then counted in rows, not in jobs.

        Raises:
            RuntimeError: Some jobs have failed.
            sweep.Interrupted: It was asked to stop.
        """
        total, seen = jobs.count * rows_per_job, 0
        self.on_stage(name, 0, total)

        def on_rows(ended: int, rows: sweep.Rows) -> None:
            nonlocal seen
            # Rows from before an interruption are not seen again.
            seen = max(seen + len(rows.job), ended * rows_per_job)
            self.on_stage(name, ended if rows_per_job == 1 else min(seen, total), total)

        config = {"name": name, "quick": self.quick, "seed": self.seed}
        folder = self.folder / CHECKPOINT / name.replace(" ", "-").replace(",", "")
        sizes = self._sizes(name, work, jobs, width)
        log = sweep.run(
            work,
            jobs,
            width=sizes["width"],
            num_blocks=sizes["num_blocks"],
            on_rows=on_rows,
            checkpoints=sweep.Checkpoints(folder, config, resume=self.resume),
            stop=self.stop,
        )
        self.compile_seconds += log.compile_seconds
        if log.failed.size:
            raise RuntimeError(f"{name}: {log.failed.size} of {jobs.count} jobs went wrong")
        return log

    def write_table(self, name: str, columns: Columns | Iterable[Columns]) -> None:
        """Write a CSV file, of one piece or several; see ``tables.write_table``."""
        tables.write_table(self.folder / name, columns)

    def write_figure(self, name: str, figure: "Figure") -> None:
        """Write a PNG file."""
        plots.save(figure, self.folder / name)

    def write_report(self, title: str, paragraphs: Sequence[str]) -> None:
        """Write report.md, with the size, the time that it took, and on what."""
        device = runs.device()
        size = "a quick look, not the full size" if self.quick else "full size"
        seconds = time.perf_counter() - self._started
        took = (
            f"{size[0].upper()}{size[1:]}, seed {self.seed}. Took {seconds:.0f} s, "
            f"{self.compile_seconds:.0f} s of them to compile, on {device['count']} x "
            f"{device['kind']} ({sweep.num_cores()} cores{', resumed' if self.resume else ''})."
        )
        heading = f"# {title[0].upper()}{title[1:]}"
        text = "\n\n".join([heading, *paragraphs, took])
        files.write_file(self.folder / REPORT, f"{text}\n".encode())


@contextlib.contextmanager
def run_folder(
    out: str | os.PathLike[str] | None, resume: bool, stem: str, asked: Mapping[str, Any]
) -> Iterator[Path]:
    """The folder of a new run, or of one that is to go on.

    Args:
        out: The folder; ``runs/STEM-1`` or the next free number unless given.
        resume: Go on with the run that left the folder ``out``.
        stem: Start of the default name.
        asked: See ``runs.reopened``; written to config.json.

    Raises:
        ValueError: ``out`` cannot be used.
        sweep.Interrupted: The block was; its argument is the folder.

    If the block fails before anything has been saved, a new folder is removed again.

    >>> with run_folder("new", False, "duel", {"command": "duel", "config": {"seed": 3}}) as folder:
    ...     sorted(path.name for path in folder.iterdir())
    ['.jaxrace-lock', 'config.json']
    """
    with contextlib.ExitStack() as opened:
        if resume:
            folder = runs.reopened(out, asked)
            opened.enter_context(runs.locked(folder))
        else:
            folder = opened.enter_context(runs.new_folder(out, stem))
            runs.write_config(folder, asked)
        try:
            yield folder
        except sweep.Interrupted as error:
            raise sweep.Interrupted(folder) from error
        except BaseException:
            if not resume:
                _remove_what_has_only_begun(folder)
            raise


def _remove_what_has_only_begun(folder: Path) -> None:
    checkpoint = folder / CHECKPOINT
    names = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
    if names <= {runs.CONFIG, CHECKPOINT} and not any(map(sweep.is_saved, checkpoint.glob("*"))):
        shutil.rmtree(checkpoint, ignore_errors=True)
        (folder / runs.CONFIG).unlink(missing_ok=True)


def run_job(
    command: str,
    config: Any,
    work: Callable[[Workbench], None],
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    stop: Callable[[], bool] | None = None,
    on_stage: OnStage = ignore_stages,
    lanes: Lanes = ANY_LANES,
) -> Path:
    """Do a job of the command in a run folder of its own, which it ends with a summary.

    Args:
        command: The verb; also the stem of the folder's name.
        config: A dataclass, with a ``seed`` if there is any chance, and with ``inputs`` if it
            names files: their paths by the names of options. Written to config.json.
        work: What is to be done in the folder; not again in one that has its summary.
        out: The folder; ``runs/COMMAND-1`` or the next free number unless given.
        resume: Go on with the job that left the folder ``out``.
        stop: See ``Workbench``.
        on_stage: See ``Workbench``.
        lanes: See ``Workbench``.

    Returns:
        The folder.

    Raises:
        ValueError: ``out`` cannot be used, or ``work`` said so; nothing is left behind.
        sweep.Interrupted: ``stop`` said so; its argument is the folder.

    >>> @dataclasses.dataclass(frozen=True)
    ... class Config:
    ...     seed: int = 0
    >>> folder = run_job("try", Config(), lambda bench: runs.write_summary(bench.folder, {"n": 1}))
    >>> runs.read_summary(folder)
    {'n': 1}
    """
    inputs = {name: _checksum_of(path) for name, path in getattr(config, "inputs", {}).items()}
    asked = {"command": command, "config": dataclasses.asdict(config), "inputs": inputs}
    with run_folder(out, resume, command, asked) as folder:
        if not (folder / runs.SUMMARY).exists():
            seed = getattr(config, "seed", 0)
            work(Workbench(folder, False, seed, resume, stop, on_stage, lanes))
        shutil.rmtree(folder / CHECKPOINT, ignore_errors=True)
    return folder


def _checksum_of(path: str) -> str | None:
    """None of a pipe, which can be read only once."""
    return files.checksum_of(path) if Path(path).is_file() else None


def as_columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, np.ndarray]:
    """The columns of a table, from its rows, of which there is at least one.

    >>> as_columns([{"k": 1, "task": "normal"}, {"k": 2, "task": "uniform"}])["k"]
    array([1, 2])
    """
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def with_error(mean: Any, stderr: Any, digits: int = 0) -> str:
    """A mean and its standard error.

    >>> with_error(1331.2, 24.8), with_error(0.99, 0.0021, digits=3)
    ('1,331 ± 25', '0.990 ± 0.002')
    """
    return f"{mean:,.{digits}f} ± {stderr:,.{digits}f}"
