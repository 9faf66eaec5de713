"""An answer printed, and a report on it for a pull request or a browser."""

import html
import re
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from jaxrace import files, plots
from jaxrace.answers import NAMES, Answer
from jaxrace.commands.printing import name_column, plus_minus, print_table, say
from jaxrace.tables import markdown_table

NOT_YET = 3  # the exit status where the best are not certified, or not likely enough
MARKDOWN, HTML = (".md", ".markdown"), (".html", ".htm")


def print_answer(console: Console, answer: Answer) -> None:
    """Print its notes and tables; the headline is for last."""
    say(console, *(f"note: {text}" for text in answer.notes), *([""] if answer.notes else []))
    for table in answer.tables():
        heads = [name_column(head) if head in NAMES else head for head in table.heads]
        sign = plus_minus(console)
        rows = [[cell.replace("\N{PLUS-MINUS SIGN}", sign) for cell in row] for row in table.rows]
        print_table(console, heads, rows)
        more = [f"... and {table.hidden} more, with --json"] if table.hidden else []
        say(console, *more, *table.below, "")


def print_and_report(
    console: Console, answer: Answer, report: str | None, where: str, *, is_enough: bool = True
) -> int:
    """Print an answer and where the rest is, and perhaps write a report; the exit status."""
    if report is not None:
        write_report(Path(report), answer)
    print_answer(console, answer)
    say(console, answer.headline(), *answer.meaning().split("; "), where)
    return 0 if is_enough else NOT_YET


def require_ending(path: str) -> None:
    """Raise unless a report can have this name."""
    if not path.lower().endswith((*MARKDOWN, *HTML)):
        raise ValueError(f"report: expected a file that ends in .md or .html, got {path!r}")


def write_report(path: Path, answer: Answer, doubts: Sequence[str] = ()) -> None:
    """Write the report, and its figure beside it as PNG and SVG; an HTML file also holds it."""
    figure = path.with_suffix(".png")
    vector = plots.save_twice(answer.plot(), figure).decode()
    if path.suffix.lower() in HTML:
        lines = (f"{answer.asked()}.", *doubts)
        said = "".join(f"<p>{html.escape(line)}</p>" for line in lines)
        text = (
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            f"<title>{html.escape(answer.headline())}</title><style>body{{font-family:sans-serif;"
            "margin:2em}td,th{padding:.2em .8em;text-align:right}svg{max-width:100%}</style></head>"
            f"<body>{answer._repr_html_()}{said}{vector[vector.index('<svg') :]}</body></html>\n"
        )
    else:
        tables = []
        for heads, rows, hidden, below in answer.tables():
            tables.append(markdown_table(heads, [[*map(_escaped, row)] for row in rows]))
            tables += [f"... and {hidden} more"] if hidden else []
            tables += map(_escaped, below)
        texts = answer.headline(), answer.meaning(), answer.asked()
        headline, meaning, asked = map(_escaped, texts)
        notes = "\n".join(f"* {_escaped(note)}" for note in (*doubts, *answer.notes))
        picture = f"![The answer as a figure]({figure.name.replace(' ', '%20')})"
        parts = f"## {headline}", f"{meaning}.", f"{asked}.", notes, *tables, picture
        text = "\n\n".join(part for part in parts if part) + "\n"
    files.write_file(path, text.encode())


def _escaped(text: str) -> str:
    """As Markdown shows it: no tags, formulas, code or new columns."""
    text = html.escape(text, quote=False).replace("$", "&#36;")
    return re.sub(r"([\\|*`])", r"\\\1", text)
