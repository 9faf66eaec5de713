"""What a log says of a new policy, and how a person reads it."""

import dataclasses
import math
from typing import TYPE_CHECKING, Any, ClassVar

from jaxrace.answers import style
from jaxrace.answers.answer import MOST_SHOWN, Answer, Shown, finite, first_of, labels, panels
from jaxrace.judging.policies.saved import SavedPolicy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ROUNDING = 1e-6  # of estimates, as a part of the range of returns
_MOST_DIGITS = 5  # fewer than so many more than usual tell the bound from the floor


@dataclasses.dataclass(frozen=True)
class Estimate:
    """What the policy is worth."""

    name: str
    estimate: float | None  # None: not known
    bound: float | None  # lower bound, of costs upper bound; None: unknown


@dataclasses.dataclass(frozen=True)
class Rule:
    """What it does in some of the decisions."""

    where: str  # they are
    share: float  # of the log
    does: str  # actions and their probabilities


@dataclasses.dataclass(frozen=True)
class Action:
    """How often it is taken."""

    name: str
    logged: float  # share of the decisions of the log
    chosen: float  # the same by the new policy


@dataclasses.dataclass(frozen=True, eq=False)
class ImprovementOfLog(Answer):
    """The answer of ``jaxrace.improve``. Print it, or see its fields; ``to_dict`` is for JSON."""

    ROWS: ClassVar = {"estimates": Estimate, "rules": Rule, "actions": Action}

    summary: dict[str, Any]  # what ``to_dict`` gives
    policy: SavedPolicy  # ``policy.probabilities(observed)`` applies it
    notes: tuple[str, ...] = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "notes", tuple(self._notes()))

    @property
    def found(self) -> bool:
        """Is there a policy that is certainly better than the one in use?

        With a floor: one that is no worse than that, and estimated to be above it.
        """
        summary = self.summary
        if self.floor is None:
            return bool(summary["passed"]["mean"] and summary["alpha"])
        gain = self.floor - self.estimate if summary["smaller"] else self.estimate - self.floor
        is_better = gain > _ROUNDING * (summary["high"] - summary["low"])
        return is_better and bool(summary["passed"]["mean"] and summary["alpha"])

    @property
    def is_answered(self) -> bool:
        """The same."""
        return self.found

    @property
    def lower_bound(self) -> float | None:
        """Of its mean return, from the part of the log that tested it; None of costs."""
        return self.summary["lower_bound"]

    @property
    def upper_bound(self) -> float | None:
        """Of its mean cost, from the part of the log that tested it; None of returns."""
        return self.summary["upper_bound"]

    @property
    def estimate(self) -> float:
        """Of its mean return, by the part of the log that was searched for it."""
        return self.summary["estimate"]

    @property
    def floor(self) -> float | None:
        """The mean return that was wanted, of costs the largest mean; None: a gain was."""
        return self.summary["floor"]

    @property
    def gain_bound(self) -> float | None:
        """By how much it is better than the policy in use, at least; None: unknown.

        By the part of the log that tested it, as its mean of (w - 1) R; of costs by how much lower.
        """
        return self.summary.get("gain_bound")

    @property
    def rules(self) -> tuple[Rule, ...]:
        """What the policy does, in a few rules; () for the one in use."""
        found = []
        for rule in self.summary.get("policy", {}).get("rules", ()):
            does = ", ".join(f"{name} {chance:.0%}" for name, chance in rule["actions"].items())
            found.append(Rule(rule["where"], rule["share"], does))
        return tuple(found)

    @property
    def actions(self) -> tuple[Action, ...]:
        """How often each was taken, and how often the policy takes it."""
        policy = self.summary.get("policy", {"logged": {}})
        logged = policy["logged"].items()
        return tuple(Action(name, share, policy["chosen"][name]) for name, share in logged)

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """Of its performance, by the part that tested it; the first bound is the verdict's."""
        summary, other = self.summary, self.summary.get("estimates")
        own = f"importance sampling, {summary['bound']}"
        found = [Estimate(own, summary.get("tested_estimate"), self._bound)]
        if other is not None:
            robust = other["doubly_robust"], other["doubly_robust_bound"]
            found.append(Estimate("self-normalised", other["self_normalised"], None))
            if "per_decision" in other:  # of several steps
                weighted = other["self_normalised_per_decision"]
                found.append(Estimate("per decision", other["per_decision"], None))
                found.append(Estimate("per decision, self-normalised", weighted, None))
            found.append(Estimate("doubly robust, t", *robust))
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """Everything, of what JSON knows."""
        said = {"headline": self.headline(), "meanings": self.meanings()}
        also = {"found": self.found, "refused": self.refused, "status": self.status}
        return finite(self.summary | also | said)

    def plot(self) -> "Figure":
        """A matplotlib figure: what the policy is worth, and what it does."""
        estimates, shown = self.estimates, self.actions[:MOST_SHOWN]
        names = [one.name for one in shown]
        rows = max(len(estimates), 2 * len(shown))
        figure, (worth, does) = panels(self.headline(), rows, (1, 1), names)
        for place, one in enumerate(estimates):
            if one.bound is not None and one.estimate is not None:
                worth.plot((one.bound, one.estimate), (place, place), color=style.BLUE, lw=2)
                worth.plot(one.bound, place, "|", color=style.BLUE, ms=12)
            if one.estimate is not None:
                worth.plot(one.estimate, place, "o", color=style.BLUE)
        in_use, error = self.summary["in_use"], self.summary["in_use_stderr"]
        dashed = f"the policy in use, {self._shown(in_use)} +- {self._shown(error)}"
        if self.floor is not None:
            dashed = f"the floor, {self._shown(self.floor)}{self._is_low_said}"
        at = in_use if self.floor is None else self.floor
        worth.axvline(at, color=style.EDGE, lw=0.8, ls=style.DASHED)
        worth.set_yticks(range(len(estimates)), [one.name for one in estimates])
        worth.set_ylim(len(estimates) - 0.4, -0.6)
        to = "up to the {} upper" if self.summary["smaller"] else "down to the {} lower"
        xlabel = f"{self._noun}, {to.format(f'{self._level} %')} bound"
        xlabel += f"\n(dashed: {dashed})"
        worth.set(title="what it is worth", xlabel=xlabel)
        for shift, colour in (-0.2, style.GREY), (0.2, style.BLUE):
            shares = [one.logged if shift < 0 else one.chosen for one in shown]
            places = [place + shift for place in range(len(shown))]
            does.barh(places, shares, 0.38, color=colour)
        does.set_yticks(range(len(shown)), labels(names))
        does.set_ylim(max(len(shown), 1) - 0.4, -0.6)
        alone = " alone" if self.found and self.summary["alpha"] < 1 else ""
        said = f"share of the decisions\n(grey: in the log; blue: the new policy{alone})"
        does.set(title="what it does" + first_of(shown, len(self.actions)), xlabel=said)
        return figure

    def asked(self) -> str:
        """The question in a line."""
        wanted = "is better than the one in use"
        if self.floor is not None:
            wanted = f"has a {self._noun} of {self._least} {self._shown(self.floor)}"
        by = f"by bound {self.summary['bound']}, delta {self.summary['delta']:g}"
        return f"A policy that {wanted}, {by}"

    def headline(self) -> str:
        """The answer in a line."""
        summary, keep, sure = self.summary, "keep the policy in use", self._confidence
        if self.refused:
            return f"{self.refusal()}; {keep}"
        if self.floor is None:
            return self._of_gain_alone(keep)
        # Of the part that tested it, as the bound is.
        tested = summary.get("tested_estimate")
        numbers = self._bound, self.floor, self.estimate if tested is None else tested
        texts = [[self._shown(one, more) for one in numbers] for more in range(_MOST_DIGITS)]
        # A bound that is not the floor does not look like it.
        bound, floor, estimate = next((t for t in texts if t[0] != t[1]), texts[0])
        bound = f"{bound} (estimate {estimate}; floor {floor}{self._is_low_said})"
        if not summary["passed"]["mean"]:
            return f"NOTHING FOUND: the bound of the candidate {sure} is {bound}; {keep}"
        if not summary["alpha"]:
            mean = f"the {self._noun} of the policy in use"
            return f"NOTHING BETTER FOUND: {sure} {mean} is {self._least} {bound}; keep it"
        least = f"{sure} its {self._noun} is {self._least} {bound}"
        if self.found:
            return f"FOUND: {least}"
        return f"NOTHING BETTER FOUND: {least}, but it is not estimated to be better; {keep}"

    def _of_gain_alone(self, keep: str) -> str:
        if not self.summary["alpha"]:
            return f"NOTHING BETTER FOUND: no policy is likely to pass; {keep}"
        gain = "at least {} (estimate {})".format(*self._gains)
        if self.found:
            return f"FOUND: {self._confidence} it is better than the policy in use by {gain}"
        of_candidate = "the gain of the candidate over the policy in use"
        return f"NOTHING FOUND: {self._confidence} {of_candidate} is {gain}; {keep}"

    def meanings(self) -> list[str]:
        """What is guaranteed."""
        if self.refused:
            return self.refusal_meant()
        said = worth(self.summary).split("; ")
        if self.found:
            said += filter(None, [self._besides])
            what = "clusters" if self.summary.get("clusters") else "trajectories"
            said.append(f"all of it if probabilities are right, and {what} independent")
        if self.floor is not None and self.summary["smaller"]:
            said.append("smaller is better, so the floor is a ceiling: the most that it may be")
        return said

    def tables(self) -> list[Shown]:
        """What the policy does, and what it is worth."""
        rules = [[one.where, one.does, f"{one.share:.0%}"] for one in self.rules]
        worths = [
            [one.name, self._shown(one.estimate), self._shown(one.bound)] for one in self.estimates
        ]
        shown = [Shown(["where", "does", "decisions"], rules)] if rules else []
        heads = ["estimate", self._noun, f"{self._least}, {self._level} %"]
        return [*shown, Shown(heads, worths)]

    @property
    def _bound(self) -> float:
        return self.summary["upper_bound" if self.summary["smaller"] else "lower_bound"]

    @property
    def _noun(self) -> str:
        return "mean cost" if self.summary["smaller"] else "mean return"

    @property
    def _least(self) -> str:
        return "at most" if self.summary["smaller"] else "at least"

    @property
    def _level(self) -> str:
        return f"{100 * (1 - self.summary['delta']):.4g}"

    def _shown(self, number: float | None, more: int = 0) -> str:
        """With the digits that a thousandth of the range needs, and some more; "" for None."""
        if number is None:
            return ""
        width = self.summary["high"] - self.summary["low"]
        return f"{number:.{max(3 - math.floor(math.log10(width)) + more, 0)}f}"

    @property
    def _is_low_said(self) -> str:
        """Of a bound that is worse than what the policy in use is estimated to earn."""
        in_use, bound = self.summary["in_use"], self._bound
        is_low = in_use < bound if self.summary["smaller"] else in_use > bound
        return f", worse than the searched part's {self._shown(in_use)}" * is_low

    @property
    def _gains(self) -> tuple[str, str]:
        """The bound and the estimate of the gain, with digits that tell the bound from 0."""
        bound = self.gain_bound or 0.0
        more = (n for n in range(_MOST_DIGITS) if float(self._shown(bound, n)) != 0)
        digits = next(more, 0)
        return self._shown(bound, digits), self._shown(self.summary["gain"], digits)

    @property
    def _besides(self) -> str:
        """What was not asked: its return; with a floor, whether it is better than the old one."""
        if self.floor is None:
            bound = f"{self._least} {self._shown(self._bound)}"
            estimate = self._shown(self.summary["tested_estimate"])
            of_own = f"{self._confidence} of its own"
            return f"its {self._noun} is {bound} (estimate {estimate}), {of_own}"
        if self.gain_bound is None:
            return ""
        said = "not certified to be better than the policy in use: the gain is"
        said = "better than the policy in use by" if self.gain_bound > 0 else said
        said += " at least {} (estimate {}), ".format(*self._gains)
        return f"{said}{self._confidence} of its own"

    @property
    def _confidence(self) -> str:
        kind = "confidence" if self.summary["bound_is_safe"] else "approximate confidence"
        return f"with {kind} {self._level}%"

    @property
    def refused(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Why the logged probabilities are not right; "" if nothing says so."""
        for name, words in (("taken_actions", _of_actions), ("weights", _of_weights)):
            if (self.summary.get(name) or {}).get("is_refuted"):
                return f"the logged probabilities are too small: {words(self.summary[name])}"
        return ""

    def _notes(self) -> list[str]:
        summary = self.summary
        better = "; smaller is better" if summary["smaller"] else ""
        found = [
            *summary.get("said", []),
            f"numbers are {self._noun}s of a trajectory, in the log's units, from "
            f"{summary['low']:g} to {summary['high']:g}{better}",
        ]
        if self.found and summary["alpha"] < 1:
            found.append(
                f"a mixture: the new policy with probability {summary['alpha']:.2g}, the policy in "
                "use otherwise, in every decision; rules and shares below are of the new one alone"
            )
        if self.found:
            found.append(
                "the policy is .policy of this answer, and policy.npz in the folder of --out"
            )
        if "weights" in summary and not self.refused:
            found.append(_of_weights(summary["weights"]))
        if self.floor is None:
            numbers = " +- ".join(self._shown(summary[x]) for x in ("in_use", "in_use_stderr"))
            found.append(
                f"the policy in use: {self._noun} {numbers} in the fifth that was searched; "
                f"--floor X asks for a {self._noun} of {self._least} X instead"
            )
        if self.rules:
            explained = f"{summary['policy']['explained']:.0%}"
            found.append(f"the rules below explain {explained} of the variation of its choices")
        if len(self.estimates) > 1:
            found.append(
                "the verdict is by importance sampling; self-normalised estimates are biased, and "
                "have no bound; the bound of doubly robust is approximate (Student's t)"
            )
        if "per_decision" in (summary.get("estimates") or {}):
            found.append("per decision: a reward weighs by the decisions up to it, not by all")
        return found


def _of_actions(check: dict[str, Any]) -> str:
    where = doubt = ""
    if (column := check.get("column")) is not None:
        side = "above" if check["is_above"] else "not above"
        where = f" where {column} is {side} {check['above']:.4g}"
        doubt = f"; or {column} was not known before the action"
    return (
        f"check of the logged probabilities: action {check['action']} was taken in "
        f"{check['taken']:,} of {check['decisions']:,} tested decisions of behaviour policy "
        f"{check['behaviour']}{where}, {check['ratio']:.3g} times as often as they say; right ones "
        f"fail this check with probability at most {check['level']:g}{doubt}"
    )


def _of_weights(weights: dict[str, Any] | None) -> str:
    said = "check of the logged probabilities: mean weight "
    if weights is None:
        return f"{said}not checked, as the policy in use weighs 1 everywhere"
    numbers = [
        f"{number:.3f}" if math.isfinite(number) else "beyond what floats hold"
        for number in (weights["mean"], weights["stderr"])
    ]
    said += f"{' +- '.join(numbers)}, should be 1"
    if weights["is_refuted"]:
        level = f"{weights['level']:g}"
        return f"{said}; right ones make it so large with probability at most {level}"
    if weights.get("is_high"):
        said += (
            "; of right ones so large in one of 200 logs: probabilities may be too small, or "
            "something that is observed was not known before the action"
        )
    if weights["is_low"]:
        said += (
            "; they were logged too large, or the policy in use never does some of what this one "
            "does; then this one performs better than is said here"
        )
    return said


def worth(summary: dict[str, Any]) -> str:
    """What the verdict of a run is worth, of a log or simulated."""
    if summary["is_safe"]:
        wrong = "a policy worse than the floor"
        if summary["floor"] is None:
            wrong = "a policy that is no better than the one in use"
        return (
            f"bound {summary['bound']} is safe: {wrong} is returned with "
            f"probability at most {summary['delta']:g}, for {summary['delta_holds_for']}"
        )
    why = []
    if summary["method"] == "daedalus2":
        why.append("daedalus2 tests on data that it has seen")
    if not summary["bound_is_safe"]:
        why.append(f"bound {summary['bound']} is semi-safe, that is approximate")
    return f"not a strict guarantee: {', and '.join(why)}"
