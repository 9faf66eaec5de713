"""From a path or an object to a table: text with delimiters, JSON, PGN, sheets, frames.

Parquet, Arrow and Excel are read by polars: the extra ``tables``.
"""

import contextlib
import dataclasses
import functools
import os
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from jaxrace.core.validation import require_choice
from jaxrace.tables.cells import plain, without_comments
from jaxrace.tables.delimited import parse
from jaxrace.tables.files import MOST_BYTES, File, file_at, members
from jaxrace.tables.frames import of_records, table_of
from jaxrace.tables.matches import games, match_log
from jaxrace.tables.table import Table, named, with_visible_names

_DECIMALS = {"auto": None, "comma": ",", "point": "."}

_UNNAMED = "__UNNAMED__"  # begins the names that columns without one get
_EXCEL = (".xlsx", ".xls", ".xlsb", ".ods")
_MOST_CELLS = MOST_BYTES // 8
_FILLED = re.compile(rb'<(?:\w+:)?c\b[^>]*?\br="([A-Z]{1,3})(\d{1,9})"[^>]*(?<!/)>')  # a cell


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
        found = (reader(source) for reader in READERS)
        table = next(table for table in found if table is not None)
    else:
        table = source if isinstance(source, Table) else table_of(argument, source)
    return dataclasses.replace(with_visible_names(table), decimal=_DECIMALS[decimal])


def sheet(file: File) -> Table | None:
    """The table in a file; of Excel, that of its first sheet."""
    is_excel = file.ending in _EXCEL
    if not (is_excel or file.ending in (".parquet", ".arrow", ".feather")):
        return None
    try:
        import polars  # late: other files do without

        with _without_panics():
            if is_excel:
                _require_small(file.path)
                return _of_excel(file)
            scan = polars.scan_parquet if file.ending == ".parquet" else polars.scan_ipc
            frame = scan(file.path)
            height = frame.select(polars.len()).collect().item()
            _require_cells(height, len(frame.collect_schema()))
            frame = frame.collect()
    except ModuleNotFoundError as error:
        hint = "pip install 'jaxrace[tables]'"
        raise file.wrong(f"{error.name}, to read such a file", "none", hint=hint) from error
    except Exception as error:  # damaged bytes raise many kinds
        said = " ".join(str(error).split())[:200]
        raise file.wrong(f"a {file.path.suffix} file", f"another ({said})") from None
    return table_of(file.argument, frame, file.where)


@contextlib.contextmanager
def _without_panics() -> Iterator[None]:
    """Panics of Rust are RuntimeErrors, and its threads do not print them."""
    kept = os.dup(2)
    try:
        with Path(os.devnull).open("wb") as null:
            os.dup2(null.fileno(), 2)
        yield
    except BaseException as error:
        if type(error).__name__ == "PanicException":  # each package has a class of its own
            raise RuntimeError(str(error)) from None
        raise
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _require_cells(height: int, width: int) -> None:
    """Raise unless Python can hold all cells: few bytes may stand for many equal ones."""
    if height * width > _MOST_CELLS:
        raise ValueError(f"{height:,} x {width:,} cells, of at most {_MOST_CELLS:,}")


def _require_small(path: Path) -> None:
    """Raise unless the sheets of a workbook are small when unpacked, and so is what they span."""
    if not zipfile.is_zipfile(path):
        return
    for name, content in members(path).items():
        if name.startswith("xl/worksheets/"):
            last = 0, 0
            for column, row in _FILLED.findall(content):
                number = functools.reduce(lambda n, letter: 26 * n + letter - 64, column, 0)
                last = max(last[0], int(row)), max(last[1], number)
            _require_cells(*last)


def _of_excel(file: File) -> Table:
    """That of its first sheet, below titles, and below the heads of one kind of numbers."""
    import fastexcel
    import polars

    def read(first: int | None) -> Any:
        options: Any = {"read_options": {"header_row": first}, "infer_schema_length": None}
        return polars.read_excel(file.path, drop_empty_rows=first is not None, **options)

    said: list[str] = []
    frame, first = read(0 if file.header else None), 0
    if not file.header:
        frame = frame.rename({h: f"option {place}" for place, h in enumerate(frame.columns, 1)})
    elif sum(not head.startswith(_UNNAMED) for head in frame.columns) == 1 < frame.width:
        rows = read(None).rows()
        filled = [sum(cell is not None for cell in row) for row in rows]
        first = next((place for place, count in enumerate(filled) if count > 1), 0)
        above = next(cell for cell in rows[0] if cell is not None)
        if rows[0][0] is None and filled[first + 1 : first + 2] == [1]:  # a pivot of pandas
            first += 1
            frame = read(first)
            frame.columns = [frame.columns[0], *map(str, rows[first - 1][1:])]
        elif rows[0][0] is not None:
            frame, said = read(first), [f"left out, as a title: {above!r}"]
    sheets = fastexcel.read_excel(file.path).sheet_names
    if len(sheets) > 1:
        said.append(f"sheet {sheets[0]!r}, the first of {len(sheets)}")
    table, begin = table_of(file.argument, frame), first + (2 if file.header else 1)
    heads = named(["" if head.startswith(_UNNAMED) else head for head in table.heads])
    lines = range(begin, begin + frame.height)
    return Table(file.argument, file.where, heads, table.columns, lines, "row", tuple(said))


def json_lines(file: File) -> Table | None:
    """A row for each line of JSON."""
    return of_records(file, *file.records) if file.has_lines else None


def json_table(file: File) -> Table | None:
    """Rows, columns by name, or what pandas' ``to_json`` writes."""
    if file.ending != ".json" or file.has_lines:
        return None
    content = file.content
    if isinstance(content, Mapping) and len(content) > 1:
        rows = [key for key, own in content.items() if _are_rows(own)]
        if len(rows) == 1:
            table = of_records(file, content[rows[0]])
            return dataclasses.replace(table, said=(f"the rows are below {rows[0]!r}",))
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


def _are_rows(content: Any) -> bool:
    is_list = isinstance(content, list) and len(content) > 1
    return is_list and all(isinstance(one, Mapping) for one in content)


def text(file: File) -> Table:
    """Text with delimiters."""
    is_tab = file.ending == ".tsv" and file.delimiter == "auto"
    content, comments = without_comments(file.text)
    table = plain(
        parse(file, content, "tab" if is_tab else file.delimiter, file.header), file.header
    )
    said = [file.encoding] if file.encoding else []
    said += [f"lines of comments, left out: {comments}"] if comments else []
    return dataclasses.replace(table, said=(*said, *table.said))


# Each recognises its files, and is None for others; the last one takes all.
READERS: tuple[Callable[[File], Table | None], ...] = (
    *(sheet, json_lines, json_table, games, match_log, text),
)
