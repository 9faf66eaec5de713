"""Games that are there twice, whatever their headers say: no evidence of their own.

Two long games of engines hardly ever agree by chance. Those of engines that answer every position
alike do, and are one result, too. Short ones may: a draw that is forced, a mate in the opening.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from jaxrace.tables.table import Table

COPIES = ("moves, as a number", "copies, as a number")  # heads of columns of a PGN
_ASIDE = re.compile(r"\{[^}]*\}|\([^()]*\)|\$\d+|\d+\.+|[!?]+")  # comments, numbers, marks
ENDS = ("1-0", "0-1", "1/2-1/2")  # results of PGN
_LONG = 60  # moves of both: by chance hardly any two games agree in so many
_FEWEST = 10  # moves of both: below these a game tells nothing
_LEAST_SIGNS = 60  # of the moves of two games of one round
TWICE = "the same games twice: "
SHORT = "short games with the moves of an earlier one"
_MANY, _SHARE = 10, 0.1  # short games that agree with others: so many are no chance


def digests(game: Mapping[str, str], text: str) -> tuple[str, str]:
    """A number of a game's players, start and moves, and one that a copy alone has; "" for none.

    >>> moves = " ".join(f"{n}. Nf3 {{0.1/9 1s}} Ng8" for n in range(1, 31))
    >>> one = digests({"White": "a", "Black": "b", "Round": "1"}, f"{moves} 1-0")
    >>> one == digests({"White": "a", "Black": "b", "Round": "7"}, moves.replace("0.1/9 1s", ""))
    True
    >>> digests({"White": "b", "Black": "a"}, moves) == one
    False
    """
    moves = [word for word in _ASIDE.sub(" ", text).split() if word not in (*ENDS, "*")]
    players = [game.get(head, "") for head in ("White", "Black", "FEN")]
    same = _number(*players, *moves) if len(moves) >= _FEWEST else ""
    if len(moves) >= _LONG:
        return same, same
    is_told = "Round" in game and len(text) >= _LEAST_SIGNS
    return same, _number(*players, game["Round"], text) if is_told else ""


def _number(*texts: str) -> str:
    digest = hashlib.blake2b("\0".join(texts).encode(), digest_size=8).digest()
    return str(int.from_bytes(digest) >> 1)


def copies_of(table: Table) -> np.ndarray | None:
    """Both numbers of each game, int64 [n, 2], -1 for none; None of other tables than PGN."""
    if not {*COPIES} <= {*table.heads}:
        return None
    columns = [[int(one or -1) for one in table.labels(head)] for head in COPIES]
    return np.array(columns, np.int64).T


def copies_in(
    numbers: np.ndarray, lines: np.ndarray, files: Sequence[tuple[Path, int]] = ()
) -> tuple[list[str], str]:
    """A note on a few short games that may agree by chance; and why data are refused, or "".

    Args:
        numbers: Those of ``copies_of``, [n, 2].
        lines: Where each game is, [n].
        files: The files that it is in, with how many games each has; none of a single one.
    """
    again, copied = (_again(numbers[:, column]) for column in (0, 1))
    is_many = len(again) >= _MANY and len(again) > _SHARE * len(numbers)
    if len(copied) or is_many:
        number, found = (len(again), again) if is_many else (len(copied), copied)
        first, second = (_at(int(row), lines, files) for row in found[0])
        hint = "leave the copies out; two engines that repeat a game need another opening"
        which = f"move by move, such as those in {first} and {second}"
        return [], f"{TWICE}{number:,} games, {which}: {hint}"
    return [f"{SHORT}, which may be chance: {len(again):,}; each counts"] * bool(len(again)), ""


def _again(numbers: np.ndarray) -> np.ndarray:
    """Games with the number of an earlier one: [m, 2], that one and they."""
    rows = np.flatnonzero(numbers >= 0)
    _, first, of = np.unique(numbers[rows], return_index=True, return_inverse=True)
    other = first[of.reshape(-1)]
    later = other != np.arange(len(rows))
    return np.stack([rows[other[later]], rows[later]], 1)


def _at(row: int, lines: np.ndarray, files: Sequence[tuple[Path, int]]) -> str:
    begin = 0
    for path, number in files:
        if row < begin + number:
            return f"line {lines[row]} of '{path.name}'"
        begin += number
    return f"line {lines[row]}"
