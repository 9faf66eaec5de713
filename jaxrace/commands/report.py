"""An answer printed, and a report on it for a pull request or a browser."""

import contextlib
import datetime
import html
import importlib.metadata
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
_STYLE = (
    "body{font-family:sans-serif;margin:1.5em;max-width:60em}h1{font-size:1.4em}"
    "table{border-collapse:collapse;margin:1em 0;display:block;overflow-x:auto}"
    "td,th{padding:.2em .8em;text-align:right;border-bottom:1px solid #ddd}"
    "td:nth-child(-n+2),th:nth-child(-n+2){text-align:left}"
    "svg{max-width:100%;height:auto}ul,footer{color:#555;font-size:.85em}"
)


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


def write_report(path: Path, answer: Answer, made: str, doubts: Sequence[str] = ()) -> None:
    """Write the report, and its figure beside it as PNG and SVG; an HTML file also holds it.

    ``made`` is the command; the day and the version are added.
    """
    figure = path.with_suffix(".png")
    vector = plots.save_twice(answer.plot(), figure).decode() if _can_draw() else ""
    day, version = datetime.date.today().isoformat(), importlib.metadata.version("jaxrace")
    made = f"{made}, {day}, jaxrace {version}"
    is_page = path.suffix.lower() in HTML
    text = (_page if is_page else _markdown)(answer, made, doubts, vector, figure.name)
    files.write_file(path, text.encode())


def _page(answer: Answer, made: str, doubts: Sequence[str], vector: str, _: str) -> str:
    """A page of HTML, which holds the figure."""

    def said(tag: str, *texts: str) -> str:
        return "".join(f"<{tag}>{html.escape(shown(text))}</{tag}>" for text in texts)

    headline = said("title", answer.headline())
    top = said("h1", answer.headline()) + said("p", answer.meaning(), f"{answer.asked()}.", *doubts)
    notes = f"<ul>{said('li', *answer.notes)}</ul>" if answer.notes else ""
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width">{headline}<style>{_STYLE}</style>'
        f"</head><body>{top}{vector[vector.index('<svg') :]}{answer.html_tables()}{notes}"
        f"{said('footer', made)}</body></html>\n"
    )


def _markdown(answer: Answer, made: str, doubts: Sequence[str], vector: str, figure: str) -> str:
    tables = []
    for heads, rows, hidden, below in answer.tables():
        tables.append(markdown_table(heads, [[*map(markdown_text, row)] for row in rows]))
        tables += [f"... and {hidden} more"] if hidden else []
        tables += map(markdown_text, below)
    texts = answer.headline(), answer.meaning(), answer.asked(), made
    headline, meaning, asked, made = map(markdown_text, texts)
    picture = f"![The answer as a figure]({quote(figure)})" if vector else ""
    listed = [
        "\n".join(f"* {markdown_text(text)}" for text in some) for some in (doubts, answer.notes)
    ]
    parts = f"## {headline}", f"{meaning}.", f"{asked}.", listed[0], picture, *tables, listed[1]
    return "\n\n".join(part for part in (*parts, f"{made}.") if part) + "\n"
