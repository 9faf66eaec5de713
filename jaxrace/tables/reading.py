"""What readers of logs in JSON share."""

import math
import sys
from collections.abc import Mapping, Sequence
from shlex import quote
from typing import Any, TypeGuard

from jaxrace.tables.files import File
from jaxrace.tables.table import Place, Table, is_blank, quoted


def content_in(file: File) -> Any:
    """What a file of JSON says, None for other files."""
    return file.content if file.ending == ".json" and not file.has_lines else None


def object_in(file: File) -> Mapping[str, Any]:
    """The object in a file of JSON, an empty one for other files."""
    content = content_in(file)
    return content if isinstance(content, Mapping) else {}


def are_objects(content: Any, key: str) -> TypeGuard[list[Mapping[str, Any]]]:
    """Is it a list of objects, one or more, that all have a key?"""
    are_objects = isinstance(content, list) and all(isinstance(x, Mapping) for x in content)
    return are_objects and bool(content) and all(key in one for one in content)


def number_in(file: File, value: Any, at: str) -> float:
    """A number of JSON; BadArgument if it is something else."""
    if isinstance(value, int | float) and abs(value) <= sys.float_info.max:
        return float(value)
    raise file.wrong("a number", repr(value)[:60], at=at)


def score_in(table: Table, cell: Any) -> float:
    """The number in a cell, NaN if there is none."""
    try:
        number = math.nan if is_blank(cell) else float(cell)
    except (TypeError, ValueError):
        raise table.wrong("a number", repr(cell)) from None
    return number if math.isfinite(number) else math.nan


def chosen(
    file: Place, names: Sequence[str], asked: str | None, what: str = "score"
) -> tuple[str, str | None]:
    """The name of a score and, after a comma, of its part."""
    if asked is None and len(names) != 1:
        hint = f"--score-column {quote(names[0])} takes one" if names else ""
        raise file.wrong(f"one {what}", quoted(names) or "none", hint=hint)
    if asked is None or asked in names:
        return names[0] if asked is None else asked, None
    name, _, part = asked.partition(",")
    if name not in names:
        raise file.wrong(f"a {what} {asked!r}", quoted(names) or "none")
    return name, part
