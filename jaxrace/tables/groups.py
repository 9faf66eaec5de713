"""Groups of tasks: the benchmark, subject or file of each."""

import re
from collections import Counter
from collections.abc import Sequence

from jaxrace.tables.cells import is_blank
from jaxrace.tables.heads import names_group, names_place
from jaxrace.tables.names import alike
from jaxrace.tables.table import Table

_PREFIX = re.compile(r"(.*[^\W\d_].*?)[ /:#_-]+\d+")  # of mmlu_anatomy 17, or gsm8k/12
_FEWEST = 5  # tasks of a group, on average, if names alone say that there are groups
_MOST_SAID = 12


def are_groups(table: Table, head: str, is_one_of_several: bool = False) -> bool:
    """Does a column of words, which repeat, put tasks into groups, as its head says?"""
    if not (names_group(head) or (is_one_of_several and names_place(head))):
        return False
    cells = table.column(head)
    is_full = table.kind(head) == "text" and not any(map(is_blank, cells))
    return is_full and 1 < len(set(cells)) < len(cells)


def grouped(
    table: Table,
    heads: Sequence[str],
    labels: list[str] | None,
    options: Sequence[str] | None = None,
    several: bool = False,
    asked: str | None = None,
) -> tuple[list[str] | None, list[str] | None, str]:
    """The task and the group of each row, and what says so.

    The column of the fewest groups is taken, each task in one of them. Where tasks of two groups
    are called the same, and only the group tells them apart, its name stands before theirs.
    ``heads`` are the columns that may say it, or ``asked`` does; ``labels`` the tasks; ``options``
    whose score it is, if not those of all. Where ``several`` columns name a task together,
    environments are groups.
    """
    height = len(table.lines)
    names = options or [""] * height
    best: tuple[list[str] | None, list[str] | None, str] = (labels, None, "")
    fewest = height
    for head in [asked] if asked else [h for h in heads if are_groups(table, h, several)]:
        groups, tasks = table.labels(head), labels
        table.require_full(head, "the group of a task")
        if tasks and len({*zip(tasks, groups, strict=True)}) > len({*tasks}):
            joined = [f"{group} {task}" for group, task in zip(groups, tasks, strict=True)]
            told = [len({*zip(names, one, strict=True)}) for one in (tasks, joined)]
            if not asked and not told[0] < told[1] == height:
                continue  # such as a kind of answer, another one for each option
            tasks = joined
        number = len({*groups})
        if number < min(fewest, len({*tasks}) if tasks else height):
            best, fewest = (tasks, groups, f"column {head!r}"), number
    return best


def groups_of(
    names: Sequence[str],
    task_names: Sequence[str],
    tasks: Sequence[str],
    groups: Sequence[str] | None,
    source: str,
) -> tuple[tuple[str, ...], list[str]]:
    """The group of each different task, () if all are of one; and what to say of them and of names.

    ``tasks`` are those of each run, or row, and ``groups`` theirs, as ``source`` says. Without
    groups the names of tasks may say them.
    """
    known = dict(zip(tasks, groups, strict=True)) if groups else {}
    found = [known[task] for task in task_names] if known else _named_groups(task_names)
    said = [*alike("options", names), *alike("tasks", task_names)]
    sizes = Counter(found)
    if len(sizes) < 2:
        return (), said
    shown = ", ".join(f"{group} {size:,}" for group, size in [*sizes.items()][:_MOST_SAID])
    more = ", ..." if len(sizes) > _MOST_SAID else ""
    source = source or "the names of tasks"
    return tuple(found), [*said, f"{len(sizes)} groups of tasks from {source}: {shown}{more}"]


def _named_groups(tasks: Sequence[str]) -> list[str]:
    """The groups that names of tasks begin with, as "arc/1", "arc/2"; [] if these are not clear."""
    groups = [match[1] for match in map(_PREFIX.fullmatch, tasks) if match]
    is_clear = len(groups) == len(tasks) and 2 <= len(set(groups)) <= len(tasks) / _FEWEST
    return groups if is_clear and min(Counter(groups).values()) > 1 else []
