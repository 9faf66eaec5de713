"""A whole list of options: tiers, ranks and ties, by name, and how a person reads it."""

import dataclasses
import itertools
import math
from typing import TYPE_CHECKING, ClassVar

from jaxrace.answers.answer import Answer, Shown, labels, list_down, listed, panels
from jaxrace.evidence.levels import By
from jaxrace.judging.result import NextRuns, outward

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_DRAWN = 60  # options of a figure


@dataclasses.dataclass(frozen=True)
class RankedOption:
    """One option of the list."""

    name: str
    runs: int  # that it has
    score: float | None  # its mean, or by wins its mean win probability; None without any runs
    low: float | None  # the interval of the score
    high: float | None
    tier: int  # from 1
    best_rank: int  # the best rank that it may have, from 1
    worst_rank: int
    next: int  # runs that would help next


@dataclasses.dataclass(frozen=True)
class RankedPair:
    """How two options compare; its interval, and verdict, hold together with all others'."""

    better: str  # or looks so
    worse: str
    estimate: float  # win probability (a tie is half a win), or difference of the mean scores
    low: float
    high: float
    verdict: str  # "better", "tied" within the tolerance, or "?"


@dataclasses.dataclass(frozen=True)
class RankOfTable(Answer):
    """The answer of ``jaxrace.rank``. Print it, or see its fields; ``to_dict`` is for JSON."""

    ROWS: ClassVar = {"options": RankedOption, "pairs": RankedPair}
    ALSO: ClassVar = ("tiers",)

    delta: float
    by: By
    kind: str  # of runs: "independent", "shared", or "all N shared"
    tolerance: float
    wanted: int | None  # tiers that are enough
    options: tuple[RankedOption, ...]  # best first
    pairs: tuple[RankedPair, ...]  # those asked for
    tied: list[list[str]]  # names of which any two are tied within the tolerance
    confidence: float  # that of the intervals of all options together
    next_runs: NextRuns  # how many more runs of whom, or of whom which tasks
    undecided: int  # pairs that are neither certain nor tied
    notes: tuple[str, ...] = ()
    better: str = "larger"  # which scores are: larger, smaller or, by ``compare``, preferred
    is_dependent: bool = False  # runs may depend on each other: nothing is certain
    one_look: bool = False  # does the error hold for this look alone?
    whole: bool = False  # have all tasks of the list been run?
    refuted: str = ""  # what contradicts itself in the table, if anything

    @property
    def names(self) -> list[str]:
        """All options, best first."""
        return [one.name for one in self.options]

    @property
    def tiers(self) -> list[list[str]]:
        """The names in each tier, best first."""
        found: list[list[str]] = [[] for _ in range(self.options[-1].tier)]
        for one in self.options:
            found[one.tier - 1].append(one.name)
        return found

    def without_guarantee(self) -> "RankOfTable":
        """The same of runs that may depend on each other: nothing is certain."""
        options = (dataclasses.replace(one, low=None, high=None) for one in self.options)
        return dataclasses.replace(self.without_tiers(), options=tuple(options), is_dependent=True)

    def without_tiers(self) -> "RankOfTable":
        """The same in one tier, with nothing that is certain."""
        unknown = {"tier": 1, "best_rank": 1, "worst_rank": len(self.options)}
        options = tuple(dataclasses.replace(one, **unknown) for one in self.options)
        return dataclasses.replace(self, options=options, pairs=(), tied=[])

    @property
    def is_answered(self) -> bool:
        if self.refuted or self.is_dependent:
            return False
        if self.wanted is not None:
            return len(self.tiers) >= self.wanted
        return not self.tolerance or not self.undecided

    def asked(self) -> str:
        unit = "runs" if self.kind == "independent" else "tasks"
        within = f", tolerance {self.tolerance:g}" if self.tolerance else ""
        return (
            f"Ranks of {len(self.options)} options by {self.by}, {self.kind} {unit}, "
            f"delta {self.delta:g}{within}"
        )

    def headline(self) -> str:
        if self.refuted:
            return "REFUTED, no tier is certain"
        if len(self.tiers) == 1:
            return "ONE TIER: no boundary is certain" + ("" if self.is_dependent else " yet")
        said = "; ".join(f"{number} {listed(one)}" for number, one in enumerate(self.tiers, 1))
        return f"{len(self.tiers)} TIERS: {said}"

    def meanings(self) -> list[str]:
        if self.refuted:
            return [self.refuted]
        if self.is_dependent:
            return ["runs may depend on each other, and nothing is guaranteed"]
        looks = "in this one look" if self.one_look else "at all looks together"
        error = f"wrong anywhere with a probability of at most {self.delta:g}, {looks}"
        better = {
            "mean": "has a mean of at least that of",
            "wins": "is more often better than worse than",
        }[self.by]
        told = [f"each option {better} all options of the tiers below; {error}"]
        told.append(f"ranks{' and ties' if self.tolerance else ''}: {error}")
        if self.tied:
            groups = "; ".join(listed(names) for names in self.tied)
            told.insert(0, f"TIED within {self.tolerance:g}: {groups}")
        return told

    def tables(self) -> list[Shown]:
        score = "mean" if self.by == "mean" else "wins"
        ahead = ["run next"] if self.next_runs else []
        rows = [
            [
                *(str(one.tier), _ranks(one), one.name, f"{one.runs:,}"),
                "" if one.score is None else f"{one.score:.4g}",
                _interval(one.low, one.high),
                *([f"{one.next:,}" if one.next else ""] if ahead else []),
            ]
            for one in self.options
        ]
        said = f"{math.floor(1000 * self.confidence) / 10:g} %"
        heads = ["tier", "rank", "option", "runs", score, "interval", *ahead]
        below = [
            f"intervals: all of them hold together with {said}, at all looks",
            f"{self.better} scores are better",
        ]
        shown = [Shown.first(heads, rows, *below)]
        if self.pairs:
            effect = "wins" if self.by == "wins" else "mean better by"
            rows = [
                [x.better, x.worse, f"{x.estimate:.3g}", _interval(x.low, x.high), x.verdict]
                for x in self.pairs
            ]
            shown.append(Shown.first(["better", "worse", effect, "interval", "verdict"], rows))
        return shown

    def plot(self) -> "Figure":
        """A matplotlib figure: the list, an interval for each option, lines between tiers."""
        options = self.options[:_MOST_DRAWN]
        names = [one.name for one in options]
        figure, (panel,) = panels(self.headline(), len(options), (6,), names)
        for place, one in enumerate(options):
            colour = f"C{(one.tier - 1) % 2}"
            if one.low is not None and one.high is not None:
                panel.plot((one.low, one.high), (place, place), color=colour, lw=2)
            if one.score is not None:
                panel.plot(one.score, place, "o", ms=5, color=colour)
            at = {"xycoords": ("axes fraction", "data"), "va": "center", "fontsize": "small"}
            panel.annotate(_ranks(one), (1.01, place), **at)
        for place, (above, below) in enumerate(itertools.pairwise(options)):
            if above.tier != below.tier:
                panel.axhline(place + 0.5, color="0.3", lw=0.8)
        list_down(panel, labels(names))
        by_wins = "win probability, mean over the others"
        panel.set(xlabel="mean score" if self.by == "mean" else by_wins)
        return figure


def _ranks(one: RankedOption) -> str:
    if one.best_rank == one.worst_rank:
        return str(one.best_rank)
    return f"{one.best_rank}-{one.worst_rank}"


def _interval(low: float | None, high: float | None) -> str:
    """Its ends, rounded outwards."""
    if low is None or high is None:
        return ""
    return "known" if low == high else f"{outward(low, -1)} to {outward(high, 1)}"
