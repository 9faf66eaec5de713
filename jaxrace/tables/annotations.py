"""Comparisons as evaluations of models leave them: alpaca_eval, MT-bench, and arenas."""

import dataclasses
import hashlib
from collections.abc import Sequence, Set

import numpy as np

from jaxrace.tables.table import Cell, Table

_ALPACA = {"generator_1", "generator_2", "preference"}
_MT_BENCH = {"model_1", "model_2", "g1_winner", "g2_winner"}
_ABOUT = {
    *("question_id", "question", "id_question", "item", "item_id", "prompt", "prompt_id"),
    *("task_id", "instance", "instance_id", "instruction", "sample_id", "example_id"),
    *("instruction_id", "prompt_idx", "question_hash", "input", "input_id", "query", "query_id"),
    *("conversation_id", "dialog_id", "doc_id", "turn_id", "id", "uid", "idx"),
}
_GAMES = "g1_winner", "g2_winner"  # the answers in one order, and in the other


def is_annotated(table: Table) -> bool:
    """Are these votes of alpaca_eval or MT-bench?"""
    return {*table.heads} >= _ALPACA or {*table.heads} >= _MT_BENCH


def plain_votes(table: Table, score: str) -> tuple[Table, str]:
    """Of these the columns first, second, score, and "win"; another table and ``score`` as is."""
    if {*table.heads} >= _ALPACA:
        return _alpaca(table), "win"
    if {*table.heads} >= _MT_BENCH:
        return _mt_bench(table), "win"
    return (_anonymous(table), score) if "anony" in table.heads else (table, score)


def _anonymous(table: Table) -> Table:
    """Votes of an arena without those by who knew the models."""
    is_known = [str(cell).lower() in ("true", "false", "1", "0") for cell in table.column("anony")]
    table.require("anony", is_known, "true or false")
    labels = [str(cell).lower() for cell in table.column("anony")]
    rows = [row for row, label in enumerate(labels) if label in ("true", "1")]
    if not rows:
        raise table.wrong("votes that are anonymous, by column 'anony',", "none")
    left = f"votes that are not anonymous, left out: {len(labels) - len(rows):,}"
    return table.rows(rows, left) if len(rows) < len(labels) else table


def _alpaca(table: Table) -> Table:
    """A preference is from 1, the first output is better, to 2, the second is."""
    known = [cell for cell in table.column("preference") if cell is not None]
    rows = [row for row, cell in enumerate(table.column("preference")) if cell is not None]
    scores = [2 - float(cell) for cell in known]
    if not all(0 <= score <= 1 for score in scores):
        row = next(row for row, score in zip(rows, scores, strict=True) if not 0 <= score <= 1)
        raise table.wrong("a preference from 1 to 2", repr(table.column("preference")[row]), row)
    said = ["alpaca_eval: preferences from 1, the first is better, to 2"]
    said += (
        [f"left out, without a preference: {left:,}"]
        if (left := len(table.lines) - len(rows))
        else []
    )
    return _with(table.rows(rows), "generator_1", "generator_2", scores, said)


def _mt_bench(table: Table) -> Table:
    """Two judgements, the second with the answers in the other order: who won both has won."""
    both = [*zip(*map(table.labels, _GAMES), strict=True)]
    rows = [row for row, pair in enumerate(both) if "error" not in pair]
    for row in rows:
        if not {*both[row]} <= {"model_1", "model_2", "tie"}:
            raise table.wrong("model_1, model_2 or tie", repr(both[row]), row)
    scores = []
    for one, other in (both[row] for row in rows):
        scores.append({"model_1": 1.0, "model_2": 0.0}.get(one, 0.5) if one == other else 0.5)
    said = ["MT-bench: who was better in both orders has won, others have tied"]
    said += [f"left out, as judgements failed: {left:,}"] if (left := len(both) - len(rows)) else []
    return _with(table.rows(rows), "model_1", "model_2", scores, said)


def _with(
    table: Table, first: str, second: str, scores: Sequence[Cell], said: Sequence[str]
) -> Table:
    columns = table.column(first), table.column(second), scores
    heads = ("first", "second", "score")
    for head in table.heads:
        if head.lower() in _ABOUT:
            columns, heads = (*columns, table.column(head)), (*heads, head)
    return dataclasses.replace(table, heads=heads, columns=columns, said=(*table.said, *said))


def items_of(
    table: Table, taken: Set[str | None], first: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray | None, tuple[str, ...]]:
    """Which item each row is about, int64 [n], -1 for none, and how that is known if it matters.

    Numbers are digests of the names, and so the same in all files. None if all is about one item.
    """
    heads = [head for head in table.heads if head.lower() in _ABOUT and head not in taken]
    for head in heads:
        labels = table.labels(head)
        if len(known := {*labels} - {""}) > 1:
            digests = {x: hashlib.blake2b(x.encode(), digest_size=8).digest() for x in known}
            numbers = {x: int.from_bytes(digest) >> 1 for x, digest in digests.items()}
            found = np.array([numbers.get(label, -1) for label in labels], np.int64)
            rows = np.stack([np.minimum(first, second), np.maximum(first, second), found])
            matters = len(np.unique(rows[:, found >= 0], axis=1).T) < (found >= 0).sum()
            return found, (f"items from column {head!r}",) if matters else ()
    return None, ()
