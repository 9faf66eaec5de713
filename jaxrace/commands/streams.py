"""What the command prints to: it may be full, closed, or read no further."""

import io
import os
import sys
from typing import Any


class _Lasting(io.RawIOBase):
    """Drops what cannot be written for some reasons; of the others the first one is raised."""

    def __init__(self, raw: Any, dropped: type[OSError]) -> None:
        self._raw, self._dropped = raw, dropped

    def write(self, data: Any) -> int:
        try:
            return self._raw.write(data)
        except self._dropped:
            return len(data)
        except OSError:
            self._dropped = OSError  # it has been said: the end of the process flushes again
            raise

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._raw.isatty()

    def fileno(self) -> int:
        return self._raw.fileno()


def let_streams_last() -> None:
    """Who stops reading the answer does not change the status; what is said beside it ends no job.

    What the encoding of a stream lacks is escaped.
    """
    # What is closed would be the next file that is opened, and ``print`` would write to that.
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
