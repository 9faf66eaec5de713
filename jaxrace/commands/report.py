"""An answer printed, and a report on it for a pull request or a browser."""

import contextlib
import html
import importlib.util
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import quote

from rich.console import Console
from rich.table import Column

from jaxrace.answers.answer import NAMES, Answer, shown
from jaxrace.commands.printing import name_column, plus_minus, print_table, say, verdict_column
from jaxrace.core.validation import BadArgument
from jaxrace.runs import files, plots
from jaxrace.runs.tables import markdown_table, markdown_text

MARKDOWN, HTML = (".md", ".markdown"), (".html", ".htm")


def print_answer(console: Console, answer: Answer) -> None:
    """Print its notes and tables; the headline is for last."""
    say(console, *(f"note: {text}" for text in answer.notes), *([""] if answer.notes else []))
    for table in answer.tables():
        heads = [_column(head) for head in table.heads]
        sign = plus_minus(console)
        rows = [[cell.replace("\N{PLUS-MINUS SIGN}", sign) for cell in row] for row in table.rows]
        print_table(console, heads, rows)
        more = [f"... and {table.hidden} more, with --json"] if table.hidden else []
        say(console, *more, *table.below, "")


def _column(head: str) -> str | Column:
    if head in NAMES:
        return name_column(head)
    return verdict_column() if head == "verdict" else head


def require_outputs(inputs: Iterable[str], out: str | None = None, **asked: str | None) -> None:
    """Raise unless the files of options can be written, and nothing that is read is among them.

    ``out`` is a folder that will be made; ``asked`` are files to write, or None, by their options.
    """
    taken = [*map(Path, inputs), *([] if out is None else [Path(out)])]
    for name, given in asked.items():
        if given is not None:
            paths = [Path(given)]
            if name == "report":
                paths += [paths[0].with_suffix(ending) for ending in (".png", ".svg")]
            if (wanted := _wanted_of(name, paths, taken, out)) is not None:
                raise BadArgument(name, wanted, repr(given))
            taken += paths


def _wanted_of(name: str, paths: list[Path], taken: list[Path], out: str | None) -> str | None:
    """What is expected of the files of an option, if it is something else."""
    path, folder = paths[0], paths[0].parent
    if name == "report":
        if path.suffix.lower() not in (*MARKDOWN, *HTML):
            return "a file that ends in .md or .html"
        if path.suffix.lower() in HTML or _can_draw():
            require_figures()
    for one in paths:
        if any(_is_same(one, other) for other in taken):
            return f"no file that is read, or written by another option, such as '{one}'"
        if one.exists() and not one.is_file():
            return f"files to write, not '{one}'"
    read = [one.resolve() for one in taken if one.is_dir()]
    if name == "next" and any(path.resolve().is_relative_to(one) for one in read):
        return "a file outside of the folder that is read"
    if not (folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)) and not (
        out is not None and _is_same(folder, Path(out))
    ):
        return "a file in a folder that is there and can be written"
    return None


def _is_same(one: Path, other: Path) -> bool:
    """Are they one file, or would be, whatever links and letters lead there?"""
    with contextlib.suppress(OSError):  # one is not there
        return one.samefile(other)
    return os.path.normcase(one.resolve()) == os.path.normcase(other.resolve())


def require_figures() -> None:
    """Raise if no figure can be drawn, which is found now and not after hours of work."""
    try:
        import matplotlib.figure  # noqa: F401
    except Exception as error:  # it reads settings, such as MPLBACKEND
        settings = "its settings (MPLBACKEND, matplotlibrc)"
        expected = f"matplotlib to start with {settings}"
        raise BadArgument("figures", expected, f"an error: {error}") from error


def _can_draw() -> bool:
    """Is matplotlib there? Without it a report in Markdown has no figure."""
    return importlib.util.find_spec("matplotlib") is not None


def write_report(path: Path, answer: Answer, doubts: Sequence[str] = ()) -> None:
    """Write the report, and its figure beside it as PNG and SVG; an HTML file also holds it."""
    figure = path.with_suffix(".png")
    vector = plots.save_twice(answer.plot(), figure).decode() if _can_draw() else ""
    if path.suffix.lower() in HTML:
        lines = (f"{answer.asked()}.", *doubts)
        said = "".join(f"<p>{html.escape(shown(line))}</p>" for line in lines)
        text = (
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            f"<title>{html.escape(shown(answer.headline()))}</title><style>body{{font-family:sans-serif;"
            "margin:2em}td,th{padding:.2em .8em;text-align:right}svg{max-width:100%;height:auto}"
            "</style></head>"
            f"<body>{answer.to_html(figure=False)}{said}{vector[vector.index('<svg') :]}</body>"
            "</html>\n"
        )
    else:
        tables = []
        for heads, rows, hidden, below in answer.tables():
            tables.append(markdown_table(heads, [[*map(markdown_text, row)] for row in rows]))
            tables += [f"... and {hidden} more"] if hidden else []
            tables += map(markdown_text, below)
        texts = answer.headline(), answer.meaning(), answer.asked()
        headline, meaning, asked = map(markdown_text, texts)
        notes = "\n".join(f"* {markdown_text(note)}" for note in (*doubts, *answer.notes))
        picture = f"![The answer as a figure]({quote(figure.name)})" if vector else ""
        parts = f"## {headline}", f"{meaning}.", f"{asked}.", notes, *tables, picture
        text = "\n\n".join(part for part in parts if part) + "\n"
    files.write_file(path, text.encode())
