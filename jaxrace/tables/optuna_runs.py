"""Runs from a study of Optuna: its SQLite file, or its frame of trials."""

import contextlib
import dataclasses
import math
import sqlite3
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

from jaxrace.tables.cells import is_blank
from jaxrace.tables.failures import settled
from jaxrace.tables.runs import Failed, Runs
from jaxrace.tables.sources import loads
from jaxrace.tables.table import Table, listed, wrong

MAGIC = b"SQLite format 3\0"
JOURNAL = b'{"op_code"'
_COMPLETE, _FAILED = "COMPLETE", ("PRUNED", "FAIL")
_PARAMS = "params_"
_TABLES = {"studies", "study_directions", "trials", "trial_params", "trial_values"}
_TABLES |= {"trial_intermediate_values"}


class _Trial(NamedTuple):
    number: int
    setting: str
    value: float | None
    reported: dict[int, float]  # by step
    state: str = _COMPLETE


def read_study(argument: str, path: Path, name: str | None = None, failed: Failed = None) -> Runs:
    """The runs in the SQLite file of a study, of several of that of a ``name``.

    An option is a setting of the parameters. Where trials repeat settings, their values are its
    scores; where none does and values were reported at several steps, these are, on the steps as
    tasks (as Optuna's Wilcoxon pruner has it).
    """
    where = repr(str(path))
    try:
        with contextlib.closing(
            sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        ) as db:
            # A view may count for ever, and Optuna makes none.
            query = "SELECT name FROM sqlite_master WHERE type = 'view'"
            views = {str(view).lower() for (view,) in db.execute(query)} & _TABLES
            if views:
                raise sqlite3.DataError(f"views as tables: {listed(sorted(views))}")
            studies = db.execute("SELECT study_id, study_name FROM studies").fetchall()
            found = [study for study, own in studies if name in (None, own)]
            if len(found) != 1:
                names = [own for _, own in studies]
                hint = f"--score-column {quote(str(names[0]))} takes one" if names else ""
                expected = "one study" if name is None else f"a study {name!r}"
                raise wrong(argument, expected, where, listed(names) or "none", hint)
            query = "SELECT direction FROM study_directions WHERE study_id = ?"
            directions = db.execute(query, found).fetchall()
            if len(directions) != 1:
                hint = "--score-column takes one in a file of study.trials_dataframe()"
                got = f"{len(directions)}"
                raise wrong(argument, "a study of one objective", where, got, hint)
            try:
                trials, left = _trials(db, found[0])
            except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
                raise sqlite3.DataError(f"a cell of another kind: {error!r}") from None
    except sqlite3.Error as error:
        raise wrong(argument, "a study of Optuna", where, f"another file ({error})") from None
    return _runs(argument, where, trials, left, directions[0][0] == "MINIMIZE", failed)


def _trials(db: sqlite3.Connection, study: int) -> tuple[list[_Trial], int]:
    settings: dict[int, list[str]] = {}
    query = "SELECT trial_id, param_name, param_value, distribution_json FROM trial_params"
    for trial, name, value, distribution in db.execute(f"{query} ORDER BY param_name"):
        settings.setdefault(trial, []).append(f"{name}={_param(value, distribution)}")
    values: dict[int, float] = {}
    for trial, value, kind in db.execute("SELECT trial_id, value, value_type FROM trial_values"):
        values[trial] = _value(value, kind)
    reported: dict[int, dict[int, float]] = {}
    query = "SELECT trial_id, step, intermediate_value, intermediate_value_type"
    for trial, step, value, kind in db.execute(f"{query} FROM trial_intermediate_values"):
        reported.setdefault(trial, {})[int(step)] = _value(value, kind)
    query = "SELECT trial_id, number, state FROM trials WHERE study_id = ? ORDER BY number"
    rows = db.execute(query, (study,)).fetchall()
    done = [row for row in rows if row[2] in (_COMPLETE, *_FAILED)]
    found = [
        _Trial(
            number,
            ", ".join(settings.get(trial, [])) or f"trial {number}",
            values.get(trial),
            reported.get(trial, {}),
            state,
        )
        for trial, number, state in done
    ]
    return found, len(rows) - len(done)


def _value(value: float | None, kind: str) -> float:
    """A number as it is stored: SQLite has none that are not finite."""
    if kind == "FINITE" and value is not None:
        return float(value)
    return {"INF_POS": math.inf, "INF_NEG": -math.inf}.get(kind, math.nan)


def _param(value: Any, distribution: str) -> Any:
    """The value of a parameter; one of several choices is stored by its place."""
    about = loads("distribution", "a parameter", distribution)
    if about["name"] == "CategoricalDistribution":
        choices = about["attributes"]["choices"]
        return choices[range(len(choices)).index(value)]  # of another place, even -1, ValueError
    return int(value) if about["name"].startswith("Int") else value


def _runs(
    argument: str,
    where: str,
    trials: Sequence[_Trial],
    left: int,
    smaller: bool,
    failed: Failed,
) -> Runs:
    if failed == "drop":
        kept = [trial for trial in trials if trial.state == _COMPLETE]
        trials, left = kept, left + len(trials) - len(kept)
    settings = [trial.setting for trial in trials]
    said = [f"trials that are not complete, left out: {left:,}"] if left else []
    if smaller:
        said.append("the study is minimised: smaller is better")
    repeats = len(set(settings)) < len(settings)
    runs: list[tuple[_Trial, float, str]]
    if not repeats and any(len(trial.reported) > 1 for trial in trials):
        said.append("scores are the values reported at each step, which are taken for tasks")
        steps = sorted({step for trial in trials for step in trial.reported})
        # What a trial that failed did not come to, it failed at.
        runs = [
            (trial, trial.reported.get(step, math.nan), str(step))
            for trial in trials
            for step in steps
            if step in trial.reported or trial.state in _FAILED
        ]
    else:
        said.append("options are settings of the parameters")
        ended = [t for t in trials if t.value is not None or t.state in _FAILED]
        runs = [
            (trial, math.nan if trial.state in _FAILED else float(trial.value or 0), "")
            for trial in ended
        ]
    for trial, value, _ in runs:
        if math.isnan(value) and trial.state == _COMPLETE:
            raise wrong(argument, "a number", f"{where}, trial {trial.number}", "nan")
    tasks = None if repeats or not all(step for *_, step in runs) else [step for *_, step in runs]
    names, scores = [trial.setting for trial, *_ in runs], [value for _, value, _ in runs]
    counts = Counter(trial.state for trial in trials if trial.state in _FAILED)
    got = ", ".join(f"{count:,} {state}" for state, count in counts.items())
    is_failed = [not math.isfinite(score) for score in scores]
    if failed is None and counts:
        is_failed = [trial.state in _FAILED for trial, *_ in runs]
    return settled(Runs(where, names, scores, tasks, tuple(said), smaller), is_failed, failed, got)


def is_trials(table: Table) -> bool:
    """Is it what ``study.trials_dataframe()`` makes?"""
    has_values = any(head == "value" or head.startswith("values_") for head in table.heads)
    has_params = any(head.startswith(_PARAMS) for head in table.heads)
    return {"number", "state"} <= {*table.heads} and has_values and has_params


def trial_runs(table: Table, score: str | None = None, failed: Failed = None) -> Runs:
    """The runs in a frame of trials, by their parameters; of several objectives that of ``score``.

    Parameters that a trial has not are left out of its setting.
    """
    score = "value" if score is None else score
    if score not in table.heads:
        values = [head for head in table.heads if head.startswith("value")]
        raise table.wrong("one objective", listed(values), hint="--score-column says which")
    params = [head for head in table.heads if head.startswith(_PARAMS)]
    trials, left = [], 0
    for row, state in enumerate(table.column("state")):
        state = str(state).rpartition(".")[2]
        if state not in (_COMPLETE, *_FAILED):
            left += 1
            continue
        given = {head.removeprefix(_PARAMS): table.column(head)[row] for head in params}
        setting = ", ".join(f"{key}={cell}" for key, cell in given.items() if not is_blank(cell))
        value, number = table.column(score)[row], table.column("number")[row]
        try:
            result = float(value) if state == _COMPLETE else None
            trials.append(_Trial(int(number), setting, result, {}, state))
        except (TypeError, ValueError):
            raise table.wrong("a number", repr(value), row, score) from None
    found = _runs(table.argument, table.where, trials, left, False, failed)
    said = "a frame of trials does not say whether values are minimised: if so, --smaller"
    return dataclasses.replace(found, said=(*found.said, said), measures=(score,))
