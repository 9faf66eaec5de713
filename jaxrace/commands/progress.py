"""What the command shows of a job while it runs."""

import contextlib
import threading
import time
from collections.abc import Iterator

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from jaxrace.commands.job import OnStage
from jaxrace.commands.printing import say, shown

# On a pipe a line with a rate comes after this many seconds and this share of a stage, or later.
_SECONDS_PER_LINE = 2.0
_SHARE_PER_LINE = 0.125


class ProgressLines:
    """A plain line for every stage, for a pipe; if it is timed, also lines with rates."""

    def __init__(self, console: Console, unit: str, is_timed: bool) -> None:
        self._console, self._unit, self._is_timed = console, unit, is_timed
        self._stage = ""
        self._started = self._last_line = 0.0
        self._first_done = self._last_done = 0

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Perhaps write a line."""
        now = time.perf_counter()
        if stage != self._stage or done == 0:
            self._stage, self._started, self._last_line = stage, now, now
            self._first_done = self._last_done = done  # more than 0 if it was resumed
            between = " on " if self._is_timed else ": "
            counted = f"{between}{total:,} {self._unit}" if total else ""
            say(self._console, f"{stage}{counted} ...")
        elif (
            self._is_timed
            and now - self._last_line >= _SECONDS_PER_LINE
            and done - self._last_done >= _SHARE_PER_LINE * total
        ):
            rate = (done - self._first_done) / (now - self._started)
            left = (total - done) / rate
            counted = f"{done:,} of {total:,} {self._unit}"
            say(self._console, f"{counted}, {rate:,.0f}/s, {left:,.0f} s left")
            self._last_line, self._last_done = now, done


class ProgressBar:
    """A bar that the caller draws, and beside it how many are done, and how many in a second."""

    def __init__(self, progress: Progress, unit: str) -> None:
        self._progress, self._unit = progress, unit
        # A bar without a total pulses.
        self._task = progress.add_task("starting", total=None, detail="")
        self._stage = ""
        self._started, self._first_done = 0.0, 0

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Move the bar."""
        now = time.perf_counter()
        if stage != self._stage or done == 0:
            self._stage, self._started, self._first_done = stage, now, done
            self._progress.reset(self._task, description=stage, total=total or None, detail="")
        elif total:
            rate = (done - self._first_done) / (now - self._started)
            detail = f"{done:,} of {total:,} {self._unit}, {rate:,.0f}/s"
            self._progress.update(self._task, completed=done, detail=detail)


@contextlib.contextmanager
def waiting(console: Console, text: str) -> Iterator[None]:
    """Say on a terminal what is done, once the block has taken two seconds."""
    if not console.is_interactive:
        yield
        return
    status = console.status(Text(shown(text)))  # a name is no markup
    timer = threading.Timer(_SECONDS_PER_LINE, status.start)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        status.stop()


@contextlib.contextmanager
def shown_stages(console: Console, unit: str = "jobs", is_timed: bool = False) -> Iterator[OnStage]:
    """An ``on_stage`` for a ``Job``: a bar on a terminal, else lines.

    It counts units, and, if it is timed, shows how many there are in a second and what is left.
    """
    if not console.is_interactive:
        yield ProgressLines(console, unit, is_timed)
        return
    name, counted = TextColumn("{task.description:24}"), MofNCompleteColumn()
    columns: list[ProgressColumn] = [name, BarColumn(bar_width=None), counted]
    if is_timed:
        name, counted = TextColumn("{task.description:10}"), TextColumn("{task.fields[detail]}")
        left = TimeRemainingColumn(compact=True)
        columns = [name, BarColumn(bar_width=None), counted, left]
    with Progress(*columns, console=console, transient=True) as progress:
        yield ProgressBar(progress, unit)
