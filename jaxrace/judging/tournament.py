"""A tournament that is going on: who plays next, and who is certainly best. Axes: K players."""

import csv
import dataclasses
import itertools
import math
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from jaxrace.answers.answer import listed
from jaxrace.core.validation import (
    BadArgument,
    require_integer,
    require_positive,
    require_probability,
    require_top,
)
from jaxrace.evidence import pairing
from jaxrace.evidence.decision import CERTIFICATES, COUNTS, DOMINANCE, RUNNING
from jaxrace.evidence.games import GamePairs, Waiting, joined
from jaxrace.evidence.table_decision import Certificate
from jaxrace.evidence.task_bets import shared_bets
from jaxrace.judging.alike_games import doubt_about_copies, doubt_of, first_doubt
from jaxrace.judging.rating import SelectionOfVotes
from jaxrace.judging.rating.front import select_votes
from jaxrace.tables.votes import OF_TOURNAMENT, read_votes

# Of a log. So ``select`` reads that sides count, and two games with sides reversed are one result.
*_SIDES, _OF_SHARES = OF_TOURNAMENT
_OF_MARGINS = "margin of "
_OF_PGN = {"1-0": 1.0, "0-1": 0.0} | dict.fromkeys(("1/2-1/2", "½-½", "1/2", "½"), 0.5)

Game = tuple[str, str, float]  # first, second, and the share, or the margin, of the first


class Match(NamedTuple):
    """Games of two that are to be played next, with this one first."""

    first: str
    second: str
    games: int


class Tournament:
    """Asks for games of two and is told how they ended, until the best are certain.

    An optimistic index says who may be among the best. One of these plays against one of the
    others, in batches: the pair without a verdict that has met least. You may tell any games, also
    those that were not asked for.

    Who is first may be better off, as White is: the k-th game of a pair with one of them first and
    the k-th with the other first are one result, their mean. A game without its counterpart waits:
    it is in the log and in ``games``, and proves nothing so far. ``ask`` asks for both sides.

    The certificate "dominance" needs no model: each of the best expects more than half of the
    points against each of the others, both sides together, wrong with a probability of at most
    delta, at all looks together. "counts" says less, where players beat each other in circles:
    nobody beats more of the others. Both take results of a pair to be alike given those before.
    Where the log shows that they are not, by their order, by a mean outside its own interval or
    by copies, nothing is certified, and ``doubt`` says why.

    Args:
        players: Their names, K.
        top: How many of the best are wanted; "all": the whole order, each above the next.
        delta: The probability of a wrong certificate.
        batch: Games that are asked for at once, of one pair, half of them with each first.
        margin: The largest margin of a game, if margins count: results are from -margin to it, and
            better is who expects a positive one. None: results are shares of the points.
        log: A CSV file that every game is added to, and that a tournament goes on from. It keeps
            the margin, and no other question: each of several has its own delta.

    >>> rng, strength = np.random.default_rng(0), {"a": 0.0, "b": 1.0, "c": 0.2}
    >>> tournament = Tournament(strength, batch=10)
    >>> while matches := tournament.ask():
    ...     for first, second, games in matches:
    ...         chance = 1 / (1 + np.exp(strength[second] - strength[first]))
    ...         tournament.tell(first, second, (rng.random(games) < chance).astype(float))
    >>> tournament.best, tournament.certificate
    (['b'], 'dominance')
    """

    def __init__(
        self,
        players: Iterable[str],
        top: int | Literal["all"] = 1,
        *,
        delta: float = 0.05,
        batch: int = 10,
        margin: float | None = None,
        log: str | os.PathLike[str] | None = None,
    ) -> None:
        self.players = [*map(str, players)]
        if len(set(self.players)) < len(self.players) or "" in self.players:
            raise BadArgument("players", "names of their own", repr(self.players)[:80])
        count = len(self.players)
        if top != "all":
            if isinstance(top, str):
                raise BadArgument("top", "how many of the best, or 'all'", repr(top))
            require_top(top, count)
        self._goal = pairing.TournamentGoal(count, None if top == "all" else top)
        require_probability("delta", delta)
        require_integer("batch", batch, 1)
        if margin is not None:
            require_positive("margin", margin)
        self.top, self.delta, self.batch, self.margin = top, delta, batch, margin
        self._level = self._goal.levels(delta)
        self._bets = shared_bets(self._level.verdict)
        self._places = {name: place for place, name in enumerate(self.players)}
        self._table = pairing.nothing_played(count, len(self._bets.bets))
        self._games: list[Game] = []
        self._waiting: Waiting[tuple[str, ...]] = {}
        self._results: list[tuple[int, int, float]] = []  # i, j, d of i: their order is evidence
        self._log = None if log is None else Path(log)
        if self._log is not None and self._log.exists():
            self._count(_rows_of(self._log, self.players, margin))

    @property
    def games(self) -> int:
        """How many games have been told."""
        return len(self._games)

    @property
    def waiting(self) -> int:
        """How many games wait for a game with sides reversed."""
        return len(self._games) - 2 * len(self._results)

    @property
    def certificate(self) -> Certificate | None:
        """How the best are certified, "dominance" or "counts"; None while they are not."""
        found = int(self._look().certificate)
        is_certain = found in (DOMINANCE, COUNTS) and not self.doubt
        return CERTIFICATES[found] if is_certain else None

    @property
    def doubt(self) -> str:
        """Why nothing is certified: results can hardly be alike, or games are missing; else ""."""
        doubt = self._unlike()
        if doubt or not (self._results and self.waiting):
            return doubt
        return "" if self._look().certificate == RUNNING else self._selected().refused

    def _unlike(self) -> str:
        """Why results can hardly be alike; "" if they can."""
        if not self._results:
            return ""
        first, second, d = (np.array(column) for column in zip(*self._results, strict=True))
        games = GamePairs(len(self.players), first, second, d, self._bets)
        return first_doubt(doubt_of(games, self._level.verdict), self._copies())

    @property
    def best(self) -> list[str]:
        """The first ``top`` by the games: certain with a certificate, else a guess."""
        return self.ranking[: self._goal.named]

    @property
    def ranking(self) -> list[str]:
        """All players, best first: by their verdicts, then by the games."""
        return [self.players[option] for option in self._look().keys.ranking()]

    def ask(self, matches: int = 1) -> list[Match]:
        """The next games of one pair, or of so many that play side by side, with both sides.

        Pairs are different, a player may be in several, and fewer than asked for may be in doubt.
        None once the best are certified, or no more games can certify them, or ``doubt`` says that
        evidence which is there proves nothing.
        """
        require_integer("matches", matches, 1)
        look, asked = self._look(), list[Match]()
        if look.certificate != RUNNING:
            return []
        for _ in range(matches):
            if not look.doubtful.any():
                break
            pair = pairing.next_pair(self._table, look, self._goal)
            one, other = (self.players[int(option)] for option in pair)
            here, there = (self._waiting.get(way, ()) for way in ((one, other), (other, one)))
            lead = len(here) - len(there)
            number = int(pairing.games_first(self.batch, lead))
            asked += [Match(one, other, number), Match(other, one, self.batch - number)]
            for at in (pair, pair[::-1]):  # taken
                look.doubtful[at], look.over[at] = False, True
        return [match for match in asked if match.games]

    def tell(self, first: str, second: str, results: Any) -> None:
        """Games of two in their order: the share of the points that the first has in each.

        1 if it has won, 0 if the second has, 1/2 drawn, or as a PGN has it with the first as White:
        "1-0", "0-1", "1/2-1/2"; with ``margin`` by how much the first has won. Of several judges,
        [games, judges], the mean vote on each game is its result.
        """
        for name, player in (("first", first), ("second", second)):
            if player not in self.players:
                raise BadArgument(name, f"one of {', '.join(self.players)}", repr(player))
        if first == second:
            raise BadArgument("second", "another player", repr(second))
        rows = [(first, second, told) for told in self._means(results)]
        if self._log is not None:
            _write(self._log, rows, self.margin)
        self._count(rows)

    def result(self) -> SelectionOfVotes:
        """The answer of ``jaxrace.select`` to all games so far, with its estimate by a model."""
        found, doubt = self._selected(), self._unlike()
        if self.top == "all":
            found = found.with_order(self.certificate, self.ranking)
        return found.without_verdicts(doubt) if doubt and not found.refused else found

    def _selected(self) -> SelectionOfVotes:
        if not self._games:
            raise BadArgument("games", "one or more that were told", "none")
        first, second, told = zip(*self._games, strict=True)
        shares = ((1 + self._differences(told)) / 2).tolist()
        data = dict(zip((*_SIDES, _OF_SHARES), map(list, (first, second, shares)), strict=True))
        votes = read_votes(data, score="win")
        said, places = list(votes.said), np.array([self._places[name] for name in votes.names])
        if idle := [name for name in self.players if name not in votes.names]:
            said.append(f"players without a game so far: {listed(idle)}")
        votes = dataclasses.replace(
            votes,
            names=tuple(self.players),
            first=places[votes.first].astype(np.int32),
            second=places[votes.second].astype(np.int32),
            said=tuple(said),
        )
        return select_votes(votes, self._goal.top or 1, delta=self.delta)

    def _look(self) -> pairing.Situation:
        return pairing.look_at(self._table, self._goal, self._level.verdict, self._level.strong)

    def _copies(self) -> str:
        """Of which games the log has copies, if it has."""
        one, other, told = zip(*self._games, strict=True)
        first, second = (np.array([self._places[x] for x in side]) for side in (one, other))
        return doubt_about_copies(first, second, self._differences(told))

    def _means(self, results: Any) -> list[float]:
        """The results of games, of several judges their means: shares, or margins."""
        low, high = (0.0, 1.0) if self.margin is None else (-self.margin, self.margin)
        told: Any = results
        try:
            if self.margin is None and np.size(results):
                told = np.vectorize(_share_of, otypes=[object])(np.array(results, object))
            told = np.atleast_1d(np.asarray(told, float))
        except (TypeError, ValueError):
            told = np.full(1, np.nan)
        if told.ndim > 2 or not told.size or not ((told >= low) & (told <= high)).all():
            expected = f"numbers from {low:g} to {high:g}, [games] or [games, judges]"
            expected += (
                ", or results 1-0, 0-1 and 1/2-1/2 of games that have ended"
                if self.margin is None
                else ""
            )
            raise BadArgument("results", expected, repr(results)[:60])
        return told.reshape(len(told), -1).mean(1).clip(low, high).tolist()

    def _differences(self, told: Sequence[float]) -> np.ndarray:
        """d of the first in each game, float [n]."""
        return 2 * np.array(told) - 1 if self.margin is None else np.array(told) / self.margin

    def _count(self, rows: Sequence[Game]) -> None:
        """Count games in their order, those of two at once that follow each other."""
        for _, games in itertools.groupby(rows, key=lambda row: {*row[:2]}):
            first, second, told = zip(*games, strict=True)
            one, other = sorted((first[0], second[0]), key=self._places.__getitem__)
            found: list[float] = []
            for *sides, d in zip(first, second, self._differences(told).tolist(), strict=True):
                result = joined(self._waiting, (*sides,), (*sides[::-1],), d)
                if result is not None:
                    found.append(result if sides[0] == one else -result)
            if found:
                i, j = self._places[one], self._places[other]
                at, d = (np.array([i]), np.array([j])), np.array([found])
                bets = np.array(self._bets.bets), np.array(self._bets.weights)
                self._table = pairing.with_matches(self._table, *at, d, *bets)
                self._results += [(i, j, result) for result in found]
        self._games += rows


def _share_of(result: Any) -> Any:
    """The share of a result of PGN; others as they are."""
    return _OF_PGN.get(result.strip(), result) if isinstance(result, str) else result


def _heads(margin: float | None) -> tuple[str, ...]:
    """Of the columns of a log."""
    of_margins = _OF_MARGINS + repr(float(margin or 0)).removesuffix(".0")
    return (*_SIDES, _OF_SHARES if margin is None else of_margins)


def _write(log: Path, rows: Sequence[Game], margin: float | None) -> None:
    is_new = not log.exists() or not log.stat().st_size
    with log.open("a", newline="", encoding="utf-8") as opened:
        writer = csv.writer(opened, lineterminator="\n")
        writer.writerows([_heads(margin)] * is_new)
        writer.writerows((first, second, f"{told:.17g}") for first, second, told in rows)
        opened.flush()
        os.fsync(opened.fileno())


def _rows_of(log: Path, players: Sequence[str], margin: float | None) -> list[Game]:
    """The games of a log of these players, and of this margin."""
    text = log.read_text(encoding="utf-8")
    if text and not text.endswith("\n"):
        hint = "; the last line may be cut off: complete it, or delete it"
        raise BadArgument("log", "a line break at its end", repr(text[-40:]), hint)
    heads, *games = [*csv.reader(text.splitlines())] or [[*_heads(margin)]]
    *sides, of = heads if len(heads) == 3 else [""]
    is_log = sides == _SIDES and (of == _OF_SHARES or of.startswith(_OF_MARGINS))
    if not is_log:
        raise BadArgument(
            "log", f"{','.join(_heads(margin))} in line 1", repr(",".join(heads))[:80]
        )
    if (*heads,) != _heads(margin):
        known = "None, as of a log of shares" if of == _OF_SHARES else of.removeprefix(_OF_MARGINS)
        raise BadArgument("margin", f"that of the log, {known}", f"{margin}")
    rows, low, high = [], -(margin or 0.0), margin or 1.0
    for number, row in enumerate(games, 2):
        if missing := [name for name in row[:2] if len(row) == 3 and name not in players]:
            got = f"{listed(players)}, without {missing[0]!r} of line {number} of the log"
            hint = ": add the name, or take another log"
            raise BadArgument("players", "all players of the log", got, hint)
        known = len(row) == 3 and row[0] != row[1]
        told = _number(row[2]) if known else math.nan
        if not low <= told <= high:
            expected = f"{','.join(heads)} of these players in line {number}"
            raise BadArgument("log", expected, repr(",".join(row))[:80])
        rows.append((row[0], row[1], told))
    return rows


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return math.nan
