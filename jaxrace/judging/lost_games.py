"""Games that are not there, or did not end on the board: what they say, and what they may change.

A guarantee is about games that are played to their end, all of which are told. Where half of a pair
is lost because of how it ended, or one of two fails to play, the share is not that of their play.
Axes: K options, n games.
"""

import dataclasses
from collections import Counter
from typing import NamedTuple

import numpy as np

from jaxrace.evidence.levels import BoolArray, IntArray
from jaxrace.tables import Votes
from jaxrace.tables.endings import ON_TIME
from jaxrace.tables.rounds import rounds_in_words

ONE_COLOUR = "no opening was played with both colours"
_FEWEST = 8  # games, from which on they may have a cause in common
_FEWEST_OF_ONE_COLOUR = 20  # games, of which two are a pair by then if any are
_ONE_SIDED = 0.9  # of them
_OUT_OF_TURN, _AT_ONCE = 0.2, 3  # a share of games; by how many one side leads, of two at once


class OtherGames(NamedTuple):
    """What games may be that are not told, or without those that failed."""

    others: Votes | None  # None: data are refused, whatever these say
    why: str  # a verdict that they do not have cannot stand
    refuses: bool = True  # are data refused then? Else more games may help


def failures_said(votes: Votes) -> list[str]:
    """A note on games that did not end on the board: how many, how, and who lost them."""
    if votes.endings is None or not (votes.endings != "").any():
        return []
    failed = votes.endings != ""
    kinds = Counter(votes.endings[failed].tolist())
    how = ", ".join(f"{kind} {count:,}" for kind, count in kinds.most_common())
    said = f"games that did not end on the board: {failed.sum():,} ({how})"
    lost = [f"{count:,} by {name}" for name, count in _losers(votes, failed).most_common(5)]
    ended = [f"lost {', '.join(lost)}"] if lost else []
    if drawn := int((failed & (votes.margins == 0)).sum()):
        ended.append(f"drawn {drawn:,}")
    return ["; ".join([said, *ended, "each counts"])]


def doubtful_failures(votes: Votes) -> OtherGames | None:
    """What the games without those that failed may change; None if these are few or mixed.

    They are doubted of all together, and of each two: eight or more, nearly all of which were lost
    by one; or eight or more without those lost on time, which people do.
    """
    if votes.endings is None:
        return None
    failed = votes.endings != ""
    low, high = np.minimum(votes.first, votes.second), np.maximum(votes.first, votes.second)
    two = Counter(zip(low[failed].tolist(), high[failed].tolist(), strict=True))
    groups = [(low == i) & (high == j) for (i, j), count in two.items() if count >= _FEWEST]
    left, whys = np.zeros(len(failed), bool), list[str]()
    for of_group in (np.ones(len(failed), bool), *groups):
        rows = failed & of_group
        number, losers = int(rows.sum()), _losers(votes, rows)
        crashed = int((rows & (votes.endings != ON_TIME)).sum())
        most, of_most = losers.most_common(1)[0] if losers else ("", 0)
        one_sided = of_most >= max(_FEWEST, _ONE_SIDED * losers.total())
        if one_sided or crashed >= _FEWEST:
            whose = f", {of_most:,} of them lost by {most}," if one_sided else ""
            whys.append(f"{number:,} of {of_group.sum():,}{whose}")
            left |= rows
    if not whys:
        return None
    why = (
        f"the verdict rests on games that did not end on the board: without the {whys[0]} it would "
        "be another; mend their cause, or leave out the headers [Termination] if these results are "
        "what you ask about"
    )
    return OtherGames(votes.at(~left), why)


def one_colour(votes: Votes) -> str:
    """Why games no two of which are a pair prove nothing, however many there are."""
    two = (
        "no game has a counterpart with sides reversed, so that the side may be all there is to it"
    )
    return (
        f"{ONE_COLOUR}: of {len(votes.first):,} {two}; play each opening twice (fastchess -games 2 "
        "-repeat, cutechess-cli -games 2 -repeat): more games like these do not help"
    )


def has_one_side(votes: Votes) -> bool:
    """Has a player of many games nearly always the same side? Then that may be all there is."""
    sides = np.stack(
        [np.bincount(x, minlength=len(votes.names)) for x in (votes.first, votes.second)]
    )
    games = sides.sum(0)
    return bool(((games >= _FEWEST_OF_ONE_COLOUR) & (sides.max(0) >= _ONE_SIDED * games)).any())


def sides_said(votes: Votes) -> str:
    """Who is first in games without their reverse, if that is nearly always one; else nothing."""
    first = Counter(votes.first[without_reverse(votes)].tolist())
    side, most = first.most_common(1)[0] if first else (0, 0)
    number = first.total()
    if most < max(_FEWEST, _ONE_SIDED * number):
        return ""
    return f", {most:,} of them with {votes.names[side]} first"


def _losers(votes: Votes, rows: BoolArray) -> Counter[str]:
    loser = np.where(votes.margins > 0, votes.second, votes.first)
    return Counter(votes.names[one] for one in loser[rows & (votes.margins != 0)].tolist())


def without_reverse(votes: Votes) -> IntArray:
    """Rows of games whose counterpart with sides reversed is not there, in their order."""
    pairs = votes.pairs
    if not (votes.sided and votes.ordered):
        return np.zeros(0, int)
    if pairs is not None:
        return np.flatnonzero((pairs < 0) | (np.bincount(pairs + 1)[pairs + 1] == 1))
    rows: dict[tuple[int, int], list[int]] = {}
    for row, way in enumerate(zip(votes.first.tolist(), votes.second.tolist(), strict=True)):
        rows.setdefault(way, []).append(row)
    counts = {(i, j): len(rows.get((j, i), ())) for i, j in rows}
    return np.array(sorted(row for way, own in rows.items() for row in own[counts[way] :]), int)


def doubtful_absence(votes: Votes, ahead: BoolArray) -> OtherGames | None:
    """What games may change that are not there, as if who is ahead had lost all of them.

    They are games that have not ended, and lost counterparts of others: of pairs that are told, or
    of two players alone, also where sides alternate and one follows itself. ``ahead`` [K, K] says
    who is ahead of whom. A few may be in play, so that more games help: also those of the second
    half of a log, if pairs are told. If who is ahead is never seen to lose, pairs of which both
    halves were lost may be missing, too: how many nobody knows.
    """
    whole, count = _with_unended(votes, ahead), len(votes.first)
    rows = without_reverse(whole)
    is_told = votes.pairs is not None
    two = {*votes.first.tolist(), *votes.second.tolist()}
    if not is_told:
        # Else the last games lack a reverse; those out of turn are where it should have been.
        turns = _out_of_turn(whole)
        rows = rows[:0] if len(two) > 2 else turns if len(turns) >= len(rows) else rows
    if not (len(rows) or votes.unended):
        return None
    lost = rows[rows < len(whole.first) / 2] if is_told else rows
    early = [game for game in votes.unended if game.place < count / 2]
    told = [f"{len(rows):,} of {count:,} games have no counterpart with sides reversed"]
    side, most = Counter(whole.first[rows].tolist()).most_common(1)[0] if len(rows) else (0, 0)
    if most >= max(_FEWEST, _ONE_SIDED * len(rows)):
        told[0] += f", most of them with {votes.names[side]} first"
    told = told if len(rows) else []
    if unended := sum(game.round < 0 for game in votes.unended):
        told.append(f"{unended:,} games have not ended")
    gone = {(game.pair, game.round) for game in votes.unended if game.round >= 0}
    if rounds := [number for _, number in gone]:
        told.append(f"rounds are not there: {rounds_in_words(rounds)}")
    what = "rounds are missing" if rounds else "games have not ended"
    what = "halves of pairs are missing" if len(rows) else what
    told, why = ", and ".join(told), "tell all games, however they ended"
    never = _never_lost(votes, whole, lost, ahead)
    if never:
        return OtherGames(None, f"{what}: {told}, and {never} is never seen to lose; {why}")
    leads = [votes.names[i] for i in two if len(two) == 2 and ahead[i].any()] or ["who is ahead"]
    why = f"{what}: {told}, and did {leads[0]} lose them the verdict would be another; {why}"
    others = _with_reverses(whole, rows, ahead)
    return OtherGames(others, why, len(lost) + len(early) >= _FEWEST)


def _out_of_turn(votes: Votes) -> IntArray:
    """Rows of games of two after which the same one is first again, where sides alternate.

    Where two games or more are played at once and end in another order, sides alternate in less
    than four of five steps, or neither is ahead by more than three games at any time than before.
    """
    if not (votes.sided and votes.ordered):
        return np.zeros(0, int)
    again = np.flatnonzero(votes.first[1:] == votes.first[:-1])
    ahead = np.append(0, np.where(votes.first == votes.first[:1], 1, -1).cumsum())
    is_in_turn = len(again) <= _OUT_OF_TURN * len(votes.first)
    return again if is_in_turn and np.ptp(ahead) > _AT_ONCE else again[:0]


def _never_lost(votes: Votes, whole: Votes, lost: IntArray, ahead: BoolArray) -> str:
    """A player who is ahead of another, without many of their games, and has lost none."""
    low, high = np.minimum(whole.first, whole.second), np.maximum(whole.first, whole.second)
    missing = Counter(zip(low[lost].tolist(), high[lost].tolist(), strict=True))
    for two, number in missing.items():
        for one, other in (two, two[::-1]):
            against = votes.at((votes.first == one) & (votes.second == other)).margins
            turned = votes.at((votes.first == other) & (votes.second == one)).margins
            if (
                number >= _FEWEST
                and ahead[one, other]
                and (against >= 0).all()
                and (turned <= 0).all()
            ):
                return votes.names[one]
    return ""


def _with_unended(votes: Votes, ahead: BoolArray) -> Votes:
    """The games with those that have not ended, all lost by who is ahead."""
    if not votes.unended:
        return votes
    places, first, second, pairs, _ = np.array(votes.unended, int).T
    return _with_games(dataclasses.replace(votes, unended=()), places, first, second, pairs, ahead)


def _with_reverses(votes: Votes, rows: IntArray, ahead: BoolArray) -> Votes:
    """The games with the lost counterparts of ``rows``, all lost by who is ahead."""
    pairs = votes.pairs
    new = (-1 if pairs is None else pairs.max(initial=-1)) + 1 + np.arange(len(rows))
    if pairs is not None:
        pairs = pairs.copy()
        pairs[rows] = new
    first, second = votes.second[rows], votes.first[rows]
    told = dataclasses.replace(votes, pairs=pairs)
    return _with_games(told, rows + 1, first, second, new, ahead)


def _with_games(
    votes: Votes,
    places: IntArray,
    first: IntArray,
    second: IntArray,
    pairs: IntArray,
    ahead: BoolArray,
) -> Votes:
    """The games with others before those at some places, all lost by who is ahead."""
    scores = np.where(ahead[first, second], 0.0, 1.0)
    new = {"first": first, "second": second, "pairs": pairs, "items": np.full(len(first), -1)}
    new |= {"scores": scores if votes.kind == "win" else 2 * scores - 1}
    new |= {"lines": votes.lines[np.maximum(places - 1, 0)]}
    old = {name: getattr(votes, name) for name in new}
    return dataclasses.replace(
        votes,
        copies=None,
        endings=None,
        **{name: None if x is None else np.insert(x, places, new[name]) for name, x in old.items()},
    )
