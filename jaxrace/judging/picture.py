"""A picture of what a table says: who stands where, by how much, and where the runs went."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jaxrace.answers import panels
from jaxrace.judging.levels import By
from jaxrace.judging.rows import Option, Pair

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = {"in": "C0", "out": "0.65", "?": "C1"}
_MEANING = {"in": "certainly in", "out": "certainly out", "?": "not known yet"}


def draw(
    title: str,
    options: Sequence[Option],
    pairs: Sequence[Pair],
    top: int,
    by: By,
    are_independent: bool,
    delta: float,
) -> "Figure":
    """A figure of three panels: options, the pairs across the boundary, and the runs."""
    rows = max(len(options), len(pairs))
    figure, (standing, effects, runs) = panels(title, rows, (3, 4, 2))
    _draw_standing(standing, options, top, by)
    _draw_pairs(effects, pairs, by, delta)
    _draw_runs(runs, options, "runs" if are_independent else "tasks")
    return figure


def _draw_standing(panel: "Axes", options: Sequence[Option], top: int, by: By) -> None:
    for verdict, meaning in _MEANING.items():
        places = [place for place, one in enumerate(options) if one.verdict == verdict]
        scores = [options[place].score for place in places]
        known = [(x, place) for x, place in zip(scores, places, strict=True) if x is not None]
        if known:
            at, height = zip(*known, strict=True)
            panel.plot(at, height, "o", ms=7, color=_COLOURS[verdict], label=meaning)
    panel.axhline(top - 0.5, color="0.3", lw=0.8, ls=(0, (4, 2)))
    panel.set_yticks(range(len(options)), [one.name for one in options])
    panel.set_ylim(len(options) - 0.4, -0.6)
    by_wins = "win probability, mean over the others"
    panel.set(title="who stands where", xlabel="mean score" if by == "mean" else by_wins)
    panel.legend(frameon=False, fontsize="small")


def _draw_pairs(panel: "Axes", pairs: Sequence[Pair], by: By, delta: float) -> None:
    for place, pair in enumerate(pairs):
        colour = _COLOURS["in" if pair.decided else "?"]
        panel.plot((pair.low, pair.high), (place, place), color=colour, lw=2)
        panel.plot(pair.estimate, place, "o", ms=5, color=colour)
        panel.annotate(
            _evidence(pair), (1.01, place), xycoords=("axes fraction", "data"), va="center"
        )
    panel.axvline(0.5 if by == "wins" else 0.0, color="0.3", lw=0.8)
    panel.set_yticks(range(len(pairs)), [f"{pair.better} over {pair.worse}" for pair in pairs])
    panel.set_ylim(max(len(pairs), 1) - 0.4, -0.6)
    effect = "win probability" if by == "wins" else "difference of the means"
    said = f"{100 * (1 - delta):.10g} % intervals, at all looks; at the right, the evidence"
    panel.set(title="how much better", xlabel=f"{effect}\n({said})")


def _evidence(pair: Pair) -> str:
    return "enough" if pair.decided else f"{int(100 * max(pair.evidence, 0.0))} %"


def _draw_runs(panel: "Axes", options: Sequence[Option], unit: str) -> None:
    colours = [_COLOURS[one.verdict] for one in options]
    panel.barh(range(len(options)), [one.runs for one in options], color=colours)
    wanted = [(place, one.next, one.runs) for place, one in enumerate(options) if one.next]
    if wanted:
        places, more, begin = zip(*wanted, strict=True)
        panel.barh(places, more, left=begin, fill=False, ls=":")
    panel.set_yticks(range(len(options)), [])
    panel.set_ylim(len(options) - 0.4, -0.6)
    said = f"{unit} of each option" + ("\n(dotted: to be run next)" if wanted else "")
    panel.set(title="where the runs went", xlabel=said)
