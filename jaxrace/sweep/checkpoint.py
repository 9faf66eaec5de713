"""What a sweep keeps on disk, so that it goes on as if it had never stopped.

A folder holds ``rows-N.npz``, the rows of finished steps, and orbax checkpoints of the lanes in
flight. A checkpoint counts when it is there as a whole, and with it the files of rows that it
names; what came after it is computed again, bit for bit.
"""

import contextlib
import dataclasses
import json
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from jaxrace import runs
from jaxrace.sweep.facts import digest
from jaxrace.sweep.hosts import Hosts
from jaxrace.sweep.snapshot import Snapshot
from jaxrace.sweep.stopping import HostLost, Interrupted
from jaxrace.validation import require_number

_LANES, _HOST = "lanes", "host"

# Seconds after a first error in which others come.
_LATE = 0.2


@dataclasses.dataclass(frozen=True)
class Checkpoints:
    """Where and when a sweep is saved.

    Attributes:
        folder: Made if it is not there.
        config: What the sweep was asked to do, as JSON has it: one of another configuration is
            not resumed.
        every: Seconds between checkpoints.
        resume: Go on from the last checkpoint; without one, begin.

    Raises:
        ValueError: ``every`` is negative, or ``config`` is no JSON.

    >>> Checkpoints("runs/grid/checkpoint", {"seed": 0}).every
    30.0
    """

    folder: str | Path
    config: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    every: float = 30.0
    resume: bool = False

    def __post_init__(self) -> None:
        require_number("every", self.every, least=0)
        try:
            json.dumps(dict(self.config))
        except (TypeError, ValueError) as error:
            raise ValueError(f"config: expected what JSON can hold, got {error}") from error


class Saver:
    """Writes and reads the checkpoints of one sweep; a context manager.

    Args:
        checkpoints: Where and when.
        facts: What has to be the same when it is resumed.

    Raises:
        ValueError: On entry: another process works on the folder, or it holds a checkpoint and
            ``resume`` is not set.
        OSError: On leaving: the last checkpoint could not be written.
    """

    def __init__(self, checkpoints: Checkpoints, facts: Mapping[str, Any]) -> None:
        self._checkpoints = checkpoints
        self._identity = json.loads(json.dumps({**facts, "config": dict(checkpoints.config)}))
        self._opened = contextlib.ExitStack()
        self.folder = Path(checkpoints.folder).absolute()
        self.every = checkpoints.every

    def __enter__(self) -> Self:
        # It starts a backend, and takes most of a second.
        import orbax.checkpoint as ocp

        from jaxrace.sweep.durable import DurablePath

        self._args = ocp.args
        self.folder.mkdir(parents=True, exist_ok=True)
        options = ocp.CheckpointManagerOptions(
            max_to_keep=2, cleanup_tmp_directories=True, temporary_path_class=DurablePath
        )
        with contextlib.ExitStack() as opened:
            opened.enter_context(runs.locked(self.folder))
            self._manager = ocp.CheckpointManager(self.folder / _LANES, options=options)
            opened.callback(self._manager.close)
            self._last = self._manager.latest_step()
            if self._last is not None and not self._checkpoints.resume:
                raise ValueError(
                    f"folder: expected no checkpoint in '{self._checkpoints.folder}', "
                    "or resume=True"
                )
            self._opened = opened.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        try:
            self._opened.close()
        except Exception as error:
            if kind is None or issubclass(
                kind, Interrupted | HostLost
            ):  # else there is a first error
                raise self._unwritten(error) from error

    def load(self) -> Snapshot | None:
        """The last checkpoint, if there is one.

        Raises:
            ValueError: It is damaged, or of another sweep.
        """
        if self._last is None:
            return None
        args = self._args
        wanted = args.Composite(**{_LANES: args.StandardRestore(), _HOST: args.JsonRestore()})
        try:
            with _one_error():
                found = self._manager.restore(self._last, args=wanted)
            arrays, facts = dict(found[_LANES]), found[_HOST]
            intact = facts.pop("digest") == digest(arrays, facts)
        except Exception as error:  # whatever orbax or tensorstore make of it
            raise self._damaged(_first_line(error)) from error
        if not intact:
            raise self._damaged("its checksum does not fit")
        _require_same(facts.pop("identity"), self._identity)
        return Snapshot(arrays, facts)

    def save(self, snapshot: Snapshot) -> None:
        """Begin to write a checkpoint; waits for the one before.

        Raises:
            OSError: The one before could not be written.
        """
        arrays = {name: x for name, x in snapshot.arrays.items() if x.size}
        facts = {**snapshot.facts, "identity": self._identity}
        facts["digest"] = digest(arrays, facts)
        args = self._args
        content = args.Composite(**{_LANES: args.StandardSave(arrays), _HOST: args.JsonSave(facts)})
        self._last = 0 if self._last is None else self._last + 1
        try:
            self._manager.save(self._last, args=content)
        except Exception as error:  # tensorstore's of a full disk is a ValueError
            raise self._unwritten(error) from error

    def _damaged(self, how: str) -> ValueError:
        folder = self.folder / _LANES / str(self._last)
        return ValueError(
            f"checkpoint: {folder} is damaged: {how}; without that folder, the one before counts"
        )

    def _unwritten(self, error: Exception) -> OSError:
        return OSError(f"checkpoint: cannot write to {self.folder}: {_first_line(error)}")


def is_saved(folder: str | Path) -> bool:
    """Is there a whole checkpoint in the folder of a sweep, of any of its hosts?

    >>> is_saved(".")
    False
    """
    return any(map(_is_whole, (Path(folder), *Path(folder).glob("host-*"))))


def _is_whole(folder: Path) -> bool:
    # orbax gives a checkpoint its number when all of it is there.
    lanes = folder / _LANES
    return lanes.is_dir() and any(path.name.isdigit() for path in lanes.iterdir())


def folders_of(folder: str | Path, hosts: Hosts) -> list[Path]:
    """Where each host saves its share.

    Raises:
        ValueError: The sweep has been saved by another number of hosts.

    >>> [path.name for path in folders_of("grid", Hosts(index=0, count=2, meeting=5))]
    ['host-0', 'host-1']
    """
    shared = Path(folder).absolute()
    own = (
        [shared / f"host-{index}" for index in range(hosts.count)] if hosts.count > 1 else [shared]
    )
    if any(_is_whole(found) for found in (shared, *shared.glob("host-*")) if found not in own):
        raise ValueError(
            f"hosts: expected as many as when the sweep in '{folder}' began, got {hosts.count}"
        )
    return own


def _require_same(found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    for name in expected:
        if found.get(name) == expected[name]:
            continue
        if isinstance(expected[name], dict) and isinstance(found.get(name), dict):
            _require_same(found[name], expected[name])
        raise ValueError(
            f"checkpoint: expected one with {name} = {expected[name]!r}, got {found.get(name)!r}"
        )
    if extra := sorted(set(found) - set(expected)):
        raise ValueError(f"checkpoint: expected one without {extra[0]}, got {found[extra[0]]!r}")


def _first_line(error: Exception) -> str:
    line = (str(error).splitlines() or [type(error).__name__])[0]
    return line.partition(" [tensorstore_spec=")[0]  # pages of settings


@contextlib.contextmanager
def _one_error() -> Iterator[None]:
    """Where orbax reads many arrays, the first error is raised, and the others are not printed.

    They find the loop closed that was waiting for them.
    """
    before = sys.unraisablehook

    def print_unless_late(unraisable: Any) -> None:
        if "Event loop is closed" not in str(unraisable.exc_value):
            before(unraisable)

    sys.unraisablehook = print_unless_late
    try:
        yield
    except Exception:
        time.sleep(_LATE)
        raise
    finally:
        sys.unraisablehook = before
