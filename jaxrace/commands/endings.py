"""How the command ends: errors, warnings and signals. Imports nothing heavy."""

import os
import sys
from pathlib import Path
from typing import NoReturn


def fail(status: int, message: str) -> int:
    """Print why the command ends, in a line; returns the status."""
    note("error", " ".join(message.split()))
    return status


def note(kind: str, text: str) -> None:
    """Print a line of some kind, such as a warning, where errors go."""
    from jaxrace.commands.printing import shown  # late: it imports rich

    print(f"jaxrace: {kind}:", shown(text), file=sys.stderr)


def interrupted(signal: int | None, where: BaseException | Path | None) -> int:
    """Print that the command was interrupted, and how it goes on, if a folder is known."""
    if where is None or not str(where):
        return fail(128 + (signal or 2), "interrupted")
    again = f"the same command with --out {where} --resume goes on"
    return fail(128 + (signal or 0), f"interrupted; {again}")


def give_up(signal: int) -> NoReturn:
    """End the process after a signal of which it takes no notice; called in another thread."""
    from rich.console import Console

    from jaxrace import runs

    Console(stderr=True).show_cursor()  # that a bar has hidden
    status = interrupted(signal, runs.let_go())
    sys.stderr.flush()
    os._exit(status)
