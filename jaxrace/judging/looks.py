"""What was looked at before: a file that lets a table grow, and change in no other way.

All looks together have the guarantee because each pair has one sequence of differences, which only
grows: no row is moved, no score replaced, no option left out, no setting changed.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jaxrace.core.validation import BadArgument
from jaxrace.judging.scores import Table
from jaxrace.runs import files

_KIND = "looks of jaxrace race"


class Looks:
    """The file of the looks at one table; ValueError if it is another, or of another question."""

    def __init__(self, path: str | os.PathLike[str], question: Mapping[str, Any]) -> None:
        self._path = Path(path)
        about = dict(question)
        if about.pop("compare") is not None:
            raise BadArgument("looks", "a race of numbers", "one with compare")
        self._question = about
        self._found: dict[str, Any] = {}
        if self._path.exists():
            try:
                self._found = files.read_json(path)
            except (OSError, ValueError) as error:
                raise ValueError(f"looks: {error}") from error
            if self._found.get("kind") != _KIND:
                raise BadArgument("looks", "a file of looks", repr(str(path)))
        for name, then in self._found.get("question", {}).items():
            if about[name] != then:
                hint = "another question needs another file, and a delta of its own"
                raise self._wrong(f"{name} {then!r}, as before", repr(about[name]), hint)

    def _wrong(self, expected: str, got: str, hint: str = "") -> BadArgument:
        where = f"{expected} in '{self._path}'"
        return BadArgument("looks", where, got, f": {hint}" if hint else "")

    def continued(self, table: Table) -> Table:
        """The table, its shared tasks in their order of before; ValueError if that has changed."""
        options = self._found.get("options")
        if options is None:
            return table
        if odd := sorted(set(table.names) ^ set(options)):
            raise self._wrong(f"the options of before, {', '.join(options)}", f"also {odd[0]!r}")
        if table.tasks is not None:
            before = dict.fromkeys((*self._found["tasks"], *table.task_names))
            table = table.in_task_order([*before])
        now = _runs_of(table)
        for name, then in options.items():
            for place, old in then.items():
                new = now[name].get(place)
                if new != old:
                    where = f"run {int(place) + 1}" if table.tasks is None else f"task {place}"
                    hint = "rows that were there before stay as they are, and new ones go behind"
                    expected = f"{_said(old)} for {where} of {name}, as before"
                    raise self._wrong(expected, _said(new), hint)
        return table

    def remember(self, table: Table) -> None:
        """Write what has been looked at."""
        about = {"kind": _KIND, "question": self._question, "tasks": list(table.task_names)}
        files.write_json(self._path, {**about, "options": _runs_of(table)})


def _said(scores: list[float] | None) -> str:
    return "none" if scores is None else " and ".join(f"{score:g}" for score in scores)


def _runs_of(table: Table) -> dict[str, dict[str, list[float]]]:
    """Of each option its scores by the number of the run, or by task, in their order there."""
    found: dict[str, dict[str, list[float]]] = {}
    for option, (name, values) in enumerate(zip(table.names, table.values, strict=True)):
        called, runs = map(str, range(len(values))), found.setdefault(name, {})
        if table.tasks is not None:
            called = (table.task_names[task] for task in table.tasks[option])
        for place, score in zip(called, values.tolist(), strict=True):
            runs.setdefault(place, []).append(score)
    return found
