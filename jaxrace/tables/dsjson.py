"""Logs of decisions as Vowpal Wabbit keeps them, JSON lines called dsjson."""

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from jaxrace.tables.table import Cell, Table

_ROLES = {"_label_Action": "action", "_label_probability": "probability", "_label_cost": "cost"}
_CONTEXT = "c"  # features by namespace; those of the actions are below names with _


def plain_log(table: Table) -> Table:
    """The table with columns action, probability, cost and features, if it is such a log."""
    if not {*_ROLES} <= {*table.heads}:
        return table
    contexts = table.column(_CONTEXT) if _CONTEXT in table.heads else [{}] * len(table.lines)
    rows = [dict(_features(cell)) if isinstance(cell, Mapping) else {} for cell in contexts]
    heads = list(dict.fromkeys(h for row in rows for h in row))
    columns: list[list[Cell]] = [[row.get(head, 0) for row in rows] for head in heads]
    said = "dsjson of Vowpal Wabbit: actions by number, costs; features of actions are left out"
    return dataclasses.replace(
        table,
        heads=(*_ROLES.values(), *heads),
        columns=(*map(table.column, _ROLES), *columns),
        said=(*table.said, said),
    )


def _features(values: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Cell]]:
    for name, value in values.items():
        if name.startswith("_"):
            continue
        path = f"{above}.{name}" if above else name
        if isinstance(value, Mapping):
            yield from _features(value, path)
        elif isinstance(value, str | int | float):
            yield path, value
