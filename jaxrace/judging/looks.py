"""What a table said when it was looked at before: later looks must be at the same, and more."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jaxrace.answers.answer import listed
from jaxrace.core.validation import BadArgument
from jaxrace.judging import scores
from jaxrace.runs import files
from jaxrace.tables.table import Place

_KIND = "looks of jaxrace race"


class Looks:
    """The file of the looks at one table; ValueError if it is another, or of another question.

    All looks together have the guarantee because each pair has one sequence of differences, which
    only grows: no row is moved, no score replaced, no option left out, no setting changed. A gate,
    whose pairs are each with the baseline, may have other candidates; the file keeps them all.
    """

    def __init__(self, path: str | os.PathLike[str], question: Mapping[str, Any]) -> None:
        self._path, self._place = Path(path), Place("looks", f"'{path}'")
        about = dict(question)
        if about.pop("compare") is not None:
            raise BadArgument("looks", "a race of numbers", "a race with compare")
        self._question = about
        self._found: dict[str, Any] = {}
        self._weights: dict[str, float] = {}
        if self._path.exists():
            try:
                self._found = files.read_json(path)
            except (OSError, ValueError) as error:
                raise BadArgument("looks", "a file of looks", f"another: {error}") from error
            if self._found.get("kind") != _KIND:
                raise BadArgument("looks", "a file of looks", repr(str(path)))
        for name, then in self._found.get("question", {}).items():
            if about[name] != then:
                hint = "another question needs another file, and a delta of its own"
                raise self._place.wrong(f"{name} {then!r}, as before", repr(about[name]), hint=hint)

    @property
    def options(self) -> list[str]:
        """Those that were looked at, in the order in which they came first."""
        return [*self._found.get("options", ())]

    def continued(self, table: scores.ScoreTable) -> scores.ScoreTable:
        """The table, its shared tasks in their order of before; ValueError if that has changed."""
        options = self._found.get("options")
        if options is None:
            return table
        may_change = self._question.get("kind") == "gate"
        if not may_change and (odd := sorted(set(table.names) ^ set(options))):
            expected = f"the options of before, {', '.join(options)}"
            raise self._place.wrong(expected, f"also {odd[0]!r}")
        if table.tasks is not None:
            before = dict.fromkeys((*self._found["tasks"], *table.task_names))
            table = table.in_task_order([*before])
        now = _runs_of(table)
        for name, then in [(name, options[name]) for name in options if name in now]:
            for place, old in then.items():
                new = now[name].get(place)
                if new != old:
                    where = f"run {int(place) + 1}" if table.tasks is None else f"task {place}"
                    hint = "leave earlier rows as they are, and add new ones behind them"
                    expected = f"{_said(old)} for {where} of {name}, as before"
                    raise self._place.wrong(expected, _said(new), hint=hint)
        return table

    def require_weights(self, weights: Mapping[str, float]) -> None:
        """Raise unless groups of tasks count as before: another group changes what is asked."""
        self._weights = dict(weights)
        then = self._found.get("weights", self._weights)
        if then != self._weights:
            raise self._place.wrong(f"the groups {listed([*then])}, as before", listed([*weights]))

    def remember(self, table: scores.ScoreTable) -> None:
        """Write what has been looked at."""
        about = {"kind": _KIND, "question": self._question, "tasks": list(table.task_names)}
        about |= {"weights": self._weights} if self._weights else {}
        options = self._found.get("options", {}) | _runs_of(table)
        files.write_json(self._path, {**about, "options": options})


def _said(found: list[float] | None) -> str:
    return "none" if found is None else " and ".join(f"{score:g}" for score in found)


def _runs_of(table: scores.ScoreTable) -> dict[str, dict[str, list[float]]]:
    """Of each option its scores by the number of the run, or by task, in their order there."""
    found: dict[str, dict[str, list[float]]] = {}
    for option, (name, values) in enumerate(zip(table.names, table.values, strict=True)):
        called, runs = map(str, range(len(values))), found.setdefault(name, {})
        if table.tasks is not None:
            called = (table.task_names[task] for task in table.tasks[option])
        for place, score in zip(called, values.tolist(), strict=True):
            runs.setdefault(place, []).append(score)
    return found
