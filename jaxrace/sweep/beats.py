"""Signs of life: every host writes a small file now and then, which the others read."""

import contextlib
import json
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

from jaxrace import files
from jaxrace.sweep.hosts import Hosts
from jaxrace.sweep.stopping import HostLost, Interrupted

# Seconds between two of them, and between two looks at those of others.
_EVERY = 1.0

# Host 0 makes the folder; until it is there the others wait so many times their patience.
_PATIENCE_AT_FIRST = 1.5

_WORKS, _DONE, _STOPPED = "works", "done", "stopped"


class Beats:
    """The signs of life of the hosts that do something together; a context manager.

    Entering, host 0 writes its first one; the others wait for it, and know then that the folder
    is what host 0 has made of it.

    Args:
        folder: Where they are; every host sees it.
        hosts: Which host this is.
        facts: What has to be the same on all hosts, as JSON has it.
        stop: Called while this host waits for others; once it says so, it waits no more.

    Raises:
        HostLost: On entry: there is none of host 0.
        ValueError: On entry, or later: another host has other facts.
        Interrupted: On entry: ``stop`` said so.

    >>> with Beats("beats", Hosts(index=0, count=1, meeting=5)) as beats:
    ...     beats.finish({"rows": 3})
    ...     beats.wait_for_all()
    [{'rows': 3}]
    """

    def __init__(
        self,
        folder: str | Path,
        hosts: Hosts,
        facts: Mapping[str, Any] | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> None:
        self._folder = Path(folder)
        self._hosts = hosts
        self._stop = stop
        self._facts = json.loads(json.dumps(dict(facts or {})))
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._beat, daemon=True)
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._content: dict[str, Any] = {"state": _WORKS, "beat": 0, "ended": 0}
        self._seen: dict[int, tuple[Any, float]] = {}
        self._looked_at = 0.0
        self.lost: str | None = None

    def __enter__(self) -> Self:
        if self._hosts.index == 0:
            self._folder.mkdir(parents=True, exist_ok=True)
        else:
            first = self._wait_for_first()
            try:
                self._require_same_facts(0, first)
            except ValueError:
                self._write(state=_STOPPED)
                raise
        self._write()
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        self._ended.set()
        self._thread.join()
        if kind is not None:
            with contextlib.suppress(OSError):  # there is a first error
                self._write(state=_STOPPED)

    def tell(self, ended: int) -> int:
        """Let the others know how many jobs have ended here; returns how many have on all hosts.

        What others tell is a few seconds old.
        """
        with self._lock:
            self._content["ended"] = ended
        return ended + sum(content.get("ended", 0) for content, _ in self._seen.values())

    def are_lost(self) -> bool:
        """Has another host died or stopped? ``lost`` is then a sentence that names it.

        Raises:
            ValueError: Another host has other facts.
            OSError: This host's own signs of life cannot be written.
        """
        if self._error is not None:
            raise self._error
        now = time.monotonic()
        if self.lost is None and now - self._looked_at >= _EVERY:
            self._looked_at = now
            self.lost = next(filter(None, map(self._found_lost, self._others())), None)
        return self.lost is not None

    def check(self) -> None:
        """Raise HostLost if another host has died or stopped."""
        if self.are_lost():
            raise HostLost(self.lost)

    def finish(self, report: Mapping[str, Any]) -> None:
        """Tell the others that this host has nothing left to do, and what it has done."""
        self._write(state=_DONE, report=dict(report))

    def wait_for_all(self) -> list[dict[str, Any]]:
        """Wait until all have finished; returns the report of every host.

        Raises:
            HostLost: One has died or stopped.
            Interrupted: ``stop`` said so.
        """
        while True:
            found = [self._read(index) for index in range(self._hosts.count)]
            if all(content.get("state") == _DONE for content in found):
                return [content["report"] for content in found]
            self.check()
            self._wait_a_little()

    def _wait_a_little(self) -> None:
        if self._stop is not None and self._stop():
            raise Interrupted
        time.sleep(_EVERY / 10)

    def _require_same_facts(self, index: int, content: Mapping[str, Any]) -> None:
        for name, own in self._facts.items():
            if (found := content["facts"].get(name)) != own:
                raise ValueError(f"hosts: expected {name} = {own!r}, host {index} has {found!r}")

    def _others(self) -> list[int]:
        return [index for index in range(self._hosts.count) if index != self._hosts.index]

    def _found_lost(self, index: int) -> str | None:
        content = self._read(index)
        if content:
            self._require_same_facts(index, content)
        if content.get("state") == _STOPPED:
            return (
                f"host {index} has stopped: what the others have done is saved and can be resumed"
            )
        now = time.monotonic()
        last, since = self._seen.setdefault(index, (content, now))
        if content != last:
            self._seen[index] = content, now
        elif content.get("state") != _DONE and now - since > self._hosts.patience:
            return (
                f"host {index} has given no sign of life for {self._hosts.patience:g} seconds: "
                "what the others have done is saved and can be resumed"
            )
        return None

    def _wait_for_first(self) -> dict[str, Any]:
        """What host 0 has written first."""
        patience = _PATIENCE_AT_FIRST * self._hosts.patience
        last = time.monotonic() + patience
        while not (content := self._read(0)):
            if time.monotonic() > last:
                raise HostLost(
                    f"host 0 has not begun in {self._folder} for {patience:g} seconds: it has "
                    "stopped, and says why, or that is no folder that all hosts see"
                )
            self._wait_a_little()
        return content

    def _beat(self) -> None:
        while not self._ended.wait(_EVERY):
            try:
                self._write()
            except OSError as error:  # a full disk; the others are not to blame
                self._error = error

    def _write(self, **changes: Any) -> None:
        with self._lock:
            beat = self._content["beat"] + 1
            self._content = {**self._content, **changes, "beat": beat}
            own = {"meeting": self._hosts.meeting, "facts": self._facts}
            text = json.dumps({**self._content, **own})
            files.write_file(self._path(self._hosts.index), text.encode())

    def _read(self, index: int) -> dict[str, Any]:
        """What a host has written in this meeting; nothing if there is nothing."""
        try:
            content = json.loads(self._path(index).read_text("utf-8"))
        except (OSError, ValueError):  # not there, or being replaced on a network's disk
            return {}
        return content if content["meeting"] == self._hosts.meeting else {}

    def _path(self, index: int) -> Path:
        return self._folder / f"host-{index}.json"
