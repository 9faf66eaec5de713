"""Ending a sweep when the system asks for it."""

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Self


# No error, and so without the ending.
class Interrupted(Exception):  # noqa: N818
    """A sweep was asked to stop; if it is saved at all, it can be resumed from here."""


class HostLost(RuntimeError):  # noqa: N818
    """Another host has died or stopped; what this one has done is saved."""


class StopOnSignals:
    """Says stop after SIGINT or SIGTERM, while a ``with`` block runs; give it to ``run``.

    A second signal ends the block at once, by KeyboardInterrupt. Outside of the main thread,
    which alone may listen, nothing ever says stop.

    Attributes:
        received: The number of the signal, or None.

    >>> import os
    >>> with StopOnSignals() as stop:
    ...     before = stop()
    ...     os.kill(os.getpid(), signal.SIGTERM)
    ...     before, stop(), stop.received == signal.SIGTERM
    (False, True, True)
    """

    def __init__(self) -> None:
        self.received: int | None = None
        self._handlers: dict[signal.Signals, Callable[..., Any] | int | None] = {}

    def __call__(self) -> bool:
        """Has there been a signal?"""
        return self.received is not None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._handlers[number] = signal.signal(number, self._receive)
        return self

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._handlers.items():
            # None: it was not installed from Python.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        del frame
        if self.received is not None:
            raise KeyboardInterrupt
        self.received = number
