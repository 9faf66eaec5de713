"""Games that are not there, or did not end on the board: what they say, and what they may change.

A guarantee is about games that are played to their end, all of which are told. Where half of a pair
is lost because of how it ended, or one of two fails to play, the share is not that of their play.
Axes: n games.
"""

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from jaxrace.evidence.levels import IntArray
from jaxrace.tables import Votes
from jaxrace.tables.endings import ON_TIME

ONE_COLOUR = "no opening was played with both colours"
_FEWEST = 8  # games, from which on they may have a cause in common
_ONE_SIDED = 0.9  # of them
_MANY = 0.1  # of all games


class OtherGames(NamedTuple):
    """Why games are refused if others, that are as likely, have another verdict."""

    others: Votes | None  # None: they are refused, whatever others say
    why: str


def rests_on(doubts: Iterable[OtherGames | None], holds: Callable[[Votes], bool]) -> str:
    """Why a verdict is refused that does not hold with all of these other games; "" if it does."""
    for others, why in filter(None, doubts):
        if others is None or not holds(others):
            return why
    return ""


def failures_said(votes: Votes) -> list[str]:
    """A note on games that did not end on the board: how many, how, and who lost them."""
    if votes.endings is None or not (votes.endings != "").any():
        return []
    kinds = Counter(votes.endings[votes.endings != ""].tolist())
    how = ", ".join(f"{kind} {count:,}" for kind, count in kinds.most_common())
    said = f"games that did not end on the board: {sum(kinds.values()):,} ({how})"
    losers = _losers(votes, votes.endings != "")
    lost = [f"{count:,} by {name}" for name, count in losers.most_common(5)]
    return [f"{said}; lost {', '.join(lost)}; each counts" if lost else f"{said}; each counts"]


def doubtful_failures(votes: Votes) -> OtherGames | None:
    """What the games without those that failed may change; None if these are few or mixed.

    One-sided: nearly all were lost by one. Many: of all games, without those lost on time, which
    people do.
    """
    if votes.endings is None:
        return None
    failed = votes.endings != ""
    number, losers = int(failed.sum()), _losers(votes, failed)
    crashed = int((failed & (votes.endings != ON_TIME)).sum())
    most, of_most = losers.most_common(1)[0] if losers else ("", 0)
    one_sided = of_most >= max(_FEWEST, _ONE_SIDED * number)
    if not one_sided and crashed < max(_FEWEST, _MANY * len(failed)):
        return None
    whose = f", {of_most:,} of them lost by {most}," if one_sided else ""
    why = (
        f"the verdict rests on games that did not end on the board: without the {number:,} of "
        f"{len(failed):,}{whose} it would be another; mend their cause, or leave out the headers "
        "[Termination] if these results are what you ask about"
    )
    return OtherGames(votes.at(~failed), why)


def one_colour(votes: Votes) -> str:
    """Why games no two of which are a pair prove nothing, however many there are."""
    two = (
        "no game has a counterpart with sides reversed, so that the side may be all there is to it"
    )
    return (
        f"{ONE_COLOUR}: of {len(votes.first):,} {two}; play each opening twice (fastchess -games 2 "
        "-repeat, cutechess-cli -games 2 -repeat): more games like these do not help"
    )


def sides_said(votes: Votes) -> str:
    """Who is first in games without their reverse, if that is nearly always one; else nothing."""
    first = Counter(votes.first[without_reverse(votes)].tolist())
    side, most = first.most_common(1)[0] if first else (0, 0)
    number = first.total()
    if most < max(_FEWEST, _ONE_SIDED * number):
        return ""
    return f", {most:,} of them with {votes.names[side]} first"


def _losers(votes: Votes, rows: np.ndarray) -> Counter[str]:
    loser = np.where(votes.margins > 0, votes.second, votes.first)
    return Counter(votes.names[one] for one in loser[rows & (votes.margins != 0)].tolist())


def without_reverse(votes: Votes) -> IntArray:
    """Rows of games whose counterpart with sides reversed is not there, in their order."""
    pairs = votes.pairs
    if not (votes.sided and votes.ordered):
        return np.zeros(0, int)
    if pairs is not None:
        return np.flatnonzero(pairs < 0)
    rows: dict[tuple[int, int], list[int]] = {}
    for row, way in enumerate(zip(votes.first.tolist(), votes.second.tolist(), strict=True)):
        rows.setdefault(way, []).append(row)
    counts = {(i, j): len(rows.get((j, i), ())) for i, j in rows}
    return np.array(sorted(row for way, own in rows.items() for row in own[counts[way] :]), int)


def doubtful_reverses(votes: Votes, player: int, *, won: bool) -> OtherGames | None:
    """What lost counterparts may change, as if a player had won all of them, or lost.

    None if few are lost, and of both sides. Pairs that are told may still be in play at the end of
    a log: in the first half of it their counterparts are lost. Of others it takes a tenth. If the
    other one is never seen to win, pairs of which both halves were lost may be missing, too: how
    many nobody knows.
    """
    rows, count = without_reverse(votes), len(votes.first)
    at_most = count if votes.pairs is None else count / 2
    lost = rows[rows < at_most]
    if len(lost) < (_FEWEST if votes.pairs is not None else max(_FEWEST, _MANY * count)):
        return None
    side, most = Counter(votes.first[lost].tolist()).most_common(1)[0]
    results = np.where(votes.first == player, votes.margins, -votes.margins)
    is_never = not (results > 0 if won else results < 0).any()
    if most < _ONE_SIDED * len(lost) and len(rows) <= _MANY * count and not is_never:
        return None
    name, did = votes.names[player], "win" if won else "lose"
    told = f"{len(rows):,} of {count:,} games have no counterpart with sides reversed"
    if most >= _ONE_SIDED * len(lost):
        told += f", most of them with {votes.names[side]} first"
    if is_never:
        why = f"{told}, and {name} is never seen to {did}"
    else:
        why = f"{told}, and did {name} {did} them the verdict would be another"
    why = f"halves of pairs are missing: {why}; tell all games, however they ended"
    return OtherGames(None if is_never else _with_reverses(votes, rows, player, won), why)


def _with_reverses(votes: Votes, rows: IntArray, player: int, won: bool) -> Votes:
    """The games with the lost counterparts of ``rows``, all won by a player, or all lost."""
    first, second = votes.second[rows], votes.first[rows]
    shares = np.where(first == player, float(won), 1.0 - won)
    scores = shares if votes.kind == "win" else 2 * shares - 1
    pairs = votes.pairs
    if pairs is not None:
        new = pairs.max(initial=-1) + 1 + np.arange(len(rows))
        pairs = pairs.copy()
        pairs[rows] = new
        pairs = np.insert(pairs, rows + 1, new)
    return dataclasses.replace(
        votes,
        first=np.insert(votes.first, rows + 1, first),
        second=np.insert(votes.second, rows + 1, second),
        scores=np.insert(votes.scores, rows + 1, scores),
        lines=np.insert(votes.lines, rows + 1, votes.lines[rows]),
        pairs=pairs,
        items=None,
        copies=None,
        endings=None,
    )
