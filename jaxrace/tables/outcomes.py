"""How each row of comparisons ended: who has won, by words, or by numbers."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import numpy as np

from jaxrace.tables.heads import word_set
from jaxrace.tables.sides import NONE, ONE_OR_NONE, OPEN, POINTS, SCALE, Sides, plain
from jaxrace.tables.table import Table, words_of

Kind = Literal["win", "margin"]

_MOST_SAID = 6
_VOTES = (0.0, 0.5, 1.0)  # as shares of a win: lost, tied, won
_TIES = frozenset(
    (
        *("tie", "ties", "tied", "draw", "drawn", "equal", "same", "both", "neither", "none"),
        *("bothbad", "both bad", "tie bothbad", "tie both bad", "both good", "1/2-1/2", "½-½"),
        *("0.5-0.5", "1/2", "½", "0.5", ".5", "remis", "d"),
        *("tievote", "bothbad_vote", "a=b", "b=a"),
    )
)
_FOOTBALL = ("h", "a", "d"), ("1", "2", "x")  # who is at home has won, has lost, a draw
_WON, _LOST = word_set("win won"), word_set("loss lost lose")
# For the first by its name, as white, whichever was asked for as first; of arenas and Arena-Hard.
_RESULTS = word_set("1-0 leftvote a>b a>>b"), word_set("0-1 rightvote b>a b>>a")

# Sides by their places, and what may stand around these: "A is better", "output_1".
_PLACES: dict[str, int] = dict.fromkeys(("first", "left", "a", "one", "1"), 0)
_PLACES |= dict.fromkeys(("second", "right", "b", "two", "2"), 1)
_AROUND = word_set(
    "model assistant response output answer option system candidate completion summary generation "
    "text is was wins won better preferred much slightly clearly the"
)


def shares_of(
    table: Table,
    sides: Sides,
    asked: str,
    names: Sequence[str],
    first: np.ndarray,
    second: np.ndarray,
) -> tuple[np.ndarray, list[str]]:
    """The first's share of a win in each row, float64 [rows], NaN for a game that has not ended.

    Numbers among the words are for the first if ``asked`` is win, or the column's name says so.
    """
    assert sides.outcome is not None
    said: list[str] = []
    cells, (places,) = words_of(table.column(sides.outcome))
    lower = {cell.lower() for cell in cells} - {OPEN}
    has_points = sides.has_points(table)
    # Sides may be called 1 and 2: then 2 among the words says that 1 is a name, too.
    are_shares = (asked == "win" or sides.are_for_first or has_points) and "2" not in lower
    words = (*_words_of_sides(sides, are_shares), _TIES)
    if has_points and asked == "auto" and not sides.are_for_first:
        said.append(POINTS)
    codes = next((codes for codes in _FOOTBALL if lower <= {*codes}), ())
    if codes and {*sides.own_words} == {"home", "away"}:
        home, away, drawn = codes
        ways = (away, home, drawn) if sides.is_turned else codes
        words = tuple(frozenset((code,)) for code in ways)
        at_home = sides.second if sides.is_turned else sides.first
        how = f"are won, drawn and lost by {at_home!r}"
        said.append(f"{home.upper()}, {drawn.upper()} and {away.upper()} {how}")
    elif sides.is_named and "2" in cells and {*cells} <= {"1", "2", *_TIES}:
        one, other = ("2", "1") if sides.is_turned else ("1", "2")
        words = words[0] | {one}, words[1] | {other}, _TIES
        said.append(f"winner {one} is {sides.first!r}, {other} is {sides.second!r}")
    found = [_share(cell, words) for cell in cells]
    found, read = _with_places(sides, cells, found, names)
    said += read
    by_word = np.array([-1 if share is None else share for share in found])[places]
    called = {name: place for place, name in enumerate(names)}
    named = np.array([called.get(cell, -1) for cell in cells])[places]
    by_name = np.select([named == first, named == second], [1.0, 0.0], -1)
    has_word, has_name = by_word != -1, by_name != -1
    unknown = np.flatnonzero(~(has_word | has_name)).tolist()
    for row in [row for row in unknown if cells[places[row]] == "-1"]:
        hint = "of 1, 0 and -1 a tie is 0: write all of them as numbers"
        raise table.wrong("one way to write results", "-1", row, sides.outcome, hint=hint)
    for row in unknown:
        cell = cells[places[row]]
        if cell in ("0", "1") and asked == "auto" and not sides.names_losers:
            sides.require_said(table, asked, cell, row)
        expected = f"{sides.first}, {sides.second}, one of the two options, or tie"
        if plain(sides.outcome) in ("score", "margin"):
            expected = "a number"
        hint = "" if cell else "leave the row out, or write tie if it was one"
        raise table.wrong(expected, repr(cell), row, sides.outcome, hint=hint)
    # All winners are named in one way: an option may be called like a side.
    is_side = (by_word == 1) | (by_word == 0) | ~has_word
    is_named = bool(has_name.any() and (has_name | ~is_side).all())
    is_by_name = has_name & is_named
    shares = np.where(is_by_name, by_name, by_word)
    is_unlike = is_by_name & (by_word != by_name) & (bool(has_word.all()) | (by_word == 0.5))
    for row in np.flatnonzero(is_unlike | (shares == -1)).tolist():
        expected, hint = f"{sides.first}, {sides.second} or tie, as in other rows", ""
        if is_unlike[row]:
            expected = "one winner"
            hint = "an option is called so, and a side or a tie is, too: rename one"
        raise table.wrong(expected, repr(cells[places[row]]), row, sides.outcome, hint=hint)
    shares = 1 - shares if sides.names_losers else shares
    often = np.bincount(places, minlength=len(cells)).tolist()
    if both_bad := sum(n for cell, n in zip(cells, often, strict=True) if "bad" in cell.lower()):
        read = f"votes for neither, as both are bad, read as ties: {both_bad:,}"
        said.append(f"{read}; leave their rows out to drop them")
    if far := sum(n for cell, n in zip(cells, often, strict=True) if ">>" in cell):
        said.append(f"wins by far (>>) read as wins: {far:,}")
    if (unended := np.isnan(shares)).any():
        told = zip(first[unended].tolist(), second[unended].tolist(), strict=True)
        whose = [
            f"{names[i]} against {names[j]} {n:,}" for (i, j), n in Counter(told).most_common(5)
        ]
        said.append(f"games that have not ended, left out: {unended.sum():,} ({', '.join(whose)})")
    return shares, said


def _words_of_sides(sides: Sides, with_numbers: bool) -> tuple[frozenset[str], frozenset[str]]:
    """What says that the first has won, and that the second has."""
    one, other = sides.own_words
    won, lost = _RESULTS[::-1] if sides.is_turned else _RESULTS
    first = _WON | won | {plain(sides.first), one} - {""}
    second = _LOST | lost | {plain(sides.second), other} - {""}
    if {one, other} == {"home", "away"}:  # H, D and A
        first, second = first | {one[0]}, second | {other[0]}
    if with_numbers and not sides.names_losers:  # 1 does not name who has lost
        return (first - {"2"}) | ONE_OR_NONE - NONE, (second - {"1"}) | NONE
    return first, second


def _with_places(
    sides: Sides, cells: Sequence[str], found: Sequence[float | None], names: Sequence[str]
) -> tuple[list[float | None], list[str]]:
    """The shares of cells, ``found`` by other words, also of those that say left or right; a note.

    Nothing is read if an option may be called so.
    """
    shares, read = [*found], list[str]()
    if not sides.are_told_apart or any(_place(name) is not None for name in names):
        return shares, read
    for at, cell in enumerate(cells):
        place = _place(cell)
        if shares[at] is None and place is not None and not plain(cell).isdigit():
            is_first = (place == 0) != sides.is_turned
            shares[at] = float(is_first)
            read.append(f"{cell!r} is {(sides.first if is_first else sides.second)!r}")
    return shares, [f"read as sides: {', '.join(read[:_MOST_SAID])}"] if read else []


def _place(cell: str) -> int | None:
    """0 or 1 for a cell that says first or second, left or right and the like; else None.

    >>> [_place(cell) for cell in ("A is better", "output_2", "Right", "B is worse", "a tie")]
    [0, 1, 1, None, None]
    """
    rest = [word for word in plain(cell).split() if word not in _AROUND]
    return _PLACES.get(rest[0]) if len(rest) == 1 else None


def _share(cell: str, words: Sequence[frozenset[str]]) -> float | None:
    if cell == OPEN:
        return float("nan")
    for share, known in zip((1.0, 0.0, 0.5), words, strict=True):
        if cell.strip("[]").lower() in known or plain(cell) in known:
            return share
    return None


def kind_of_scores(table: Table, head: str, scores: np.ndarray, asked: str) -> Kind:
    """Are scores shares of a win, or margins? Read wrongly, options named first look better."""
    if asked == "margin" or (asked == "auto" and head.lower() == "margin"):
        return "margin"
    outside = (scores < 0) | (scores > 1)
    if asked == "win" and outside.any():
        row = int(np.argmax(outside))
        expected = "shares of a win, from 0 (the first lost) to 1 (it won),"
        raise table.wrong(expected, f"{scores[row]:g}", row, head)
    is_vote = np.isin(scores, _VOTES)
    if asked == "win" or is_vote.all():
        return "win"
    if (scores >= 0).all():
        row, expected = int(np.argmin(is_vote)), "win or margin as --score for scores"
        hint = (
            "no score is negative, and this one is not 0, 0.5 or 1: --score margin if scores are "
            "by how much the first was better"
        )
        are_shares = bool((scores <= 1).all())
        hint += ", --score win if they are its share of a win" if are_shares else f"; {SCALE}"
        raise table.wrong(expected, f"{scores[row]:g}", row, head, hint=hint)
    if (is_vote | (scores == -1)).all() and (scores == 0.5).any():
        row, other = int(np.argmax(scores == -1)), int(np.argmax(scores == 0.5))
        hint = (
            f"of 1, 0 and -1, and 0.5 in {table.unit} {table.lines[other]}, of 1, 0.5 and 0: write "
            "all in one way, or say --score margin if these are margins"
        )
        raise table.wrong("one way to write votes", "-1", row, head, hint=hint)
    return "margin"
