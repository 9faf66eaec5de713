"""From a path or an object to a table."""

import os
from pathlib import Path
from typing import Any

from jaxrace.data.delimited import parse, read_text
from jaxrace.data.frames import of_records, table_of
from jaxrace.data.jsons import json_lines, loads, table_in
from jaxrace.data.sheets import SHEETS, read_sheet
from jaxrace.data.table import Table

LINES = (".jsonl", ".ndjson")


def read_table(argument: str, source: Any, header: bool = True, delimiter: str = "auto") -> Table:
    r"""The table in a file of any kind, or in a frame, a mapping of columns, or a list of rows.

    >>> _ = Path("t.jsonl").write_text('{"a": 1}\n{"a": 2}\n')
    >>> read_table("scores", "t.jsonl").columns
    ([1, 2],)
    """
    if not isinstance(source, str | os.PathLike):
        return table_of(argument, source)
    path = Path(source)
    where, ending = repr(str(path)), path.suffix.lower()
    if ending in SHEETS:
        return read_sheet(argument, path, header)
    text = read_text(argument, path)
    if ending in LINES:
        return of_records(argument, where, *json_lines(argument, where, text))
    if ending == ".json":
        return table_in(argument, where, loads(argument, where, text))
    if ending == ".tsv" and delimiter == "auto":
        delimiter = "tab"
    return parse(argument, where, text, delimiter, header)
