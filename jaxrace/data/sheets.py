"""Tables in Parquet, Arrow and Excel files, by polars: the extra ``tables``."""

from pathlib import Path
from typing import Any

from jaxrace.data.frames import table_of
from jaxrace.data.table import Table, named, wrong

_UNNAMED = "__UNNAMED__"  # begins the names that columns without one get
_EXCEL = (".xlsx", ".xls", ".xlsb", ".ods")
SHEETS = (".parquet", ".arrow", ".feather", *_EXCEL)


def read_sheet(argument: str, path: Path, header: bool = True) -> Table:
    """The table in a file; of Excel, that of its first sheet.

    ValueError if there is none, or if the extra is not installed.
    """
    where = repr(str(path))
    if not path.is_file():
        raise ValueError(f"{argument}: expected a file that can be read, got {where}: none there")
    try:
        import polars  # late: other files need none
    except ModuleNotFoundError as error:
        hint = "pip install 'jaxrace[tables]'"
        raise wrong(argument, "polars, to read such a file", where, "none", hint) from error
    try:
        if path.suffix.lower() == ".parquet":
            frame = polars.read_parquet(path)
        elif path.suffix.lower() in _EXCEL:
            return _of_excel(argument, path, header)
        else:
            frame = polars.read_ipc(path)
    except ModuleNotFoundError as error:
        hint = "pip install 'jaxrace[tables]'"
        raise wrong(argument, "fastexcel, to read such a file", where, "none", hint) from error
    except Exception as error:  # of bytes that are none of these there are many kinds
        said = " ".join(str(error).split())[:200]
        raise wrong(argument, f"a {path.suffix} file", where, f"another ({said})") from None
    table = table_of(argument, frame)
    return Table(argument, where, table.heads, table.columns, table.lines, "row")


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
