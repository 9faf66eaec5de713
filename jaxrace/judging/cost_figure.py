"""A figure of scores against costs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxrace.answers import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OF_TIERS = (style.BLUE, style.SKY)  # in turn
_MANY_TIMES = 30  # the least cost: from there on costs are drawn by their logarithms


def draw_costs(
    panel: "Axes",
    options: Sequence[Any],
    called: Sequence[str],
    cheapest: str | None,
    is_smaller: bool,
) -> None:
    """Scores against costs, and by name the frontier: no other is both cheaper and looks better.

    ``options`` are those of a ``RankOfTable``, ``called`` as they are on the axes.
    """
    panel.yaxis.set_inverted(is_smaller)
    sign = -1 if is_smaller else 1
    known = [
        (one.cost, one.score, label, one)
        for one, label in zip(options, called, strict=True)
        if one.cost is not None and one.score is not None
    ]
    known.sort(key=lambda point: (point[0], -sign * point[1]))
    frontier, best, least = [], -np.inf, 0.03 * np.ptp([score for _, score, *_ in known])
    for cost, score, label, one in known:
        is_it = one.name == cheapest
        colour = style.ORANGE if is_it else OF_TIERS[(one.tier - 1) % 2]
        panel.plot(cost, score, marker="D" if is_it else "o", ms=6, color=colour)
        gain, best = sign * score - best, max(sign * score, best)
        frontier += [(cost, score)] * bool(gain > 0)
        if gain > least or is_it:
            # Above and to the left of the frontier nothing is in the way.
            at: Any = {"textcoords": "offset points", "ha": "right", "fontsize": 7}
            panel.annotate(label, (cost, score), (-5, 4), **at)
    panel.plot(*zip(*frontier, strict=True), color=style.GREY, lw=0.8, zorder=0)
    if known[0][0] > 0 and known[-1][0] > _MANY_TIMES * known[0][0]:
        panel.set_xscale("log")
    panel.margins(0.5, 0.1)  # on the left there is room for a name
    most = known[-1][0]
    panel.set_xlim(right=1.5 * most if panel.get_xscale() == "log" else most + 0.1 * abs(most))
    panel.set(title="score against cost", xlabel="cost", ylabel="score")
    if cheapest is not None:
        panel.set_xlabel("cost\n(diamond: the cheapest that is not certainly worse)")
