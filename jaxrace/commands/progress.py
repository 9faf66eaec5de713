"""What the command shows while it runs."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from jaxrace.answers.answer import shown
from jaxrace.commands.printing import say

OnStage = Callable[[str, int, int], None]  # a stage, how much of it is done, and how much there is

# On a pipe a line with a rate comes after so many seconds and such a share of a stage, or later.
_SECONDS_PER_LINE, _SHARE_PER_LINE = 2.0, 0.125


class _Stages:
    """An ``on_stage``: moves a bar, or prints a line for every stage, and rates if timed."""

    def __init__(
        self, console: Console, unit: str, is_timed: bool, bar: Progress | None = None
    ) -> None:
        self._console, self._unit, self._is_timed, self._bar = console, unit, is_timed, bar
        if bar is not None:  # without a total it pulses
            self._task = bar.add_task("starting", total=None, detail="")
        self._stage = ""
        self._started = self._last_line = 0.0
        self._first_done = self._last_done = 0

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Show how much of a stage is done."""
        now = time.perf_counter()
        if stage != self._stage or done == 0:
            self._stage, self._started, self._last_line = stage, now, now
            self._first_done = self._last_done = done  # more than 0 after an interruption
            if self._bar is not None:
                self._bar.reset(self._task, description=stage, total=total or None, detail="")
                return
            between = " on " if self._is_timed else ": "
            counted = f"{between}{total:,} {self._unit}" if total else ""
            say(self._console, f"{stage}{counted} ...")
        elif total:
            rate = (done - self._first_done) / (now - self._started)
            detail = f"{done:,} of {total:,} {self._unit}, {rate:,.0f}/s"
            is_due = now - self._last_line >= _SECONDS_PER_LINE
            if self._bar is not None:
                self._bar.update(self._task, completed=done, detail=detail)
            elif self._is_timed and is_due and done - self._last_done >= _SHARE_PER_LINE * total:
                say(self._console, f"{detail}, {(total - done) / rate:,.0f} s left")
                self._last_line, self._last_done = now, done


@contextlib.contextmanager
def waiting(console: Console, text: str) -> Iterator[None]:
    """Show a text on a terminal, once the block has taken two seconds."""
    if not console.is_interactive:
        yield
        return
    status = console.status(Text(shown(text)))  # not markup
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
    """An ``on_stage``: a bar on a terminal, else lines."""
    if not console.is_interactive:
        yield _Stages(console, unit, is_timed)
        return
    name, counted = TextColumn("{task.description:24}"), TextColumn("{task.fields[detail]}")
    columns = name, BarColumn(bar_width=None), counted, TimeRemainingColumn(compact=True)
    with Progress(*columns, console=console, transient=True) as bar:
        yield _Stages(console, unit, is_timed, bar)
