"""Ending a sweep when the system asks for it."""

import contextlib
import math
import signal
import threading
import time
from typing import Self

# Signals within so many seconds are one.
_TOGETHER = 0.5


# No error, and so without the ending.
class Interrupted(Exception):  # noqa: N818
    """A sweep was asked to stop; if it is saved at all, it can be resumed from here."""


class StopOnSignals(contextlib.ExitStack):
    """Says stop after SIGINT or SIGTERM, while a ``with`` block runs; give it to ``run``.

    A second signal ends the block at once, by KeyboardInterrupt, unless it comes together with the
    first, as those of ``timeout`` do; ``at_once`` the first one does. Outside of the main thread,
    which alone may listen, nothing ever says stop.

    Attributes:
        received: The number of the signal, or None.
        is_heard: Has ``run`` been told?

    >>> import os
    >>> with StopOnSignals() as stop:
    ...     before = stop()
    ...     os.kill(os.getpid(), signal.SIGTERM)
    ...     before, stop(), stop.received == signal.SIGTERM
    (False, True, True)
    """

    def __init__(self, at_once: bool = False) -> None:
        super().__init__()
        self.received: int | None = None
        self.is_heard, self._ends_at = False, -math.inf if at_once else math.inf

    def __call__(self) -> bool:
        """Has there been a signal?"""
        self.is_heard = self.received is not None
        return self.is_heard

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                handler = signal.signal(number, self._receive)
                # None: it was not installed from Python.
                self.callback(signal.signal, number, handler or signal.SIG_DFL)
        return self

    def _receive(self, number: int, _: object) -> None:
        self.received, now = number, time.monotonic()
        self._ends_at = min(self._ends_at, now + _TOGETHER)
        if now > self._ends_at:
            raise KeyboardInterrupt
