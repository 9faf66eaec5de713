"""A job with a folder: its config, how it is watched and stopped, and what the folder keeps."""

import contextlib
import dataclasses
import os
import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from jaxrace import runs, sweep
from jaxrace.commands.progress import OnStage
from jaxrace.core.validation import BadArgument
from jaxrace.runs import files

CHECKPOINT = "checkpoint"


@dataclasses.dataclass(frozen=True)
class Job:
    """A config, the folder of its run, and how that is watched and stopped."""

    config: Any  # the options of a verb
    # The folder of the run; ``runs/NAME-1`` or the next free number unless given.
    out: str | os.PathLike[str] | None = None
    resume: bool = False  # go on with the run that left ``out``; a run that is done stays as it is
    stop: Callable[[], bool] | None = (
        None  # called now and then; if true, the job is saved and ends
    )
    # Called when a stage begins, and now and then: its name, how much is done, and how much there
    # is (0 if that is not known).
    on_stage: OnStage = lambda stage, done, total: None
    lanes: int | None = None  # the width of its sweeps, if the user has chosen one
    cluster: sweep.Ray | None = None  # None for this process
    on_note: Callable[[str], None] = warnings.warn  # called with warnings, before work begins


def sweep_width(
    folder: Path,
    job: Job,
    work: sweep.Work,
    jobs: sweep.Jobs,
    width: int | None = None,
    stage: str | None = None,
) -> int:
    """The lanes of a device in a sweep, which config.json keeps as "sweep", by stage.

    They are those with which it began, else those of the user, else ``width``, else a default.
    """
    has_config = (folder / runs.CONFIG).exists()
    kept = runs.read_config(folder).get("sweep", {}) if has_config else {}
    found = kept if stage is None else kept.get(stage)
    if found:
        if job.lanes not in (None, found["width"]):
            raise BadArgument("lanes", f"{found['width']} as in '{folder}'", str(job.lanes))
        return found["width"]
    own = job.lanes or width
    if own is None and job.cluster is not None:
        own = job.cluster.default_width(work, jobs)
    own = own or sweep.default_width(work, jobs)
    if has_config:
        found = {"width": own}
        more = {"sweep": found if stage is None else {**kept, stage: found}}
        files.write_json(folder / runs.CONFIG, runs.read_config(folder) | more)
    return own


@contextlib.contextmanager
def run_folder(job: Job, stem: str, asked: Mapping[str, Any]) -> Iterator[Path]:
    """The folder of a new run, or of one that is to go on.

    What is ``asked`` is written to config.json. An interruption has the folder as its argument. A
    new folder is removed again if the block fails before it has saved anything.
    """
    with contextlib.ExitStack() as opened:
        if job.resume:
            folder = runs.reopened(job.out, asked)
            opened.enter_context(runs.locked(folder))
        else:
            folder = opened.enter_context(runs.new_folder(job.out, stem))
            runs.write_config(folder, asked)
        try:
            yield folder
        except sweep.Interrupted as error:
            raise sweep.Interrupted(folder) from error
        except BaseException:
            if not job.resume:
                _remove_if_only_begun(folder)
            raise


def _remove_if_only_begun(folder: Path) -> None:
    checkpoint = folder / CHECKPOINT
    names = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
    saved = map(sweep.is_saved, (checkpoint, *checkpoint.glob("*")))
    if names <= {runs.CONFIG, CHECKPOINT} and not any(saved):
        shutil.rmtree(checkpoint, ignore_errors=True)
        (folder / runs.CONFIG).unlink(missing_ok=True)
