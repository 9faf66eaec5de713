"""A picture of what a log says of a policy: what it is worth, and what it does."""

from typing import Any

import numpy as np

from jaxrace import plots
from jaxrace.commands.improve.config import ImproveConfig

_MOST_ACTIONS = 20  # more have no room


def figure_of_log(
    config: ImproveConfig, tests: dict[str, np.ndarray], found: dict[str, Any]
) -> "plots.Figure":
    """Estimates with their lower bounds beside the floor; actions in the log and of the policy."""
    figure, [[worth, does]] = plots.panels((10, 4.2), 1, 2)
    rows = [(f"importance sampling, {config.bound}", found["estimate"], found["lower_bound"])]
    if (other := found.get("estimates")) is not None:
        rows.append(("self-normalised", other["self_normalised"], None))
        rows.append(("doubly robust, t", other["doubly_robust"], other["doubly_robust_lower"]))
    for place, (_, estimate, low) in enumerate(rows):
        if low is not None and estimate is not None:
            worth.plot((low, estimate), (place, place), color="C0", lw=2)
            worth.plot(low, place, "|", color="C0", ms=12)
        if estimate is not None:
            worth.plot(estimate, place, "o", color="C0")
    floor = found["floor"]
    worth.axvline(floor, color="0.3", lw=0.8, ls=(0, (4, 2)), label=f"floor {floor:.3f}")
    worth.set_yticks(range(len(rows)), [name for name, *_ in rows])
    worth.set_ylim(len(rows) - 0.4, -0.6)
    level = f"{100 * (1 - config.delta):.4g}%"
    worth.set(title="what it is worth", xlabel=f"performance, down to the {level} lower bound")
    worth.legend(frameon=False)
    policy = found.get("policy")
    if policy is not None:
        names = list(policy["logged"])[:_MOST_ACTIONS]
        places = np.arange(len(names))
        for shift, (key, colour) in zip(
            (-0.2, 0.2), (("logged", "0.65"), ("chosen", "C0")), strict=True
        ):
            label = "in the log" if key == "logged" else "the new policy"
            shares = [policy[key][name] for name in names]
            does.barh(places + shift, shares, 0.38, color=colour, label=label)
        does.set_yticks(places, names)
        does.set_ylim(len(names) - 0.4, -0.6)
        does.legend(frameon=False)
    does.set(title="what it does", xlabel="share of the decisions")
    for panel in (worth, does):
        plots.tidy(panel)
    return figure
