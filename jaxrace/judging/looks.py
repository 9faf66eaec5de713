"""What was looked at before: a file that lets a table grow, and change in no other way.

The guarantee holds for all looks together because every pair has one sequence of differences, which
only grows. It is lost where rows are sorted again, scores replaced, options left out or settings
changed between two looks. Axes: K options, T tasks.
"""

import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from jaxrace.judging.scores import Table
from jaxrace.runs import files

_KIND = "looks of jaxrace race"


class Looks:
    """The file of the looks at one table, with the ``question`` by the names of its parts.

    Raises:
        ValueError: It is another file, or its question was another one.
    """

    def __init__(self, path: str | os.PathLike[str], question: Mapping[str, Any]) -> None:
        self._path = Path(path)
        about = dict(question)
        if about.pop("compare") is not None:
            raise ValueError("looks: expected a race of numbers, got one with compare")
        self._question = about
        self._found: dict[str, Any] = {}
        if self._path.exists():
            try:
                self._found = files.read_json(path)
            except (OSError, ValueError) as error:
                raise ValueError(f"looks: {error}") from error
            if self._found.get("kind") != _KIND:
                raise ValueError(f"looks: expected a file of looks, got {str(path)!r}")
        for name, then in self._found.get("question", {}).items():
            if about[name] != then:
                hint = "another question needs another file, and a delta of its own"
                raise self._wrong(f"{name} {then!r}, as before", f"{about[name]!r}: {hint}")

    def _wrong(self, expected: str, got: str) -> ValueError:
        return ValueError(f"looks: expected {expected} in '{self._path}', got {got}")

    def continued(self, table: Table) -> Table:
        """The table with its shared tasks in the order in which they came.

        Raises:
            ValueError: Options or scores of before have changed.
        """
        options = self._found.get("options")
        if options is None:
            return table
        if set(table.names) != set(options):
            odd = sorted(set(table.names) ^ set(options))
            raise self._wrong(f"the options of before, {', '.join(options)}", f"also {odd[0]!r}")
        if table.tasks is not None:
            table = _reordered(table, self._found["tasks"])
        now = _runs_of(table)
        for name, then in options.items():
            for place, old in then.items():
                new = now[name].get(place)
                if new != old:
                    where = f"run {int(place) + 1}" if table.tasks is None else f"task {place}"
                    hint = "rows that were there before stay as they are, and new ones go behind"
                    expected = f"{_said(old)} for {where} of {name}, as before"
                    raise self._wrong(expected, f"{_said(new)}: {hint}")
        return table

    def remember(self, table: Table) -> None:
        """Write what has been looked at."""
        about = {"kind": _KIND, "question": self._question, "tasks": list(table.task_names)}
        files.write_json(self._path, {**about, "options": _runs_of(table)})


def _said(scores: list[float] | None) -> str:
    return "none" if scores is None else " and ".join(f"{score:g}" for score in scores)


def _runs_of(table: Table) -> dict[str, dict[str, list[float]]]:
    """Of each option its scores by the number of the run, or by task, in their order there."""
    found = {}
    for option, name in enumerate(table.names):
        places = range(len(table.values[option])) if table.tasks is None else table.tasks[option]
        runs: dict[str, list[float]] = {}
        for place, score in zip(places, table.values[option].tolist(), strict=True):
            called = str(place) if table.tasks is None else table.task_names[place]
            runs.setdefault(called, []).append(score)
        found[name] = runs
    return found


def _reordered(table: Table, before: list[str]) -> Table:
    """The table with the tasks of ``before`` first, and the new ones behind in their order."""
    assert table.tasks is not None
    names = tuple(dict.fromkeys([*before, *table.task_names]))
    place = {name: number for number, name in enumerate(names)}
    places = np.array([place[name] for name in table.task_names], np.int64)
    groups = dict(zip(table.task_names, table.groups, strict=False))
    return dataclasses.replace(
        table,
        task_names=names,
        tasks=tuple(places[tasks] for tasks in table.tasks),
        groups=tuple(groups.get(name, "") for name in names) if groups else (),
    )
