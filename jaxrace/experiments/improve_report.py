"""What `jaxrace improve` prints."""

from pathlib import Path
from typing import Any

from rich.console import Console

from jaxrace import runs


def print_improvement(console: Console, folder: Path) -> None:
    """Say of a run folder of ``improve`` what was found, and what it is worth.

    Args:
        console: Where.
        folder: The run's.

    >>> share = {"mean": 1.0, "stderr": None, "count": 1}
    >>> runs.write_summary(".", {"method": "batch", "bound": "ci", "is_safe": True, "delta": 0.05,
    ...     "delta_holds_for": "a test", "floor": 0.5, "tests": 1, "repeats": 1, "passed": share,
    ...     "lower_bound": 0.61, "estimate": 0.7})
    >>> print_improvement(Console(), Path("."))
    found: with confidence 95% its performance is at least 0.610 (wanted 0.500, estimate 0.700)
    ...
    """
    summary = runs.read_summary(folder)
    lines = _of_file(summary) if "performance" not in summary else _of_simulation(summary)
    lines.append(_worth(summary))
    lines.append(f"policies and all tests: {folder}")
    for line in lines:
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def _percent(summary: dict[str, Any]) -> str:
    return f"{100 * (1 - summary['delta']):.4g}%"


def _of_file(summary: dict[str, Any]) -> list[str]:
    bound = f"{summary['lower_bound']:.3f}"
    wanted = f"(wanted {summary['floor']:.3f}, estimate {summary['estimate']:.3f})"
    if summary["passed"]["mean"]:
        return [
            f"found: with confidence {_percent(summary)} its performance is at least {bound} "
            f"{wanted}"
        ]
    return [
        f"nothing found: the bound of the candidate with confidence {_percent(summary)} is {bound} "
        f"{wanted}; keep the policy in use"
    ]


def _of_simulation(summary: dict[str, Any]) -> list[str]:
    performance = summary["performance"]
    error = "" if performance["stderr"] is None else f" +- {performance['stderr']:.3f}"
    return [
        f"policy at the start: performance {summary['floor']:.3f}",
        f"policy in the end:   performance {performance['mean']:.3f}{error}, mean of "
        f"{summary['repeats']} repeats of {summary['tests']} tests",
        f"found something in {summary['passed']['mean']:.0%} of the repeats; "
        f"worse than at the start in the end: {summary['worse_than_floor']}",
    ]


def _worth(summary: dict[str, Any]) -> str:
    if summary["is_safe"]:
        return (
            f"bound {summary['bound']} is safe: a worse policy with probability at most "
            f"{summary['delta']:g} for {summary['delta_holds_for']}"
        )
    why = (
        "daedalus2 tests on data that it has seen"
        if summary["method"] == "daedalus2"
        else f"bound {summary['bound']} is semi-safe"
    )
    return f"not a strict guarantee: {why}"
