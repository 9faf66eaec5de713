"""The option `--hosts` of the command."""

from argparse import ArgumentTypeError
from typing import Any

# What the option is without a value.
DETECTED = "detected"


def parse_hosts(given: Any) -> tuple[str, int, int] | tuple[()] | None:
    """Address, count and index; nothing of them if they are to be found out.

    >>> parse_hosts("10.0.0.1:1234,2,0"), parse_hosts(DETECTED)
    (('10.0.0.1:1234', 2, 0), ())
    """
    if given is None or not isinstance(given, str):  # a default
        return given
    if given == DETECTED:
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
