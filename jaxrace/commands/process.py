"""The process of the command: its streams, and how it ends if it takes no notice of a signal."""

import contextlib
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from jaxrace.core.signals import STOPS, StopOnSignals

# Seconds after a signal until the block has ended, or heard that it should; and until one that has
# heard is saved.
_PATIENCE, _PATIENCE_TO_SAVE = 6.0, 60.0


@contextlib.contextmanager
def giving_up(stop: StopOnSignals, give_up: Callable[[int], None]) -> Iterator[None]:
    """Call ``give_up`` with a signal's number, in another thread, if the block goes on too long.

    While a program is compiled, or a library computes, Python runs no handler and raises nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
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
    """End the process now: the interpreter's own end would wait for programs of XLA, or abort."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status)


class _Lasting(io.RawIOBase):
    """Drops what cannot be written for some reasons; of the others the first one is raised."""

    def __init__(self, raw: Any, dropped: type[OSError]) -> None:
        self._raw, self._dropped = raw, dropped
        self.isatty, self.fileno = raw.isatty, raw.fileno

    def write(self, data: Any) -> int:
        try:
            return self._raw.write(data)
        except self._dropped:
            return len(data)
        except OSError:
            self._dropped = OSError  # said once: the end of the process flushes again
            raise

    def writable(self) -> bool:
        return True


def let_streams_last() -> None:
    """A reader who stops does not change the status, a closed stderr ends no job.

    What the encoding of a stream lacks is escaped.
    """
    # The next file that is opened would take the number of a closed stream, and get its text.
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    for name, dropped in (("stdout", BrokenPipeError), ("stderr", OSError)):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            raw = _Lasting(getattr(stream.buffer, "raw", stream.buffer), dropped)
            written = io.TextIOWrapper(
                io.BufferedWriter(raw),
                encoding=stream.encoding,
                errors="backslashreplace",
                line_buffering=stream.line_buffering,
            )
            setattr(sys, name, written)
