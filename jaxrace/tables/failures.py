"""Runs that failed: a result as well, which must not be left out without a word.

Which runs failed often depends on how good they would have been: a pruner stops the worst.
"""

import dataclasses
import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxrace.tables.heads import names_option, names_smaller, words
from jaxrace.tables.numbers import numbers_of
from jaxrace.tables.runs import Failed, SourceRuns
from jaxrace.tables.table import Cell, Kind, Table, different, is_blank, kind_of

HINT = (
    "--failed worst (failed='worst') counts it below all others, --failed NUMBER gives it a score, "
    "--failed drop leaves it out, if failing has nothing to do with the score"
)
EXPECTED = "to be told what a failed run counts as"
_FAILED = re.compile(
    r"(trialstate\.)?(fail(ed|ure)?|pruned|timed?[ _-]?out|time limit.*|killed|crash(ed)?|errors?"
    r"|errored|cancell?ed|abort(ed)?|oom|out[ _-]of[ _-]memory|mem(ory)?[ _-]?out|node[ _]fail(ed)?"
    r"|diverged|preempted|interrupted|dnf)\b.*"
)
_UNFINISHED = re.compile(
    r"(trialstate\.)?(running|waiting|scheduled|pending|queued|submitted|initiali[sz]ing)\b.*"
)
_FINE = {"ok", "okay", "success", "succeeded", "complete", "completed", "finished", "done"}
_MOST_STATES = 8
_MANY = 20  # scores of an option: of fewer none may be -1 by chance
_CODES = ("exit_code", "exitcode", "exit_status", "returncode", "return_code")
_FLAGS = ("failed", "crashed", "timeout", "timed_out", "pruned", "aborted", "killed")
_MEANS = {
    "drop": "left out, which is right only if failing has nothing to do with the score",
    "worst": "each counts as worse than all others",
}


def without_unfinished(table: Table, kept: set[str], is_long: bool) -> Table:
    """The table without runs that have not ended; it knows which ones failed.

    Columns of states say so, if not ``kept`` for other meanings; of runs (``is_long``) also codes
    and flags.
    """
    is_long |= any(map(names_option, table.heads))
    failed, left, read = {}, set(), []
    for head, column in zip(table.heads, table.columns, strict=True):
        states = [] if head in kept else _states(head, column, is_long)
        if not any(states):
            continue
        read.append(head)
        left |= {row for row, state in enumerate(states) if state == "unfinished"}
        failed |= {row: (head, column[row]) for row, s in enumerate(states) if s == "failed"}
    if not read:
        return table
    said = [f"runs that have not ended, left out: {len(left):,}"] if left else []
    rows = [row for row in range(len(table.lines)) if row not in left]
    return dataclasses.replace(table.without(read), failed=failed).rows(rows, *said)


def _states(head: str, column: Sequence[Cell], is_long: bool) -> list[str]:
    """Of each cell below a head "failed", "unfinished" or "", [] if it says nothing of it."""
    found = words(head)
    names_states = found[-1:] in (["status"], ["state"])
    if not (is_long or names_states):
        return []
    texts = [str(cell).strip().lower() for cell in column]
    if is_long and "_".join(found) in _CODES:
        return ["" if text in ("0", "0.0", "none", "") else "failed" for text in texts]
    if is_long and "_".join(found) in _FLAGS:
        return ["failed" if text in ("true", "yes", "1", "1.0") else "" for text in texts]
    # Under another head a word of success is beside it.
    if not names_states and not (_FINE & {*texts} and len({*texts}) <= _MOST_STATES):
        return []
    states = (("unfinished", _UNFINISHED), ("failed", _FAILED))
    return [next((s for s, known in states if known.fullmatch(x)), "") for x in texts]


def numbers_made(
    table: Table,
    heads: Sequence[str],
    failed: Failed,
    is_long: bool = False,
    options: Sequence[str] | None = None,
) -> tuple[dict[str, np.ndarray], list[str], dict[str, np.ndarray]]:
    """``numbers_of`` some columns, and of each which cells are of runs that failed, bool [rows].

    Blank cells of runs (``is_long``) are. BadArgument if nothing says what these count as.
    ``options`` are those of the rows, if columns are not of one each.
    """
    takes_blanks = is_long and failed is not None

    def is_odd(cell: Cell) -> bool:
        return is_failure(cell) or (takes_blanks and is_blank(cell))

    columns, odd = dict(zip(table.heads, table.columns, strict=True)), {}
    for head in heads:
        odd[head] = np.zeros(len(table.lines), bool)
        odd[head][[*table.failed]] = True
        if any(map(is_odd, different(columns[head]))):
            odd[head] |= [*map(is_odd, columns[head])]
        if odd[head].any():
            pairs = zip(columns[head], odd[head], strict=True)
            columns[head] = [None if bad else cell for cell, bad in pairs]
    found, said = numbers_of(dataclasses.replace(table, columns=tuple(columns.values())), heads)
    below = None if failed == -1 else sentinels([*found.values()], heads, options)
    for place, head in enumerate(heads):
        if below is not None:
            odd[head] |= below[place]
        if failed is None and odd[head].any():
            row = int(np.argmax(odd[head]))
            column, cell = table.failed.get(row, (head, table.column(head)[row]))
            is_nan = str(cell).lower() == "nan"
            hint = f"leave it blank if there was no run; {HINT}" if is_nan else HINT
            hint += "; --failed -1 keeps it" * (below is not None and bool(below[place][row]))
            raise table.wrong(EXPECTED, repr(cell), row, column, hint=hint)
        found[head] = np.where(odd[head], math.nan, found[head])
    return found, said, odd


def _by_option(columns: Sequence[np.ndarray], options: Sequence[str]) -> list[np.ndarray]:
    """The numbers of each option of the rows."""
    numbers = np.stack(columns)
    places = np.unique(np.array(options, str), return_inverse=True)[1].reshape(-1)
    order = np.argsort(places, kind="stable")
    return np.split(numbers[:, order], np.cumsum(np.bincount(places))[:-1], axis=1)


def kind_of_scores(column: Sequence[Cell]) -> Kind:
    """The kind of cells; "mixed" if words say that all runs failed."""
    found = kind_of(column)
    is_failed = found == "text" and all(is_blank(cell) or is_failure(cell) for cell in column)
    return "mixed" if is_failed else found


def is_failure(cell: Cell) -> bool:
    """Does a cell say that a run failed, as "timeout" and nan do?"""
    if isinstance(cell, str):
        text = cell.strip().lower().lstrip("+-")
        if not text[:1].isalpha():
            return False
        return text in ("inf", "infinity", "nan") or bool(_FAILED.fullmatch(text))
    return isinstance(cell, float | np.floating) and math.isinf(cell)


def sentinels(
    columns: Sequence[np.ndarray],
    measures: Sequence[str],
    options: Sequence[str] | None = None,
) -> list[np.ndarray] | None:
    """Where columns of scores have a -1 that stands for a failure, None if that is not likely.

    It is beside grades from 1 to 10, fractions of 1, or what is called loss, time or the like; or
    beside 0 and 1 of some options, where another one has 0 and 1 alone, often. ``options`` are
    those of the rows, if columns are not of one each.

    >>> sentinels([np.array([7, -1]), np.array([9, 8])], ["a", "b"])
    [array([False,  True]), array([False, False])]
    >>> sentinels([np.array([0, -1]), np.array([1, 0])], ["a", "b"])  # lost, drawn, won
    """
    values = np.concatenate([np.ravel(column) for column in columns] or [np.zeros(0)])
    below, others = values[values < 0], values[values >= 0]
    if not below.size or (below != -1).any() or len(below) > len(others):
        return None
    are_grades = others.min() >= 1 and others.max() <= 10 and others.max() > 1
    are_shares = others.max() <= 1 and bool(((others > 0) & (others < 1)).any())
    are_large = bool(measures) and names_smaller(*measures)
    are_answers = False
    if np.isin(others, (0, 1)).all():
        own = columns if options is None else _by_option(columns, options)
        are_answers = any(
            (x == 0).any() and (x == 1).any() and not (x == -1).any() and len(x) >= _MANY
            for x in (one[~np.isnan(one)] for one in map(np.ravel, own))
        )
    if not (are_grades or are_shares or are_large or are_answers):
        return None
    return [column == -1 for column in columns]


def settled(runs: SourceRuns, failed: Failed) -> SourceRuns:
    """Runs with scores for those that failed (-inf for the worst), or without; it is said."""
    are_failed = [score != score for score in runs.scores]
    counts = Counter(name for name, bad in zip(runs.options, are_failed, strict=True) if bad)
    who = ", ".join(f"{name!r} {count:,}" for name, count in counts.items())
    if failed is None and (counts or runs.failures):
        raise runs.wrong(EXPECTED, runs.failures or f"some of {who}", hint=HINT)
    if not counts:
        return runs
    end = _MEANS.get(str(failed), f"each counts as {failed}")
    said = (*runs.said, f"runs that failed: {who}; {end}")
    changes: dict[str, Any] = {}
    if failed == "drop":
        kept = [row for row, bad in enumerate(are_failed) if not bad]
        for name in ("options", "scores", "tasks", "groups"):
            column = getattr(runs, name)
            changes[name] = column and [column[row] for row in kept]
        changes["gaps"] = ()
    else:
        score = -math.inf if failed == "worst" else failed
        pairs = zip(runs.scores, are_failed, strict=True)
        changes["scores"] = [score if bad else x for x, bad in pairs]
    return dataclasses.replace(runs, said=said, **changes)
