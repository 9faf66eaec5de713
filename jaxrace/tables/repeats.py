"""Rows of one item: samples of a question, seeds of an instance. They belong together.

A model that is better on a question is better in all of its rows: these are no tasks of their own.
"""

from collections import Counter
from collections.abc import Sequence
from shlex import quote
from typing import NamedTuple

from jaxrace.tables.heads import names_again, names_place, names_question, parted_heads
from jaxrace.tables.runs import Asked
from jaxrace.tables.table import Place, Table, quoted


class Repeats(NamedTuple):
    """What rows are of, in words, and what tells rows of one of these apart."""

    item: str = "task"
    by: tuple[str, ...] = ()  # heads
    labels: Sequence[str] | None = None  # of each row, of these columns together
    column: str = ""  # of the items, if it is one
    is_asked: bool = False  # has the caller said that rows of one belong together?

    def of(self, rows: Sequence[int]) -> "Repeats":
        """The same of some rows."""
        return self._replace(labels=self.labels and [self.labels[row] for row in rows])


NONE = Repeats()  # of tasks that nothing is known of but their names


def parted(table: Table, tasks: Sequence[str], asked: Asked) -> tuple[list[str], Repeats]:
    """The columns of items among those of tasks, and what tells rows of one item apart.

    A column that is the same in all rows names no items, nor does one of groups.
    """
    varied = [h for h in tasks if h != asked.group and len({*table.labels(h)}) > 1]
    of_items, again = ([*tasks], []) if asked.tasks else parted_heads(varied)
    kinds = {head: len({*table.labels(head)}) for head in of_items}
    most = len(table.lines)
    if not asked.tasks and min(kinds.values(), default=most) < most:
        # One that differs in every row numbers rows, of items that others name.
        again = again + [h for h in of_items if kinds[h] == most and not names_question(h)]
        of_items = [head for head in of_items if head not in again]
    items = [head for head in tasks if head not in again]
    rows = [*zip(*map(table.labels, items), strict=True)]
    are_items = not all(h == asked.group or names_place(h) or names_again(h) for h in items)
    if are_items and len({*rows}) < len(rows):
        others = [h for h in table.heads if h not in items and h not in asked.columns]
        again = [head for head in others if head in again or names_again(head)]
    labels = [" ".join(row) for row in zip(*map(table.labels, again), strict=True)]
    item = " and ".join(map(repr, of_items)) or "task"
    column = of_items[0] if len(of_items) == 1 else ""
    return items, Repeats(item, tuple(again), labels or None, column, bool(asked.cluster))


def notes_on(
    place: Place, options: Sequence[str], tasks: Sequence[str], about: Repeats
) -> list[str]:
    """What is said of rows of one item, each run with its option and task.

    BadArgument if few items of an option have several rows, and most one: which of them counts?
    """
    cells = Counter(zip(options, tasks, strict=True))
    if about.is_asked or not cells or max(cells.values()) == 1:
        return []
    labels = about.labels or [""] * len(tasks)
    alike = Counter(zip(options, tasks, labels, strict=True))
    number, twice = Counter[str](), Counter[str]()
    for (option, *_), count in alike.items():
        number[option] += 1
        twice[option] += count > 1
    few = [option for option, count in twice.items() if 0 < 2 * count <= number[option]]
    if few:
        again = [(*key, n) for key, n in alike.items() if n > 1 and key[0] == few[0]]
        option, task, label, count = again[0]
        got = f"{count:,} of {option!r} for {task!r}"
        got += f", {quoted(about.by)} {label!r}" if about.labels else ""
        got += f", and {len(again) - 1:,} more like that" if len(again) > 1 else ""
        hint = "leave out all but one"
        if about.column:
            hint += f"; --cluster-column {quote(about.column)} takes their mean"
            hint += "; --task-column, once for each column, if another one tells them apart"
        what = ", ".join([f"each option and {about.item}", *map(repr, about.by)])
        raise place.wrong(f"one row for {what}", got, hint=hint)
    low, high = min(cells.values()), max(cells.values())
    number = f"{high:,}" if low == high else f"{low:,} to {high:,}"
    by = f", told apart by {quoted(about.by)}" if about.labels else ""
    said = f"{number} rows of an option for each {about.item}{by}: with --shared "
    said += f"each {about.item} counts once, by all of its rows"
    head = about.column
    is_suite = head.lower().startswith(("task", "instance")) and about.by
    said += f"; --group-column {quote(head)} if these are a fixed suite" if is_suite else ""
    return [said]
