"""Runs that failed: a result as well, which must not be left out without a word.

Which runs failed often depends on how good they would have been: a pruner stops the worst.
"""

import dataclasses
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from jaxrace.tables import cells
from jaxrace.tables.cells import Kind, different, is_blank, numbers_of
from jaxrace.tables.directions import names_smaller
from jaxrace.tables.heads import names_option, words
from jaxrace.tables.runs import Failed, Runs
from jaxrace.tables.table import Cell, Table, wrong

HINT = (
    "--failed worst (failed='worst') counts a run that failed below all others, --failed NUMBER "
    "is its score, --failed drop leaves it out, if failing has nothing to do with the score"
)
_EXPECTED = "to be told what a run that failed counts as"
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
_CODES = ("exit_code", "exitcode", "exit_status", "returncode", "return_code")
_FLAGS = ("failed", "crashed", "timeout", "timed_out", "pruned", "aborted", "killed")
_NUMBERS = ("inf", "infinity", "nan")  # that are none


def failed_called(failed: str | float | None) -> Failed:
    """What an argument ``failed`` says: "worst", "drop", or a score; ValueError if nothing."""
    if failed is None or failed in ("worst", "drop"):
        return failed
    try:
        if isinstance(failed, bool):
            raise TypeError
        score = float(failed)
    except (OverflowError, TypeError, ValueError):
        score = math.nan
    if not math.isfinite(score):
        raise ValueError(f"failed: expected 'worst', 'drop' or a number, got {failed!r}")
    return score


def without_unfinished(table: Table, kept: set[str], is_long: bool) -> Table:
    """The table without runs that have not ended; it knows which ones failed.

    So says a column of states, or, where a column names the options, of exit codes or flags.

    Args:
        table: The table.
        kept: Columns that have another meaning.
        is_long: Is a column of options named?
    """
    is_long |= any(map(names_option, table.heads))
    failed, left, read = dict(table.failed), [], []
    for head in table.heads:
        if head in kept:
            continue
        column = table.column(head)
        states = _states(head, column, is_long)
        if not any(states):
            continue
        read.append(head)
        left += [row for row, state in enumerate(states) if state == "unfinished"]
        failed |= {row: (head, column[row]) for row, s in enumerate(states) if s == "failed"}
    if not read:
        return table
    table = table.without(read)
    rows = [row for row in range(len(table.lines)) if row not in set(left)]
    said = [f"runs that have not ended, left out: {len(table.lines) - len(rows):,}"] if left else []
    return dataclasses.replace(
        table,
        columns=tuple([column[row] for row in rows] for column in table.columns),
        lines=[table.lines[row] for row in rows],
        said=(*table.said, *said),
        failed={place: failed[row] for place, row in enumerate(rows) if row in failed},
    )


def _states(head: str, column: Sequence[Cell], is_long: bool) -> list[str]:
    """Of each cell below a head "failed", "unfinished" or "", [] if it says nothing of it."""
    found = words(head)
    names_states = found[-1:] in (["status"], ["state"])
    if not (is_long or names_states):
        return []
    texts = [str(cell).strip().lower() for cell in column]
    if "_".join(found) in _CODES and is_long:
        fine = ("0", "0.0", "none", "")
        return ["" if text in fine else "failed" for text in texts]
    if "_".join(found) in _FLAGS and is_long:
        return ["failed" if text in ("true", "yes", "1", "1.0") else "" for text in texts]
    # Under another head a word of success is beside it.
    if not names_states and not (is_long and _FINE & {*texts} and len({*texts}) <= _MOST_STATES):
        return []
    is_left = [_UNFINISHED.fullmatch(text) for text in texts]
    pairs = zip(texts, is_left, strict=True)
    return ["unfinished" if left else "failed" if _FAILED.fullmatch(x) else "" for x, left in pairs]


def numbers_made(
    table: Table,
    heads: Sequence[str],
    decimal: str | None,
    failed: Failed,
    is_long: bool = False,
) -> tuple[dict[str, np.ndarray], list[str], dict[str, np.ndarray]]:
    """``numbers_of`` some columns, and of each which cells are of runs that failed, bool [rows].

    In a table with a row for each run, ``is_long``, blank cells are. ValueError if there are some,
    and ``failed`` does not say what they count as.
    """
    are_lost = np.array([row in table.failed for row in range(len(table.lines))], bool)
    takes_blanks = is_long and failed is not None
    odd, columns = {}, dict(zip(table.heads, table.columns, strict=True))

    def is_odd(cell: Cell) -> bool:
        return _is_failure(cell) or (takes_blanks and is_blank(cell))

    for head in heads:
        column = columns[head]
        odd[head] = are_lost.copy()
        if any(map(is_odd, different(column))):
            odd[head] |= [*map(is_odd, column)]
        if odd[head].any():
            columns[head] = [None if bad else x for x, bad in zip(column, odd[head], strict=True)]
    clean = dataclasses.replace(table, columns=tuple(columns.values()))
    found, said = numbers_of(clean, heads, decimal)
    below = None if failed == -1 else sentinels(list(found.values()), heads)
    for place, head in enumerate(heads):
        if below is not None:
            odd[head] |= below[place]
        if failed is None and odd[head].any():
            row = int(np.argmax(odd[head]))
            column, cell = table.failed.get(row, (head, table.column(head)[row]))
            is_nan = str(cell).lower() == "nan"
            hint = f"leave it blank if there was no run; {HINT}" if is_nan else HINT
            hint += "; --failed -1 keeps it" * (below is not None and bool(below[place][row]))
            raise table.wrong(_EXPECTED, repr(cell), row, column, hint)
        found[head] = np.where(odd[head], math.nan, found[head])
    return found, said, odd


def kind_of(column: Sequence[Cell]) -> Kind:
    """As ``cells.kind_of``; words that say that all runs failed are no text."""
    found = cells.kind_of(column)
    is_failed = found == "text" and all(is_blank(cell) or _is_failure(cell) for cell in column)
    return "mixed" if is_failed else found


def blanks_of(rows: np.ndarray) -> list[int]:
    """Before which of an option's runs, in some ``rows``, there was a row without one.

    >>> blanks_of(np.array([0, 3, 4]))
    [1, 1]
    """
    missing = np.setdiff1d(np.arange(rows.max(initial=-1)), rows)
    return np.searchsorted(rows, missing).tolist()


def _is_failure(cell: Cell) -> bool:
    if isinstance(cell, str):
        text = cell.strip().lower()
        text = text.lstrip("+-")
        return text[:1].isalpha() and (text in _NUMBERS or bool(_FAILED.fullmatch(text)))
    return isinstance(cell, float | np.floating) and math.isinf(cell)


def sentinels(columns: Sequence[np.ndarray], measures: Sequence[str]) -> list[np.ndarray] | None:
    """Where columns of scores have a -1 that stands for a failure, None if that is not likely.

    It is if no other score is below 0, and these are grades from 1 to 10, fractions of 1, or
    what is called loss, time or the like.

    >>> sentinels([np.array([7, -1]), np.array([9, 8])], ["a", "b"])
    [array([False,  True]), array([False, False])]
    >>> sentinels([np.array([0, -1]), np.array([1, 0])], ["a", "b"])  # lost, drawn, won
    """
    values = np.concatenate([np.ravel(column) for column in columns] or [np.zeros(0)])
    values = values[values == values]
    below, others = values[values < 0], values[values >= 0]
    if not below.size or (below != -1).any() or len(below) > len(others):
        return None
    are_grades = others.min() >= 1 and others.max() <= 10 and others.max() > 1
    are_shares = others.max() <= 1 and bool(((others > 0) & (others < 1)).any())
    are_large = bool(measures) and names_smaller(*measures)
    if not (are_grades or are_shares or are_large):
        return None
    return [column == -1 for column in columns]


def settled(runs: Runs, is_failed: Sequence[bool], failed: Failed, got: str = "") -> Runs:
    """Runs with scores for those that failed, or without them; they say how many of whom.

    The worst one is -inf, until it is known whether smaller is better.

    Raises:
        ValueError: Nothing says what they count as; ``got`` are some.
    """
    counts = Counter(name for name, bad in zip(runs.options, is_failed, strict=True) if bad)
    if not counts:
        return runs
    who = ", ".join(f"{name!r} {count:,}" for name, count in counts.items())
    if failed is None:
        raise wrong("scores", _EXPECTED, runs.source, got or f"some of {who}", HINT)
    means = {
        "drop": "left out, which holds if failing has nothing to do with the score",
        "worst": "each counts as worse than all others",
    }
    end = means.get(str(failed), f"each counts as {failed}")
    found = dataclasses.replace(runs, said=(*runs.said, f"runs that failed: {who}; {end}"))
    score = -math.inf if failed == "worst" else failed
    if failed != "drop":
        pairs = zip(runs.scores, is_failed, strict=True)
        return dataclasses.replace(found, scores=[score if bad else x for x, bad in pairs])
    kept = [row for row, bad in enumerate(is_failed) if not bad]
    parts: Mapping[str, Sequence | None] = {
        name: getattr(runs, name) for name in ("options", "scores", "tasks", "groups")
    }
    return dataclasses.replace(
        found, blanks={}, **{name: x and [x[row] for row in kept] for name, x in parts.items()}
    )
