"""A picture of what a log says of a policy: what it is worth, and what it does."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jaxrace.answers import MOST_SHOWN, first_of, labels, panels
from jaxrace.improvement.of_log.rows import Action, Estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(
    title: str, estimates: Sequence[Estimate], actions: Sequence[Action], floor: float, level: str
) -> "Figure":
    """Estimates with their lower bounds beside the floor; actions in the log and of the policy."""
    shown = actions[:MOST_SHOWN]
    figure, (worth, does) = panels(
        title, max(len(estimates), 2 * len(shown)), (1, 1), [one.name for one in shown]
    )
    for place, one in enumerate(estimates):
        if one.low is not None and one.estimate is not None:
            worth.plot((one.low, one.estimate), (place, place), color="C0", lw=2)
            worth.plot(one.low, place, "|", color="C0", ms=12)
        if one.estimate is not None:
            worth.plot(one.estimate, place, "o", color="C0")
    worth.axvline(floor, color="0.3", lw=0.8, ls=(0, (4, 2)), label=f"floor {floor:.3f}")
    worth.set_yticks(range(len(estimates)), [one.name for one in estimates])
    worth.set_ylim(len(estimates) - 0.4, -0.6)
    worth.set(title="what it is worth", xlabel=f"performance, down to the {level} lower bound")
    worth.legend(frameon=False)
    for shift, colour in (-0.2, "0.65"), (0.2, "C0"):
        shares = [one.logged if shift < 0 else one.chosen for one in shown]
        places = [place + shift for place in range(len(shown))]
        does.barh(places, shares, 0.38, color=colour)
    does.set_yticks(range(len(shown)), labels([one.name for one in shown]))
    does.set_ylim(max(len(shown), 1) - 0.4, -0.6)
    said = "share of the decisions\n(grey: in the log; blue: the new policy)"
    does.set(title="what it does" + first_of(shown, len(actions)), xlabel=said)
    return figure
