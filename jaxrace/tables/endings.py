"""How games ended that did not end on the board: out of time, by an illegal move, by a crash."""

import re

import numpy as np

from jaxrace.tables.table import Table

ON_TIME = "out of time"
# As a header Termination has it, or a log of a match behind the result; the first that is found.
_KINDS = (
    (ON_TIME, r"\btime(?! ?control)"),
    ("illegal move", r"illegal"),
    ("crash", r"crash|terminated|died|\bdeath\b"),
    ("lost connection", r"disconnect|stall|connection"),
    ("abandoned", r"abandon"),
    ("forfeit", r"forfeit|rules infraction|emergency|no[- ]show"),
)
_HEADS = ("termination", "termination_reason", "reason", "ending", "ended_by")
_COMMENT = re.compile(r"\{([^{}]*)\}")
# Of the words of a program, which a person's remark on a game hardly has.
_SAID = re.compile(
    r"(?:loses|lost|wins|won|forfeits) on time|time forfeit|out of time|illegal (?:move|pv)"
    r"|(?:white|black)\b.*\b(?:forfeits|disconnects|connection|crashe[sd]|terminated|abandon)",
    re.IGNORECASE,
)
_WHOLE = ("unterminated", "termination")  # a game that has not ended has no result


def ending_of(text: str) -> str:
    """In a word how a game ended; "" on the board, by agreement or by adjudication.

    >>> [*map(ending_of, ("time forfeit", "Normal", "White's connection stalls", "abandoned"))]
    ['out of time', '', 'lost connection', 'abandoned']
    """
    lower = text.lower()
    if not lower or lower.strip() in _WHOLE:
        return ""
    return next((kind for kind, known in _KINDS if re.search(known, lower)), "")


def ending_said(moves: str) -> str:
    """``ending_of`` a game by the last comment of its moves, where a program says how it ended.

    >>> ending_said("1. f3 e5 2. g4 {-9/5 0.1s, White forfeits on time} 0-1")
    'out of time'
    >>> ending_said("1. f3 {in time trouble} 1-0")
    ''
    """
    comments = _COMMENT.findall(moves)
    return ending_of(comments[-1]) if comments and _SAID.search(comments[-1]) else ""


def endings_of(table: Table) -> np.ndarray | None:
    """``ending_of`` each game, str [n]; None of a table without a column termination.

    Beside columns of White and Black that may be called a reason, which else is a judge's.
    """
    named = {head.lower(): head for head in table.heads}
    known = _HEADS if {"white", "black"} <= {*named} else _HEADS[:1]
    head = next((named[name] for name in known if name in named), None)
    if head is None:
        return None
    labels = table.labels(head)
    kinds = {label: ending_of(label) for label in {*labels}}
    return np.array([kinds[label] for label in labels])
