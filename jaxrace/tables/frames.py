"""Tables from data frames, mappings and lists in memory."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jaxrace.core.validation import BadArgument
from jaxrace.tables.table import Cell, Place, Table, quoted


def table_of(argument: str, source: Any, where: str = "") -> Table:
    """The table in a data frame, a mapping of columns, or a list of rows; ``where`` is its name.

    An index of pandas that is more than row numbers becomes columns, and its NaN an empty cell.
    """
    place = Place(argument, where or f"a {type(source).__name__}")
    if isinstance(source, Mapping):
        return _of_mapping(place, source)
    if isinstance(source, Sequence) and not isinstance(source, str):
        return of_records(place, source)
    package = type(source).__module__.split(".")[0]
    return _of_frame(Place(argument, where or f"a {package} {type(source).__name__}"), source)


def _table(
    place: Place,
    heads: Sequence[Any],
    columns: Sequence[Sequence[Cell]],
    lines: Sequence[int],
    unit: str = "row",
) -> Table:
    """The table, its texts without spaces around, as in a file."""
    if not heads:
        raise place.wrong("a table with something in it", "none")
    cells = tuple([c.strip() if isinstance(c, str) else c for c in column] for column in columns)
    return Table(place.argument, place.where, tuple(map(str, heads)), cells, lines, unit)


def _of_frame(place: Place, source: Any) -> Table:
    import narwhals as nw  # late: CSV files do without

    if _is_pandas(source):
        while getattr(getattr(source, "columns", None), "nlevels", 1) > 1:
            kinds = list(dict.fromkeys(source.columns.get_level_values(0)))
            if {"number", "state"} <= {*kinds}:  # Optuna's, as without its argument multi_index
                source = source.set_axis(["_".join(filter(None, h)) for h in source], axis=1)
            elif len(kinds) > 1:
                hint = f"frame[{kinds[0]!r}] has those of one"
                raise place.wrong("one kind of numbers in the columns", quoted(kinds), hint=hint)
            else:
                source = source[kinds[0]]
        if type(getattr(source, "index", None)).__name__ not in ("RangeIndex", "NoneType"):
            source = source.reset_index()
    try:
        frame = nw.from_native(source)
    except TypeError:
        expected = "a path, a data frame or a mapping of columns"
        raise BadArgument(place.argument, expected, place.where) from None
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    pairs = [zip(x.to_list(), x.is_null().to_list(), strict=True) for x in frame.iter_columns()]
    columns = [[None if is_null else cell for cell, is_null in column] for column in pairs]
    return _table(place, frame.columns, columns, range(len(frame)))


def _is_pandas(source: Any) -> bool:
    return type(source).__module__.split(".")[0] == "pandas"


def _is_series(column: Any) -> bool:
    return _is_pandas(column) and type(column).__name__ == "Series"


def _of_mapping(place: Place, source: Mapping[Any, Any]) -> Table:
    indexes = [one.index for one in source.values() if _is_series(one)]
    if any(not one.equals(indexes[0]) for one in indexes):
        got, hint = "series of other labels", "a data frame of them has the same rows"
        raise place.wrong("one index of all columns", got, hint=hint)
    if any(isinstance(column, Mapping) for column in source.values()):
        return _of_mappings(place, source)
    cells = [_cells(place, name, column) for name, column in source.items()]
    rows = [*itertools.zip_longest(*cells)]
    columns = [*zip(*rows, strict=True)] or [()] * len(cells)
    return _table(place, list(source), columns, range(len(rows)))


def _cells(place: Place, name: Any, column: Any) -> Sequence[Cell]:
    is_text = isinstance(column, str | bytes)
    if isinstance(column, list | tuple):
        return column
    if is_text or np.ndim(column) != 1:
        got = repr(column) if is_text else f"shape {list(np.shape(column))}"
        raise BadArgument(place.argument, f"a list or array [n] as {str(name)!r}", got)
    return np.asarray(column).tolist()


def _of_mappings(place: Place, source: Mapping[Any, Any]) -> Table:
    """Of option -> task -> score: a row for each task."""
    by_task = []
    for name, column in source.items():
        if not isinstance(column, Mapping):
            raise place.wrong(f"a mapping as {str(name)!r}, as of others", repr(column))
        by_task.append({str(task): score for task, score in column.items()})
    tasks = [*dict.fromkeys(task for scores in by_task for task in scores)]
    columns = [[scores.get(task) for task in tasks] for scores in by_task]
    return _table(place, ["task", *source], [tasks, *columns], range(len(tasks)))


def paired(argument: str, source: Any) -> Any:
    """A mapping or list with labels and scores for each series, if their index says more."""
    is_mapping = isinstance(source, Mapping)
    pairs = source.items() if is_mapping else ((f"option {i}", x) for i, x in enumerate(source))
    columns = {
        name: column.to_series() if type(column).__name__ == "DataArray" else column
        for name, column in pairs
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
        if name not in series:
            place, got = Place(argument, "a mapping"), f"a {type(column).__name__} as {name!r}"
            raise place.wrong("an index of tasks in all columns", got, hint=hint)
        for again in series[name][series[name].duplicated()]:
            place, got = Place(argument, f"the series {name!r}"), f"{str(again)!r} twice"
            raise place.wrong("different labels in the index", got, hint=hint)
    return {
        name: {label: None if one != one else one for label, one in column.items()}
        for name, column in columns.items()
    }


def of_records(place: Place, records: Sequence[Any], lines: Sequence[int] | None = None) -> Table:
    """The table whose rows are mappings, or lists below a first one of heads."""
    if records and all(isinstance(record, list | tuple) for record in records):
        heads, rows = [str(head).strip() for head in records[0]], records[1:]
        for number, row in enumerate(rows, 1):
            if len(row) != len(heads):
                raise place.wrong(f"{len(heads)} cells", str(len(row)), at=f", record {number}")
        columns = [[row[at] for row in rows] for at in range(len(heads))]
        return _table(place, heads, columns, range(1, len(rows) + 1), "record")
    unit = "record" if lines is None else "line"
    numbers = range(len(records)) if lines is None else lines
    for record, number in zip(records, numbers, strict=True):
        if not isinstance(record, Mapping):
            got = repr(record)[:60]
            raise place.wrong("a mapping of columns", got, at=f", {unit} {number}")
    heads = [*dict.fromkeys(head for record in records for head in record)]
    columns = [[record.get(head) for record in records] for head in heads]
    return _table(place, heads, columns, numbers, unit)
