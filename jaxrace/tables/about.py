"""What votes have in common: the item that they are about, and the judge who gave them."""

import hashlib
from collections.abc import Sequence, Set
from typing import NamedTuple

import numpy as np

from jaxrace.tables.heads import word_set, words
from jaxrace.tables.table import Table

_ITEMS = {
    *("question_id", "question", "id_question", "item", "item_id", "prompt", "prompt_id"),
    *("task_id", "instance", "instance_id", "instruction", "sample_id", "example_id"),
    *("instruction_id", "prompt_idx", "question_hash", "input", "input_id", "query", "query_id"),
    *("conversation_id", "dialog_id", "doc_id", "turn_id", "id", "uid", "idx"),
}
_JUDGES = word_set(
    "judge annotator rater worker user voter labeler labeller evaluator assessor grader reviewer "
    "participant respondent turker session"
)
_OF_JUDGES = word_set("id ids uid key hash name no nr number model")  # may stand behind these


class About(NamedTuple):
    """What some votes have in common; numbers are digests of names, and the same in all files."""

    items: np.ndarray | None = None  # int64 [n], -1 for none; None if all is about one
    judges: np.ndarray | None = None  # the same of those who voted; None if each did once, or one
    judged_by: str = ""  # the column of these
    cluster: str = ""  # the column that the caller names: what it has once counts once
    said: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()  # other columns


def names_item(head: str) -> bool:
    """Does a head name what votes are about, as "question_id" does?"""
    return head.lower() in _ITEMS


def names_judge(head: str) -> bool:
    """Does a head name who has voted?

    >>> [names_judge(head) for head in ("judge", "annotatorId", "user_id", "user_prompt", "turn")]
    [True, True, True, False, False]
    """
    found = words(head)
    return found[:1] != [] and found[0] in _JUDGES and {*found[1:]} <= _OF_JUDGES


def about(
    table: Table,
    taken: Set[str | None],
    first: np.ndarray,
    second: np.ndarray,
    cluster: str | None = None,
) -> About:
    """What votes have in common, by their columns but for those ``taken``.

    ``cluster`` is the column whose rows count once, if the caller says so.
    """
    heads = [head for head in table.heads if head not in taken]
    judged_by = next((head for head in heads if names_judge(head) and _repeats(table, head)), "")
    judges = _numbers(table.labels(judged_by)) if judged_by else None
    items, item, said = None, cluster, list[str]()
    if cluster is not None:
        table.require_full(cluster, "a name of what belongs together")
        items = _numbers(table.labels(cluster))
    for head in filter(names_item, heads if cluster is None else ()):
        numbers = _numbers(table.labels(head))
        known = numbers >= 0
        if len(np.unique(numbers[known])) > 1:
            rows = np.stack([np.minimum(first, second), np.maximum(first, second), numbers])
            matters = len(np.unique(rows[:, known], axis=1).T) < known.sum()
            said += [f"items from column {head!r}"] * bool(matters)
            items, item = numbers, head
            break
    unused = [h for h in heads if h not in (item, judged_by) and table.kind(h) != "blank"]
    return About(items, judges, judged_by, cluster or "", tuple(said), tuple(unused))


def _repeats(table: Table, head: str) -> bool:
    """Are there several names below a head, and one of them several times?"""
    known = [label for label in table.labels(head) if label]
    return 1 < len({*known}) < len(known)


def _numbers(labels: Sequence[str]) -> np.ndarray:
    """A digest of each label, int64 [n], -1 of none."""
    digests = {x: hashlib.blake2b(x.encode(), digest_size=8).digest() for x in {*labels} - {""}}
    numbers = {x: int.from_bytes(digest) >> 1 for x, digest in digests.items()}
    return np.array([numbers.get(label, -1) for label in labels], np.int64)
