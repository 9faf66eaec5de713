"""A whole list of options: tiers, ranks and ties, by name, and how a person reads it."""

import dataclasses
import itertools
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from jaxrace.answers import style
from jaxrace.answers.answer import MOST_DRAWN, Shown, first_of, labels, list_down, listed, panels
from jaxrace.core.validation import BadArgument
from jaxrace.judging.cost_figure import OF_TIERS, draw_costs
from jaxrace.judging.group_means import GroupMean, groups_shown, short
from jaxrace.judging.known import NO_OTHERS, alone, known_on
from jaxrace.judging.legends import ONCE, TEST, WHICH, once_only, run_next, starred
from jaxrace.judging.result import AnswerOfTable, outward

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ShownPairs = Literal["none", "all"]

_WIDTH, _LETTERS = 7, 64  # of a figure, in inches; and of a line below it, in letters
_SIGNS = {"better": 1, "tied": 0, "worse": -1}
_OF_VERDICTS = (style.ORANGE, style.FAINT, style.BLUE)  # worse, tied, better


@dataclasses.dataclass(frozen=True)
class RankedOption:
    """One option of the list."""

    name: str
    runs: int  # that it has
    score: float | None  # its mean, or by wins its mean win probability; None without any runs
    low: float | None  # the interval of the score
    high: float | None
    level: float  # of the interval, of all of them together
    tier: int  # from 1
    best_rank: int  # the best rank that it may have, from 1
    worst_rank: int
    next: int  # runs that would help next
    cost: float | None = None
    final_tier: int | None = None  # in one look, if that was asked for
    final_best_rank: int | None = None
    final_worst_rank: int | None = None
    final_low: float | None = None  # the interval of the score in one look, of all together
    final_high: float | None = None


@dataclasses.dataclass(frozen=True)
class RankedPair:
    """How two options compare; all verdicts hold together, and so do all intervals."""

    option: str
    other: str  # behind it in the ranking
    estimate: float  # win probability (a tie is half a win), or difference of the mean scores
    low: float
    high: float
    level: float  # of the interval, of all of them together
    verdict: str  # "better", "worse", "tied" within the tolerance, or "?"


@dataclasses.dataclass(frozen=True, kw_only=True)
class RankOfTable(AnswerOfTable):
    """The answer of ``jaxrace.rank``. Print it, or see its fields; ``to_dict`` is for JSON."""

    ROWS: ClassVar = {"options": RankedOption, "pairs": RankedPair, "groups": GroupMean}
    ALSO: ClassVar = ("tiers",)

    tolerance: float
    wanted: int | None  # tiers that are enough
    options: tuple[RankedOption, ...]  # best first
    pairs: tuple[RankedPair, ...]  # those asked for
    pairs_error: float  # the probability that an interval of a pair is wrong
    tied: list[list[str]]  # names of which any two are tied within the tolerance
    undecided: int  # pairs that are neither certain nor tied
    whole: bool = False  # have all tasks of the list been run?
    cheapest: str | None = None  # of those not certainly worse than another, where costs are known

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

    @property
    def has_final(self) -> bool:
        """Was one look asked for, and taken?"""
        return self.options[0].final_tier is not None

    def without_guarantee(self) -> "RankOfTable":
        """The same answer for runs that may depend on each other: nothing is certain."""
        found = self.without_tiers()
        options = tuple(dataclasses.replace(one, low=None, high=None) for one in found.options)
        return dataclasses.replace(found, options=options, is_dependent=True)

    def without_tiers(self) -> "RankOfTable":
        """The same answer in one tier, in which nothing is certain."""
        unknown: dict[str, int | None] = {"tier": 1, "best_rank": 1}
        unknown |= {"worst_rank": len(self.options)}
        unknown |= dict.fromkeys(field for field in vars(self.options[0]) if "final_" in field)
        options = tuple(dataclasses.replace(one, **unknown) for one in self.options)
        nothing = {"pairs": (), "tied": [], "cheapest": None}
        return dataclasses.replace(self, options=options, **nothing)

    @property
    def is_answered(self) -> bool:
        if self.refused or self.is_dependent:
            return False
        if self.wanted is not None:
            return len(self.tiers) >= self.wanted
        if self.tolerance:
            return not self.undecided
        return self.whole or len(self.tiers) > 1

    def asked(self) -> str:
        unit = "runs" if self.kind == "independent" else "tasks"
        within = f", tolerance {self.tolerance:g}" if self.tolerance else ""
        return (
            f"Ranks of {len(self.options)} options by {self.by}, {self.kind} {unit}, "
            f"delta {self.delta:g}{within}"
        )

    def headline(self) -> str:
        is_tested = self.has_final and not (self.refused or self.whole)
        return self._headline() + (f"; {TEST}: {self._final_said()}" if is_tested else "")

    def _headline(self) -> str:
        """The answer without what one look says beside it."""
        if self.refused:
            return self.refusal()
        if self.whole:
            return f"{known_on(self.of)}, {_tiers_said(self.tiers)}"
        if len(self.tiers) == 1:
            return "ONE TIER: no boundary is certain" + ("" if self.is_dependent else " yet")
        return f"{f'{ONCE}, ' if self.one_look else ''}{_tiers_said(self.tiers)}"

    def _final_said(self) -> str:
        found = self._final_tiers()
        return "ONE TIER" if len(found) == 1 else _tiers_said(found)

    def _final_tiers(self) -> list[list[str]]:
        """The names in each tier, in one look."""
        numbers = range(1, max(one.final_tier or 1 for one in self.options) + 1)
        return [[x.name for x in self.options if x.final_tier == number] for number in numbers]

    def meanings(self) -> list[str]:
        if self.refused:
            return self.refusal_meant()
        if self.is_dependent:
            return ["runs may depend on each other, and nothing is guaranteed"]
        looks = "in this one look" if self.one_look else "at all looks together"
        better = "each option's mean is at least that of every option"
        if self.by == "wins":
            better = "each option wins more often than it loses against every option"
        told = [f"TIED within {self.tolerance:g}: {listed(names)}" for names in self.tied]
        if self.cheapest is not None:
            than = f" by more than {self.tolerance:g}" if self.tolerance else ""
            told.append(f"CHEAPEST of those that are not certainly worse{than}: {self.cheapest}")
        if self.whole:
            return [*told, f"all of them were run: means are known, and {NO_OTHERS}"]
        what = "rank or tie" if self.tolerance else "rank"
        return [
            *told,
            f"{better} in the tiers below; any tier is wrong with a probability of at most "
            f"{self.delta:g}, and any {what} with one of at most {self.delta:g}, {looks}"
            f"{alone(self.of)}",
            *(
                [f"* test of one look: {once_only(self.delta)}{self._which()}"]
                if self.has_final
                else []
            ),
        ]

    def _which(self) -> str:
        """Which of two answers for one look is to be taken."""
        if not self.one_look:
            return ""
        return f"; {WHICH}; those without * hold for few tasks, too"

    def tables(self) -> list[Shown]:
        score = "mean" if self.by == "mean" else "wins"
        ahead = ["run next"] if self.next_runs else []
        costs = ["cost"] if self._has_costs else []
        rows = [
            [
                *(str(one.tier), _ranks(one), one.name, f"{one.runs:,}", *self._used(one.name)),
                "" if one.score is None else short(one.score, 4),
                _interval(one.low, one.high),
                *([_interval(one.final_low, one.final_high)] if self._has_ends else []),
                *([f"{one.cost:.4g}"] if costs else []),
                *([f"{one.next:,}" if one.next else ""] if ahead else []),
            ]
            for one in self.options
        ]
        heads = [
            "tier",
            "rank",
            "option",
            "runs",
            *self._used_head,
            score,
            f"{_percent(self.delta)} interval",
            *(["interval*"] if self._has_ends else []),
            *costs,
            *ahead,
        ]
        if self.has_final:
            heads[2:2] = ["tier*", "rank*"]
            for row, one in zip(rows, self.options, strict=True):
                row[2:2] = [str(one.final_tier), _span(one.final_best_rank, one.final_worst_rank)]
        below = [*self._below(), *self._apart()]
        below += [f"{self.better} scores are better", *self._star()]
        below += run_next(self.next_runs)
        shown = [Shown.first(heads, rows, *below)]
        if self.pairs:
            effect = "wins" if self.by == "wins" else "mean better by"
            rows = [
                [x.option, x.other, short(x.estimate), _interval(x.low, x.high), x.verdict]
                for x in self.pairs
            ]
            heads = ["option", "other", effect, f"{_percent(self.pairs_error)} interval", "verdict"]
            held = f"intervals: {self._held(self.pairs_error)}"
            sure = [held] if not self.whole else []
            sure += ["?: not known yet"] * any(pair.verdict == "?" for pair in self.pairs)
            shown.append(Shown.first(heads, rows, *sure))
        return shown + groups_shown(self.groups, self.names)

    @property
    def _has_ends(self) -> bool:
        """Are there intervals of one look?"""
        return self.options[0].final_low is not None

    def _star(self) -> list[str]:
        ends = f"intervals* hold together with about {_percent(self.delta)}, for many tasks"
        return [starred(ends if self._has_ends else "")] if self.has_final else []

    def _below(self) -> list[str]:
        """How intervals hold; nothing of a list that is known."""
        if self.whole:
            return []
        return [f"intervals: {self._held(self.delta)}", *self._overlap()]

    def _apart(self) -> list[str]:
        """Why options of one tier may have ranks that do not meet, where some do.

        Nothing of a list that is known.
        """
        is_so = any(
            one.tier == other.tier and one.worst_rank < other.best_rank
            for one, other in itertools.permutations(self.options, 2)
        )
        said = "ranks may tell two of one tier apart: it ends where all above beat all below"
        return [said] * (is_so and not self.whole)

    def _held(self, error: float) -> str:
        looks = "" if self.one_look else ", at all looks"
        return f"all of them hold together with {_percent(error)}{looks}"

    def _overlap(self) -> list[str]:
        """Why intervals of options in two tiers may overlap, where some do."""
        ends = [
            (x.tier, x.low, x.high)
            for x in self.options
            if x.low is not None and x.high is not None
        ]
        is_so = any(
            one[0] != other[0] and max(one[1], other[1]) < min(one[2], other[2])
            for one, other in itertools.combinations(ends, 2)
        )
        how = "in pairs" if self.kind == "independent" else "task by task"
        why = (
            f"they may overlap across tiers: tiers compare options {how}, and an interval is of one"
        )
        return [f"{why} option alone"] * is_so

    @property
    def _has_costs(self) -> bool:
        return self.options[0].cost is not None

    def pairs_frame(self) -> Any:
        """How much better one of any two options is, as a frame, with ``pairs="all"``."""
        return self.to_frame("pairs")

    def plot(self) -> "Figure":
        """A matplotlib figure: the list, with an interval for each option, and lines of tiers.

        Beside it, if costs are known, scores against costs.
        """
        options = self.options[:MOST_DRAWN]
        names = [one.name for one in options]
        widths = (6, 5) if self._has_costs else (6,)
        figure, found = panels(self._title(), len(options), widths, names)
        figure.set_figwidth(max(figure.get_figwidth(), _WIDTH * len(widths)))
        panel, called = found[0], labels(names)
        for place, one in enumerate(options):
            colour = OF_TIERS[(one.tier - 1) % 2]
            if one.low is not None and one.high is not None:
                panel.plot((one.low, one.high), (place, place), color=colour, lw=2)
            if one.score is not None:
                panel.plot(one.score, place, "o", ms=5, color=colour)
            at = {"xycoords": ("axes fraction", "data"), "va": "center", "fontsize": "small"}
            once = _span(one.final_best_rank, one.final_worst_rank)
            said = f"{_ranks(one)}  ({once}*)" if self.has_final else _ranks(one)
            panel.annotate(said, (1.01, place), **at)
        head = "rank  (*: test of one look)" if self.has_final else "rank"
        panel.text(1.01, 1.0, head, va="bottom", fontsize="small", transform=panel.transAxes)
        for place, (above, below) in enumerate(itertools.pairwise(options)):
            if above.tier != below.tier:
                panel.axhline(place + 0.5, color=style.EDGE, lw=0.8)
        list_down(panel, called)
        if cut := first_of(options, len(self.options)):
            panel.set(title=cut.removeprefix(": "))
        below = self._below()
        told = "\n".join(line for text in below for line in textwrap.wrap(text, _LETTERS))
        panel.set(xlabel=f"{self._score_axis}\n{told}")
        if self._has_costs:
            draw_costs(found[1], options, called, self.cheapest, self.better == "smaller")
        return figure

    def _title(self) -> str:
        """The headline without names, of two tiers or more."""
        number, once = len(self.tiers), ""
        if self.has_final and not self.whole:
            found = len(self._final_tiers())
            once = f"; {TEST}: {'ONE TIER' if found == 1 else f'{found} TIERS'}"
        if number == 1 or self.refused:
            return self._headline() + once
        about = known_on(self.of) if self.whole else ONCE if self.one_look else ""
        return f"{about}{', ' * bool(about)}{number} TIERS{once}"

    def plot_pairs(self) -> "Figure":
        """A matplotlib figure: of any two options which one is better, or that they are tied."""
        if not self.pairs:
            raise BadArgument("pairs", 'those of rank(..., pairs="all")', "none")
        from matplotlib.colors import ListedColormap  # late: it is slow to import

        places = {name: place for place, name in enumerate(self.names)}
        cells = np.full((len(places), len(places)), np.nan)
        for pair in self.pairs:
            sign = _SIGNS.get(pair.verdict, np.nan)
            cells[places[pair.option], places[pair.other]] = sign
            cells[places[pair.other], places[pair.option]] = -sign
        called = labels(self.names)
        below = max(map(len, called)) // 3  # rows as high as a name is long
        figure, (panel,) = panels("which of two is better", len(places) + below, (6,), self.names)
        figure.set_figwidth(figure.get_figheight() + 2)
        panel.imshow(cells, cmap=ListedColormap(_OF_VERDICTS), vmin=-1, vmax=1, aspect="auto")
        list_down(panel, called)
        panel.set_xticks(range(len(places)), called, rotation=90)
        panel.tick_params(axis="x", labelsize=panel.get_yticklabels()[0].get_fontsize())
        for colour, word in zip(_OF_VERDICTS, ("worse", "tied", "better"), strict=True):
            panel.plot([], [], "s", color=colour, label=word)
        panel.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1), fontsize="small")
        panel.set(ylabel="is it better ...", xlabel="... than this one? (white: not known)")
        panel.grid(visible=False)
        return figure


def _tiers_said(tiers: Sequence[Sequence[str]]) -> str:
    said = "; ".join(f"{number} {listed(one)}" for number, one in enumerate(tiers, 1))
    return f"{len(tiers)} TIER{'S' * (len(tiers) > 1)}: {said}"


def _percent(error: float) -> str:
    return f"{100 * (1 - error):.10g} %"


def _ranks(one: RankedOption) -> str:
    return _span(one.best_rank, one.worst_rank)


def _span(best: int | None, worst: int | None) -> str:
    return str(best) if best == worst else f"{best}-{worst}"


def _interval(low: float | None, high: float | None) -> str:
    """Its ends, rounded outwards."""
    if low is None or high is None:
        return ""
    return "known" if low == high else f"{outward(low, -1)} to {outward(high, 1)}"
