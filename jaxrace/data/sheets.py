"""Tables in Parquet, Arrow and Excel files, by polars: the extra ``tables``."""

from pathlib import Path

from jaxrace.data.frames import table_of
from jaxrace.data.table import Table, wrong

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
            frame = polars.read_excel(path, has_header=header, infer_schema_length=None)
        else:
            frame = polars.read_ipc(path)
    except ModuleNotFoundError as error:
        hint = "pip install 'jaxrace[tables]'"
        raise wrong(argument, "fastexcel, to read such a file", where, "none", hint) from error
    except Exception as error:  # of bytes that are none of these there are many kinds
        said = " ".join(str(error).split())[:200]
        raise wrong(argument, f"a {path.suffix} file", where, f"another ({said})") from None
    if not header:
        frame = frame.rename({h: f"option {place}" for place, h in enumerate(frame.columns, 1)})
    table = table_of(argument, frame)
    return Table(argument, where, table.heads, table.columns, table.lines, "row")
