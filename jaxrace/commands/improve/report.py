"""What `jaxrace improve` prints."""

from pathlib import Path
from typing import Any

from rich.console import Console

from jaxrace import runs
from jaxrace.commands.printing import say

_ROUNDING = 1e-6  # of estimates in [0, 1]


def print_improvement(console: Console, folder: Path) -> None:
    """Say of a run folder of ``improve`` what was found, and what it is worth."""
    summary = runs.read_summary(folder)
    lines = _of_file(summary) if "performance" not in summary else _of_simulation(summary)
    if not (summary.get("weights") or {}).get("is_refuted"):
        lines.append(_worth(summary))
    say(console, *lines, f"policies and all tests: {folder}")


def _of_file(summary: dict[str, Any]) -> list[str]:
    bound, floor = f"{summary['lower_bound']:.3f}", f"{summary['floor']:.3f}"
    wanted = f"(wanted {floor}, estimate {summary['estimate']:.3f})"
    kind = "confidence" if summary["bound_is_safe"] else "approximate confidence"
    confidence = f"with {kind} {100 * (1 - summary['delta']):.4g}%"
    weights = summary.get("weights")
    if weights and weights["is_refuted"]:
        said = "nothing can be said: the logged probabilities are too small; "
        lines = [f"{said}keep the policy in use"]
    elif not summary["passed"]["mean"]:
        said = f"nothing found: the bound of the candidate {confidence} is {bound} {wanted}; "
        lines = [f"{said}keep the policy in use"]
    elif not summary["alpha"]:
        said = f"nothing better found: {confidence} the policy in use performs at least {bound}"
        lines = [f"{said} {wanted}; keep it"]
    elif summary["estimate"] <= summary["floor"] + _ROUNDING:
        said = f"nothing better found: {confidence} its performance is at least {bound} {wanted}, "
        lines = [f"{said}but it is not even estimated to exceed that; keep the policy in use"]
    else:
        lines = [f"found: {confidence} its performance is at least {bound} {wanted}"]
        if summary["alpha"] < 1:
            lines.append(
                f"a mixture: what policy.npz says with probability {summary['alpha']:.2g}, the "
                "policy in use otherwise, in every decision"
            )
    if weights:
        lines += _of_weights(weights)
    if summary["floor_is_estimate"]:
        lines.append(
            f"floor {floor} = mean return of the fifth that was searched +- "
            f"{summary['floor_stderr']:.3f}: an estimate of the policy in use, or of all that "
            "are in the log, and what is said is about that number; --floor sets another one"
        )
    return lines


def _of_weights(weights: dict[str, Any]) -> list[str]:
    numbers = [
        "beyond what float32 holds" if number is None else f"{number:.3f}"
        for number in (weights["mean"], weights["stderr"])
    ]
    said = f"mean weight of the tested trajectories {' +- '.join(numbers)}: "
    if weights["is_refuted"]:
        return [
            f"{said}if probabilities were logged as they are, it would be 1, and so large with "
            f"probability {weights['level']:g} at most"
        ]
    if weights["is_low"]:
        return [
            f"{said}less than 1; either probabilities were logged too large, or the policy in use "
            "never does all that this one does, which then performs better than is said"
        ]
    level = f"by a test that errs with probability {weights['level']:g}"
    return [f"{said}1 if probabilities were logged as they are (not refuted, {level})"]


def _of_simulation(summary: dict[str, Any]) -> list[str]:
    performance = summary["performance"]
    error = "" if performance["stderr"] is None else f" +- {performance['stderr']:.3f}"
    return [
        f"policy at the start: performance {summary['start']:.3f}",
        f"policy in the end:   performance {performance['mean']:.3f}{error}, mean of "
        f"{summary['repeats']} repeats of {summary['tests']} tests",
        f"found something in {summary['passed']['mean']:.0%} of the repeats; "
        f"worse than the floor, {summary['floor']:.3f}, in the end: {summary['worse_than_floor']}",
    ]


def _worth(summary: dict[str, Any]) -> str:
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
