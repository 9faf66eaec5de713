"""What a log says of a new policy, and how a person reads it."""

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

from jaxrace.answers import MOST_SHOWN, Answer, Shown, finite, first_of, labels, panels
from jaxrace.improvement.saved import SavedPolicy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ROUNDING = 1e-6  # of estimates in [0, 1]


@dataclasses.dataclass(frozen=True)
class Estimate:
    """What the policy is worth."""

    name: str
    estimate: float | None  # None: not known
    low: float | None  # lower bound; None: none holds


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
        """Is there a policy that is no worse than the floor, and estimated to be better?"""
        is_better = self.estimate > self.floor + _ROUNDING
        return is_better and bool(self.summary["passed"]["mean"] and self.summary["alpha"])

    @property
    def lower_bound(self) -> float:
        """Of its performance, from the part of the log that tested it."""
        return self.summary["lower_bound"]

    @property
    def estimate(self) -> float:
        """Of its performance, by the part of the log that was searched for it."""
        return self.summary["estimate"]

    @property
    def floor(self) -> float:
        """The performance that was wanted."""
        return self.summary["floor"]

    @property
    def rules(self) -> tuple[Rule, ...]:
        """What the policy does, in a few rules; none if it is the one in use."""
        policy = self.summary.get("policy") or {"rules": []}
        return tuple(
            Rule(
                rule["where"],
                rule["share"],
                ", ".join(f"{name} {chance:.0%}" for name, chance in rule["actions"].items()),
            )
            for rule in policy["rules"]
        )

    @property
    def actions(self) -> tuple[Action, ...]:
        """How often each was taken, and how often the policy takes it."""
        policy = self.summary.get("policy") or {"logged": {}}
        return tuple(
            Action(name, share, policy["chosen"][name]) for name, share in policy["logged"].items()
        )

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """Of its performance, by the part that tested it; the first bound is the verdict's."""
        summary, other = self.summary, self.summary.get("estimates")
        own = f"importance sampling, {summary['bound']}"
        found = [Estimate(own, summary.get("tested_estimate"), summary["lower_bound"])]
        if other is not None:
            robust = other["doubly_robust"], other["doubly_robust_lower"]
            found.append(Estimate("self-normalised", other["self_normalised"], None))
            found.append(Estimate("doubly robust, t", *robust))
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """Everything, of what JSON knows."""
        return finite(self.summary | {"found": self.found})

    def plot(self) -> "Figure":
        """A matplotlib figure: what the policy is worth, and what it does."""
        level = f"{100 * (1 - self.summary['delta']):.4g} %"
        estimates, shown = self.estimates, self.actions[:MOST_SHOWN]
        names = [one.name for one in shown]
        rows = max(len(estimates), 2 * len(shown))
        figure, (worth, does) = panels(self.headline(), rows, (1, 1), names)
        for place, one in enumerate(estimates):
            if one.low is not None and one.estimate is not None:
                worth.plot((one.low, one.estimate), (place, place), color="C0", lw=2)
                worth.plot(one.low, place, "|", color="C0", ms=12)
            if one.estimate is not None:
                worth.plot(one.estimate, place, "o", color="C0")
        worth.axvline(
            self.floor, color="0.3", lw=0.8, ls=(0, (4, 2)), label=f"floor {self.floor:.3f}"
        )
        worth.set_yticks(range(len(estimates)), [one.name for one in estimates])
        worth.set_ylim(len(estimates) - 0.4, -0.6)
        worth.set(title="what it is worth", xlabel=f"performance, down to the {level} lower bound")
        worth.legend(frameon=False)
        for shift, colour in (-0.2, "0.65"), (0.2, "C0"):
            shares = [one.logged if shift < 0 else one.chosen for one in shown]
            places = [place + shift for place in range(len(shown))]
            does.barh(places, shares, 0.38, color=colour)
        does.set_yticks(range(len(shown)), labels(names))
        does.set_ylim(max(len(shown), 1) - 0.4, -0.6)
        said = "share of the decisions\n(grey: in the log; blue: the new policy)"
        does.set(title="what it does" + first_of(shown, len(self.actions)), xlabel=said)
        return figure

    def asked(self) -> str:
        """The question in a line."""
        return (
            f"A policy that performs at least {self.floor:.3f}, by bound {self.summary['bound']}, "
            f"delta {self.summary['delta']:g}"
        )

    def headline(self) -> str:
        """The answer in a line."""
        summary = self.summary
        bound, wanted = f"{self.lower_bound:.3f}", f"(wanted {self.floor:.3f}"
        wanted += f", estimate {self.estimate:.3f})"
        kind = "confidence" if summary["bound_is_safe"] else "approximate confidence"
        confidence = f"with {kind} {100 * (1 - summary['delta']):.4g}%"
        keep = "keep the policy in use"
        if (summary.get("weights") or {}).get("is_refuted"):
            return f"NOTHING CAN BE SAID: the logged probabilities are too small; {keep}"
        if not summary["passed"]["mean"]:
            return (
                f"NOTHING FOUND: the bound of the candidate {confidence} is {bound} {wanted}; "
                f"{keep}"
            )
        if not summary["alpha"]:
            return (
                f"NOTHING BETTER FOUND: {confidence} the policy in use performs at least {bound} "
                f"{wanted}; keep it"
            )
        least = f"{confidence} its performance is at least {bound} {wanted}"
        if self.found:
            return f"FOUND: {least}"
        return f"NOTHING BETTER FOUND: {least}, but it is not even estimated to exceed that; {keep}"

    def meaning(self) -> str:
        """What is guaranteed."""
        if (self.summary.get("weights") or {}).get("is_refuted"):
            return _of_weights(self.summary["weights"])
        return worth(self.summary)

    def _notes(self) -> list[str]:
        summary, weights = self.summary, self.summary.get("weights")
        found = [*summary.get("said", [])]
        if self.found and summary["alpha"] < 1:
            found.append(
                f"a mixture: the new policy with probability {summary['alpha']:.2g}, the policy in "
                "use otherwise, in every decision"
            )
        if weights and not weights["is_refuted"]:
            found.append(_of_weights(weights))
        if summary["floor_is_estimate"]:
            found.append(
                f"floor {self.floor:.3f} = mean return of the fifth that was searched +- "
                f"{summary['floor_stderr']:.3f}: an estimate of the policy in use, or of all that "
                "are in the log, and what is said is about that number; --floor sets another one"
            )
        if self.rules:
            explained = f"{summary['policy']['explained']:.0%}"
            found.append(f"rules below say what it does, {explained} of its differences")
        if len(self.estimates) > 1:
            found.append(
                "the verdict is that of importance sampling; self-normalised is biased, and no "
                "bound here holds for it; the bound of doubly robust is approximate (Student's t)"
            )
        return found

    def tables(self) -> list[Shown]:
        """What the policy does, and what it is worth."""
        rules = [[one.where, one.does, f"{one.share:.0%}"] for one in self.rules]
        worths = [
            [one.name, *("" if x is None else f"{x:.3f}" for x in (one.estimate, one.low))]
            for one in self.estimates
        ]
        level = f"at least, {100 * (1 - self.summary['delta']):.4g} %"
        shown = [Shown(["where", "does", "decisions"], rules)] if rules else []
        return [*shown, Shown(["estimate", "performance", level], worths)]


def _of_weights(weights: dict[str, Any]) -> str:
    numbers = [
        "beyond what float32 holds" if number is None else f"{number:.3f}"
        for number in (weights["mean"], weights["stderr"])
    ]
    said = f"mean weight of the tested trajectories {' +- '.join(numbers)}: "
    if weights["is_refuted"]:
        return (
            f"{said}if probabilities were logged as they are, it would be 1, and so large with "
            f"probability {weights['level']:g} at most"
        )
    if weights["is_low"]:
        return (
            f"{said}less than 1; either probabilities were logged too large, or the policy in use "
            "never does all that this one does, which then performs better than is said"
        )
    level = f"by a test that errs with probability {weights['level']:g}"
    return f"{said}1 if probabilities were logged as they are (not refuted, {level})"


def worth(summary: dict[str, Any]) -> str:
    """What the verdict of a run is worth, of a log or simulated."""
    if summary["is_safe"]:
        return (
            f"bound {summary['bound']} is safe: a policy worse than the floor with probability at "
            f"most {summary['delta']:g} for {summary['delta_holds_for']}"
        )
    why = []
    if summary["method"] == "daedalus2":
        why.append("daedalus2 tests on data that it has seen")
    if not summary["bound_is_safe"]:
        why.append(f"bound {summary['bound']} is semi-safe, that is approximate")
    return f"not a strict guarantee: {', and '.join(why)}"
