"""What a gate says of each candidate, by name, and how a person reads it."""

import dataclasses
from typing import TYPE_CHECKING, ClassVar

from jaxrace.answers.answer import NOT_YET, Shown, labels, list_down, listed, panels
from jaxrace.judging.result import AnswerOfTable, GroupMean, groups_shown, outward

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# What may become certain of a candidate: what is said is the first of these that is certain.
CLAIMS = ("better", "not worse", "worse", "no better")
# By what is wanted: those that let it pass, and those that reject it.
EQUAL = "equal"  # on a whole list of tasks, which no further run can change
PASSES = dict.fromkeys(("either", "not-worse"), (*CLAIMS[:2], EQUAL)) | {"better": CLAIMS[:1]}
FALLS = {"either": CLAIMS[2:], "better": (*CLAIMS[2:], EQUAL), "not-worse": CLAIMS[2:3]}
REJECTED = 1  # the exit status where a candidate is

_MOST_DRAWN = 60  # candidates of a figure
_COLOURS = {"better": "C0", "not worse": "C2", "worse": "C3", "no better": "C3"}


@dataclasses.dataclass(frozen=True)
class Candidate:
    """One candidate, or the baseline, which has no difference from itself.

    The interval excludes "no difference", or the margin, if and only if that claim is certain.
    """

    name: str
    runs: int  # that it has
    score: float | None  # by mean its mean
    estimate: float | None  # win probability against the baseline, or how much better its mean is
    low: float | None
    high: float | None
    verdict: str  # one of ``CLAIMS``; ``EQUAL``, "too few", "?" or "baseline"
    further: int | None  # runs in common, about, that it takes if they go on as so far
    next: int  # runs that would help next
    final: str | None = None  # the verdict of one look at the complete table, if asked for


@dataclasses.dataclass(frozen=True, kw_only=True)
class GateOfTable(AnswerOfTable):
    """The answer of ``jaxrace.gate``. Print it, or see its fields; ``to_dict`` is for JSON."""

    ROWS: ClassVar = {"candidates": Candidate, "groups": GroupMean}
    ALSO: ClassVar = ("passed", "rejected", "status")

    delta_reject: float  # that of worse, and of no better by the margin
    margin: float
    wanted: str  # "either", "better" or "not-worse"
    baseline: Candidate
    candidates: tuple[Candidate, ...]  # in the order in which they came
    at_most: int | None  # candidates that share the errors; None: any number

    @property
    def passed(self) -> list[str]:
        """Candidates that pass."""
        return [one.name for one in self.candidates if one.verdict in PASSES[self.wanted]]

    @property
    def rejected(self) -> list[str]:
        """Candidates that are rejected."""
        return [one.name for one in self.candidates if one.verdict in FALLS[self.wanted]]

    @property
    def is_answered(self) -> bool:
        return len(self.passed) + len(self.rejected) == len(self.candidates)

    @property
    def status(self) -> int:
        if self.rejected:
            return REJECTED
        return 0 if self.is_answered else NOT_YET

    def without_guarantee(self) -> "GateOfTable":
        """The same of runs that may depend on each other: nothing is certain."""
        return dataclasses.replace(self.without_verdicts(), is_dependent=True)

    def without_verdicts(self) -> "GateOfTable":
        """The same with nothing that is certain."""
        unknown = {"verdict": "?", "low": None, "high": None, "further": None, "next": 0}
        unknown |= {"final": None}
        candidates = tuple(dataclasses.replace(one, **unknown) for one in self.candidates)
        return dataclasses.replace(self, candidates=candidates, next_runs={})

    @property
    def _edges(self) -> tuple[float, float, float]:
        """The margin below no difference, that, and the margin above it."""
        middle = 0.5 if self.by == "wins" else 0.0
        return middle - self.margin, middle, middle + self.margin

    def asked(self) -> str:
        unit = "runs" if self.kind == "independent" else "tasks"
        number = len(self.candidates)
        errors = f"delta {self.delta:g} to pass, {self.delta_reject:g} to be rejected"
        within = f", margin {self.margin:g}" if self.margin else ""
        want = f", wanted {self.wanted}" if self.wanted != "either" else ""
        return (
            f"{number} candidate{'s' if number > 1 else ''} against {self.baseline.name} by "
            f"{self.by}, {self.kind} {unit}, {errors}{within}{want}"
        )

    def headline(self) -> str:
        if self.refuted:
            return "REFUTED, nothing is certain"
        rest = [one.name for one in self.candidates]
        rest = [name for name in rest if name not in (*self.passed, *self.rejected)]
        parts = {"REJECTED": self.rejected, "NOT YET": rest, "PASSED": self.passed}
        return "; ".join(f"{word}: {listed(names)}" for word, names in parts.items() if names)

    def meanings(self) -> list[str]:
        if self.refuted:
            return [self.refuted]
        if self.is_dependent:
            return ["runs may depend on each other, and nothing is guaranteed"]
        if all(one.low is not None and one.low == one.high for one in self.candidates):
            return ["all tasks of the list were run: of these it is certain, of no others"]
        of = (
            "of any candidate" if self.at_most is None else f"of any of {self.at_most:,} candidates"
        )
        of = "" if self.at_most == 1 else f" {of}"
        looks = "in this one look" if self.one_look else "at all looks together"
        passes, falls = (
            " or ".join(f'"{self._said(claim)}"' for claim in claims if self._is_said(claim))
            for claims in (PASSES[self.wanted], FALLS[self.wanted])
        )
        return [
            f"{passes} is said{of}, and is not so, with a probability of at most {self.delta:g}, "
            f"{looks}; {falls} with one of at most {self.delta_reject:g}"
        ]

    def _is_said(self, claim: str) -> bool:
        return claim in CLAIMS and (self.margin > 0 or claim in ("better", "worse"))

    def _words(self, one: Candidate) -> str:
        return one.verdict if one.estimate is None else self._said(one.verdict, one.further)

    def _said(self, verdict: str, further: int | None = None) -> str:
        """A verdict in words."""
        if verdict in ("not worse", "no better"):
            return f"{verdict} by {self.margin:g}"
        if verdict != "too few":
            return verdict
        if further is None:
            return "too few: unlikely soon"
        return f"too few: about {int(float(f'{further:.2g}')):,} more"

    def tables(self) -> list[Shown]:
        by_mean, once = self.by == "mean", any(one.final for one in self.candidates)
        rows = [
            [
                *(one.name, f"{one.runs:,}"),
                *([] if not by_mean else ["" if one.score is None else f"{one.score:.4g}"]),
                "" if one.estimate is None else f"{one.estimate:.3g}",
                self._interval(one),
                self._words(one),
                *([self._said(one.final or "")] if once else []),
                *([f"{one.next:,}" if one.next else ""] if self.next_runs else []),
            ]
            for one in (self.baseline, *self.candidates)
        ]
        effect = ["mean", "better by"] if by_mean else ["wins"]
        ahead = ["run next"] if self.next_runs else []
        looks = ["verdict", *(["verdict*"] if once else [])]
        heads = ["option", "runs", *effect, "interval", *looks, *ahead]
        low, middle, high = self._edges
        edges = {"better": middle, "not worse": low, "worse": middle, "no better": high}
        said = [
            f"{'below' if claim in CLAIMS[2:] else 'above'} {edges[claim]:g}: {self._said(claim)}"
            for claim in CLAIMS
            if self._is_said(claim)
        ]
        lower, upper = (f"{100 * (1 - error):g} %" for error in (self.delta, self.delta_reject))
        below = [
            f"an interval {', '.join(said)}",
            f"all lower ends hold together with {lower}, all upper ends with {upper}",
            f"{self.better} scores are better",
        ]
        if once:
            below.append("*: with the same errors, if this table is looked at once and never again")
        if any(one.verdict == "too few" for one in self.candidates):
            below.append("too few, about so many more: a forecast, if runs go on as so far")
        names = [self.baseline.name, *(one.name for one in self.candidates)]
        return [Shown.first(heads, rows, *below), *groups_shown(self.groups, names)]

    def _interval(self, one: Candidate) -> str:
        """Its ends, rounded outwards, but past an edge if and only if that claim is certain."""
        if one.low is None or one.high is None:
            return ""
        if one.low == one.high:  # all tasks of the list have been run
            return "known"
        low, middle, high = self._edges
        above = max((edge for edge in (low, middle) if edge <= one.low), default=None)
        below = min((edge for edge in (middle, high) if edge >= one.high), default=None)
        return f"{outward(one.low, -1, above)} to {outward(one.high, 1, below)}"

    def plot(self) -> "Figure":
        """A matplotlib figure: an interval for each candidate, lines at 0 and at the margin."""
        shown = self.candidates[:_MOST_DRAWN]
        names = [one.name for one in shown]
        figure, (panel,) = panels(self.headline(), len(shown), (7,), names)
        for place, one in enumerate(shown):
            colour = _COLOURS.get(one.verdict, "0.5")
            if one.low is not None and one.high is not None:
                panel.plot((one.low, one.high), (place, place), color=colour, lw=2)
            if one.estimate is not None:
                panel.plot(one.estimate, place, "o", ms=5, color=colour)
            at = {"xycoords": ("axes fraction", "data"), "va": "center", "fontsize": "small"}
            panel.annotate(self._words(one), (1.01, place), **at)
        for edge, dashes in zip(self._edges, ("--", "-", "--"), strict=True):
            panel.axvline(edge, color="0.3", lw=0.8, ls=dashes)
        list_down(panel, labels(names))
        effect = "win probability against" if self.by == "wins" else "mean better than that of"
        panel.set(xlabel=f"{effect} {labels([self.baseline.name])[0]}")
        return figure
