"""What every command is given."""

import dataclasses
import os
import warnings
from collections.abc import Callable
from typing import Any

OnStage = Callable[[str, int, int], None]


@dataclasses.dataclass(frozen=True)
class Job:
    """A config, the folder of its run, and how that is watched and stopped."""

    config: Any  # what is to be done: the dataclass of a verb
    # The folder of the run; ``runs/NAME-1`` or the next free number unless given.
    out: str | os.PathLike[str] | None = None
    resume: bool = False  # go on with the run that left ``out``; a finished one stays as it is
    # Called now and then; once it says so, what has been done is saved and the job ends.
    stop: Callable[[], bool] | None = None
    # Called when a stage begins, and now and then: its name, how much is done, and how much there
    # is (0 if that is not known).
    on_stage: OnStage = lambda stage, done, total: None
    lanes: int | None = None  # how wide the sweeps are to be, where the user says so
    cluster: Any = None  # a ``sweep.Ray``; None for this process
    on_note: Callable[[str], None] = warnings.warn  # called with what is to be known before
