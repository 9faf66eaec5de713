"""What every command is given: what to do, where, how wide, and how it is watched and stopped."""

import dataclasses
import os
import warnings
from collections.abc import Callable
from typing import Any

from jaxrace.validation import require_integer

OnStage = Callable[[str, int, int], None]

_MOST = 10**6  # no device has more than some thousands
SIZES = {"lanes": "width", "blocks": "num_blocks"}  # what ``sweep.run`` calls them


@dataclasses.dataclass(frozen=True)
class Lanes:
    """How wide the sweeps of a job are to be; None stands for what the sweep chooses."""

    lanes: int | None = None  # W, lanes of a block
    blocks: int | None = None  # most blocks

    def __post_init__(self) -> None:
        for name, value in self.asked.items():
            require_integer(name, value, 1, _MOST)

    @property
    def asked(self) -> dict[str, int]:
        """What is not None."""
        return {name: value for name, value in vars(self).items() if value is not None}


def ignore_stages(stage: str, done: int, total: int) -> None:
    """Say nothing."""


@dataclasses.dataclass(frozen=True)
class Job:
    """A config, and a folder for what comes of it."""

    config: Any  # what is to be done: the dataclass of a verb
    # The folder of the run; ``runs/NAME-1`` or the next free number unless given.
    out: str | os.PathLike[str] | None = None
    resume: bool = False  # go on with the run that left ``out``; a finished one stays as it is
    # Called now and then; once it says so, what has been done is saved and the job ends.
    stop: Callable[[], bool] | None = None
    # Called when a stage begins, and now and then: its name, how much is done, and how much there
    # is (0 if that is not known).
    on_stage: OnStage = ignore_stages
    lanes: Lanes = dataclasses.field(default_factory=Lanes)
    # Of ``train``: which of several hosts this is, see ``sweep.join_hosts``. They share the
    # searches, and the first one writes the tables.
    hosts: Any = None
    on_note: Callable[[str], None] = warnings.warn  # called with what is to be known before

    @property
    def is_first(self) -> bool:
        """Is this the first host, or the only one?"""
        return self.hosts is None or self.hosts.index == 0
