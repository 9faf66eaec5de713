"""A tournament that is going on: who plays next, and who is certainly best. Axes: K players."""

import csv
import itertools
import math
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from jaxrace.core.validation import (
    BadArgument,
    require_integer,
    require_positive,
    require_probability,
    require_top,
)
from jaxrace.evidence import pairing
from jaxrace.evidence.decision import CERTIFICATES, COUNTS, DOMINANCE, RUNNING
from jaxrace.evidence.levels import FloatArray
from jaxrace.evidence.task_bets import shared_bets
from jaxrace.judging.rating import SelectionOfVotes, select

_HEADS = ("first", "second", "score")


class Match(NamedTuple):
    """Games that are to be played next, as many with each of the two first."""

    first: str
    second: str
    games: int


class Tournament:
    """Asks for games of two and is told how they ended, until the best are certain.

    One of those that an optimistic index puts first plays against one of the others, in batches:
    the pair without a verdict that has met least. Any games may be told, asked for or not. The
    certificate needs no model: a player expects more than half of the points against each of those
    that are not among the best, wrong with a probability of at most delta, at all looks together,
    if the games of two are alike given those before. Play as many with each of the two first: what
    is told is taken in its order.

    Args:
        players: Their names, K.
        top: How many of the best are wanted; "all": the whole order, each above the next.
        delta: The probability of a wrong certificate.
        batch: Games of a match.
        margin: The largest margin of a game, if margins count: results are from -margin to it, and
            better is who expects a positive one. None: results are shares of the points.
        log: A CSV file that every game is added to, and that a tournament goes on from.

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
            require_top(top, count)
        self._goal = pairing.TournamentGoal(count, None if top == "all" else top)
        require_probability("delta", delta)
        require_integer("batch", batch, 1)
        if margin is not None:
            require_positive("margin", margin)
        self.top, self.delta, self.batch, self.margin = top, delta, batch, margin
        self._level = self._goal.levels(delta)
        bets = shared_bets(self._level.verdict)
        self._bets = np.array(bets.bets), np.array(bets.weights)
        self._table = pairing.nothing_played(count, len(bets.bets))
        self._games: list[tuple[str, str, float]] = []
        self._log = None if log is None else Path(log)
        if self._log is not None and self._log.exists():
            self._count(_rows_of(self._log, self.players))

    @property
    def games(self) -> int:
        """How many have been told."""
        return len(self._games)

    @property
    def certificate(self) -> str | None:
        """How the best are certified, "dominance" or "counts"; None while they are not."""
        found = int(self._look().certificate)
        return CERTIFICATES[found] if found in (DOMINANCE, COUNTS) else None

    @property
    def best(self) -> list[str]:
        """The first ``top`` by the games: certain with a certificate, else a guess."""
        return self.ranking[: self._goal.named]

    @property
    def ranking(self) -> list[str]:
        """All players, best first: by their verdicts, then by the games."""
        return [self.players[option] for option in self._look().keys.ranking()]

    def ask(self) -> list[Match]:
        """The next games; none once the best are certified, or no more games can certify them."""
        look = self._look()
        if look.certificate != RUNNING:
            return []
        pair = pairing.next_pair(self._table, look, self._goal)
        one, other = (self.players[int(option)] for option in pair)
        half = -(-self.batch // 2)
        matches = [Match(one, other, half), Match(other, one, self.batch - half)]
        return [one for one in matches if one.games]

    def tell(self, first: str, second: str, results: Any) -> None:
        """Games of two in their order: the share of the points that the first has in each.

        1 if it has won, 0 if the second has, 1/2 drawn; with ``margin`` by how much the first has
        won. Of several judges, [games, judges], the mean vote on each game counts as one result.
        """
        for name, player in (("first", first), ("second", second)):
            if player not in self.players:
                raise BadArgument(name, f"one of {', '.join(self.players)}", repr(player))
        if first == second:
            raise BadArgument("second", "another player", repr(second))
        rows = [(first, second, share) for share in self._shares(results).tolist()]
        if self._log is not None:
            _write(self._log, rows)
        self._count(rows)

    def result(self) -> SelectionOfVotes:
        """The answer of ``jaxrace.select`` to all games so far, with its estimate by a model."""
        if not self._games:
            raise BadArgument("games", "one or more that were told", "none")
        columns = zip(*self._games, strict=True)
        data = dict(zip(_HEADS, map(list, columns), strict=True))
        return select(data, self._goal.top or 1, delta=self.delta, score="win")

    def _look(self) -> pairing.Situation:
        return pairing.look_at(self._table, self._goal, self._level.verdict, self._level.strong)

    def _shares(self, results: Any) -> FloatArray:
        """The results of games as shares of the points, [n]."""
        told = np.atleast_1d(np.asarray(results, float))
        low, high = (0.0, 1.0) if self.margin is None else (-self.margin, self.margin)
        if told.ndim > 2 or not told.size or not ((told >= low) & (told <= high)).all():
            expected = f"numbers from {low:g} to {high:g}, [games] or [games, judges]"
            raise BadArgument("results", expected, repr(results)[:60])
        return (told.reshape(len(told), -1).mean(1) - low) / (high - low)

    def _count(self, rows: Sequence[tuple[str, str, float]]) -> None:
        """Count games in their order, those of two at once that follow each other."""
        for _, games in itertools.groupby(rows, key=lambda row: {*row[:2]}):
            first, second, shares = zip(*games, strict=True)
            one, other = first[0], second[0]
            d = 2 * np.array(shares) - 1
            d = np.where(np.array(first) == one, d, -d)
            i, j = (np.array([self.players.index(name)]) for name in (one, other))
            self._table = pairing.with_matches(self._table, i, j, d[None], *self._bets)
        self._games += rows


def _write(log: Path, rows: Sequence[tuple[str, str, float]]) -> None:
    is_new = not log.exists()
    with log.open("a", newline="", encoding="utf-8") as opened:
        writer = csv.writer(opened, lineterminator="\n")
        writer.writerows([_HEADS] * is_new)
        writer.writerows((first, second, f"{share:.17g}") for first, second, share in rows)
        opened.flush()
        os.fsync(opened.fileno())


def _rows_of(log: Path, players: Sequence[str]) -> list[tuple[str, str, float]]:
    """The games of a log of these players."""
    text = log.read_text(encoding="utf-8")
    if text and not text.endswith("\n"):
        hint = "; the last line may be cut off: complete it, or delete it"
        raise BadArgument("log", "a line break at its end", repr(text[-40:]), hint)
    rows = []
    for number, row in enumerate(csv.reader(text.splitlines()), 1):
        if number == 1 and tuple(row) == _HEADS:
            continue
        known = len(row) == 3 and {*row[:2]} <= {*players} and row[0] != row[1]
        share = _number(row[2]) if known else math.nan
        if not 0 <= share <= 1:
            expected = f"first,second,score of these players in line {number}"
            raise BadArgument("log", expected, repr(",".join(row))[:80])
        rows.append((row[0], row[1], share))
    return rows


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return math.nan
