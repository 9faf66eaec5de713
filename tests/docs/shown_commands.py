"""Numbers of a page, the command that makes them, and where they are in what it prints."""

import csv
import functools
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import shown

CHECKOUT = Path(__file__).parents[2]

# The shell knows no command of a checkout that is not installed.
SHELL = """set -e
jaxrace() { "$PYTHON" -c 'from jaxrace.commands.cli import command; command()' "$@"; }
python() { "$PYTHON" "$@"; }
"""


class Shown(NamedTuple):
    """Some numbers of a page."""

    file: str
    text: str  # as it stands there
    command: str  # for a shell, in an empty folder that has ``docs``
    pick: Callable[[str], str]  # of what the command prints: a text with the same numbers

    def stands_there(self) -> bool:
        """Wherever its lines end."""
        page = (CHECKOUT / self.file).read_text("utf-8")
        return " ".join(self.text.split()) in " ".join(page.split())

    def differences(self) -> list[str]:
        """What comes out otherwise; runs the command, once for all texts of it."""
        text, made = self.text.replace("**", ""), self.pick(printed(self.command))
        return shown.differences(text, made, with_words=False)


@functools.cache
def printed(command: str) -> str:
    """What a command prints."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "docs" / "figures").mkdir(parents=True)
        for path in [*CHECKOUT.glob("docs/figures/*.py"), *CHECKOUT.glob("docs/data/*.csv")]:
            copied = Path(folder) / path.relative_to(CHECKOUT)  # they write beside themselves
            copied.parent.mkdir(exist_ok=True)
            copied.write_bytes(path.read_bytes())
        path = os.pathsep.join([str(CHECKOUT), os.environ.get("PYTHONPATH", "")])
        own = {"PYTHON": sys.executable, "PYTHONPATH": path, "MPLBACKEND": "agg"}
        made = subprocess.run(
            ["bash", "-c", SHELL + command],
            cwd=folder,
            env=os.environ | own,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    return made.stdout


def line(
    label: str, *, first: int = 0, count: int | None = None, after: str = ""
) -> Callable[[str], str]:
    """The line that begins with a label, without it; some of its numbers.

    The first such line, or the first one behind a headline.
    """

    def pick(text: str) -> str:
        text = text[text.index(after) :]
        found = [row for row in text.splitlines() if row.strip().startswith(label)]
        if not found:
            raise ValueError(f"expected a line that begins with {label!r}, got {text}")
        own = found[0].strip().removeprefix(label)
        matches = shown.matches(own)[first:]
        return "; ".join(match[0] for match in matches[:count])

    return pick


def cells(columns: str, **where: str) -> Callable[[str], str]:
    """Columns of a row of one of several CSV tables, with their standard errors if it has them."""

    def pick(text: str) -> str:
        names = columns.split()
        found = [row for row in rows(text, **where) if names[0] in row]
        if len(found) != 1:
            raise ValueError(f"expected one row with {where}, got {len(found)}")
        parts = []
        for name in names:
            error = found[0].get(f"{name}_stderr")
            part = f"{float(found[0][name]):.6f}"
            parts.append(f"{part} ± {float(error):.6f}" if error else part)
        return "; ".join(parts)

    return pick


def several(*picks: Callable[[str], str]) -> Callable[[str], str]:
    """One after the other."""
    return lambda text: "; ".join(pick(text) for pick in picks)


def everything(text: str) -> str:
    """All that is printed."""
    return text


def row(file: str, label: str, head: str = "") -> str:
    """What stands behind the label of the only row of a page's tables that has it.

    Of the only table whose first line begins with ``head``, if there is one.
    """
    page = (CHECKOUT / file).read_text("utf-8")
    if head:
        (page,) = re.findall(rf"^\| {re.escape(head)}.*(?:\n\|.*)*", page, re.MULTILINE)
    (found,) = (line for line in page.splitlines() if line.startswith(f"| {label} | "))
    return found.removeprefix(f"| {label} | ")


def made(name: str, *files: str) -> str:
    """The command of an experiment: prints its report and other files that it leaves."""
    left = "; echo; ".join(f"cat run/{file}" for file in ("report.md", *files))
    return f"python -m papers {name} --out run > log; {left}"


def rows(text: str, **where: str) -> list[dict[str, str]]:
    """Of all CSV tables of a text, those that have these values."""
    tables = [csv.DictReader(io.StringIO(part)) for part in text.split("\n\n")]
    return [row for table in tables for row in table if row.items() >= where.items()]


def column(text: str, name: str, **where: str) -> list[float]:
    """Its numbers in those of these rows that have it."""
    return [float(row[name]) for row in rows(text, **where) if name in row]


def said(pattern: str) -> Callable[[str], str]:
    """What the groups of a pattern match, where it is found first."""

    def pick(text: str) -> str:
        match = re.search(pattern, text, re.MULTILINE)
        if not match:
            raise ValueError(f"expected {pattern} in {text}")
        return "; ".join(match.groups())

    return pick


def extremes(numbers: Iterable[float]) -> str:
    """The least and the most."""
    found = list(numbers)
    return f"{min(found):.6f}; {max(found):.6f}"
