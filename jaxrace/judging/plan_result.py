"""How many runs it will take, and how a person reads it."""

import dataclasses
import math
from typing import TYPE_CHECKING, ClassVar

from jaxrace.answers import style
from jaxrace.answers.answer import Answer, Shown, panels
from jaxrace.evidence.levels import By
from jaxrace.judging.legends import ONCE

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclasses.dataclass(frozen=True)
class PlannedShare:
    """With how many runs a share of the races has answered."""

    share: float
    each: int | None  # runs of each option, or tasks, with the pilot's; None if it takes more
    further: int | None  # runs of all options that are still to be made


@dataclasses.dataclass(frozen=True)
class PlanOfRace(Answer):
    """The answer of ``jaxrace.plan``. Print it, or see its fields; ``to_dict`` is for JSON."""

    ROWS: ClassVar = {"quantiles": PlannedShare}

    names: tuple[str, ...]
    top: int
    tiers: int | None  # a ranking instead of the best
    baseline: str | None  # a gate instead
    by: By
    kind: str  # of runs: "independent", "shared", or "all N shared"
    delta: float
    tolerance: float
    quantiles: tuple[PlannedShare, ...]
    pilot: int  # runs of an option that there are, at most, and that count
    budget: int | None  # runs of each option, or tasks
    answered: float | None  # share of the races that are answered within it
    most: int  # runs of each option, or tasks, up to which was simulated
    each: tuple[float, ...]  # of each simulated race what it took, in order; infinite if more
    one_look: bool = False  # is the table looked at once, when so many tasks are complete?
    notes: tuple[str, ...] = ()

    @property
    def _unit(self) -> str:
        return "runs" if self.kind == "independent" else "tasks"

    def asked(self) -> str:
        what = f"the best {self.top}" if self.top > 1 else "the best"
        if self.tiers is not None:
            what = f"{self.tiers} tiers"
        if self.baseline is not None:
            what = f"each against {self.baseline}"
        near = "margin" if self.baseline is not None else "tolerance"
        within = f", {near} {self.tolerance:g}" if self.tolerance else ""
        return (
            f"Plan for {what} of {len(self.names)} options by {self.by}, {self.kind} {self._unit}, "
            f"delta {self.delta:g}{within}"
        )

    def headline(self) -> str:
        first, middle, last = (self._said(one.each) for one in self.quantiles[:3])
        unit = "runs of each option" if self.kind == "independent" else "tasks"
        if self.one_look and self.quantiles[0].each is not None:
            middle, *more = ((self._said(x.each), f"{x.share:.0%}") for x in self.quantiles[1:])
            others = "".join(f", {each} {share}" for each, share in more)
            return f"{ONCE} {middle[0]} {unit} answer {middle[1]} of the races{others}"
        if self.quantiles[0].each is None:
            return f"more than {self.most:,} {unit} for three quarters of the races, or for all"
        return f"a median of {middle} {unit}; half of the races need {first} to {last}"

    def _said(self, each: int | None) -> str:
        return f"over {self.most:,}" if each is None else f"{each:,}"

    def meanings(self) -> list[str]:
        told = [f"a forecast from {len(self.each):,} simulated races, without guarantee"]
        if self.budget is not None and self.answered is not None:
            error = math.sqrt(max(self.answered * (1 - self.answered), 0.01) / len(self.each))
            within = f"{self.budget:,} {self._unit}{' of each' * (self._unit == 'runs')}"
            ends = "are answered in one look at" if self.one_look else "end within"
            share = f"{self.answered:.0%} of the races {ends} {within}, give or take {error:.0%}"
            told.insert(0, share)
        if self.quantiles[2].each is None and not self.tolerance and self.tiers is None:
            near = "margin" if self.baseline is not None else "tolerance"
            told.append(
                f"options that hardly differ take long: --{near} X ({near}=X) says how small a "
                "difference does not matter, and ends these sooner"
            )
        if self.one_look:
            told.append(
                "for one look: choose a number of tasks, run them all, and look once; whoever "
                "looks on the way, or adds tasks to a table that was looked at, has no guarantee"
            )
        return told

    def tables(self) -> list[Shown]:
        rows = [
            [
                f"{one.share:.0%}",
                self._said(one.each),
                "not known" if one.further is None else f"{one.further:,}",
            ]
            for one in self.quantiles
        ]
        count = f" ({self.pilot:,} count already)" if self.pilot else ""
        return [
            Shown.first(
                ["races answered", f"{self._unit} of each", "runs still to make"],
                rows,
                f"{self._unit} of each option{count}; runs still to make: of all options together",
            )
        ]

    def plot(self) -> "Figure":
        """A matplotlib figure: the share of the races that are answered, by runs of each."""
        from matplotlib.ticker import LogLocator, NullLocator  # late: it is slow to import

        figure, (panel,) = panels(self.headline(), 8, (1,))
        ends = [one for one in self.each if math.isfinite(one)]
        shares = [place / len(self.each) for place in range(len(ends) + 1)]
        panel.step([1, *ends], shares, where="post", color=style.BLUE)
        half = [one.each or self.most for one in (self.quantiles[0], self.quantiles[2])]
        panel.axvspan(*half, color=style.BLUE, alpha=0.12, lw=0, label="half of the races")
        marked = (("budget", self.budget, style.RED), ("pilot", self.pilot, style.EDGE))
        for (name, number, colour), dashes in zip(marked, ("--", ":"), strict=True):
            if number:
                panel.axvline(number, color=colour, ls=dashes, lw=1, label=name)
        least = min([self.pilot or math.inf, self.budget or math.inf, *self.each, self.most / 2])
        panel.set(xscale="log", xlim=(least / 1.5, self.most), ylim=(0, 1.02))
        panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        panel.xaxis.set_major_formatter("{x:,.0f}")
        panel.xaxis.set_minor_locator(NullLocator())
        panel.set(xlabel=f"{self._unit} of each option", ylabel="share of the races answered")
        panel.legend(frameon=False)
        return figure
