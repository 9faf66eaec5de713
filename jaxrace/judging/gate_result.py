"""What a gate says of each candidate, by name, and how a person reads it."""

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

from jaxrace.answers import style
from jaxrace.answers.answer import (
    MOST_DRAWN,
    Answer,
    Shown,
    first_of,
    labels,
    list_down,
    listed,
    panels,
)
from jaxrace.judging.group_means import GroupMean, groups_shown, short
from jaxrace.judging.known import NO_OTHERS, alone, known_on
from jaxrace.judging.legends import ONCE, TEST, once_only, run_next, starred
from jaxrace.judging.result import AnswerOfTable, outward

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# What may become certain of a candidate: what is said is the first of these that is certain.
CLAIMS = ("better", "not worse", "worse", "no better")
# By what is wanted: those that let it pass, and those that reject it.
EQUAL = "equal"  # on a whole list of tasks, which no further run can change
PASSES = dict.fromkeys(("either", "not-worse"), (*CLAIMS[:2], EQUAL)) | {"better": CLAIMS[:1]}
FALLS = {"either": CLAIMS[2:], "better": (*CLAIMS[2:], EQUAL), "not-worse": CLAIMS[2:3]}
REJECTED = 1  # the exit status where a candidate is

Ends = tuple[float | None, float | None]  # of an interval

_LOOKS = {  # of verdicts: colour and mark
    "better": (style.BLUE, "o"),
    "not worse": (style.SKY, "s"),
    "worse": (style.RED, "X"),
    "no better": (style.RED, "X"),
}
_OPEN = (style.GREY, "D")


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
    level: float  # of the interval, of all candidates together, at all looks
    verdict: str  # "better", "not worse", "worse", "no better", "equal", "too few", "?", "baseline"
    further: int | None  # runs in common, about, that it takes if they go on as so far
    next: int  # runs that would help next
    final: str | None = None  # the verdict of one look at the complete table, if asked for


class Gate(Answer):
    """What the answers about candidates have in common, of tables and of games."""

    ALSO: ClassVar = ("passed", "rejected")

    delta: float  # the error of better, and of not worse by the margin
    delta_reject: float  # that of worse, and of no better by the margin
    wanted: str  # "either", "better" or "not-worse"
    candidates: tuple[Any, ...]  # with a name and a verdict each
    at_most: int | None  # candidates that share the errors; None: any number
    refused: str  # why data are refused, if they are

    @property
    def passed(self) -> list[str]:
        """Candidates that pass."""
        return self._parted().get("PASSED", [])

    @property
    def rejected(self) -> list[str]:
        """Candidates that are rejected."""
        return self._parted().get("REJECTED", [])

    @property
    def is_answered(self) -> bool:
        return len(self.passed) + len(self.rejected) == len(self.candidates)

    @property
    def status(self) -> int:
        return REJECTED if self.rejected else super().status

    @property
    def _edges(self) -> tuple[float, float, float]:
        """The margin below no difference, that, and the margin above it."""
        raise NotImplementedError

    @property
    def _amount(self) -> str:
        """The margin in words."""
        raise NotImplementedError

    def _asked(self, about: str, *more: str) -> str:
        number = len(self.candidates)
        errors = f"delta {self.delta:g} to pass, {self.delta_reject:g} to be rejected"
        want = [f"wanted {self.wanted}"] if self.wanted != "either" else []
        parts = [f"{number} candidate{'s' if number > 1 else ''} against {about}", errors]
        return ", ".join([*parts, *filter(None, more), *want])

    def headline(self) -> str:
        if self.refused:
            return self.refusal()
        return "; ".join(f"{word}: {listed(names)}" for word, names in self._parted().items())

    def _parted(self, which: str = "verdict") -> dict[str, list[str]]:
        """The candidates by what becomes of them, by their verdicts at all looks or in one."""
        names: dict[str, list[str]] = {"REJECTED": [], "NOT YET": [], "PASSED": []}
        for one in self.candidates:
            verdict = getattr(one, which)
            passes, falls = verdict in PASSES[self.wanted], verdict in FALLS[self.wanted]
            names["PASSED" if passes else "REJECTED" if falls else "NOT YET"].append(one.name)
        return {word: found for word, found in names.items() if found}

    @property
    def _looks(self) -> str:
        return "at all looks together"

    @property
    def _percent(self) -> str:
        """The level of an interval, whose ends have an error each."""
        return f"{100 * (1 - self.delta - self.delta_reject):.4g} %"

    def _guarantee(self) -> str:
        number = "" if self.at_most is None else f"of {self.at_most:,} "
        of = "" if self.at_most == 1 else f" for one or more {number}candidates"
        passes, falls = (
            " or ".join(f'"{self._said(claim)}"' for claim in claims if self._is_said(claim))
            for claims in (PASSES[self.wanted], FALLS[self.wanted])
        )
        return (
            f"{passes} is wrong{of} with a probability of at most {self.delta:g}, {self._looks}; "
            f"{falls} with one of at most {self.delta_reject:g}"
        )

    def _is_said(self, claim: str) -> bool:
        low, middle, _ = self._edges
        return claim in CLAIMS and (low < middle or claim in ("better", "worse"))

    def _said(self, verdict: str, further: int | None = None) -> str:
        """A verdict in words."""
        if verdict in ("not worse", "no better"):
            return f"{verdict} by {self._amount}"
        if verdict != "too few":
            return verdict
        if further is None:
            return "too few: unlikely soon"
        return f"too few: about {int(float(f'{further:.2g}')):,} more"

    def _below(self, of: str = "") -> list[str]:
        """How intervals are read."""
        low, middle, high = self._edges
        edges = {"better": middle, "not worse": low, "worse": middle, "no better": high}
        said = [
            f"interval {'below' if claim in CLAIMS[2:] else 'above'} {edges[claim]:g}{of}: "
            f"{self._said(claim)}"
            for claim in CLAIMS
            if claim in (*PASSES[self.wanted], *FALLS[self.wanted]) and self._is_said(claim)
        ]
        below, above = (f"with at most {100 * x:g} %" for x in (self.delta, self.delta_reject))
        ends = f"all lower ends together are wrong {below}, all upper ends {above}"
        if len(self.candidates) == 1:
            ends = f"the lower end alone is wrong {below}, the upper end {above}"
        return [*said, f"{ends}, {self._looks}"]

    def _between(self, ends: Ends) -> str:
        """An interval, rounded outwards, but past an edge if and only if that claim is certain."""
        (low, high), (least, middle, most) = ends, self._edges
        above = max(
            (edge for edge in (least, middle) if low is not None and edge <= low), default=None
        )
        below = min(
            (edge for edge in (middle, most) if high is not None and edge >= high), default=None
        )
        lower = "-inf" if low is None else outward(low, -1, above)
        return f"{lower} to {'inf' if high is None else outward(high, 1, below)}"

    def _drawn(self, one: Any) -> tuple[float | None, Ends]:
        """What a figure has of a candidate: an estimate and its interval."""
        raise NotImplementedError

    def _axis(self) -> str:
        """What a figure says of the difference."""
        raise NotImplementedError

    def plot(self) -> "Figure":
        """A matplotlib figure: an interval for each candidate, lines at 0 and at the margin."""
        shown = self.candidates[:MOST_DRAWN]
        names = [one.name for one in shown]
        figure, (panel,) = panels(self._title(), len(shown), (7,), names)
        for place, one in enumerate(shown):
            colour, mark = _LOOKS.get(one.verdict, _OPEN)
            estimate, (low, high) = self._drawn(one)
            if low is not None and high is not None:
                panel.plot((low, high), (place, place), color=colour, lw=2)
            if estimate is not None:
                panel.plot(estimate, place, mark, ms=6, color=colour)
            at = {"xycoords": ("axes fraction", "data"), "va": "center", "fontsize": "small"}
            panel.annotate(self._beside(one), (1.01, place), **at)
        low, middle, high = self._edges
        lines = [panel.axvline(middle, color=style.EDGE, lw=0.8)]
        if low < middle:
            lines += [panel.axvline(x, color=style.EDGE, lw=0.8, ls="--") for x in (high, low)]
        meanings = ["no difference", f"the margin, {self._amount} to either side"]
        looks: Any = {"loc": "outside lower left", "ncols": 2, "frameon": False}
        figure.legend(lines[:2], meanings[: len(lines)], **looks)
        list_down(panel, labels(names))
        if cut := first_of(shown, len(self.candidates)):
            panel.set(title=cut.removeprefix(": "))
        told = f"{self._percent} intervals, {self._looks}"
        star = f"\n*: {TEST.lower()}" if any(getattr(x, "final", None) for x in shown) else ""
        panel.set(xlabel=f"{self._axis()}\n({told}){star}")
        return figure

    def _title(self) -> str:
        """What a figure says above."""
        return self.headline()

    def _beside(self, one: Any) -> str:
        """What a figure says of a candidate."""
        return self._words(one)

    def _words(self, one: Any) -> str:
        return one.verdict if self._drawn(one)[0] is None else self._said(one.verdict, one.further)


@dataclasses.dataclass(frozen=True, kw_only=True)
class GateOfTable(Gate, AnswerOfTable):
    """The answer of ``jaxrace.gate``. Print it, or see its fields; ``to_dict`` is for JSON."""

    ROWS: ClassVar = {"candidates": Candidate, "groups": GroupMean}

    delta_reject: float  # that of worse, and of no better by the margin
    margin: float
    wanted: str  # "either", "better" or "not-worse"
    baseline: Candidate
    candidates: tuple[Candidate, ...]  # in the order in which they came
    at_most: int | None  # candidates that share the errors; None: any number

    def without_guarantee(self) -> "GateOfTable":
        """The same answer for runs that may depend on each other: nothing is certain."""
        return dataclasses.replace(self.without_verdicts(), is_dependent=True)

    def without_verdicts(self) -> "GateOfTable":
        """The same answer, in which nothing is certain."""
        unknown = {"verdict": "?", "low": None, "high": None, "further": None, "next": 0}
        unknown |= {"final": None}
        candidates = tuple(dataclasses.replace(one, **unknown) for one in self.candidates)
        return dataclasses.replace(self, candidates=candidates, next_runs={})

    @property
    def _edges(self) -> tuple[float, float, float]:
        middle = 0.5 if self.by == "wins" else 0.0
        return middle - self.margin, middle, middle + self.margin

    @property
    def _amount(self) -> str:
        return f"{self.margin:g}"

    @property
    def _looks(self) -> str:
        return "in this one look" if self.one_look else super()._looks

    def asked(self) -> str:
        unit = "runs" if self.kind == "independent" else "tasks"
        about = f"{self.baseline.name} by {self.by}, {self.kind} {unit}"
        return self._asked(about, f"margin {self.margin:g}" if self.margin else "")

    @property
    def whole(self) -> bool:
        """Is it about a list of tasks, all of which the baseline and all candidates have run?"""
        return all(map(_is_known, self.candidates))

    def headline(self) -> str:
        if self.refused or not self.whole:
            is_certain = bool(self.passed or self.rejected)
            is_of_list = self.of is not None and is_certain
            only = f"; on these {self.of:,} tasks only" if is_of_list else ""
            once = f"{ONCE}, " if self.one_look and is_certain else ""
            return f"{once}{super().headline()}{only}{self._final_said()}"
        return f"{known_on(self.of)}, {super().headline()}"

    @property
    def _has_final(self) -> bool:
        """Was one look asked for, and taken?"""
        return any(one.final for one in self.candidates)

    def _final_said(self) -> str:
        """What ends the headline if one look was asked for, too."""
        if not self._has_final:
            return ""
        parts = self._parted("final").items()
        return f"; {TEST}: " + "; ".join(f"{word} {listed(names)}" for word, names in parts)

    def _title(self) -> str:
        if self.whole or not self._has_final:
            return self.headline()
        looks = (
            (ONCE if self.one_look else "ALL LOOKS", self._parted()),
            (TEST, self._parted("final")),
        )
        return "; ".join(
            f"{name}: {', '.join(f'{len(x)} {word}' for word, x in parts.items())}"
            for name, parts in looks
        )

    def _beside(self, one: Any) -> str:
        return f"{self._words(one)}  ({self._said(one.final)}*)" if one.final else self._words(one)

    def meanings(self) -> list[str]:
        if self.refused:
            return self.refusal_meant()
        if self.is_dependent:
            return ["runs may depend on each other, and nothing is guaranteed"]
        known = [one.name for one in self.candidates if _is_known(one)]
        others = "" if self.of is None else "; to ask about others like them, leave out of (--of)"
        told = [] if self.whole else [self._guarantee() + alone(self.of) + others]
        if known:
            told.append(
                f"known of {listed(known)}, as all {self.of:,} tasks were run: on these any "
                f"difference decides, however small, and {NO_OTHERS}"
            )
        if self._has_final and not self.whole:
            told.append(f"* test of one look: {once_only(max(self.delta, self.delta_reject))}")
        return told

    def tables(self) -> list[Shown]:
        by_mean, once = self.by == "mean", self._has_final
        rows = [
            [
                *(one.name, f"{one.runs:,}", *self._used(one.name)),
                *([] if not by_mean else ["" if one.score is None else short(one.score, 4)]),
                "" if one.estimate is None else short(one.estimate),
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
        heads = [
            "option",
            "runs",
            *self._used_head,
            *effect,
            f"{self._percent} interval",
            *looks,
            *ahead,
        ]
        below = [*self._below(), f"{self.better} scores are better"]
        if once:
            below += [starred(), "the exit status is that of verdict, not of verdict*"]
        if any(one.estimate is None for one in self.candidates):
            below.append(f"no interval: no runs that can be compared with {self.baseline.name}")
        if any(one.verdict == "?" for one in self.candidates):
            below.append("?: nothing is certain, and so there is no interval")
        if any(one.verdict == "too few" for one in self.candidates):
            below.append(
                "too few: the number is a forecast, if runs go on as before; the median of "
                "simulated gates took half to all of it; `jaxrace plan` with the same --baseline "
                "and --margin gives quartiles"
            )
        below += run_next(self.next_runs)
        names = [self.baseline.name, *(one.name for one in self.candidates)]
        return [Shown.first(heads, rows, *below), *groups_shown(self.groups, names)]

    def _interval(self, one: Candidate) -> str:
        if one.low is None or one.high is None:
            return ""
        return "known" if _is_known(one) else self._between((one.low, one.high))

    def _drawn(self, one: Any) -> tuple[float | None, Ends]:
        return one.estimate, (one.low, one.high)

    def _axis(self) -> str:
        effect = "win probability against" if self.by == "wins" else "mean better than that of"
        return f"{effect} {labels([self.baseline.name])[0]}"


def _is_known(one: Candidate) -> bool:
    """Have all tasks of the list been run?"""
    return one.low is not None and one.low == one.high
