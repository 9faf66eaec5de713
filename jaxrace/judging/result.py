"""What a table of scores says, by name, and how a person reads it."""

import dataclasses
import decimal
import math
from typing import TYPE_CHECKING, ClassVar

from jaxrace.answers.answer import (
    MOST_DRAWN,
    Answer,
    Ranking,
    Shown,
    listed,
    who_may,
)
from jaxrace.evidence.levels import By
from jaxrace.evidence.table_decision import COUNTED, Certificate
from jaxrace.judging.group_means import GroupMean, groups_shown, short
from jaxrace.judging.known import NO_OTHERS, alone, known_on
from jaxrace.judging.legends import ONCE, TEST, WHICH, once_only, run_next
from jaxrace.judging.race_figure import Row, Said, draw_race

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ROUNDING = 1e-9  # of a confidence in percent

NextRuns = dict[str, int] | dict[str, list[str]]


@dataclasses.dataclass(frozen=True)
class Pair:
    """How much better one option is than another across the boundary.

    The interval excludes "no difference", or "worse by the tolerance", if and only if the pair is
    decided. It holds at all looks together, for this pair alone, with ``RaceOfTable.confidence``.
    """

    better: str
    worse: str
    estimate: float  # win probability (a tie is half a win), or difference of the mean scores
    low: float
    high: float
    evidence: float  # ln E so far over the level of a verdict; 1 or more with one
    level: float  # of the interval
    decided: bool  # is the evidence enough?
    verdict: str  # "enough", "against", "equal" on a whole list of tasks; or "", undecided

    @property
    def share(self) -> str:
        """The evidence in words, rounded down: a pair in doubt must not read like 100 %."""
        return self.verdict or f"{math.floor(100 * max(self.evidence, 0))} %"


@dataclasses.dataclass(frozen=True)
class Option:
    """One option of the table."""

    name: str
    runs: int  # that it has
    score: float | None  # its mean, or by wins its mean win probability; None if not known yet
    beats: int  # others that it is better than, tolerance or not, with enough evidence for each
    verdict: str  # "in" the best, or "good enough" within the tolerance; "tied", "out", or "?"
    next: int  # runs that would help next


@dataclasses.dataclass(frozen=True, kw_only=True)
class AnswerOfTable(Answer):
    """What the answers about tables of scores, ``race``, ``rank`` and ``gate``, have in common."""

    delta: float  # the error; of a gate that of better, and of not worse by the margin
    by: By
    kind: str  # of runs: "independent", "shared", or "shared, all N"
    next_runs: NextRuns  # how many more runs of whom, or of whom which tasks; nothing if certified
    notes: tuple[str, ...] = ()
    better: str = "larger"  # which scores are: larger, smaller or, by ``compare``, preferred
    is_dependent: bool = False  # runs may depend on each other: nothing is certified
    one_look: bool = False  # does the error hold for this look alone?
    refused: str = ""  # why data are refused, if they are: see ``Answer``
    groups: tuple[GroupMean, ...] = ()  # of tasks, where these are asked about
    used: dict[str, int] = dataclasses.field(default_factory=dict)  # tasks that count, of groups
    of: int | None = None  # tasks of the list, if one is asked about

    @property
    def _score_axis(self) -> str:
        """What a figure says of scores."""
        if self.by == "wins":
            return "win probability, mean over the others"
        return "mean score" + ("" if self.better == "preferred" else f", {self.better} is better")

    @property
    def _used_head(self) -> list[str]:
        return ["used"] if self.used else []

    def _used(self, name: str) -> list[str]:
        """A cell of the tasks that count."""
        return [f"{self.used[name]:,}"] if self.used else []


@dataclasses.dataclass(frozen=True, kw_only=True)
class RaceOfTable(AnswerOfTable, Ranking):
    """The answer of ``jaxrace.race``. Print it, or see its fields; ``to_dict`` is for JSON."""

    ROWS: ClassVar = {"options": Option, "pairs": Pair, "groups": GroupMean}
    ALSO: ClassVar = ("best", "certified")

    top: int
    tolerance: float
    certificate: Certificate | None
    options: tuple[Option, ...]  # best first
    possible: list[str]  # who may be among the best; if certified, with no tolerance, who is
    pairs: tuple[Pair, ...]  # across the boundary, the closest first
    closest: tuple[Pair, ...] = ()  # of options that are in none of them, as a figure has them
    more_pairs: int  # across the boundary, further apart or without runs in common
    confidence: float  # that of the interval of each pair, by itself
    at_least: int  # further runs until nothing is in doubt, if all of them go one way
    about: float | None  # the same, if pairs go on as so far; inf: unlikely; None: not known yet
    in_doubt: int  # pairs that need more evidence
    whole: bool = False  # is the question about a list of tasks, all of which have been run?
    tied: list[str] = dataclasses.field(default_factory=list)  # for the last places, if it is
    tiers: list[list[str]] = dataclasses.field(default_factory=list)  # found on the way
    final: list[str] | None = None  # who may be among the best in one look, if that was asked for
    out_from: float = 1.0  # the evidence that puts an option out, of that of a verdict

    @property
    def certified(self) -> bool:
        """Are the best certified, with an error probability of at most delta?"""
        return self.certificate is not None

    @property
    def is_answered(self) -> bool:
        return self.certified

    def without_guarantee(self) -> "RaceOfTable":
        """The same answer for runs that may depend on each other: a guess; nothing is certain."""
        return dataclasses.replace(self.without_verdicts(), is_dependent=True)

    def without_verdicts(self) -> "RaceOfTable":
        """The same in which nothing is certain."""
        return dataclasses.replace(
            self,
            options=tuple(dataclasses.replace(one, verdict="?", beats=0) for one in self.options),
            possible=self.names,
            tiers=[self.names],
            certificate=None,
            pairs=(),
            closest=(),
            more_pairs=0,
            at_least=0,
            about=0,
            final=None,
        )

    @property
    def _unit(self) -> str:
        return "runs" if self.kind == "independent" else "tasks"

    @property
    def _edge(self) -> float:
        """What a pair is decided at: no difference, or worse by the tolerance."""
        return (0.5 if self.by == "wins" else 0.0) - self.tolerance

    @property
    def _percent(self) -> str:
        """The confidence of an interval, rounded down; 97.5 of 1 - 2 exp(ln(0.05 / 4)) stays so."""
        missing = outward(100 * (1 - self.confidence) - _ROUNDING, 1, digits=2)
        return f"{100 - float(missing):.10g} %"

    @property
    def _sure(self) -> list[str]:
        return [option.name for option in self.options if option.verdict == "in"]

    def plot(self) -> "Figure":
        """A matplotlib figure: who stands where, by how much, and where the runs went.

        A row for each option, the best first. Its interval is that of the pair with the closest
        option on the other side of the boundary, seen from the option itself: to the right of the
        line it is the better one.
        """
        called, ends = self.labels(), self._closest()
        rows = [
            Row(called[x.name], x.verdict, x.score, ends.get(x.name), x.runs, x.next)
            for x in self.options[:MOST_DRAWN]
        ]
        verdicts = {
            "in": "one of the best",
            "good enough": f"good enough, within {self.tolerance:g}",
            "tied": "tied for the last places",
            "out": "certainly not the best" if self.top == 1 else "certainly not among the best",
            "?": "not known",
        }
        is_mean = self.by == "mean"
        effect = "difference of the means" if is_mean else "win probability"
        looks = "in this one look" if self.one_look else "at all looks"
        said = Said(
            self.headline(),
            verdicts,
            self._score_axis,
            f"{effect}\n{self._percent} intervals, each {looks}",
            (self._edge, (0.0 if is_mean else 1.0) - self._edge),
            self._unit,
        )
        return draw_race(rows, said, self.top, len(self.options))

    def _closest(self) -> dict[str, tuple[float, float, float]]:
        """How much better each option is than the closest across the boundary, with an interval."""
        same = 1.0 if self.by == "wins" else 0.0  # what a number and that seen from there add up to
        found: dict[str, tuple[float, float, float]] = {}
        for pair in self.pairs + self.closest:
            found.setdefault(pair.better, (pair.low, pair.estimate, pair.high))
            seen_back = same - pair.high, same - pair.estimate, same - pair.low
            found.setdefault(pair.worse, seen_back)
        return found

    def asked(self) -> str:
        within = f", tolerance {self.tolerance:g}" if self.tolerance else ""
        return (
            f"Top {self.top} of {len(self.options)} options by {self.by}, {self.kind} "
            f"{self._unit}, delta {self.delta:g}{within}"
        )

    def headline(self) -> str:
        return self._headline() + ("" if self.final is None else f"; {TEST}: {self._once()}")

    def _once(self) -> str:
        """Who may be the best, in one look."""
        return who_may(self.by, self.top, self.final or [], [], len(self.options))

    def _headline(self) -> str:
        """The answer without what one look says beside it."""
        names = listed(self.best)
        within = f" within {self.tolerance:g}" if self.tolerance else ""
        if self.refused:
            return self.refusal()
        if self.tied:
            places = f"for the last {self.top - len(self._sure)} of {self.top} places"
            more = f", {places}; among the best: {listed(self._sure)}" if self._sure else ""
            return f"TIED: {listed(self.tied)}{more}"
        if self.certified:
            certified = f"{ONCE}, CERTIFIED" if self.one_look else "CERTIFIED"
            return f"{known_on(self.of) if self.whole else certified}{within}: {names}"
        return f"NOT CERTIFIED, a guess: {names}"

    def meanings(self) -> list[str]:
        if self.final is None:
            return [self._meaning()]
        which = f"; {WHICH}" if self.one_look else ""
        once = f"test of one look: {self._once()}; {once_only(self.delta)}{which}"
        return [self._meaning(), f"{once}; the exit status is that of the line before"]

    def _meaning(self) -> str:
        looks = "in this one look" if self.one_look else "at all looks together"
        told = f"wrong with a probability of at most {self.delta:g}, {looks}{alone(self.of)}"
        if self.refused:
            return self.refusal_meant()[0]
        if self.is_dependent:
            return f"{self._unit} may depend on each other, and nothing is guaranteed"
        if self.tied:
            equal = "their means are equal" if self.by == "mean" else "as many won as lost"
            sure = "" if self.whole else f"; others are out, wrong with probability {self.delta:g}"
            left = "nothing is left that could settle it"
            return f"on the whole list of tasks, {equal}: {left}{sure}"
        if self.whole and self.certified:
            told = f"all of them were run, and {NO_OTHERS}"
        return f"{self._claim()}; {told}" if self.certified else self._possibly(told)

    def _claim(self) -> str:
        """What is certified."""
        others = "the other" if len(self.options) == 2 else "each of the others"
        if self.certificate == "counts":
            return COUNTED
        if self.tolerance:
            unit = "in win probability" if self.by == "wins" else "in mean score"
            return f"no other option is better by {self.tolerance:g} or more {unit}"
        if self.by == "mean":
            whose = "its mean is" if self.top == 1 else "their means are"
            return f"{whose} {'higher than' if self.whole else 'at least'} that of {others}"
        each = "it" if self.top == 1 else "each of them"
        return f"{each} wins more often than it loses against {others}"

    def _possibly(self, told: str) -> str:
        """Who may be among the best."""
        sure = self._sure
        claim = who_may(self.by, self.top, self.possible, sure, len(self.options))
        told = f"; {told}" if sure or len(self.possible) < len(self.options) else ""
        if not set(self.best) <= set(self.possible):
            told += "; perhaps none is; the guess beats most of the others"
        return claim + told + (f"; {self._more()}" if self.at_least else "")

    def _more(self) -> str:
        """How many further runs it takes."""
        number = "1 more run" if self.at_least == 1 else f"{self.at_least:,} more runs in all"
        told = f"it takes at least {number} to know, if each goes the way that it looks"
        if self.about is None:
            return told
        about = "far more"
        if math.isfinite(self.about):
            about = f"about {int(float(f'{self.about:.2g}')):,}"
        return f"{told}, and {about} if differences stay as they are"

    def tables(self) -> list[Shown]:
        """The options, best first, and the pairs, the closest first: the first 20 of each."""
        score = "mean" if self.by == "mean" else "wins"
        words = {"in": "best", "out": "no better"} if len(self.options) == 2 else {}
        rows = [
            [
                *(str(rank), one.name, f"{one.runs:,}", *self._used(one.name)),
                "" if one.score is None else short(one.score, 4),
                *(str(one.beats), words.get(one.verdict, one.verdict)),
                *([f"{one.next:,}" if one.next else ""] if self.next_runs else []),
            ]
            for rank, one in enumerate(self.options, 1)
        ]
        ahead = ["run next"] if self.next_runs else []
        heads = ["", "option", "runs", *self._used_head, score, "beats", "verdict", *ahead]
        said = []
        if len(self.tiers) > 2 or len(self.tiers[0]) not in (self.top, len(self.options)):
            found = "; ".join(f"{n} {listed(names)}" for n, names in enumerate(self.tiers, 1))
            how = f"any of them wrong with probability at most {self.delta:g}"
            said = [f"tiers, {'on these tasks' if self.whole else how}: {found}"]
        if any(one.verdict == "?" for one in self.options):
            said.append("?: not known yet, may be among the best")
        if any(one.score is None for one in self.options):
            said.append(f"no {score}: there are no runs to compare")
        shown = [one.score for one in self.options if one.score is not None]
        if shown != sorted(shown, reverse=self.by == "wins" or self.better != "smaller"):
            said.append(f"options are in the order of the evidence, not of {score}")
        said += run_next(self.next_runs)
        pairs = [self._pairs()] if self.pairs else []
        return [Shown.first(heads, rows, *said), *pairs, *groups_shown(self.groups, self.names)]

    def _pairs(self) -> Shown:
        effect = "wins" if self.by == "wins" else "mean better by"
        heads = ["better", "worse", effect, f"{self._percent} interval", "evidence"]
        rows = [
            [pair.better, pair.worse, short(pair.estimate), self._interval(pair), pair.share]
            for pair in self.pairs
        ]
        looks = "in this one look" if self.one_look else "at all looks together"
        intervals = (
            f"each by itself holds with {self._percent}, {looks}; above {self._edge:g} the "
            "evidence is enough"
        )
        if any(not pair.verdict for pair in self.pairs):
            intervals += "; in percent: how much of it there is"
        if self.whole:
            intervals = "known, as all tasks of the list were run"
        beats = "over how many others the evidence is enough"
        beats += ", without the tolerance" if self.tolerance else ""
        more = f"... and {self.more_pairs:,} more pairs across the boundary"
        said = [more] if self.more_pairs else []
        said += self._out_before()
        said += [f"intervals: {intervals}", f"{self.better} scores are better; beats: {beats}"]
        return Shown(heads, rows, below=tuple(said))

    def _out_before(self) -> list[str]:
        """Why an option is out though no pair of it has enough: that takes less evidence.

        A table of all pairs of the boundary shows the pair that did it.
        """
        out = {one.name for one in self.options if one.verdict == "out"}
        shown = {pair.worse for pair in self.pairs}
        out &= shown - {pair.worse for pair in self.pairs if pair.decided}
        if not out or self.out_from >= 1:
            return []
        names = listed([name for name in self.names if name in out])
        least = math.ceil(100 * self.out_from)
        return [f"{names}: out, which takes {least} % of the evidence that a winner takes"]

    def _interval(self, pair: Pair) -> str:
        """Its ends, rounded outwards, but past no difference if and only if the pair is decided."""
        if pair.low == pair.high:  # all tasks of the list have been run
            return "known"
        low = outward(pair.low, -1, self._edge if pair.verdict == "enough" else None)
        high = outward(pair.high, 1, self._edge if pair.verdict == "against" else None)
        return f"{low} to {high}"


def outward(value: float, side: int, past: float | None = None, digits: int = 3) -> str:
    """A number rounded up (side 1) or down (-1); with more digits if it has to stay past another.

    >>> outward(0.500031, -1), outward(0.500031, -1, 0.5), outward(0.5, -1, 0.5)
    ('0.5', '0.50003', 'over 0.5')
    """
    exact = decimal.Decimal(value)
    rounding = decimal.ROUND_CEILING if side > 0 else decimal.ROUND_FLOOR
    for number in range(digits, 10):
        step = decimal.Decimal(1).scaleb(exact.adjusted() + 1 - number)
        rounded = exact.quantize(step, rounding)
        if past is None or side * float(rounded) < side * past:
            return short(float(rounded), number)
    return f"{'under' if side > 0 else 'over'} {past:g}"
