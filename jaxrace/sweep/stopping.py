"""Ending a sweep when the system asks for it."""

import os
import signal
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, Self

# Seconds after a signal in which a block has to end, or to ask whether it should; and in which one
# that has asked has to be saved.
_PATIENCE, _PATIENCE_TO_SAVE = 6.0, 60.0

# Signals within so many seconds are one.
_TOGETHER = 0.5


# No error, and so without the ending.
class Interrupted(Exception):  # noqa: N818
    """A sweep was asked to stop; if it is saved at all, it can be resumed from here."""


class HostLost(RuntimeError):  # noqa: N818
    """Another host has died or stopped; what this one has done is saved."""


class StopOnSignals:
    """Says stop after SIGINT or SIGTERM, while a ``with`` block runs; give it to ``run``.

    A second signal ends the block at once, by KeyboardInterrupt, unless it comes together with the
    first, as those of ``timeout`` do. Outside of the main thread, which alone may listen, nothing
    ever says stop.

    Args:
        at_once: The first signal, too, ends the block: nothing of it can be saved.
        give_up: Called with the number of the signal, in another thread, if the block neither ends
            nor asks whether it should within six seconds. As long as a program is compiled, Python
            does not run, and so raises nothing.

    Attributes:
        received: The number of the signal, or None.

    >>> with StopOnSignals() as stop:
    ...     before = stop()
    ...     os.kill(os.getpid(), signal.SIGTERM)
    ...     before, stop(), stop.received == signal.SIGTERM
    (False, True, True)
    """

    def __init__(self, at_once: bool = False, give_up: Callable[[int], None] | None = None) -> None:
        self.received: int | None = None
        self._at_once = at_once
        self._give_up = give_up
        self._first_at = 0.0
        self._has_asked = False
        self._ended = threading.Event()
        self._handlers: dict[signal.Signals, Callable[..., Any] | int | None] = {}
        # The end of a pipe to which the system's own handler writes, whatever Python waits for.
        self._written: int | None = None
        self._written_before = -1

    def __call__(self) -> bool:
        """Has there been a signal?"""
        self._has_asked = self.received is not None
        return self._has_asked

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._handlers[number] = signal.signal(number, self._receive)
            if self._give_up is not None:
                read, self._written = os.pipe()
                os.set_blocking(self._written, False)
                self._written_before = signal.set_wakeup_fd(self._written)
                watch = threading.Thread(target=self._watch, args=(read, self._give_up))
                watch.daemon = True
                watch.start()
        return self

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._handlers.items():
            # None: it was not installed from Python.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        if self._written is not None:
            signal.set_wakeup_fd(self._written_before)
            os.close(self._written)
        self._ended.set()

    def _receive(self, number: int, frame: FrameType | None) -> None:
        del frame
        now = time.monotonic()
        self._first_at = now if self.received is None else self._first_at
        self.received = number
        if self._at_once or now - self._first_at > _TOGETHER:
            raise KeyboardInterrupt

    def _watch(self, read: int, give_up: Callable[[int], None]) -> None:
        """Wait for a signal, and then for the end of the block."""
        while (byte := os.read(read, 1)) and byte[0] not in self._handlers:
            pass
        has_ended = not byte or self._ended.wait(_PATIENCE)
        if not has_ended and self._has_asked:
            has_ended = self._ended.wait(_PATIENCE_TO_SAVE)
        if not has_ended:
            give_up(byte[0])
        os.close(read)
