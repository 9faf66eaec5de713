"""What a gate of games says of each candidate, in Elo, and how a person reads it."""

import dataclasses
from typing import Any, ClassVar

from jaxrace.answers.answer import Shown, labels
from jaxrace.judging.gate_result import Ends, Gate


@dataclasses.dataclass(frozen=True)
class Engine:
    """One candidate against the baseline. Elo is None without games, of no and of all points.

    The interval in Elo excludes 0, or the tolerance, if and only if that claim is certain.
    """

    name: str
    games: int  # against the baseline that counted; two with sides reversed are two
    results: tuple[
        int, ...
    ]  # how many lost, drawn and won; or of 0, 1/2, 1, 3/2 and 2 points in two games
    score: float | None  # share of the points
    elo: float | None
    low: float | None
    high: float | None
    level: float  # of the intervals, of all candidates together, at all looks
    nelo: float | None  # normalized Elo
    nelo_low: float | None
    nelo_high: float | None
    verdict: str  # "better", "not worse", "worse", "no better", "too few" or "?"
    further: int | None  # games, about, that it takes if they go on as so far


@dataclasses.dataclass(frozen=True, kw_only=True)
class GateOfGames(Gate):
    """The answer of ``jaxrace.gate`` to games. Print it, or see its fields."""

    ROWS: ClassVar = {"candidates": Engine}

    delta: float
    delta_reject: float
    tolerance: float  # in Elo
    gap: float | None  # in Elo
    wanted: str
    baseline: str
    candidates: tuple[Engine, ...]
    at_most: int | None
    in_pairs: bool  # are two games with sides reversed one result?
    notes: tuple[str, ...] = ()
    refused: str = ""

    def without_verdicts(self) -> "GateOfGames":
        """The same answer, in which nothing is certain."""
        ends = dict.fromkeys(("low", "high", "nelo_low", "nelo_high", "further"))
        unknown: dict[str, Any] = {"verdict": "?", **ends}
        candidates = tuple(dataclasses.replace(one, **unknown) for one in self.candidates)
        return dataclasses.replace(self, candidates=candidates)

    @property
    def _edges(self) -> tuple[float, float, float]:
        return -self.tolerance, 0.0, self.tolerance

    @property
    def _amount(self) -> str:
        return f"{self.tolerance:g} Elo"

    def asked(self) -> str:
        games = sum(one.games for one in self.candidates)
        within = f"tolerance {self._amount}" if self.tolerance else ""
        gap = f"gap {self.gap:g} Elo" if self.gap else ""
        return self._asked(f"{self.baseline} by {games:,} games", within, gap)

    def meanings(self) -> list[str]:
        return self.refusal_meant() if self.refused else [self._guarantee()]

    def tables(self) -> list[Shown]:
        rows = [
            [
                *(one.name, f"{one.games:,}", ", ".join(map(str, one.results))),
                "" if one.score is None else f"{one.score:.4g}",
                *self._cells(one.elo, (one.low, one.high), one),
                *self._cells(one.nelo, (one.nelo_low, one.nelo_high), one),
                self._words(one),
            ]
            for one in self.candidates
        ]
        results = "0, 1/2, 1, 3/2, 2" if self.in_pairs else "lost, drawn, won"
        heads = ["option", "games", results, "share", "Elo", f"{self._percent} interval", "nElo"]
        heads += [f"{self._percent} nElo interval", "verdict"]
        unit = "two games with sides reversed, over root 2" if self.in_pairs else "a game"
        below = [
            *self._below(" Elo"),
            f"nElo: the mean over the standard deviation of {unit}, times 800 / ln 10",
        ]
        if any(one.verdict == "too few" for one in self.candidates):
            below.append("too few: the number is a forecast, if games go on as before")
        return [Shown.first(heads, rows, *below)]

    def _cells(self, estimate: float | None, ends: Ends, one: Engine) -> list[str]:
        return [
            "" if estimate is None else f"{estimate:.1f}",
            "" if one.verdict == "?" or not one.games else self._between(ends),
        ]

    def _drawn(self, one: Any) -> tuple[float | None, Ends]:
        return one.elo, (one.low, one.high)

    def _axis(self) -> str:
        return f"Elo above {labels([self.baseline])[0]}"
