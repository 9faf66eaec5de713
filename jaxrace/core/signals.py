"""Signals that ask a process to stop; imports no JAX."""

import contextlib
import math
import signal
import threading
import time
from typing import Self

_HANGUP = getattr(signal, "SIGHUP", None)  # not on every system
STOPS = tuple(one for one in (signal.SIGINT, signal.SIGTERM, _HANGUP) if one is not None)


class StopOnSignals(contextlib.ExitStack):
    """A ``stop`` for ``sweep.run``: says stop after one of ``STOPS``, while a ``with`` block runs.

    A second signal ends the block by KeyboardInterrupt, unless it comes together with the first, as
    those of ``timeout`` do. ``at_once`` the first one ends it. Only the main thread hears signals.

    >>> import os
    >>> with StopOnSignals() as stop:
    ...     before = stop()
    ...     os.kill(os.getpid(), signal.SIGTERM)
    ...     before, stop(), stop.received == signal.SIGTERM
    (False, True, True)
    """

    def __init__(self, at_once: bool = False) -> None:
        super().__init__()
        self.received: int | None = None  # the number of the signal
        self.is_heard = False  # has the caller been told?
        self._ends_at = -math.inf if at_once else math.inf

    def __call__(self) -> bool:
        """Has there been a signal?"""
        self.is_heard = self.received is not None
        return self.is_heard

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in STOPS:
                if number == _HANGUP and signal.getsignal(number) == signal.SIG_IGN:
                    continue  # ``nohup``
                handler = signal.signal(number, self._receive)  # None if not from Python
                self.callback(signal.signal, number, handler or signal.SIG_DFL)
        return self

    def _receive(self, number: int, _: object) -> None:
        self.received, now = number, time.monotonic()
        self._ends_at = min(self._ends_at, now + 0.5)  # until then they are one signal
        if now > self._ends_at:
            raise KeyboardInterrupt(number)
