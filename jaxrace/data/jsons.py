"""Tables in JSON and JSON lines."""

import json
from collections.abc import Mapping
from typing import Any

from jaxrace.data.frames import of_records, table_of
from jaxrace.data.table import Table, wrong


def loads(argument: str, where: str, text: str) -> Any:
    """What JSON says; ValueError if it is none, or says something twice."""
    try:
        return json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise wrong(argument, "JSON", where, f"something else ({error})") from None


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
    """The table that JSON holds: rows, columns by name, or what pandas' ``to_json`` writes.

    >>> table_in("scores", "'s.json'", {"columns": ["a", "b"], "data": [[1, 2]]}).columns
    ([1], [2])
    >>> table_in("scores", "'s.json'", {"a": {"0": 1, "1": 3}, "b": {"0": 2}}).columns
    (['0', '1'], [1, 3], [2, None])
    """
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
