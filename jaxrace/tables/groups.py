"""Groups of tasks: the benchmark, subject or file of each."""

import re
from collections import Counter
from collections.abc import Sequence

from jaxrace.tables.cells import is_blank, kind_of, label_of
from jaxrace.tables.heads import names_group, names_place
from jaxrace.tables.table import Table

_PREFIX = re.compile(r"(.*[^\W\d_].*?)[ /:#_-]+\d+")  # of mmlu_anatomy 17, or gsm8k/12
_FEWEST = 5  # tasks of a group, on average, if names alone say that there are groups


def are_groups(table: Table, head: str, is_one_of_several: bool = False) -> bool:
    """Does a column of words, which repeat, put tasks into groups, as its head says?"""
    if not (names_group(head) or (is_one_of_several and names_place(head))):
        return False
    cells = table.column(head)
    is_full = kind_of(cells) == "text" and not any(map(is_blank, cells))
    return is_full and 1 < len(set(cells)) < len(cells)


def grouped(
    table: Table,
    heads: Sequence[str],
    labels: Sequence[str] | None,
    options: Sequence[str] | None = None,
    several: bool = False,
    asked: str | None = None,
) -> tuple[list[str] | None, list[str] | None, str]:
    """The task and the group of each row, and what says so.

    Of some columns that of the fewest groups, each task in one of them. Tasks of two groups that
    are called the same have its name before theirs, if they are told apart by it alone.

    Args:
        table: The table.
        heads: Its columns that are neither scores nor options.
        labels: The task of each row; None if each row is one of its own.
        options: Whose score it is, if not those of all.
        several: Do several columns name a task together? One of environments is one of groups then.
        asked: The column of groups, if it is known.
    """
    rows = range(len(table.lines))
    names = options or [""] * len(rows)
    best: tuple[list[str] | None, list[str] | None, str] = (None, None, "")
    for head in [asked] if asked else [h for h in heads if are_groups(table, h, several)]:
        groups = [label_of(cell) for cell in table.column(head)]
        table.require(head, [not is_blank(group) for group in groups], "the group of a task")
        tasks = labels if labels is None else list(labels)
        if tasks and len({*zip(tasks, groups, strict=True)}) > len({*tasks}):
            joined = [f"{group} {task}" for group, task in zip(groups, tasks, strict=True)]
            told = [len({*zip(names, one, strict=True)}) for one in (tasks, joined)]
            if not asked and not told[0] < told[1] == len(rows):
                continue  # such as a kind of answer, another one for each option
            tasks = joined
        number = len({*groups})
        if number < len({*(tasks or rows)}) and (best[1] is None or number < len({*best[1]})):
            best = tasks, groups, f"column {head!r}"
    return best if best[1] else (None if labels is None else list(labels), None, "")


def named_groups(tasks: Sequence[str]) -> list[str]:
    """The groups that names of tasks begin with, [] if these are not clear.

    >>> named_groups([f"{name}/{i}" for name in ("arc", "mmlu_law") for i in range(5)])[4:6]
    ['arc', 'mmlu_law']
    >>> named_groups([f"q-{i}" for i in range(9)])
    []
    """
    matches = [_PREFIX.fullmatch(task) for task in tasks]
    groups = [match[1] for match in matches if match]
    is_clear = len(groups) == len(tasks) and 2 <= len(set(groups)) <= len(tasks) / _FEWEST
    return groups if is_clear and min(Counter(groups).values()) > 1 else []


def said_of_groups(groups: Sequence[str], source: str, most: int = 12) -> str:
    """How many tasks each group has.

    >>> said_of_groups(["mmlu", "arc", "mmlu"], "column 'dataset'")
    "2 groups of tasks from column 'dataset': mmlu 2, arc 1"
    """
    sizes = Counter(groups)
    shown = ", ".join(f"{group} {size:,}" for group, size in [*sizes.items()][:most])
    return f"{len(sizes)} groups of tasks from {source}: {shown}" + ", ..." * (len(sizes) > most)
