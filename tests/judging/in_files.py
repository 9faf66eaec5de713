"""Tables in files that are there for one call, and commands that read them."""

import tempfile
from pathlib import Path

from without_cache import without_cache

from jaxrace.commands.cli import main

HEAD = "trajectory,x,action,probability,reward"  # of a log


def in_file(text, use, name="table.csv"):
    """What is made of a file, which is there no longer."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        if callable(text):
            text(path)
        else:
            path.write_text(text)
        return use(path)


def command(folder, *arguments):
    """The status, and whether anything is left."""
    out = Path(folder) / "run"
    return main(without_cache([*arguments, "--out", str(out)])), out.exists()
