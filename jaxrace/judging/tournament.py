"""A tournament that is going on: who plays next, and who is certainly best. Axes: K players."""

import csv
import math
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from jaxrace.core.validation import (
    BadArgument,
    require_integer,
    require_probability,
    require_top,
)
from jaxrace.evidence import decision, table_decision
from jaxrace.evidence.levels import levels, log_sum
from jaxrace.evidence.task_bets import shared_bets, winnings
from jaxrace.judging.rating import SelectionOfVotes, select

_HEADS = ("first", "second", "score")
_WIDTH = 0.35  # of the index, in standard deviations of a share
_SHARES = (0.0, 0.5, 1.0)


class Match(NamedTuple):
    """Games that are to be played next, as many with each of the two first."""

    first: str
    second: str
    games: int


class Tournament:
    """Asks for games of two and is told how they ended, until the best are certain.

    It plays whom an optimistic index puts first against the open rival that it has met least, in
    batches. Any games may be told, asked for or not. The certificate needs no model: a player
    expects more than half of the points against each of those that are not among the best, wrong
    with a probability of at most delta, at all looks together, if the games of two are alike given
    those before. Play as many with each of the two first: what is told is taken in its order.

    Args:
        players: Their names, K.
        top: How many of the best are wanted.
        delta: The probability of a wrong certificate.
        batch: Games of a match.
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
        top: int = 1,
        *,
        delta: float = 0.05,
        batch: int = 10,
        log: str | os.PathLike[str] | None = None,
    ) -> None:
        self.players = [*map(str, players)]
        if len(set(self.players)) < len(self.players) or "" in self.players:
            raise BadArgument("players", "names of their own", repr(self.players)[:80])
        require_top(top, len(self.players))
        require_probability("delta", delta)
        require_integer("batch", batch, 1)
        self.top, self.delta, self.batch = top, delta, batch
        count = len(self.players)
        self._level = levels("wins", count, top, delta)
        self._bets = shared_bets(self._level.verdict)
        self._logs = np.zeros((count, count, len(self._bets.bets)))
        self._highest = np.full((count, count), -np.inf)
        self._sums, self._met = np.zeros((count, count)), np.zeros((count, count), int)
        self._games: list[tuple[str, str, float]] = []
        self._log = None if log is None else Path(log)
        if self._log is not None and self._log.exists():
            self._go_on(self._log)

    @property
    def games(self) -> int:
        """How many have been told."""
        return len(self._games)

    @property
    def certificate(self) -> table_decision.Certificate | None:
        """How the best are certified, None while they are not."""
        return self._decided().certificate

    @property
    def best(self) -> list[str]:
        """The first ``top`` by the games: certain with a certificate, else a guess."""
        return [self.players[option] for option in self._decided().ranking[: self.top]]

    def ask(self) -> list[Match]:
        """The next games, none once the best are certified."""
        found = self._decided()
        if found.certificate is not None:
            return []
        index = self._index()
        order = np.argsort(-index, kind="stable")
        leads = np.zeros(len(order), bool)
        leads[order[: self.top]] = True
        seen = self._seen()
        is_open = leads[:, None] & ~leads[None, :] & ~seen.over
        if not is_open.any():  # the index and the evidence disagree
            is_open = found.doubtful
        # Of those that lead whoever is likeliest to fall, against whom it has met least.
        first = int(np.where(is_open.any(1), -index, -np.inf).argmax())
        met = np.where(is_open[first], self._met[first], np.iinfo(int).max)
        second = int(np.lexsort((-self._share()[:, first], met))[0])
        one, other = self.players[first], self.players[second]
        half = -(-self.batch // 2)
        matches = [Match(one, other, half), Match(other, one, self.batch - half)]
        return [match for match in matches if match.games]

    def tell(self, first: str, second: str, results: float | Sequence[float] | Any) -> None:
        """Games of two in their order: 1 if the first has won, 0 if the second has, 1/2 drawn."""
        for name, player in (("first", first), ("second", second)):
            if player not in self.players:
                raise BadArgument(name, f"one of {', '.join(self.players)}", repr(player))
        if first == second:
            raise BadArgument("second", "another player", repr(second))
        scores = np.atleast_1d(np.asarray(results, float))
        if scores.ndim != 1 or not np.isin(scores, _SHARES).all():
            raise BadArgument("results", "1, 1/2 or 0 for each game", repr(results)[:60])
        rows = [(first, second, score) for score in scores.tolist()]
        if self._log is not None:
            self._write(rows)
        self._count(rows)

    def result(self) -> SelectionOfVotes:
        """The answer of ``jaxrace.select`` to all games so far, with its estimate by a model."""
        if not self._games:
            raise BadArgument("games", "one or more that were told", "none")
        columns = zip(*self._games, strict=True)
        data = dict(zip(_HEADS, map(list, columns), strict=True))
        return select(data, min(self.top, len(self.players) - 1), delta=self.delta, score="win")

    def _count(self, rows: Sequence[tuple[str, str, float]]) -> None:
        bets, weights = np.array(self._bets.bets), np.log(self._bets.weights)
        for first, second, score in rows:
            i, j = self.players.index(first), self.players.index(second)
            for one, other, d in ((i, j, 2 * score - 1), (j, i, 1 - 2 * score)):
                logs = self._logs[one, other] = self._logs[one, other] + np.log1p(
                    winnings(bets, d, 0.0)
                )
                now = float(log_sum(logs + weights))
                self._highest[one, other] = max(self._highest[one, other], now)
                self._sums[one, other] += d
                self._met[one, other] += 1
        self._games += rows

    def _share(self) -> np.ndarray:
        """Of the points, [K, K]; 1/2 of those that have not met."""
        return (1 + self._sums / np.maximum(self._met, 1)) / 2

    def _seen(self) -> decision.Seen:
        mean = self._sums / np.maximum(self._met, 1)
        return decision.seen_of(self._highest, mean, self._level.verdict, self._level.strong)

    def _decided(self) -> table_decision.TableDecision:
        return table_decision.decide(
            self._seen(), self.top, self._level.verdict, decision.SHARED_SLACK
        )

    def _index(self) -> np.ndarray:
        """How well each may do against its worst rival, [K]: share + .35 sqrt(2 ln t / n)."""
        time = math.log(max(self._met.sum() / 2, 2))
        width = _WIDTH * np.sqrt(2 * time / np.maximum(self._met, 1))
        upper = np.where(self._met > 0, self._share() + width, np.inf)
        np.fill_diagonal(upper, np.inf)
        least = upper.min(1)
        # Those that have met few are first by what they have shown so far.
        return np.where(np.isfinite(least), least, 10.0) + 1e-6 * self._share().mean(1)

    def _write(self, rows: Sequence[tuple[str, str, float]]) -> None:
        assert self._log is not None
        is_new = not self._log.exists()
        with self._log.open("a", newline="", encoding="utf-8") as opened:
            writer = csv.writer(opened, lineterminator="\n")
            writer.writerows([_HEADS] * is_new)
            writer.writerows((first, second, f"{score:g}") for first, second, score in rows)
            opened.flush()
            os.fsync(opened.fileno())

    def _go_on(self, log: Path) -> None:
        rows = []
        with log.open(newline="", encoding="utf-8") as opened:
            for number, row in enumerate(csv.reader(opened), 1):
                if number == 1 and tuple(row) == _HEADS:
                    continue
                known = len(row) == 3 and {*row[:2]} <= {*self.players} and row[0] != row[1]
                if not known or row[2] not in ("0", "0.5", "1"):
                    expected = f"first,second,score of these players in line {number}"
                    raise BadArgument("log", expected, repr(",".join(row))[:80])
                rows.append((row[0], row[1], float(row[2])))
        self._count(rows)
