"""From a path or an object to a table: text with delimiters, JSON, PGN, sheets, frames."""

import dataclasses
import os
import re
from collections.abc import Callable, Mapping
from typing import Any

from jaxrace.core.validation import require_choice
from jaxrace.tables.delimited import parse
from jaxrace.tables.files import File, file_at
from jaxrace.tables.frames import of_records, table_of
from jaxrace.tables.sheets import sheet
from jaxrace.tables.table import Table, with_visible_names

LINES = (".jsonl", ".ndjson")
_DECIMALS = {"auto": None, "comma": ",", "point": "."}

_HEADER = re.compile(r'\[(\w+)\s+"((?:[^"\\]|\\.)*)"\]\s*')
_NEEDED = ("White", "Black", "Result")


def read_table(
    argument: str,
    source: Any,
    *,
    decimal: str = "auto",
    delimiter: str = "auto",
    header: bool = True,
) -> Table:
    """The table in a file of any kind, or in a frame, a mapping of columns, or a list of rows.

    Its names are visible, and it knows its decimal sign if ``decimal`` says it.
    """
    require_choice("decimal", decimal, (*_DECIMALS,))
    if isinstance(source, str | os.PathLike):
        source = file_at(argument, source, header, delimiter)
    if isinstance(source, File):
        table = table_in(source)
    else:
        table = source if isinstance(source, Table) else table_of(argument, source)
    return dataclasses.replace(with_visible_names(table), decimal=_DECIMALS[decimal])


def table_in(file: File) -> Table:
    """The table in a file, by the first reader that knows its kind."""
    found = (reader(file) for reader in READERS)
    return next(table for table in found if table is not None)


def json_lines(file: File) -> Table | None:
    """A row for each line of JSON."""
    return of_records(file, *file.records) if file.ending in LINES else None


def json_table(file: File) -> Table | None:
    """Rows, columns by name, or what pandas' ``to_json`` writes."""
    if file.ending != ".json":
        return None
    content = file.content
    if isinstance(content, Mapping) and isinstance(content.get("data"), list):
        rows, heads = content["data"], content.get("columns")
        if isinstance(heads, list) and all(isinstance(row, list) for row in rows):
            content = [heads, *rows]
        elif set(content) <= {"schema", "data"}:
            content = rows
    if isinstance(content, list):
        return of_records(file, content)
    if isinstance(content, Mapping) and content:
        if all(isinstance(column, list | Mapping) for column in content.values()):
            return table_of(file.argument, content, file.where)
        got = f"an object of {', '.join(repr(str(key)) for key in list(content)[:6])}"
    else:
        got = f"a {type(content).__name__}"
    raise file.wrong("a list of rows, or lists of scores by option", got)


def games(file: File) -> Table | None:
    """The players and the result of each game of a PGN file, as columns white, black, result."""
    if file.ending != ".pgn":
        return None
    found: list[tuple[int, dict[str, str]]] = []
    is_open = False  # among the headers of a game
    for number, line in enumerate(file.text.split("\n"), 1):
        header = _HEADER.fullmatch(line.strip())
        if header and not is_open:
            found.append((number, {}))
        if header:
            found[-1][1][header[1]] = re.sub(r"\\(.)", r"\1", header[2])
        is_open = header is not None
    for number, game in found:
        for name in _NEEDED:
            if not game.get(name):
                at = f", the game in line {number}"
                raise file.wrong(f"a header [{name} ...]", "none", at=at)
    columns = tuple([game[name] for _, game in found] for name in _NEEDED)
    heads, lines = tuple(map(str.lower, _NEEDED)), [number for number, _ in found]
    return Table(file.argument, file.where, heads, columns, lines)


def text(file: File) -> Table:
    """Text with delimiters."""
    is_tab = file.ending == ".tsv" and file.delimiter == "auto"
    return parse(file, file.text, "tab" if is_tab else file.delimiter, file.header)


# Each recognises its files, and is None for others; the last one takes all.
READERS: tuple[Callable[[File], Table | None], ...] = (sheet, json_lines, json_table, games, text)
