"""A table with a column for each option."""

import dataclasses
from collections.abc import Mapping

import numpy as np

from jaxrace.tables.repeats import NONE, Repeats, notes_on
from jaxrace.tables.runs import SourceRuns
from jaxrace.tables.table import Place, Table


@dataclasses.dataclass(frozen=True)
class Wide:
    """Its columns, and what stands beside them in its rows."""

    found: dict[str, np.ndarray]  # the scores of each option, NaN where it has not run
    failed: dict[str, np.ndarray]  # which runs of each option failed, bool [rows]
    tasks: list[str] | None  # of each row; None if nothing names them
    groups: list[str] | None = None  # of each row
    grouped_by: str = ""  # what says so
    said: tuple[str, ...] = ()
    repeats: Repeats = NONE  # of each row
    # As in ``Scores``.
    clusters: Mapping[str, Mapping[str, str]] = dataclasses.field(default_factory=dict)

    @property
    def has_repeats(self) -> bool:
        """Do several rows have one task?"""
        return self.tasks is not None and len({*self.tasks}) < len(self.tasks)

    def runs(self, table: Table) -> SourceRuns:
        """Its runs, option by option."""
        labels = self.tasks or [str(row + 1) for row in range(len(table.lines))]
        made = {
            head: np.flatnonzero(~np.isnan(numbers) | self.failed[head])
            for head, numbers in self.found.items()
        }
        made_of = [row for rows in made.values() for row in rows]
        options = [head for head, rows in made.items() for _ in rows]
        return SourceRuns(
            table.argument,
            table.where,
            options,
            [score for head, rows in made.items() for score in self.found[head][rows].tolist()],
            [labels[row] for row in made_of],
            (*self.said, *self.of_items(table, made)),
            numbered=self.tasks is None,
            groups=self.groups and [self.groups[row] for row in made_of],
            grouped_by=self.grouped_by,
            measures=tuple(made),
            gaps=[gap for x in made.values() for gap in (np.diff(x, prepend=-1) - 1).tolist()],
            task_order=labels,
            clusters=self.clusters,
        )

    def of_items(self, place: Place, made: Mapping[str, np.ndarray]) -> list[str]:
        """What is said of rows of one item; ``made`` has the rows that each option has run."""
        if self.tasks is None or not self.has_repeats:
            return []
        rows = [row for own in made.values() for row in own.tolist()]
        options = [head for head, own in made.items() for _ in own]
        return notes_on(place, options, [self.tasks[row] for row in rows], self.repeats.of(rows))
