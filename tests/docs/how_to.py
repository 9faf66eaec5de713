"""Pages of docs/how-to: what they run, and what comes out.

python tests/docs/how_to.py [PAGE ...]    runs them and writes what came out, pictures as well
"""

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from without_cache import without_cache

if TYPE_CHECKING:
    from PIL.Image import Image

CHECKOUT = Path(__file__).parents[2]
FOLDER = CHECKOUT / "docs" / "how-to"
PAGES = tuple(sorted(path.stem for path in FOLDER.glob("[0-9]*.md")))

# A block of Python or a line of commands, and what it prints: the indented lines below it.
BLOCK = re.compile(
    r"^(?:```python\n(?P<code>.*?)^```\n"
    r"| {4}(?P<command>(?:python (?:docs|bench)/|jaxrace )[^\n]*)\n)"
    r"(?:\n(?P<shown>(?: {4}[^\n]*\n(?:\n(?= {4}))*)+))?",
    re.DOTALL | re.MULTILINE,
)
# The first line of Python that is a file, too; a line of `jaxrace train` that differs each time.
FILE, TIMES = re.compile(r"# (?P<name>\w+\.py)\n"), re.compile(r"(?:compile|run) [\d.]+ s, ")
_ENDS = (0, 1, 3)  # of `jaxrace race`: certified, or not yet; of a gate 1: rejected


# The picture that a page shows: its text for those who do not see it, and its file.
PICTURE = re.compile(r"^!\[(?P<told>[^\]]+)\]\((?P<file>figures/[^)]+)\)$", re.MULTILINE)
_HERE = "--here"  # a page in the current folder and in this process
_COLOURS = 64  # of a picture: less than half of its bytes, and the same to the eye


class Ran(NamedTuple):
    """A block of a page."""

    block: re.Match[str]
    printed: str

    @property
    def shown(self) -> str | None:
        """What the page says that it prints, if it says so."""
        return None if self.block["shown"] is None else textwrap.dedent(self.block["shown"])


def page(name: str) -> str:
    """Its text."""
    return (FOLDER / f"{name}.md").read_text("utf-8")


def ran(name: str) -> Iterator[Ran]:
    """Run a page in the current folder."""
    return ran_text(name, page(name))


def ran_text(name: str, text: str) -> Iterator[Ran]:
    """Run what a page consists of in the current folder."""
    namespace: dict[str, Any] = {"__name__": "page"}
    for block in BLOCK.finditer(text):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            if block["code"]:
                if file := FILE.match(block["code"]):
                    Path(file["name"]).write_text(block["code"], "utf-8")
                exec(compile(block["code"], name, "exec"), namespace)
            else:
                for command in block["command"].split(" && "):
                    _run(command.split())
        lines = [line.rstrip() for line in printed.getvalue().splitlines()]
        yield Ran(block, "".join(f"{line}\n" for line in lines if not TIMES.match(line)))


def _run(words: list[str]) -> None:
    """A command, in this process."""
    if words[0] == "python" and words[1].startswith("bench/"):
        call = [sys.executable, str(CHECKOUT / words[1]), *words[2:]]
        print(subprocess.run(call, stdout=subprocess.PIPE, text=True, check=True).stdout, end="")
    elif words[0] == "python":
        make_module().make(words[2], Path.cwd())
    elif words[0] == "head":
        lines = Path(words[2]).read_text("utf-8").splitlines()
        print(*lines[: int(words[1].removeprefix("-"))], sep="\n")
    else:
        from jaxrace.commands.cli import main

        status = main(without_cache(words[1:]))
        if status not in _ENDS:
            raise ValueError(f"expected {_ENDS} of {' '.join(words)}, got {status}")


def make_module() -> Any:
    """The script that makes the files."""
    spec = spec_from_file_location("make", FOLDER / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def with_what_came_out(text: str, blocks: Iterator[Ran]) -> str:
    """A page that shows what it prints."""
    parts, end = [], 0
    for one in blocks:
        if one.shown is not None:
            start, stop = one.block.span("shown")
            parts += [text[end:start], textwrap.indent(one.printed.rstrip() + "\n", " " * 4)]
            end = stop
    return "".join([*parts, text[end:]])


def picture_file(name: str) -> Path:
    """Where the picture of a page is kept."""
    return FOLDER / "figures" / f"{name[:2]}.png"


def picture(folder: Path) -> "Image":
    """What a page that ran in a folder has drawn, in few colours; its one PNG."""
    from PIL import Image

    (drawn,) = folder.rglob("*.png")
    with Image.open(drawn) as found:
        return found.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)


def _write(name: str) -> None:
    text = with_what_came_out(page(name), ran(name))
    (FOLDER / f"{name}.md").write_text(text, "utf-8")
    if PICTURE.search(text):
        picture(Path.cwd()).save(picture_file(name), optimize=True)


def main() -> None:
    """Write what comes out: each page in a folder and a process of its own."""
    if sys.argv[1:2] == [_HERE]:
        _write(sys.argv[2])
        print(f"{time.process_time():.1f} processor seconds  {sys.argv[2]}")
        return
    for name in sys.argv[1:] or PAGES:
        with tempfile.TemporaryDirectory() as folder:
            path = os.pathsep.join([str(FOLDER.parents[1]), os.environ.get("PYTHONPATH", "")])
            own = os.environ | {"PYTHONPATH": path, "MPLBACKEND": "agg"}
            subprocess.run([sys.executable, __file__, _HERE, name], cwd=folder, env=own, check=True)


if __name__ == "__main__":
    main()
