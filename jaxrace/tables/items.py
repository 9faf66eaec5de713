"""The tasks of a list and their groups, before anything is run."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from jaxrace.tables.heads import names_group, names_task
from jaxrace.tables.sources import read_table
from jaxrace.tables.table import Table, quoted


class Items(NamedTuple):
    """A table with a row for each task."""

    table: Table
    tasks: list[str]  # different names
    groups: list[str]


def read_items(
    argument: str,
    source: Any,
    group_column: str | None = None,
    task_column: str | Sequence[str] | None = None,
) -> Items:
    """The tasks in a source of any kind of table; BadArgument if it is not clear which they are.

    Where a name is that of several tasks, that of the group stands before it.
    """
    table = read_table(argument, source)
    called = [head for head in table.heads if names_group(head)]
    option = "--groups" if argument == "items" else "--group-column"
    group = _column(table, group_column, called, "groups", option)
    rest = [head for head in table.heads if head != group]
    likely = rest if len(rest) == 1 else [head for head in rest if names_task(head)]
    task_column = task_column if isinstance(task_column, str | None) else task_column[0]
    task = _column(table, task_column, likely, "tasks", "--task-column")
    for head in (group, task):
        table.require_full(head, "a name")
    tasks, groups = table.labels(task), table.labels(group)
    if len({*tasks}) < len(tasks):
        tasks = [f"{one} {name}" for one, name in zip(groups, tasks, strict=True)]
    first = {name: row for row, name in reversed([*enumerate(tasks)])}
    is_new = [first[name] == row for row, name in enumerate(tasks)]
    table.require(task, is_new, "different names of tasks")
    return Items(table, tasks, groups)


def _column(table: Table, asked: str | None, likely: Sequence[str], what: str, option: str) -> str:
    if asked is not None and asked in table.heads:
        return asked
    if asked is not None or len(likely) != 1:
        got = quoted(likely if asked is None and likely else table.heads)
        if asked is not None:
            raise table.wrong(f"a column {asked!r} of {what}", got)
        raise table.wrong(f"one column of {what}", got, hint=f"{option} says which")
    return likely[0]
