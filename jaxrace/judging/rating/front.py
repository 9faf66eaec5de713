"""Which options are the best by comparisons, by name: the front door. Axes: K options.

Scores are what the model expects against the average other option, drawn towards the middle where
there are few comparisons: the share of wins (a tie is half a win), or the margin.
"""

import dataclasses
import math
from collections import Counter
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

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
from jaxrace.core import validation
from jaxrace.core.validation import BadArgument
from jaxrace.evidence.table_decision import COUNTED, Certificate
from jaxrace.judging.rating.advice import advice
from jaxrace.judging.rating.certified import ProvenPair, prove
from jaxrace.judging.rating.model import Rating, chance, rate
from jaxrace.tables import Votes, read_votes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_PROPOSED = 10_000
_MOST_SEED = 2**32 - 1
_MOST_OPTIONS = 2_000  # matrices of all pairs must have room
_LARGEST_SCORE = 2.6e15
_MANY = 10  # rows that hardly all name the better one first
_LEVEL = 0.95  # of intervals, each by itself
# Draws of the qualities, as many as there is room and time for.
_MOST_DRAWS, _FEWEST_DRAWS, _MOST_NUMBERS = 10_000, 1_000, 2 * 10**6
_TOLD, _SURE = 0.4, 0.9995  # probabilities below are true to .1 only; above they read as certain
_NEXT, _LEADS = ("compare next", "with"), ("best so far", "against")  # heads of pairs
_LEAST = 10  # comparisons of an option, before anything is called likely
_UNLIKELY = 0.01  # a chance that a comparison changes the selection


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

    @property
    def best(self) -> list[str]:
        """Who is certified, or else the model's guess."""
        return self.leads if self.certificate else self.names[: self.top]

    def without_proof(self, doubt: str) -> "SelectionOfVotes":
        """The same guess, where games are doubted and prove nothing."""
        options = tuple(
            dataclasses.replace(one, selected=place < self.top)
            for place, one in enumerate(self.options)
        )
        nothing = {"certificate": None, "possible": self.names, "tiers": [self.names], "proven": ()}
        return dataclasses.replace(self, options=options, **nothing, notes=(*self.notes, doubt))

    @property
    def sure(self) -> bool:
        """Is the model's guess right with an estimated probability of 1 - delta or more?

        An estimate for one look, no reason to stop. Not before those at the boundary were compared
        ten times each: fewer may agree by chance.
        """
        return self.confidence is not None and self.confidence >= 1 - self.delta and not self._few

    @property
    def is_answered(self) -> bool:
        return self.certificate is not None

    @property
    def _unit(self) -> str:
        return "game" if self.of_games else "comparison"

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
            title=f"{where}: {self._verdict}" + more,
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
        return (
            f"Top {self.top} of {len(self.options)} options by {self.comparisons:,} {self._unit}s, "
            f"read as {self.reading}s"
        )

    @property
    def _verdict(self) -> str:
        """What those are that are taken for the best."""
        return "certified" if self.certificate else "a guess"

    def headline(self) -> str:
        return (
            f"{'CERTIFIED' if self.certificate else 'NOT CERTIFIED, a guess'}: {listed(self.best)}"
        )

    def meanings(self) -> list[str]:
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
                f"no single {self._unit} is likely to change the guess; {do} them by the hundred"
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
        if self.certificate:
            each = "each is" if self.top > 1 else "it is"
            counted = self.certificate == "counts"
            claim = COUNTED if counted else f"{each} better than each of the others"
        elif len(self.possible) < len(self.options):
            claim = f"only {listed(self.possible)} can be better than each of the others"
            if self.top > 1:
                claim = f"the best {self.top} are among {listed(self.possible)}"
        else:
            return "by the games alone, without a model: nothing is certified yet"
        return f"by the games alone, without a model: {claim}; {wrong}"

    def _tiers_said(self) -> str:
        if len(self.tiers) == 1:
            why = "no boundary is certain yet"
            if self.certificate:
                why = "tiers are right together, which takes more games"
            return f"by the games alone, ONE TIER: {why}"
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
        elo = ["Elo", "95 % Elo interval"] if has_elo else []
        count = "games" if self.of_games else "compared"
        heads = ["", "option", count, unit, "95 % interval", *elo, "verdict"]
        about = "an estimate by a model, for one look"
        about += "; intervals are its own, approximate, each by itself" if self.connected else ""
        about += "; Elo is above the mean of all options" if has_elo else ""
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
        how = "by the games alone: each interval holds by itself, at all looks together"
        of_pairs = [Shown.first(shown, proven, how)] if proven else []
        return [Shown.first(heads, rows, about), *([ahead] if pairs else []), *of_pairs]


def select(
    data: Any,
    top: int = 1,
    *,
    delta: float = 0.05,
    next: int = 5,
    score: Literal["auto", "win", "margin"] = "auto",
    seed: int = 0,
    argument: str = "data",
    **columns: Any,
) -> SelectionOfVotes:
    """Say which options are the best by comparisons of two, how sure, and what to compare next.

    There are two answers. What is certified is proven by the games alone, at all looks: the best,
    tiers, and who may be among the best. The ranking is an estimate by a model, for one look: that
    of Bradley and Terry for wins, with normal noise for margins (docs/theory/votes.md).

    Args:
        data: Votes, games or margins, as ``jaxrace.tables.read_votes`` takes them: a data frame,
            columns by name, a list of rows, or the path of a file.
        top: How many of the best options are wanted, k.
        delta: The error probability of what is certified. The estimate is sure from a probability
            of 1 - delta on, after ten comparisons of each option at the boundary.
        next: How many comparisons to propose, until the best are certified.
        score: margin: by how much the first was better, or 1, -1 and 0 for won, lost and tied. win:
            its share of a win, 1, 0 or .5. auto: win if all are 0, .5 or 1, margin if some are
            negative; else refused.
        seed: The seed of all random numbers.
        argument: What messages begin with.
        **columns: ``first_column``, ``second_column``, ``score_column``, ``decimal`` and
            ``delimiter`` of ``read_votes``.

    Raises:
        ValueError: An argument is out of its range, or data are no comparisons, or may be read in
            two ways.

    >>> games = [{"winner": "ann", "loser": "bob"}] * 12 + [{"winner": "bob", "loser": "cy"}] * 12
    >>> result = select(games)
    >>> result.best, result.certificate, result.sure
    (['ann'], None, True)
    """
    validation.require_integer("top", top, 1)
    validation.require_probability("delta", delta)
    validation.require_integer("next", next, 1, _MOST_PROPOSED)
    validation.require_integer("seed", seed, 0, _MOST_SEED)
    votes = read_comparisons(data, score, argument, **columns)
    validation.require_top(top, len(votes.names))
    return _answer(votes, rate(votes), top, delta, next, np.random.default_rng(seed))


def read_comparisons(
    source: Any, score: str = "auto", argument: str = "votes", **columns: Any
) -> Votes:
    """Votes as ``read_votes`` reads them; ValueError for more or larger ones than can be judged."""
    votes = read_votes(source, score=score, argument=argument, **columns)
    if (count := len(votes.names)) > _MOST_OPTIONS:
        raise BadArgument(argument, f"at most {_MOST_OPTIONS:,} options in all", f"{count:,}")
    is_large = ~(np.abs(votes.margins) <= _LARGEST_SCORE)
    if is_large.any():
        row = int(np.argmax(is_large))
        expected = f"scores of a size of 2.6e15 at most in line {votes.lines[row]}"
        raise BadArgument(argument, expected, f"{votes.margins[row]:g}")
    return votes


def _answer(
    votes: Votes, rating: Rating, top: int, delta: float, number: int, rng: np.random.Generator
) -> SelectionOfVotes:
    names, expected = votes.names, rating.expected()
    unit = float(np.abs(expected).max() or 1) / 2**40
    expected = np.round(expected / unit) * unit  # what differs by rounding alone is in their order
    places = np.argsort(-expected, kind="stable")
    ranking, (last, first) = places.tolist(), places[top - 1 : top + 1].tolist()
    count = int(np.clip(_MOST_NUMBERS // len(names), _FEWEST_DRAWS, _MOST_DRAWS))
    drawn = rating.draws(count, rng)
    is_right = drawn[:, ranking[:top]].min(1) > drawn[:, ranking[top:]].max(1)
    scores, slopes = rating.scores()
    moved = scores + (drawn - rating.qualities) @ slopes.T
    sides = (1 - _LEVEL) / 2, (1 + _LEVEL) / 2
    moved = chance(moved) if votes.kind == "win" else moved
    ends = np.stack([expected, *np.quantile(moved, sides, 0)])
    low, high = np.quantile(moved[:, last] - moved[:, first], sides)
    is_connected = rating.pairs.is_connected()
    proven = prove(votes, top, delta)._asdict()
    leads = {*proven["leads"]} if proven["certificate"] else set()
    met = rating.pairs.met()
    options, elos = [], np.full((3, len(names)), np.nan)
    if votes.kind == "win":
        elos = _elos(rating, drawn, sides)
    for place, option in enumerate(ranking):
        score, *around = ends[:, option].tolist()
        around = around if is_connected else [None, None]
        times = int(met[option].sum())
        elo, *of_elo = (None if math.isnan(x) else x for x in elos[:, option].tolist())
        of_elo = of_elo if is_connected else [None, None]
        numbers = score, *around, elo, *of_elo
        is_best = names[option] in leads if leads else place < top
        options.append(Ranked(names[option], times, *numbers, level=_LEVEL, selected=is_best))
    ahead = float(expected[last] - expected[first])
    of_gap = (float(low), float(high)) if is_connected else (None, None)
    # Once all that was asked is certified, no comparison is needed for it.
    pairs, log_chance = (
        (np.zeros((0, 2), int), -math.inf) if leads else advice(rating, top, number, rng)
    )
    proposed = Counter(tuple(sorted(pair, key=ranking.index)) for pair in pairs.tolist())
    notes = list(votes.said)
    if votes.kind == "margin" and len(votes.margins) >= _MANY and (votes.margins > 0).all():
        notes.append(
            "all margins are above 0: the first was better in every row; from a scale such as 1 to "
            "5 subtract its middle"
        )
    if not is_connected:
        notes.append("options that no chain of comparisons connects have no order yet")
    notes += proven.pop("notes")
    proposals = [Proposal(names[i], names[j], int(met[i, j]), n) for (i, j), n in proposed.items()]
    return SelectionOfVotes(
        top=top,
        delta=delta,
        reading=votes.kind,
        comparisons=len(votes.first),
        options=tuple(options),
        confidence=float(is_right.mean()) if is_connected else None,
        gap=Gap(names[last], names[first], ahead, *of_gap, level=_LEVEL),
        next=tuple(proposals),
        log_chance=log_chance if math.isfinite(log_chance) else None,
        connected=is_connected,
        notes=tuple(notes),
        of_games=votes.sided,
        **proven,
    )


def _elos(rating: Rating, drawn: np.ndarray, sides: tuple[float, float]) -> np.ndarray:
    """Elo of the qualities, which are log-odds, above their mean, and its interval: [3, K]."""
    found = np.concatenate([rating.qualities[None], drawn]) * 400 / math.log(10)
    found -= found.mean(1, keepdims=True)
    return np.stack([found[0], *np.quantile(found[1:], sides, 0)])


def _elo_cells(one: Ranked) -> list[str]:
    if one.elo is None:
        return []
    known = one.elo_low is not None and one.elo_high is not None
    return [f"{one.elo:.0f}", f"{one.elo_low:.0f} to {one.elo_high:.0f}" if known else ""]
