"""Ending a command that takes no notice of a signal.

As long as a program is compiled, or a library computes, Python runs no handler and raises nothing.
"""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import NoReturn, Protocol

# Seconds after a signal in which the block has to end, or to hear that it should stop; and in which
# one that has heard has to be saved.
_PATIENCE, _PATIENCE_TO_SAVE = 6.0, 60.0


class Stop(Protocol):
    """Such as ``sweep.StopOnSignals``."""

    is_heard: bool


@contextlib.contextmanager
def giving_up(stop: Stop, give_up: Callable[[int], None]) -> Iterator[None]:
    """Call ``give_up`` with a signal's number, in another thread, if the block goes on too long."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    from jaxrace.sweep.engine import STOPS  # late: it imports JAX

    ended = threading.Event()

    def watch() -> None:
        while (byte := os.read(read, 1)) and byte[0] not in STOPS:
            pass
        has_ended = not byte or ended.wait(_PATIENCE)
        if not has_ended and stop.is_heard:
            has_ended = ended.wait(_PATIENCE_TO_SAVE)
        if not has_ended:
            give_up(byte[0])
        os.close(read)

    # The system's own handler writes to the pipe, whatever Python waits for.
    read, written = os.pipe()
    os.set_blocking(written, False)
    before = signal.set_wakeup_fd(written)
    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(written)
        ended.set()


def leave(status: int) -> NoReturn:
    """End the process now, whatever still runs in it.

    The interpreter's own end waits for programs of XLA, or aborts the process if a thread is
    inside of one.
    """
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status)
