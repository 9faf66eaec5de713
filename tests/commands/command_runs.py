"""Commands in an empty folder of their own, and what they leave."""

import contextlib
import dataclasses
import io
import json
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from without_cache import without_cache

import papers.duels.__main__
from jaxrace.commands.cli import main


@dataclasses.dataclass(frozen=True)
class Ran:
    """What a command has left."""

    status: int
    out: str
    err: str
    files: dict[str, bytes]

    @property
    def summary(self) -> dict[str, Any]:
        return json.loads(self.files["d/summary.json"])


def table(rows, head="a,b,c\n"):
    return head + "".join(",".join(f"{x:.6f}" for x in row) + "\n" for row in rows)


def ran(command: str, files: Mapping[str, Any] = {}, *words: str) -> Ran:
    """Run a command in an empty folder with some files; folders of them are made."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name, content in files.items():
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, np.ndarray):
                np.save(name, content)
            else:
                data = content if isinstance(content, bytes) else content.encode()
                Path(name).write_bytes(data)
        said = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(said[0]), contextlib.redirect_stderr(said[1]):
            verb, *options = [*command.split(), *words]
            if verb == "papers.duels":
                status = papers.duels.__main__.main([*options, "--no-compilation-cache"])
            else:
                status = main(without_cache([verb, *options]))
        paths = [path for path in Path().rglob("*") if path.is_file()]
        left = {path.as_posix(): path.read_bytes() for path in paths}
        return Ran(status, said[0].getvalue(), said[1].getvalue(), left)


def refused(command: str, files: Mapping[str, Any] = {}, *words: str):
    """Raises what is said in one line; nothing is printed else, and nothing is left behind."""
    found = ran(command, files, *words)
    assert (found.status, found.out) == (4 if "DATA REFUSED" in found.err else 2, "")
    assert found.files.keys() == files.keys()
    assert found.err.count("\n") == 1
    raise ValueError(re.sub(r"^jaxrace: (error|DATA REFUSED): ", "", found.err))


def raced(options, text):
    """What a race says as JSON."""
    return json.loads(ran(f"race s.csv --json {options}", {"s.csv": text}).out)
