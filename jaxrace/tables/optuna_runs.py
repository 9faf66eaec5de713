"""Runs from a study of Optuna: its SQLite file, or its frame of trials.

An option is a setting of the parameters, and values are its scores. Where no setting repeats and
values were reported at several steps, these are, on the steps as tasks.
"""

import contextlib
import math
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Sequence
from shlex import quote
from typing import Any, NamedTuple

from jaxrace.tables.files import File, loads
from jaxrace.tables.runs import Asked, SourceRuns
from jaxrace.tables.table import Place, Table, is_blank, quoted

_MAGIC, _JOURNAL = b"SQLite format 3\0", b'{"op_code"'
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


def journal(file: File, asked: Asked) -> None:
    """Refuse a journal, which is not read."""
    if _begins(file, _JOURNAL):
        hint = "study.trials_dataframe().to_csv(FILE) writes one that is read"
        raise file.wrong("a study in SQLite or a table", "a journal of Optuna", hint=hint)


def study(file: File, asked: Asked) -> SourceRuns | None:
    """The runs of the study in a SQLite file, of several of the one that ``asked.score`` names."""
    if not _begins(file, _MAGIC):
        return None
    try:
        address = f"{file.path.resolve().as_uri()}?mode=ro"
        with contextlib.closing(sqlite3.connect(address, uri=True)) as db:
            # A view may count for ever; Optuna does not make views.
            query = "SELECT name FROM sqlite_master WHERE type = 'view'"
            views = {str(view).lower() for (view,) in db.execute(query)} & _TABLES
            if views:
                raise sqlite3.DataError(f"views as tables: {quoted(sorted(views))}")
            studies = db.execute("SELECT study_id, study_name FROM studies").fetchall()
            found = [one for one, name in studies if asked.score in (None, name)]
            if len(found) != 1:
                names = [name for _, name in studies]
                hint = f"--score-column {quote(str(names[0]))} takes one" if names else ""
                expected = "one study" if asked.score is None else f"a study {asked.score!r}"
                raise file.wrong(expected, quoted(names) or "none", hint=hint)
            query = "SELECT direction FROM study_directions WHERE study_id = ?"
            directions = db.execute(query, found).fetchall()
            if len(directions) != 1:
                hint = "--score-column takes one in a file of study.trials_dataframe()"
                raise file.wrong("a study of one objective", f"{len(directions)}", hint=hint)
            try:
                trials, left = _trials(db, found[0])
            except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
                raise sqlite3.DataError(f"a cell of another kind: {error!r}") from None
    except sqlite3.Error as error:
        raise file.wrong("a study of Optuna", f"another file ({error})") from None
    return _runs(file, trials, left, asked, smaller=directions[0][0] == "MINIMIZE")


def _begins(file: File, magic: bytes) -> bool:
    with file.path.open("rb") as opened:
        return opened.read(len(magic)) == magic


def _trials(db: sqlite3.Connection, number: int) -> tuple[list[_Trial], int]:
    """The trials of a study that have ended, and how many others there are."""
    settings: defaultdict[int, list[str]] = defaultdict(list)
    query = "SELECT trial_id, param_name, param_value, distribution_json FROM trial_params"
    for trial, name, value, distribution in db.execute(f"{query} ORDER BY param_name"):
        settings[trial].append(f"{name}={_param(value, distribution)}")
    query = "SELECT trial_id, value, value_type FROM trial_values"
    values = {trial: _value(value, kind) for trial, value, kind in db.execute(query)}
    reported: defaultdict[int, dict[int, float]] = defaultdict(dict)
    query = "SELECT trial_id, step, intermediate_value, intermediate_value_type"
    for trial, step, value, kind in db.execute(f"{query} FROM trial_intermediate_values"):
        reported[trial][int(step)] = _value(value, kind)
    query = "SELECT trial_id, number, state FROM trials WHERE study_id = ? ORDER BY number"
    rows, found = db.execute(query, (number,)).fetchall(), []
    for trial, number, state in rows:
        if state in (_COMPLETE, *_FAILED):
            setting = ", ".join(settings[trial]) or f"trial {number}"
            found.append(_Trial(number, setting, values.get(trial), reported[trial], state))
    return found, len(rows) - len(found)


def _value(value: float | None, kind: str) -> float:
    """A number as it is stored: SQLite has only finite ones."""
    if kind == "FINITE" and value is not None:
        return float(value)
    return {"INF_POS": math.inf, "INF_NEG": -math.inf}.get(kind, math.nan)


def _param(value: Any, distribution: str) -> Any:
    """The value of a parameter; one of several choices is stored by its place."""
    about = loads(Place("distribution", "a parameter"), distribution)
    if about["name"] == "CategoricalDistribution":
        choices = about["attributes"]["choices"]
        return choices[range(len(choices)).index(value)]  # of another place, even -1, ValueError
    return int(value) if about["name"].startswith("Int") else value


def _runs(
    place: Place, trials: Sequence[_Trial], left: int, asked: Asked, **about: Any
) -> SourceRuns:
    """The runs of trials that have ended, of which others are ``left`` out."""
    if asked.failed == "drop":
        kept = [trial for trial in trials if trial.state == _COMPLETE]
        trials, left = kept, left + len(trials) - len(kept)
    said = [f"trials that are not complete, left out: {left:,}"] if left else []
    said += ["the study is minimised: smaller is better"] if about.get("smaller") else []
    repeats = len({trial.setting for trial in trials}) < len(trials)
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
        runs = [
            (trial, math.nan if trial.state in _FAILED else float(trial.value or 0), "")
            for trial in trials
            if trial.value is not None or trial.state in _FAILED
        ]
    for trial, value, _ in runs:
        if math.isnan(value) and trial.state == _COMPLETE:
            raise place.wrong("a number", "nan", at=f", trial {trial.number}")
    counts = Counter(trial.state for trial in trials if trial.state in _FAILED)
    return SourceRuns(
        place.argument,
        place.where,
        [trial.setting for trial, *_ in runs],
        [value if math.isfinite(value) else math.nan for _, value, _ in runs],
        None if repeats or not all(step for *_, step in runs) else [step for *_, step in runs],
        said=(*said, *about.pop("said", ())),
        failures=", ".join(f"{count:,} {state}" for state, count in counts.items()),
        **about,
    )


def trial_runs(table: Table, asked: Asked) -> SourceRuns | None:
    """The runs in what ``study.trials_dataframe()`` makes, None of other tables."""
    values = [head for head in table.heads if head.startswith("value")]
    params = [head for head in table.heads if head.startswith(_PARAMS)]
    has_values = any(head == "value" or head.startswith("values_") for head in values)
    if not ({"number", "state"} <= {*table.heads} and has_values and params):
        return None
    score = "value" if asked.score is None else asked.score
    if score not in table.heads:
        raise table.wrong("one objective", quoted(values), hint="--score-column says which")
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
    said = ["a frame of trials does not say whether values are minimised: if so, --smaller"]
    return _runs(table, trials, left, asked, said=said, measures=(score,))
