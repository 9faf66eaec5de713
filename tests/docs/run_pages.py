"""The pages that strangers read first: all of their commands and Python are run.

python tests/docs/run_pages.py [PAGE ...]    runs them and writes what came out, such as start
"""

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import how_to

DOCS = how_to.CHECKOUT / "docs"
PAGES = tuple(
    path.relative_to(DOCS).as_posix().removesuffix(".md")
    for path in (
        *(DOCS / f"{name}.md" for name in ("index", "start", "faq")),
        *sorted(DOCS.glob("explain/*.md")),
        *sorted(DOCS.glob("compared/*.md")),
    )
    if path.exists() and how_to.BLOCK.search(path.read_text("utf-8"))
)


def text(name: str) -> str:
    """A page."""
    return (DOCS / f"{name}.md").read_text("utf-8")


def scripts(name: str) -> list[str]:
    """The scripts of bench/ that it runs."""
    return re.findall(r"^ {4}python (bench/\S+)", text(name), re.MULTILINE)


def ran(name: str, folder: Path) -> Iterator[how_to.Ran]:
    """Run a page in the current folder, which gets the data of a checkout."""
    (folder / "docs").mkdir()
    (folder / "docs" / "data").symlink_to(DOCS / "data")
    return how_to.ran_text(name, text(name))


def main() -> None:
    """Write what comes out."""
    for name in sys.argv[1:] or PAGES:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            page = how_to.with_what_came_out(text(name), ran(name, Path(folder)))
            (DOCS / f"{name}.md").write_text(page, "utf-8")
            print(name)
            os.chdir(how_to.CHECKOUT)


if __name__ == "__main__":
    main()
