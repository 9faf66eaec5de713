"""What a table of scores says, by name, and how a person reads it."""

import dataclasses
import math
from typing import TYPE_CHECKING, Any, ClassVar

from jaxrace.answers import MOST_SHOWN, Ranking, Shown, finite, first_of, listed, panels
from jaxrace.judging.decision import Certificate
from jaxrace.judging.levels import By

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NextRuns = dict[str, int] | dict[str, list[str]]

_COLOURS = {"in": "C0", "out": "0.65", "?": "C1"}
_MEANING = {"in": "certainly in", "out": "certainly out", "?": "not known yet"}


@dataclasses.dataclass(frozen=True)
class Pair:
    """How much better one option is than another across the boundary.

    The intervals of all pairs of options hold together, at every look, with probability 1 - delta.
    One may reach to "no difference" although the pair is decided: certificates need fewer
    statements to hold together than these do.
    """

    better: str
    worse: str
    estimate: float  # win probability (a tie is half a win), or difference of the mean scores
    low: float
    high: float
    evidence: float  # ln E so far over the level of a verdict; 1 or more with one
    decided: bool

    @property
    def share(self) -> str:
        """The evidence in words. Cut off: what is in doubt must not read like 100 %."""
        return "enough" if self.decided else f"{math.floor(100 * max(self.evidence, 0))} %"


@dataclasses.dataclass(frozen=True)
class Option:
    """One option of the table."""

    name: str
    runs: int  # that it has
    score: float | None  # its mean, or by wins its mean win probability; None if not known yet
    beats: int  # others that it is over, or looks better than
    verdict: str  # "in" or "out" of the best, or "?"
    next: int  # runs that would help next
    at_best: int  # further runs until nothing is in doubt, if they all go one way
    forecast: float  # the same if gaps are what they look like; may be infinite


@dataclasses.dataclass(frozen=True)
class RaceOfTable(Ranking):
    """The answer of ``jaxrace.race``. Print it, or see its fields; ``to_dict`` is for JSON."""

    ROWS: ClassVar = {"options": Option, "pairs": Pair}

    top: int
    delta: float
    by: By
    kind: str  # of runs: "independent", "shared", or "shared, all N"
    tolerance: float
    certificate: Certificate | None
    options: tuple[Option, ...]  # best first
    possible: list[str]  # who may still be among the best, at any look; the best if certified
    pairs: tuple[Pair, ...]  # across the boundary, the closest first
    next_runs: NextRuns  # how many more runs of whom, or of whom which tasks; nothing if certified
    in_doubt: int  # pairs that need more evidence
    notes: tuple[str, ...] = ()
    if_independent: bool = False  # do the certificates hold only if runs, in doubt, are that?

    @property
    def certified(self) -> bool:
        """Are the best certainly that, but for a probability of delta?"""
        return self.certificate is not None

    @property
    def _unit(self) -> str:
        return "runs" if self.kind == "independent" else "tasks"

    def to_dict(self) -> dict[str, Any]:
        """Everything, of what JSON knows; infinity is None."""
        found = dataclasses.asdict(self)
        return finite(found | {"best": self.best, "certified": self.certified})

    def plot(self) -> "Figure":
        """A matplotlib figure: who stands where, by how much, and where the runs went."""
        options, pairs = self.options[:MOST_SHOWN], self.pairs[:MOST_SHOWN]
        rows = max(len(options), len(pairs))
        figure, (standing, effects, runs) = panels(self.headline(), rows, (6, 8, 5), self.names, 4)
        called = self.labels()
        self._draw_standing(standing, options, called)
        self._draw_pairs(effects, pairs, called)
        self._draw_runs(runs, options, called)
        return figure

    def _draw_standing(
        self, panel: "Axes", options: tuple[Option, ...], called: dict[str, str]
    ) -> None:
        for verdict, meaning in _MEANING.items():
            places = [place for place, one in enumerate(options) if one.verdict == verdict]
            scores = [options[place].score for place in places]
            known = [(x, place) for x, place in zip(scores, places, strict=True) if x is not None]
            if known:
                at, height = zip(*known, strict=True)
                panel.plot(at, height, "o", ms=7, color=_COLOURS[verdict], label=meaning)
        panel.axhline(self.top - 0.5, color="0.3", lw=0.8, ls=(0, (4, 2)))
        panel.set_yticks(range(len(options)), [called[one.name] for one in options])
        panel.set_ylim(len(options) - 0.4, -0.6)
        by_wins = "win probability, mean over the others"
        title = "who stands where" + first_of(options, len(self.options))
        panel.set(title=title, xlabel="mean score" if self.by == "mean" else by_wins)
        panel.legend(frameon=False, fontsize="small")

    def _draw_pairs(self, panel: "Axes", pairs: tuple[Pair, ...], called: dict[str, str]) -> None:
        for place, pair in enumerate(pairs):
            colour = _COLOURS["in" if pair.decided else "?"]
            panel.plot((pair.low, pair.high), (place, place), color=colour, lw=2)
            panel.plot(pair.estimate, place, "o", ms=5, color=colour)
            at = {"xycoords": ("axes fraction", "data"), "va": "center"}
            panel.annotate(pair.share, (1.01, place), **at)
        panel.axvline(0.5 if self.by == "wins" else 0.0, color="0.3", lw=0.8)
        names = [f"{called[x.better]} over {called[x.worse]}" for x in pairs]
        panel.set_yticks(range(len(pairs)), names)
        panel.set_ylim(max(len(pairs), 1) - 0.4, -0.6)
        effect = "win probability" if self.by == "wins" else "difference of the means"
        level = f"{100 * (1 - self.delta):.10g} %"
        said = f"({level} intervals at all looks; right: evidence)"
        title = "how much better" + first_of(pairs, len(self.pairs))
        panel.set(title=title, xlabel=f"{effect}\n{said}")

    def _draw_runs(
        self, panel: "Axes", options: tuple[Option, ...], called: dict[str, str]
    ) -> None:
        colours = [_COLOURS[one.verdict] for one in options]
        panel.barh(range(len(options)), [one.runs for one in options], color=colours)
        wanted = [(place, one.next, one.runs) for place, one in enumerate(options) if one.next]
        if wanted:
            places, more, begin = zip(*wanted, strict=True)
            panel.barh(places, more, left=begin, fill=False, ls=":")
        panel.set_yticks(range(len(options)), [called[one.name] for one in options])
        panel.yaxis.tick_right()  # at the left stands the evidence of pairs
        panel.set_ylim(len(options) - 0.4, -0.6)
        said = f"{self._unit} of each option" + ("\n(dotted: to be run next)" if wanted else "")
        panel.set(title="where the runs went", xlabel=said)

    def headline(self) -> str:
        """The answer in a line."""
        names = listed(self.best)
        within = f" within {self.tolerance:g}" if self.tolerance else ""
        if self.certified:
            unsure = " only if runs are independent" if self.if_independent else ""
            return f"CERTIFIED{within}{unsure}: {names}"
        return f"NOT CERTIFIED, a guess: {names}"

    def meaning(self) -> str:
        """What the headline says, and how sure it is."""
        if not self.certified:
            sure = [option.name for option in self.options if option.verdict == "in"]
            others = [name for name in self.possible if name not in sure]
            if sure and not others:
                better = "one is" if self.top == 1 else f"{self.top} are"
                return (
                    f"if {better} better than each of the others, certainly {listed(sure)}; that "
                    f"{better} is not certain yet"
                )
            if sure:
                return f"certainly among the best: {listed(sure)}; may still be: {listed(others)}"
            if len(others) == len(self.options):
                return "all of them may still be among the best"
            return f"may still be among the best: {listed(others)}"
        each = "it is" if self.top == 1 else "each of them is"
        than = "than each of the others"
        if self.certificate == "counts":
            claim = "nobody beats more of the others"
        elif self.tolerance:
            unit = "in win probability" if self.by == "wins" else "in mean score"
            claim = f"nobody else is better by {self.tolerance:g} or more {unit}"
        elif self.by == "mean":
            whose = "its mean is" if self.top == 1 else "their means are"
            claim = f"{whose} at least that of each of the others"
        else:
            claim = f"{each} more often better than worse {than}"
        return f"{claim}; wrong with a probability of at most {self.delta:g}, at all looks together"

    def asked(self) -> str:
        """The question in a line."""
        within = f", tolerance {self.tolerance:g}" if self.tolerance else ""
        return (
            f"Top {self.top} of {len(self.options)} options by {self.by}, {self.kind} "
            f"{self._unit}, delta {self.delta:g}{within}"
        )

    def tables(self) -> list[Shown]:
        """The options, best first, and the pairs, the closest first: the first 20 of each."""
        return [self._options(), *([self._pairs()] if self.pairs else [])]

    def _options(self) -> Shown:
        score = "mean" if self.by == "mean" else "wins"
        heads = ["", "option", "runs", score, "beats", "verdict"]
        if not self.certified:
            heads += ["run next", "at best", "forecast"]
        rows = []
        for rank, option in enumerate(self.options[:MOST_SHOWN]):
            row = [str(rank + 1), option.name, f"{option.runs:,}"]
            row += ["" if option.score is None else f"{option.score:.4g}"]
            row += [str(option.beats), option.verdict]
            if not self.certified:
                far = "too many" if math.isinf(option.forecast) else f"{option.forecast:,.0f}"
                numbers = [f"{option.next:,}", f"{option.at_best:,}", far]
                row += ["" if number == "0" else number for number in numbers]
            rows.append(row)
        return Shown(heads, rows, len(self.options) - len(rows))

    def _pairs(self) -> Shown:
        effect = "wins" if self.by == "wins" else "mean better by"
        heads = ["better", "worse", effect, f"{100 * (1 - self.delta):.10g} % interval", "evidence"]
        rows = [
            [
                pair.better,
                pair.worse,
                f"{pair.estimate:.3g}",
                f"{pair.low:.3g} to {pair.high:.3g}",
                pair.share,
            ]
            for pair in self.pairs[:MOST_SHOWN]
        ]
        return Shown(heads, rows)
