"""A picture of what comparisons say: the ranking, and what to compare next."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jaxrace.answers import panels
from jaxrace.selection.votes.rows import Proposal, Ranked

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SELECTED, _OTHER = "C0", "0.65"


def draw(
    title: str, options: Sequence[Ranked], pairs: Sequence[Proposal], top: int, unit: str
) -> "Figure":
    """A figure of two panels."""
    figure, (ranking, ahead) = panels(title, max(len(options), len(pairs)), (3, 2))
    for place, one in enumerate(options):
        colour = _SELECTED if one.selected else _OTHER
        if one.low is not None and one.high is not None:
            ranking.plot((one.low, one.high), (place, place), color=colour, lw=2)
        ranking.plot(one.score, place, "o", ms=6, color=colour)
    ranking.axhline(top - 0.5, color="0.3", lw=0.8, ls=(0, (4, 2)))
    ranking.set_yticks(range(len(options)), [one.name for one in options])
    what = "share of wins" if unit == "wins" else unit
    ranking.set(
        title="ranking: above the line is selected",
        xlabel=f"{what}, mean over the others\n(approximate 95 % intervals)",
    )
    ahead.barh(range(len(pairs)), [one.times for one in pairs], color=_SELECTED)
    names = [f"{one.better} - {one.worse}" for one in pairs]
    ahead.set_yticks(range(len(pairs)), names)
    ahead.set_ylim(max(len(pairs), 4) - 0.4, -0.6)
    most = max((one.times for one in pairs), default=0)
    ahead.set_xticks(range(0, most + 1, -(-(most + 1) // 10)))
    ahead.set(title="compare next", xlabel="comparisons")
    return figure
