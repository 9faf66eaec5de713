"""Comparisons as evaluations of models leave them: alpaca_eval, MT-bench, and arenas."""

import dataclasses
from collections.abc import Sequence

from jaxrace.tables.about import names_item, names_judge
from jaxrace.tables.table import Cell, Table

_ALPACA = {"generator_1", "generator_2", "preference"}
_MT_BENCH = {"model_1", "model_2", "g1_winner", "g2_winner"}
_GAMES = "g1_winner", "g2_winner"  # the answers in one order, and in the other


def is_annotated(table: Table) -> bool:
    """Are these votes of alpaca_eval or MT-bench?"""
    return {*table.heads} >= _ALPACA or {*table.heads} >= _MT_BENCH


def plain_votes(table: Table, score: str, kept: str | None = None) -> tuple[Table, str]:
    """Of these the columns first, second, score, and "win"; another table and ``score`` as is.

    Beside them is what names items and judges, and the column that is to be ``kept``.
    """
    if {*table.heads} >= _ALPACA:
        return _alpaca(table, kept), "win"
    if {*table.heads} >= _MT_BENCH:
        return _mt_bench(table, kept), "win"
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
    table = table.rows(rows, left) if len(rows) < len(labels) else table
    return table.without(["anony"])


def _alpaca(table: Table, kept: str | None) -> Table:
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
    return _with(table.rows(rows), "generator_1", "generator_2", scores, said, kept)


def _mt_bench(table: Table, kept: str | None) -> Table:
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
    return _with(table.rows(rows), "model_1", "model_2", scores, said, kept)


def _with(
    table: Table,
    first: str,
    second: str,
    scores: Sequence[Cell],
    said: Sequence[str],
    kept: str | None,
) -> Table:
    columns = table.column(first), table.column(second), scores
    heads = ("first", "second", "score")
    for head in table.heads:
        if names_item(head) or names_judge(head) or head == kept:
            columns, heads = (*columns, table.column(head)), (*heads, head)
    return dataclasses.replace(table, heads=heads, columns=columns, said=(*table.said, *said))
