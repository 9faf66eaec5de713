"""What several tasks belong to, as questions do to a passage: a column of it, or their names.

Tasks of one passage may be alike, and then are no independent tasks.
"""

import math
import re
from collections.abc import Mapping, Sequence
from shlex import quote

from jaxrace.tables.heads import names_cluster, names_task
from jaxrace.tables.table import Table

_FEWEST = 8  # fewer are rather groups, as languages are
# The first part of q1_p3, q1/3 or doc12-4, which ends with a number as groups seldom do.
_FIRST_PART = re.compile(r"([^\W\d_]*[ _/:#-]?\d+)[ _/:#-]+[^\W\d_]*[ _/:#-]?\d+")
IN_NAMES = ""  # the "column" of clusters that the names of tasks begin with

Clusters = dict[str, dict[str, str]]  # by column: of each task what it belongs to


def clusters_of(table: Table, heads: Sequence[str], tasks: Sequence[str] | None) -> Clusters:
    """What the tasks of the rows belong to, by the columns that are called like that."""
    if tasks is None:
        return {}
    found, number = {}, len({*tasks})
    for head in [head for head in heads if names_cluster(head) or are_people(table, head)]:
        rows = {*zip(tasks, table.labels(head), strict=True)}
        kinds = {label for _, label in rows}
        if len(rows) == number and 1 < len(kinds) < number:
            found[head] = {task: label for task, label in rows if label}  # of a blank cell: alone
    return found or clusters_in_names(tasks)


def labels_of_clusters(
    table: Table, heads: Sequence[str], kinds: Mapping[str, str], are_tasks_asked: bool
) -> list[str]:
    """The columns of a wide table that are called so, and hold names, or numbers beyond others.

    But for those that name tasks, if the caller has not said which do.
    """
    likely = [h for h in heads if names_cluster(h) and (are_tasks_asked or not names_task(h))]
    numeric = [h for h in heads if kinds[h] != "text" and not names_task(h)] if likely else []
    most = max((_largest(table, head) for head in numeric if head not in likely), default=math.inf)
    numbers = [h for h in likely if h in numeric and all(map(str.isdecimal, table.labels(h)))]
    return [h for h in likely if kinds[h] == "text" or (h in numbers and _largest(table, h) > most)]


def _largest(table: Table, head: str) -> float:
    """The largest number below a head; that of truth values is 1."""
    try:
        return max(float(label) for label in table.labels(head) if label)
    except ValueError:
        return 1.0 if table.kind(head) == "flag" else math.inf


def clusters_in_names(tasks: Sequence[str]) -> Clusters:
    """The first parts of names of tasks, as "q1" of "q1_p3", if these repeat in all of them."""
    of_task: dict[str, str] = {}
    for task in dict.fromkeys(tasks):
        if (part := _FIRST_PART.fullmatch(task)) is None:
            return {}
        of_task[task] = part[1]
    kinds = {*of_task.values()}
    are_numbered = len({label.rstrip("0123456789") for label in kinds}) == 1
    if not (are_numbered and _FEWEST <= len(kinds) <= len(of_task) / 2):
        return {}
    return {IN_NAMES: of_task}


def clusters_said(table: Table, heads: Sequence[str], tasks: Sequence[str]) -> list[str]:
    """A note on names, such as those of passages, each of which several tasks belong to."""
    number = len({*tasks})
    for head in heads:
        labels = table.labels(head)
        are_many = _FEWEST <= len({*labels}) <= number / 2
        is_named = table.kind(head) == "text" or names_task(head) or names_cluster(head)
        if are_many and is_named and len({*zip(tasks, labels, strict=True)}) == number:
            return [
                f"{number:,} tasks of {len({*labels}):,} different below {head!r}: if those of one "
                f"are alike, --cluster-column {quote(head)} counts each once"
            ]
    for of_task in clusters_in_names(tasks).values():
        label = of_task[tasks[0]]
        return [
            f"{number:,} tasks of {len({*of_task.values()}):,} different first parts of names, as "
            f"{label!r} of {tasks[0]!r}: if those of one are alike, add a column of these parts, "
            "and --cluster-column with its name counts each once"
        ]
    return []


def ways_to_count(clusters: Mapping[str, Mapping[str, str]], head: str) -> str:
    """What counts each of these clusters once."""
    if head == IN_NAMES:
        task, label = next(iter(clusters[head].items()))
        return (
            f"a column of the first parts of names, as {label!r} of {task!r}, and --cluster-column "
            "(cluster_column=) with its name count each once"
        )
    return f"--cluster-column {quote(head)} (cluster_column={head!r}) counts each once"


def are_people(table: Table, head: str) -> bool:
    """Is a column of subjects one of people, as S01 or 12, and not of fields?"""
    return head.lower() == "subject" and all(map(re.compile(r"\d").search, table.labels(head)))
