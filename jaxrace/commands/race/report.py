"""A report on a race of a table, to be pasted into a pull request or opened in a browser."""

import html
from pathlib import Path

from jaxrace import files, plots
from jaxrace.judging import RaceOfTable
from jaxrace.tables import markdown_table

MARKDOWN, HTML = (".md", ".markdown"), (".html", ".htm")


def require_ending(path: str) -> None:
    """Raise unless a report can have this name."""
    if not path.lower().endswith((*MARKDOWN, *HTML)):
        raise ValueError(f"report: expected a file that ends in .md or .html, got {path!r}")


def write_report(path: Path, result: RaceOfTable, doubts: list[str]) -> None:
    """Write the report, and its figure beside it as PNG and SVG; an HTML file also holds it."""
    figure = result.plot()
    plots.save(figure, path.with_suffix(".png"))
    vector = plots.drawn(figure, "svg")
    files.write_file(path.with_suffix(".svg"), vector)
    is_html = path.suffix.lower() in HTML
    text = (
        _html(result, doubts, vector.decode())
        if is_html
        else _markdown(path.with_suffix(".png").name, result, doubts)
    )
    files.write_file(path, text.encode())


def _tables(result: RaceOfTable) -> list[tuple[list[str], list[list[str]]]]:
    return [result.table(), *([result.table_of_pairs()] if result.pairs else [])]


def _settings(result: RaceOfTable) -> str:
    runs = "independent runs" if result.kind == "independent" else f"{result.kind} tasks"
    within = f", tolerance {result.tolerance:g}" if result.tolerance else ""
    sizes = f"Top {result.top} of {len(result.options)}, by {result.by}"
    return f"{sizes}, {runs}, delta {result.delta:g}{within}."


def _markdown(figure: str, result: RaceOfTable, doubts: list[str]) -> str:
    tables = [
        markdown_table(heads, [[cell.replace("|", "\\|") for cell in row] for row in rows])
        for heads, rows in _tables(result)
    ]
    parts = [
        f"## {result.headline()}",
        f"{result.meaning()}.",
        _settings(result),
        *(f"* {note}" for note in [*doubts, *result.notes]),
        *tables,
        f"![Who stands where]({figure.replace(' ', '%20')})",
    ]
    return "\n\n".join(parts) + "\n"


def _html(result: RaceOfTable, doubts: list[str], picture: str) -> str:
    said = "".join(f"<p>{html.escape(text)}</p>" for text in (_settings(result), *doubts))
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{html.escape(result.headline())}</title>"
        "<style>body{font-family:sans-serif;margin:2em}td,th{padding:.2em .8em;text-align:right}"
        "svg{max-width:100%}</style></head><body>"
        f"{result._repr_html_()}{said}{picture[picture.index('<svg') :]}</body></html>\n"
    )
