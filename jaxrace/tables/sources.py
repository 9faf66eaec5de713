"""From a path or an object to a table: text with delimiters, JSON, PGN, sheets, frames."""

import json
import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jaxrace.tables.delimited import parse, read_text
from jaxrace.tables.frames import of_records, table_of
from jaxrace.tables.names import with_visible_names
from jaxrace.tables.sheets import SHEETS, read_sheet
from jaxrace.tables.table import Table, wrong

LINES = (".jsonl", ".ndjson")

_HEADER = re.compile(r'\[(\w+)\s+"((?:[^"\\]|\\.)*)"\]\s*')
_NEEDED = ("White", "Black", "Result")


def read_table(argument: str, source: Any, header: bool = True, delimiter: str = "auto") -> Table:
    """The table in a file of any kind, or in a frame, a mapping of columns, or a list of rows.

    Its names have no characters that cannot be seen.
    """
    return with_visible_names(_read(argument, source, header, delimiter))


def _read(argument: str, source: Any, header: bool, delimiter: str) -> Table:
    if not isinstance(source, str | os.PathLike):
        return table_of(argument, source)
    path = Path(source)
    where, ending = repr(str(path)), path.suffix.lower()
    if ending in SHEETS:
        return read_sheet(argument, path, header)
    text = read_text(argument, path)
    if ending in LINES:
        return of_records(argument, where, *json_lines(argument, where, text))
    if ending == ".pgn":
        return games_in(argument, where, text)
    if ending == ".json":
        return table_in(argument, where, loads(argument, where, text))
    if ending == ".tsv" and delimiter == "auto":
        delimiter = "tab"
    return parse(argument, where, text, delimiter, header)


def loads(argument: str, where: str, text: str) -> Any:
    """What JSON says; ValueError if it is none, or says something twice."""
    try:
        return json.loads(text, object_pairs_hook=_once, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise wrong(argument, "JSON", where, f"something else ({error})") from None


def _finite(text: str) -> float:
    if math.isinf(number := float(text)):
        raise ValueError(f"{text[:20]}, which is beyond all numbers")
    return number


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(n for n in names if names.count(n) > 1)!r} twice in one object")
    return found


def json_lines(argument: str, where: str, text: str) -> tuple[list[Any], list[int]]:
    """What each line says that is not empty, and its number."""
    records, lines = [], []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            records.append(loads(argument, f"{where}, line {number}", line))
            lines.append(number)
    return records, lines


def table_in(argument: str, where: str, content: Any) -> Table:
    """The table that JSON holds: rows, columns by name, or what pandas' ``to_json`` writes."""
    if isinstance(content, Mapping) and isinstance(content.get("data"), list):
        rows, heads = content["data"], content.get("columns")
        if isinstance(heads, list) and all(isinstance(row, list) for row in rows):
            content = [heads, *rows]
        elif set(content) <= {"schema", "data"}:
            content = rows
    if isinstance(content, list):
        return of_records(argument, where, content)
    is_table = isinstance(content, Mapping) and all(
        isinstance(column, list | Mapping) for column in content.values()
    )
    if not (is_table and content):
        got = f"a {type(content).__name__}"
        if isinstance(content, Mapping) and content:
            got = f"an object of {', '.join(repr(str(key)) for key in list(content)[:6])}"
        raise wrong(argument, "a list of rows, or lists of scores by option", where, got)
    try:
        table = table_of(argument, content)
    except ValueError as error:
        raise ValueError(str(error).replace("a dict", where)) from None
    return Table(argument, where, table.heads, table.columns, table.lines, table.unit)


def games_in(argument: str, where: str, text: str) -> Table:
    """The players and the result of each game, as columns white, black and result."""
    games: list[tuple[int, dict[str, str]]] = []
    is_open = False  # among the headers of a game
    for number, line in enumerate(text.split("\n"), 1):
        found = _HEADER.fullmatch(line.strip())
        if found and not is_open:
            games.append((number, {}))
        if found:
            games[-1][1][found[1]] = re.sub(r"\\(.)", r"\1", found[2])
        is_open = found is not None
    for number, game in games:
        missing = [name for name in _NEEDED if not game.get(name)]
        if missing:
            place = f"{where}, the game in line {number}"
            raise wrong(argument, f"a header [{missing[0]} ...]", place, "none")
    columns = tuple([game[name] for _, game in games] for name in _NEEDED)
    return Table(argument, where, ("white", "black", "result"), columns, [n for n, _ in games])
