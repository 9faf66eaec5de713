"""Games of two as chess programs leave them: PGN, and which two games are of one opening."""

import re

import numpy as np

from jaxrace.tables.files import File
from jaxrace.tables.table import Table

_HEADER = re.compile(r'\[(\w+)\s+"((?:[^"\\]|\\.)*)"\]\s*')
_NEEDED = ("White", "Black", "Result")
_OPENINGS = ("Round", "FEN", "ECO", "Opening")
_UNKNOWN = ("", "?", "-", "None")


def games(file: File) -> Table | None:
    """A PGN file as columns white, black, result; round, fen, eco and opening where it has them."""
    if file.ending != ".pgn":
        return None
    found: list[tuple[int, dict[str, str]]] = []
    is_open = False  # among the headers of a game
    for number, line in enumerate(file.text.split("\n"), 1):
        header = _HEADER.fullmatch(line.strip())
        if header and not is_open:
            found.append((number, {}))
        if header:
            found[-1][1][header[1]] = re.sub(r"\\(.)", r"\1", header[2])
        is_open = header is not None
    for number, game in found:
        for name in _NEEDED:
            if not game.get(name):
                at = f", the game in line {number}"
                raise file.wrong(f"a header [{name} ...]", "none", at=at)
    also = [name for name in _OPENINGS if any(name in game for _, game in found)]
    names = (*_NEEDED, *also)
    columns = tuple([game.get(name, "") for _, game in found] for name in names)
    heads, lines = tuple(map(str.lower, names)), [number for number, _ in found]
    return Table(file.argument, file.where, heads, columns, lines)


def pairs_of_games(table: Table, first: np.ndarray, second: np.ndarray) -> np.ndarray | None:
    """The two games of one opening, sides reversed, that each row is of: int64 [n], -1 for none.

    They are of one round, such as 12, or 12.1 and 12.2, and of one FEN. Where a round has more than
    one game of either side and no FEN, they are of one ECO code and opening there, or of none. None
    if the columns of the table say so of less than half of the games: other rounds are no pairs.
    """
    named = {head.lower(): head for head in table.heads}
    if not {"round", "fen"} & {*named}:
        return None
    rounds, fens, codes, openings = (
        table.labels(named[name.lower()]) if name.lower() in named else [""] * len(table.lines)
        for name in _OPENINGS
    )
    groups: dict[tuple[object, ...], list[int]] = {}
    players = zip(first.tolist(), second.tolist(), strict=True)
    for row, (two, of_round, fen) in enumerate(zip(players, rounds, fens, strict=True)):
        known = "" if of_round in _UNKNOWN else of_round.split(".")[0]
        if known or fen:
            groups.setdefault((*sorted(two), known, fen), []).append(row)
    found, number = np.full(len(first), -1), 0
    for (low, *_, fen), rows in groups.items():
        named_alike: dict[tuple[str, str], list[int]] = {}
        is_clear = fen or len(rows) <= 2
        for row in rows:
            called = ("", "") if is_clear else (codes[row], openings[row])
            named_alike.setdefault(called, []).append(row)
        for alike in named_alike.values():
            sides = [[row for row in alike if (first[row] == low) == own] for own in (True, False)]
            if fen or (len(alike) == 2 and len(sides[0]) == 1):
                for pair in zip(*sides, strict=False):
                    found[list(pair)] = number
                    number += 1
    return found if (found >= 0).mean() > 0.5 else None
