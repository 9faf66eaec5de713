"""The answer about comparisons, by name: what is certified, and what a model guesses."""

import dataclasses
import math
from typing import TYPE_CHECKING, Any, ClassVar

from jaxrace.answers import style
from jaxrace.answers.answer import (
    MOST_DRAWN,
    MOST_SHOWN,
    Ranking,
    Shown,
    first_of,
    list_down,
    listed,
    panels,
)
from jaxrace.evidence.table_decision import COUNTED, Certificate
from jaxrace.judging.rating.certified import ProvenPair

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TOLD, _SURE = 0.4, 0.9995  # probabilities below are true to .1 only; above they read as certain
_NEXT, _LEADS = ("compare next", "with"), ("best so far", "against")  # heads of pairs
_LEAST = 10  # comparisons of an option, before anything is called likely
_UNLIKELY = 0.01  # a chance that a comparison changes the guess


@dataclasses.dataclass(frozen=True)
class Ranked:
    """One option."""

    name: str
    comparisons: int  # that it was in; of games as many
    score: float
    low: float | None  # None: not known
    high: float | None
    elo: float | None  # by the model, of shares of a win: above the mean of all; None of margins
    elo_low: float | None
    elo_high: float | None
    level: float  # of the intervals, each by itself, approximately
    selected: bool


@dataclasses.dataclass(frozen=True)
class Gap:
    """How far the last of the best is ahead."""

    last: str  # of the best
    first: str  # of the others
    score: float
    low: float | None
    high: float | None
    level: float  # of the interval, approximately


@dataclasses.dataclass(frozen=True)
class Proposal:
    """Two options to compare next."""

    better: str  # that is so far
    worse: str
    compared: int  # so far
    times: int  # to compare them


@dataclasses.dataclass(frozen=True)
class SelectionOfVotes(Ranking):
    """The answer of ``jaxrace.select``. Print it, or see its fields; ``to_dict`` is for JSON.

    It is answered, with status 0, when the games alone prove who is the best. The model's guess
    and ``confidence`` are for one look.
    """

    ROWS: ClassVar = {"options": Ranked, "next": Proposal, "proven": ProvenPair}
    ALSO: ClassVar = ("best", "sure")

    top: int
    delta: float
    reading: str  # of scores: "win", shares of a win, or "margin"
    comparisons: int
    options: tuple[Ranked, ...]  # by the model, best first
    confidence: float | None  # estimated probability that the first k are the best; None: unknown
    gap: Gap  # between the last of these and the first of the others
    next: tuple[Proposal, ...]  # pairs to compare next; none with a certificate
    log_chance: float | None  # ln of the largest chance that one of these changes the selection
    connected: bool  # every two options are, through others if need be
    certificate: Certificate | None  # of the best by the games alone, without a model
    leads: list[str]  # the best by the games alone: certain with a certificate
    possible: list[str]  # who may be among the best, by the games alone
    tiers: list[list[str]]  # by the games alone: each is better than all of the tiers below
    proven: tuple[ProvenPair, ...]  # across the boundary, the closest first
    proven_confidence: float  # that of the interval of each of these pairs, by itself
    notes: tuple[str, ...] = ()
    of_games: bool = False  # of players with a side each, as White and Black
    whole: bool = False  # is the whole order asked for, of all K?
    refused: str = ""  # why data are refused, if they are: see ``Answer``

    @property
    def best(self) -> list[str]:
        """Who is certified, or else the model's guess."""
        return self.leads if self.certificate else self.names[: self.top]

    def with_order(self, certificate: Certificate | None, ranking: list[str]) -> "SelectionOfVotes":
        """The answer about the whole order: is that of the games certified, or a guess?"""
        own = {one.name: one for one in self.options}
        options = tuple(dataclasses.replace(own[name], selected=True) for name in ranking)
        order = {"options": options, "leads": ranking, "top": len(ranking), "whole": True}
        unasked = {"confidence": None, "next": (), "log_chance": None, "proven": ()}
        return dataclasses.replace(self, certificate=certificate, **order, **unasked)

    def without_verdicts(self, refused: str) -> "SelectionOfVotes":
        """The same ranking of data that are refused: nothing is proven, likely or to be compared.

        What the model knows of its errors takes games to be alike and their own, too.
        """
        unknown = dict.fromkeys(("low", "high", "elo_low", "elo_high"))
        options = tuple(dataclasses.replace(one, **unknown, selected=False) for one in self.options)
        nothing = {"certificate": None, "possible": self.names, "tiers": [self.names], "proven": ()}
        nothing |= {"confidence": None, "next": (), "log_chance": None}
        gap = dataclasses.replace(self.gap, low=None, high=None)
        return dataclasses.replace(self, options=options, gap=gap, **nothing, refused=refused)

    @property
    def sure(self) -> bool:
        """Is the model's guess right with an estimated probability of 1 - delta or more?

        An estimate for one look, no reason to stop. Not before those at the boundary were compared
        ten times each: fewer may agree by chance.
        """
        return self.confidence is not None and self.confidence >= 1 - self.delta and not self._few

    @property
    def is_answered(self) -> bool:
        return self.certificate is not None and not self.refused

    @property
    def _unit(self) -> str:
        return "game" if self.of_games else "comparison"

    @property
    def _alone(self) -> str:
        return f"by the {self._unit}s alone"

    @property
    def _few(self) -> list[str]:
        """The two options at the boundary, as far as they were hardly compared."""
        at_boundary = self.options[self.top - 1 : self.top + 1]
        return [one.name for one in at_boundary if one.comparisons < _LEAST]

    def plot(self) -> "Figure":
        """A matplotlib figure: the ranking with its intervals, and what to compare next, if any."""
        options, pairs = self.options[:MOST_DRAWN], self.next[:MOST_SHOWN]
        rows, called = max(len(options), len(pairs)), self.labels(20)
        beside = 3 if pairs else 1
        figure, (ranking,) = panels(self.headline(), rows, (1,), [*called.values()], beside)
        is_above = all(one.selected for one in self.options[: self.top])
        for place, one in enumerate(options):
            colour = style.BLUE if one.selected else style.GREY
            if one.low is not None and one.high is not None:
                ranking.plot((one.low, one.high), (place, place), color=colour, lw=2)
            ranking.plot(one.score, place, "o", ms=6, color=colour)
        if is_above:
            ranking.axhline(self.top - 0.5, color=style.EDGE, lw=0.8, ls=style.DASHED)
        list_down(ranking, [called[one.name] for one in options], rows)
        more = first_of(options, len(self.options)).replace(": ", "\n")
        what = "share of wins" if self.reading == "win" else "margin"
        where = "above the line" if is_above else "blue"
        ranking.set(
            title=("" if self.refused else f"{where}: {self._verdict}") + more,
            xlabel=f"{what}, mean over the others, by a model\n"
            "(its 95 % intervals: approximate, one look)",
        )
        if pairs:
            said = [f"{called[x.better]} - {called[x.worse]}: {x.times:,}" for x in pairs]
            unmarked = [ranking.plot([], [], ls="")[0] for _ in said]
            looks: Any = {"handlelength": 0, "handletextpad": 0, "frameon": False}
            looks |= {"title": "compare next, how often", "fontsize": "small"}
            looks |= {"loc": "upper left", "bbox_to_anchor": (1.02, 1), "alignment": "left"}
            ranking.legend(unmarked, said, borderaxespad=0, **looks)
        return figure

    def asked(self) -> str:
        what = "Order" if self.whole else f"Top {self.top}"
        return (
            f"{what} of {len(self.options)} options by {self.comparisons:,} {self._unit}s, "
            f"read as {self.reading}s"
        )

    @property
    def _verdict(self) -> str:
        """What those are that are taken for the best."""
        return "certified" if self.certificate else "a guess"

    def headline(self) -> str:
        if self.refused:
            return self.refusal()
        if self.whole:
            verdict = "CERTIFIED ORDER" if self.certificate else "ORDER NOT CERTIFIED, a guess"
            return f"{verdict}: {listed(self.best)}"
        return (
            f"{'CERTIFIED' if self.certificate else 'NOT CERTIFIED, a guess'}: {listed(self.best)}"
        )

    def meanings(self) -> list[str]:
        if self.refused:
            return self.refusal_meant()
        if self.whole:
            return [self._proof(), self._tiers_said()]
        lines = [self._proof(), self._tiers_said(), self._estimate()]
        if self._few:
            few = listed(self._few)
            lines.append(f"compared fewer than {_LEAST} times, too few to be sure: {few}")
        if self.gap.low is not None:
            lines.append(
                f"by the model {self.gap.last} is ahead of {self.gap.first}, the next, by "
                f"{self.gap.score:.4g}, 95 % interval {self.gap.low:.4g} to {self.gap.high:.4g}"
            )
        if self.certificate:
            lines.append("all that was asked is certified: nothing to compare next")
        elif self.next and (self.log_chance is None or math.exp(self.log_chance) < _UNLIKELY):
            do = "play" if self.of_games else "make"
            lines.append(
                f"no single {self._unit} is likely to change the guess: {do} hundreds, shared out "
                "as listed"
            )
        return lines

    def _estimate(self) -> str:
        """What the model says."""
        if self.confidence is None:
            unknown = "how likely the guess is right is not known yet"
            return f"{unknown}: compare options that no chain of comparisons connects"
        about = "above 0.999" if self.confidence > _SURE else f"about {self.confidence:.3f}"
        about = f"below {_TOLD}" if self.confidence < _TOLD else about
        if self.certificate:
            first = self.names[: self.top]
            who = "agrees" if {*first} == {*self.best} else f"prefers {listed(first)}"
            return f"a model {who}, with an estimated probability {about}, for one look"
        how = "an estimate for ONE look: do not stop because of it"
        return f"the guess is right with a probability {about}, {how}"

    def _proof(self) -> str:
        """What needs no model."""
        wrong = f"wrong with a probability of at most {self.delta:g}, at all looks together"
        if self.whole:
            if not self.certificate:
                return f"{self._alone}, without a model: the order is not certified yet"
            claim = "each is better than each of those behind it"
        elif self.certificate:
            each = "each is" if self.top > 1 else "it is"
            counted = self.certificate == "counts"
            claim = COUNTED if counted else f"{each} better than each of the others"
        elif len(self.possible) < len(self.options):
            claim = f"only {listed(self.possible)} can be better than each of the others"
            if self.top > 1:
                claim = f"the best {self.top} are among {listed(self.possible)}"
        else:
            return f"{self._alone}, without a model: nothing is certified yet"
        return f"{self._alone}, without a model: {claim}; {wrong}"

    def _tiers_said(self) -> str:
        if len(self.tiers) == 1:
            why = "no boundary is certain yet"
            if self.certificate:
                why = f"tiers are right together, which takes more {self._unit}s"
            return f"{self._alone}, ONE TIER: {why}"
        tiers = "; ".join(f"{n} {listed(tier)}" for n, tier in enumerate(self.tiers, 1))
        return f"tiers, any of them wrong with probability at most {self.delta:g}: {tiers}"

    def tables(self) -> list[Shown]:
        """The options, best first, and what to compare next: the first 20 of each."""
        rows = [
            [
                *(str(place), one.name, f"{one.comparisons:,}", f"{one.score:.4g}"),
                "" if one.low is None else f"{one.low:.4g} to {one.high:.4g}",
                *_elo_cells(one),
                self._verdict.removeprefix("a ") if one.selected else "",
            ]
            for place, one in enumerate(self.options, 1)
        ]
        unit = "wins" if self.reading == "win" else "margin"
        has_elo = any(one.elo is not None for one in self.options)
        elo = ["Elo above mean", "95 % Elo interval"] if has_elo else []
        count = "games" if self.of_games else "compared"
        heads = ["", "option", count, unit, "95 % interval", *elo, "verdict"]
        about = "an estimate by a model, for one look"
        about += "; intervals are its own, approximate, each by itself" if self.connected else ""
        about += "; Elo is above the mean of all options" if has_elo else ""
        about += ", of two half of their gap" if has_elo and len(self.options) == 2 else ""
        pairs = [[x.better, x.worse, f"{x.compared:,}", f"{x.times:,}"] for x in self.next]
        ahead = Shown.first([*_NEXT, f"{self._unit}s so far", "next"], pairs)
        proven = [
            [
                *(x.better, x.worse, f"{x.games:,}", f"{x.score:.3g}"),
                f"{x.low:.3f} to {x.high:.3f}",
                "" if x.elo is None else f"{x.elo:.0f}",
                "enough" if x.certain else "too few",
            ]
            for x in self.proven
            if (x.low, x.high) != (0, 1)
        ]
        shown = [*_LEADS, count, "share"]
        shown += [f"{100 * self.proven_confidence:.3g} % interval", "Elo", "evidence"]
        how = f"{self._alone}: each interval holds by itself, at all looks together"
        of_pairs = [Shown.first(shown, proven, how)] if proven else []
        return [Shown.first(heads, rows, about), *([ahead] if pairs else []), *of_pairs]


def _elo_cells(one: Ranked) -> list[str]:
    if one.elo is None:
        return []
    known = one.elo_low is not None and one.elo_high is not None
    return [f"{one.elo:.0f}", f"{one.elo_low:.0f} to {one.elo_high:.0f}" if known else ""]
