"""Options of the command that say where and how wide a job runs, not what it does."""

import dataclasses
import os
from argparse import ArgumentTypeError
from collections.abc import Mapping
from typing import Any

from jaxrace.validation import require_integer


@dataclasses.dataclass(frozen=True)
class Lanes:
    """How wide the sweeps of a job are to be."""

    lanes: int | None = None  # W, lanes of a block; None for what the sweep chooses
    blocks: int | None = None  # most blocks; None for what the sweep chooses

    def __post_init__(self) -> None:
        for name, value in self._asked():
            require_integer(name, value, 1, _MOST)

    def instead_of(self, default: Mapping[str, int]) -> dict[str, int]:
        """The sizes of a sweep: what was asked for, and where nothing was, the default."""
        asked = {_SIZES[name]: value for name, value in self._asked()}
        return {name: asked.get(name, default[name]) for name in _SIZES.values()}

    def require(self, found: Mapping[str, int], folder: str | os.PathLike[str]) -> None:
        """Raise ValueError unless a sweep that began with ``found`` can go on as asked."""
        for name, value in self._asked():
            if value != found[_SIZES[name]]:
                raise ValueError(
                    f"{name}: expected {found[_SIZES[name]]} as in '{folder}', got {value}"
                )

    def _asked(self) -> list[tuple[str, int]]:
        found = ((name, getattr(self, name)) for name in _SIZES)
        return [(name, value) for name, value in found if value is not None]


_MOST = 10**6  # no device has more than some thousands
_SIZES = {"lanes": "width", "blocks": "num_blocks"}  # what ``sweep.run`` calls them
ANY_LANES = Lanes()


def add_run_options(parser: Any, default: str, has_sweeps: bool = True) -> None:
    """Where a run goes, whether it goes on, how wide its sweeps are, and how it is compiled."""
    parser.add_argument(
        "--out",
        metavar="DIR",
        help=f"new or empty folder for what the run leaves (default: {default})",
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="go on with the run in --out, which was interrupted; the other options as they were",
    )
    if has_sweeps:
        parser.add_argument(
            "--lanes",
            type=int,
            metavar="W",
            help="jobs of a block that advance together (default: by memory and device); "
            "rounding depends on it",
        )
        parser.add_argument(
            "--blocks",
            type=int,
            metavar="N",
            help="blocks that advance independently of each other (default: by cores and devices)",
        )
    parser.add_argument(
        "--no-compilation-cache",
        action="store_true",
        help="neither read nor write compiled programs in the user's cache folder",
    )


def taken_from(settings: dict[str, Any]) -> Lanes:
    """The lanes of parsed options, if there are any, which are removed from them."""
    return Lanes(settings.pop("lanes", None), settings.pop("blocks", None))


_DETECTED = "detected"  # what ``--hosts`` is without a value


def add_hosts(parser: Any) -> None:
    """Which of several hosts this is."""
    parser.add_argument(
        "--hosts",
        nargs="?",
        const=_DETECTED,
        type=_parse_hosts,
        metavar="ADDRESS,COUNT,INDEX",
        help="share the searches with other hosts that run the same command: address and free port "
        "of the first, their number, and which this is, from 0; alone, what Slurm or Open MPI say",
    )


def _parse_hosts(given: Any) -> tuple[str, int, int] | tuple[()] | None:
    """Address, count and index; nothing of them if they are to be found out."""
    if given is None or not isinstance(given, str):  # a default
        return given
    if given == _DETECTED:
        return ()
    try:
        address, count, index = given.split(",")
        _, port = address.split(":")
        if int(port) > 0 and 0 <= int(index) < int(count):
            return address, int(count), int(index)
    except ValueError:
        pass
    raise ArgumentTypeError(
        f"expected an address with a port, a count and an index below it, got {given!r}"
    )
