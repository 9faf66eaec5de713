"""The folder of a run, new or gone on with, and the width of its sweeps, which it keeps."""

import contextlib
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from jaxrace import runs, sweep
from jaxrace.commands.job import Job

CHECKPOINT = "checkpoint"


def sweep_width(
    folder: Path,
    job: Job,
    work: sweep.Work,
    jobs: sweep.Jobs,
    width: int | None = None,
    stage: str | None = None,
) -> int:
    """The lanes of a device in a sweep, which config.json keeps as "sweep", by stage.

    They are those with which it began, since on another machine they might be others; else what
    the user has asked for; else what the sweep chooses.
    """
    has_config = (folder / runs.CONFIG).exists()
    kept = runs.read_config(folder).get("sweep", {}) if has_config else {}
    found = kept if stage is None else kept.get(stage)
    if found:
        if job.lanes not in (None, found["width"]):
            raise ValueError(f"lanes: expected {found['width']} as in '{folder}', got {job.lanes}")
        return found["width"]
    own = job.lanes or width
    if own is None and job.cluster is not None:
        own = job.cluster.default_width(work, jobs)
    own = own or sweep.default_width(work, jobs)
    if has_config:
        found = {"width": own}
        runs.add_to_config(folder, {"sweep": found if stage is None else {**kept, stage: found}})
    return own


@contextlib.contextmanager
def run_folder(job: Job, stem: str, asked: Mapping[str, Any]) -> Iterator[Path]:
    """The folder of a new run, or of one that is to go on.

    What is ``asked`` is written to config.json. An interruption has the folder as its argument. If
    the block fails before anything has been saved, a new folder is removed again.
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
                _remove_what_has_only_begun(folder)
            raise


def _remove_what_has_only_begun(folder: Path) -> None:
    checkpoint = folder / CHECKPOINT
    names = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
    saved = map(sweep.is_saved, (checkpoint, *checkpoint.glob("*")))
    if names <= {runs.CONFIG, CHECKPOINT} and not any(saved):
        shutil.rmtree(checkpoint, ignore_errors=True)
        (folder / runs.CONFIG).unlink(missing_ok=True)
