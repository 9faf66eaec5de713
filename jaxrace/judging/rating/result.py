"""What comparisons say, by name, and how a person reads it.

Scores are what the model expects against the average other option: of votes the share of wins (a
tie is half a win), else the margin. Where there are few comparisons they are drawn towards the
middle. Intervals are approximate, of 95 %, each by itself.
"""

import dataclasses
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

from jaxrace.answers.answer import MOST_SHOWN, Ranking, Shown, first_of, list_down, listed, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# A chance that a comparison changes the selection; and what reads as certain with three digits.
_UNLIKELY, _SURE = 0.01, 0.9995
_TOLD = 0.4  # smaller probabilities are true to .1 only, larger ones to .05
_LEAST = 10  # comparisons of an option, before anything is called likely
_LEAST_SHOWN = 1e-9  # smaller chances are those of the model alone


@dataclasses.dataclass(frozen=True)
class Ranked:
    """One option."""

    name: str
    comparisons: int  # that it was in
    score: float
    low: float | None  # None: not known
    high: float | None
    selected: bool


@dataclasses.dataclass(frozen=True)
class Gap:
    """How far the last of the best is ahead."""

    last: str  # of the best
    first: str  # of the others
    score: float
    low: float | None
    high: float | None


@dataclasses.dataclass(frozen=True)
class Proposal:
    """Two options to compare next."""

    better: str  # that is so far
    worse: str
    compared: int  # so far
    times: int  # to compare them


@dataclasses.dataclass(frozen=True)
class SelectionOfVotes(Ranking):
    """The answer of ``jaxrace.select``. Print it, or see its fields; ``to_dict`` is for JSON."""

    ROWS: ClassVar = {"options": Ranked, "next": Proposal}
    ALSO: ClassVar = ("best", "sure")

    top: int
    delta: float
    reading: str  # of scores: "win", shares of a win, or "margin"
    comparisons: int
    options: tuple[Ranked, ...]  # best first
    confidence: float | None  # estimated probability that the best are those; None: unknown
    gap: Gap  # between the last of the best and the first of the others
    next: tuple[Proposal, ...]  # pairs to compare next
    log_chance: float | None  # ln of the largest chance that one of these changes the selection
    connected: bool  # every two options are, through others if need be
    notes: tuple[str, ...] = ()

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Self:
        return super().from_dict({**found, "gap": Gap(**found["gap"])})

    @property
    def sure(self) -> bool:
        """Is the estimated probability that these are the best 1 - delta or more?

        Not before those at the boundary were compared ten times each: fewer may all end alike by
        chance, and look like results without noise.
        """
        return self.confidence is not None and self.confidence >= 1 - self.delta and not self._few

    @property
    def is_answered(self) -> bool:
        return self.sure

    @property
    def _few(self) -> list[str]:
        """The two options at the boundary, as far as they were hardly compared."""
        at_boundary = self.options[self.top - 1 : self.top + 1]
        return [one.name for one in at_boundary if one.comparisons < _LEAST]

    def plot(self) -> "Figure":
        """A matplotlib figure: the ranking with its intervals, and what to compare next."""
        options, pairs = self.options[:MOST_SHOWN], self.next[:MOST_SHOWN]
        rows, called = max(len(options), len(pairs)), self.labels()
        figure, (ranking, ahead) = panels(self.headline(), rows, (3, 2), self.names, 3)
        for place, one in enumerate(options):
            colour = "C0" if one.selected else "0.65"
            if one.low is not None and one.high is not None:
                ranking.plot((one.low, one.high), (place, place), color=colour, lw=2)
            ranking.plot(one.score, place, "o", ms=6, color=colour)
        ranking.axhline(self.top - 0.5, color="0.3", lw=0.8, ls=(0, (4, 2)))
        ranking.set_yticks(range(len(options)), [called[one.name] for one in options])
        more = first_of(options, len(self.options)).replace(": ", "\n")
        what = "share of wins" if self.reading == "win" else "margin"
        ranking.set(
            title="ranking: above the line is selected" + more,
            xlabel=f"{what}, mean over the others\n(approximate 95 % intervals)",
        )
        ahead.barh(range(len(pairs)), [one.times for one in pairs], color="C0")
        list_down(ahead, [f"{called[x.better]} - {called[x.worse]}" for x in pairs], max(rows, 4))
        most = max((one.times for one in pairs), default=0)
        ahead.set_xticks(range(0, most + 1, -(-(most + 1) // 10)))
        ahead.set(title="compare next", xlabel="comparisons")
        return figure

    def asked(self) -> str:
        return (
            f"Top {self.top} of {len(self.options)} options by {self.comparisons:,} comparisons, "
            f"read as {self.reading}s"
        )

    def headline(self) -> str:
        wanted = f"{100 * (1 - self.delta):.10g} %"
        if self.sure:
            return f"SELECTED, likely right ({wanted} or more): {listed(self.best)}"
        return f"NOT SURE YET ({wanted} wanted), a guess: {listed(self.best)}"

    def meanings(self) -> list[str]:
        lines = [f"probability that the selection is right: {self._sureness()}"]
        if self._few:
            lines.append(
                f"compared less than {_LEAST} times, too few to be sure: {listed(self._few)}"
            )
        if self.gap.low is not None:
            lines.append(
                f"{self.gap.last} is ahead of {self.gap.first}, the first that is not selected, by "
                f"{self.gap.score:.4g}, 95 % interval {self.gap.low:.4g} to {self.gap.high:.4g}"
            )
        if self.log_chance is None or self.log_chance < math.log(_UNLIKELY):
            chance = f"below {_LEAST_SHOWN:g}"
            if self.log_chance is not None and self.log_chance >= math.log(_LEAST_SHOWN):
                chance = f"{math.exp(self.log_chance):.1g} at most"
            lines.append(
                "none of the comparisons that are proposed is likely to change the selection by "
                f"itself: the chance is {chance}"
            )
        return lines

    def _sureness(self) -> str:
        if self.confidence is None:
            return "not known yet: compare options that nothing connects"
        about = "above 0.999" if self.confidence > _SURE else f"about {self.confidence:.3f}"
        about = f"below {_TOLD}" if self.confidence < _TOLD else about
        return f"{about}, an estimate without guarantee"

    def tables(self) -> list[Shown]:
        """The options, best first, and what to compare next: the first 20 of each."""
        unit = "wins" if self.reading == "win" else "margin"
        rows = [
            [
                *(str(place), one.name, f"{one.comparisons:,}", f"{one.score:.4g}"),
                "" if one.low is None else f"{one.low:.4g} to {one.high:.4g}",
                "selected" if one.selected else "",
            ]
            for place, one in enumerate(self.options, 1)
        ]
        pairs = [
            [one.better, one.worse, f"{one.compared:,}", f"{one.times:,}"] for one in self.next
        ]
        below = ["intervals are approximate, each by itself"] if self.connected else []
        heads = ["", "option", "compared", unit, "95 % interval", "verdict"]
        return [
            Shown.first(heads, rows, *below),
            Shown.first(["better", "worse", "compared", "next"], pairs),
        ]
