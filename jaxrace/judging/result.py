"""What a table of scores says, by name, and how a person reads it."""

import dataclasses
import math
from typing import TYPE_CHECKING, Any, ClassVar

from jaxrace.answers import MOST_SHOWN, Ranking, Shown, finite, listed
from jaxrace.judging import picture
from jaxrace.judging.decision import Certificate
from jaxrace.judging.levels import By
from jaxrace.judging.rows import Option, Pair

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NextRuns = dict[str, int] | dict[str, list[str]]


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

    def to_dict(self) -> dict[str, Any]:
        """Everything, of what JSON knows; infinity is None."""
        found = dataclasses.asdict(self)
        return finite(found | {"best": self.best, "certified": self.certified})

    def plot(self) -> "Figure":
        """A matplotlib figure: who stands where, by how much, and where the runs went."""
        options, pairs = self.options[:MOST_SHOWN], self.pairs[:MOST_SHOWN]
        about = self.top, self.by, self.kind == "independent", self.delta
        return picture.draw(self.headline(), options, pairs, *about)

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
        runs = "runs" if self.kind == "independent" else "tasks"
        within = f", tolerance {self.tolerance:g}" if self.tolerance else ""
        return (
            f"Top {self.top} of {len(self.options)} options by {self.by}, {self.kind} {runs}, "
            f"delta {self.delta:g}{within}"
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
                # Cut off: what is in doubt must not read like 100 %.
                "enough" if pair.decided else f"{math.floor(100 * max(pair.evidence, 0))} %",
            ]
            for pair in self.pairs[:MOST_SHOWN]
        ]
        return Shown(heads, rows)
