"""Tables in Parquet, Arrow and Excel files, by polars: the extra ``tables``."""

import contextlib
import functools
import os
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jaxrace.tables.archives import members
from jaxrace.tables.delimited import MOST_BYTES, require_file
from jaxrace.tables.frames import table_of
from jaxrace.tables.table import Table, named, wrong

_UNNAMED = "__UNNAMED__"  # begins the names that columns without one get
_EXCEL = (".xlsx", ".xls", ".xlsb", ".ods")
_MOST_CELLS = MOST_BYTES // 8
_FILLED = re.compile(rb'<(?:\w+:)?c\b[^>]*?\br="([A-Z]{1,3})(\d{1,9})"[^>]*(?<!/)>')  # a cell
SHEETS = (".parquet", ".arrow", ".feather", *_EXCEL)


def read_sheet(argument: str, path: Path, header: bool = True) -> Table:
    """The table in a file; of Excel, that of its first sheet.

    ValueError if there is none, or if the extra is not installed.
    """
    where = repr(str(path))
    require_file(argument, path)
    try:
        import polars  # late: other files need none
    except ModuleNotFoundError as error:
        hint = "pip install 'jaxrace[tables]'"
        raise wrong(argument, "polars, to read such a file", where, "none", hint) from error
    try:
        with _without_panics():
            if path.suffix.lower() in _EXCEL:
                _require_small(path)
                return _of_excel(argument, path, header)
            is_parquet = path.suffix.lower() == ".parquet"
            frame = polars.scan_parquet(path) if is_parquet else polars.scan_ipc(path)
            height = frame.select(polars.len()).collect().item()
            _require_cells(height, len(frame.collect_schema()))
            frame = frame.collect()
    except ModuleNotFoundError as error:
        hint = "pip install 'jaxrace[tables]'"
        raise wrong(argument, "fastexcel, to read such a file", where, "none", hint) from error
    except Exception as error:  # of bytes that are none of these there are many kinds
        said = " ".join(str(error).split())[:200]
        raise wrong(argument, f"a {path.suffix} file", where, f"another ({said})") from None
    table = table_of(argument, frame)
    return Table(argument, where, table.heads, table.columns, table.lines, "row")


@contextlib.contextmanager
def _without_panics() -> Iterator[None]:
    """Panics of Rust are RuntimeErrors, and what its threads say of them is not printed."""
    kept = os.dup(2)
    try:
        with Path(os.devnull).open("wb") as null:
            os.dup2(null.fileno(), 2)
        yield
    except BaseException as error:
        if type(error).__name__ == "PanicException":  # of each package another class
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


def _of_excel(argument: str, path: Path, header: bool) -> Table:
    """That of its first sheet, below titles, and below the heads of one kind of numbers."""
    import fastexcel
    import polars

    def read(first: int | None) -> Any:
        options: Any = {"read_options": {"header_row": first}, "infer_schema_length": None}
        return polars.read_excel(path, drop_empty_rows=first is not None, **options)

    said: tuple[str, ...] = ()
    frame, first = read(0 if header else None), 0
    if not header:
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
            frame, said = read(first), (f"left out, as a title: {above!r}",)
    sheets = fastexcel.read_excel(path).sheet_names
    if len(sheets) > 1:
        said += (f"sheet {sheets[0]!r}, the first of {len(sheets)}",)
    table, begin = table_of(argument, frame), first + (2 if header else 1)
    lines = range(begin, begin + frame.height)
    unnamed = [head for head in table.heads if head.startswith(_UNNAMED)]
    heads = named([("" if head in unnamed else head) for head in table.heads])
    return Table(argument, repr(str(path)), heads, table.columns, lines, "row", said)
