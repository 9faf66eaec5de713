"""What every command is given."""

import dataclasses
import os
import warnings
from collections.abc import Callable, Mapping
from typing import Any

OnStage = Callable[[str, int, int], None]
SIZES = {"lanes": "width", "blocks": "num_blocks"}  # options, and what ``sweep.run`` calls them


def ignore_stages(stage: str, done: int, total: int) -> None:
    """Say nothing."""


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
    on_stage: OnStage = ignore_stages
    # How wide the sweeps are to be, where the user says so: see ``SIZES``.
    sizes: Mapping[str, int] = dataclasses.field(default_factory=dict)
    # Of ``train``: which of several hosts this is, see ``sweep.join_hosts``. They share the
    # searches, and the first one writes the tables.
    hosts: Any = None
    on_note: Callable[[str], None] = warnings.warn  # called with what is to be known before

    @property
    def is_first(self) -> bool:
        """Is this the first host, or the only one?"""
        return self.hosts is None or self.hosts.index == 0
