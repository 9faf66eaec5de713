"""Tables from data frames and mappings in memory."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jaxrace.tables.table import Cell, Table, listed, wrong


def table_of(argument: str, source: Any) -> Table:
    """The table in a frame of pandas, polars or pyarrow, a mapping of columns, or a list of rows.

    An index of pandas that is more than row numbers becomes columns, and its NaN an empty cell, as
    it has no other one.
    """
    if isinstance(source, Mapping):
        return _of_mapping(argument, source)
    if isinstance(source, Sequence) and not isinstance(source, str):
        return of_records(argument, f"a {type(source).__name__}", source)
    return _of_frame(argument, source)


def _of_frame(argument: str, source: Any) -> Table:
    import narwhals as nw  # late: a CSV file needs none

    where = f"a {type(source).__module__.split('.')[0]} {type(source).__name__}"
    while _is_pandas(source) and getattr(getattr(source, "columns", None), "nlevels", 1) > 1:
        kinds = list(dict.fromkeys(source.columns.get_level_values(0)))
        if {"number", "state"} <= {*kinds}:  # Optuna's, as without its argument multi_index
            source = source.set_axis(["_".join(filter(None, h)) for h in source.columns], axis=1)
            break
        if len(kinds) > 1:
            hint = f"frame[{kinds[0]!r}] has those of one"
            raise wrong(argument, "one kind of numbers in the columns", where, listed(kinds), hint)
        source = source[kinds[0]]
    index = getattr(source, "index", None)
    if index is not None and type(index).__name__ != "RangeIndex" and _is_pandas(source):
        source = source.reset_index()
    try:
        frame = nw.from_native(source)
    except TypeError:
        expected = "a path, a data frame or a mapping of columns"
        raise ValueError(f"{argument}: expected {expected}, got {where}") from None
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    columns = []
    for column in frame.iter_columns():
        cells: list[Cell] = column.to_list()
        empty = column.is_null().to_list()
        columns.append([None if none else cell for cell, none in zip(cells, empty, strict=True)])
    heads = tuple(map(str, frame.columns))
    return _checked(Table(argument, where, heads, tuple(columns), range(len(frame)), "row"))


def _is_pandas(source: Any) -> bool:
    return type(source).__module__.split(".")[0] == "pandas"


def _of_mapping(argument: str, source: Mapping[Any, Any]) -> Table:
    where = f"a {type(source).__name__}"
    indexes = [one.index for one in source.values() if _is_series(one)]
    if any(not one.equals(indexes[0]) for one in indexes):
        got, hint = "series of other labels", "a data frame of them has the same rows"
        raise wrong(argument, "one index of all columns", where, got, hint)
    if any(isinstance(column, Mapping) for column in source.values()):
        return _of_mappings(argument, where, source)
    cells = [_cells(argument, name, column) for name, column in source.items()]
    height = max(map(len, cells), default=0)
    full = tuple([*column, *[None] * (height - len(column))] for column in cells)
    return _checked(Table(argument, where, tuple(map(str, source)), full, range(height), "row"))


def paired(argument: str, source: Any) -> Any:
    """A mapping or list with labels and scores for each series, if their index says more.

    An index that is the number of each row says nothing, nor does one that repeats labels if all
    have it.

    Raises:
        ValueError: A label is there twice, or other columns have no index.
    """
    columns = {
        name: column.to_series() if type(column).__name__ == "DataArray" else column
        for name, column in _by_name(source)
    }
    series = {name: column.index for name, column in columns.items() if _is_series(column)}
    if all(list(index) == list(range(len(index))) for index in series.values()):
        return source
    first = next(iter(series.values()))
    is_frame = len(series) == len(columns) and all(map(first.equals, series.values()))
    are_scores = all(one.dtype.kind in "biuf" for one in columns.values() if _is_series(one))
    if is_frame and (first.has_duplicates or not are_scores):
        return source  # columns of one frame have the same rows
    hint = "reset_index(drop=True) takes scores by their places"
    for name, column in columns.items():
        place = f"the series {name!r}"
        if name not in series:
            got = f"a {type(column).__name__} as {name!r}"
            raise wrong(argument, "an index of tasks in all columns", "a mapping", got, hint)
        if series[name].has_duplicates:
            again = str(series[name][series[name].duplicated()][0])
            raise wrong(argument, "different labels in the index", place, f"{again!r} twice", hint)
    return {
        name: {label: None if one != one else one for label, one in column.items()}
        for name, column in columns.items()
    }


def _by_name(source: Any) -> Any:
    if isinstance(source, Mapping):
        return source.items()
    return ((f"option {place}", column) for place, column in enumerate(source))


def _is_series(column: Any) -> bool:
    return _is_pandas(column) and type(column).__name__ == "Series"


def _cells(argument: str, name: Any, column: Any) -> list[Cell]:
    is_text = isinstance(column, str | bytes)
    array = None if is_text or isinstance(column, list | tuple) else np.asarray(column)
    if is_text or (array is not None and array.ndim != 1):
        got = repr(column) if is_text else f"shape {list(np.shape(column))}"
        raise ValueError(f"{argument}: expected a list or array [n] as {str(name)!r}, got {got}")
    return list(column) if array is None else array.tolist()


def _of_mappings(argument: str, where: str, source: Mapping[Any, Any]) -> Table:
    """Of option -> task -> score: a row for each task."""
    for name, column in source.items():
        if not isinstance(column, Mapping):
            raise wrong(argument, f"a mapping as {str(name)!r}, as of others", where, repr(column))
    tasks = list(dict.fromkeys(str(task) for column in source.values() for task in column))
    by_task = [{str(task): score for task, score in c.items()} for c in source.values()]
    columns = [[scores.get(task) for task in tasks] for scores in by_task]
    heads = ("task", *map(str, source))
    return _checked(Table(argument, where, heads, (tasks, *columns), range(len(tasks)), "row"))


def of_records(
    argument: str, where: str, records: Sequence[Any], lines: Sequence[int] | None = None
) -> Table:
    """The table whose rows are mappings, or lists below a first one of heads."""
    if records and all(isinstance(record, list | tuple) for record in records):
        return _of_lists(argument, where, records)
    unit = "record" if lines is None else "line"
    numbers = range(len(records)) if lines is None else lines
    for record, number in zip(records, numbers, strict=True):
        if not isinstance(record, Mapping):
            place = f"{where}, {unit} {number}"
            raise wrong(argument, "a mapping of columns", place, repr(record)[:60])
    heads = dict.fromkeys(str(head) for record in records for head in record)
    columns = tuple([record.get(head) for record in records] for head in heads)
    return _checked(Table(argument, where, tuple(heads), columns, numbers, unit))


def _of_lists(argument: str, where: str, records: Sequence[Sequence[Any]]) -> Table:
    heads, rows = [str(head).strip() for head in records[0]], records[1:]
    for number, row in enumerate(rows, 1):
        if len(row) != len(heads):
            raise wrong(argument, f"{len(heads)} cells", f"{where}, record {number}", str(len(row)))
    columns = tuple([row[place] for row in rows] for place in range(len(heads)))
    return _checked(
        Table(argument, where, tuple(heads), columns, range(1, len(rows) + 1), "record")
    )


def _checked(table: Table) -> Table:
    if not table.heads:
        raise table.wrong("a table with something in it", "none")
    # Texts without spaces around, as in a file.
    columns = ([c.strip() if isinstance(c, str) else c for c in one] for one in table.columns)
    return dataclasses.replace(table, columns=tuple(columns))
