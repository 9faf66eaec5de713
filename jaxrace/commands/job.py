"""What every command is given: what to do, where, and how it is watched and stopped."""

import dataclasses
import os
import warnings
from collections.abc import Callable
from typing import Any

from jaxrace.commands.run_options import ANY_LANES, Lanes

OnStage = Callable[[str, int, int], None]


def ignore_stages(stage: str, done: int, total: int) -> None:
    """Say nothing."""


@dataclasses.dataclass(frozen=True)
class Job:
    """A config, and a folder for what comes of it.

    Attributes:
        config: What is to be done: the dataclass of a verb.
        out: The folder of the run; ``runs/NAME-1`` or the next free number unless given.
        resume: Go on with the run that left the folder ``out``; one that is finished stays as it
            is.
        stop: Called now and then; once it says so, what has been done is saved and the job ends.
        on_stage: Called with the name of a stage, how much of it is done, and how much there is
            (0 if that is not known): when it begins, and now and then.
        lanes: How wide the sweeps are to be; when they go on, as when they began.
        hosts: Of ``train``: which of several hosts this is, see ``sweep.join_hosts``. All do the
            same job: they share the searches, and the first one writes the tables.
        on_note: Called, before the work begins, with what is to be known of it.
    """

    config: Any
    out: str | os.PathLike[str] | None = None
    resume: bool = False
    stop: Callable[[], bool] | None = None
    on_stage: OnStage = ignore_stages
    lanes: Lanes = ANY_LANES
    hosts: Any = None
    on_note: Callable[[str], None] = warnings.warn

    @property
    def is_first(self) -> bool:
        """Is this the first host, or the only one?"""
        return self.hosts is None or self.hosts.index == 0
