"""A picture of what a table says: who stands where, by how much, and where the runs went."""

from typing import TYPE_CHECKING

from jaxrace.judging.result import MOST_SHOWN, Pair, RaceOfTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = {"in": "C0", "out": "0.65", "?": "C1"}
_MEANING = {"in": "certainly in", "out": "certainly out", "?": "not known yet"}
_ROW = 0.28  # inches


def draw(result: RaceOfTable) -> "Figure":
    """A figure of three panels: options, the pairs across the boundary, and the runs.

    The first 20 options and pairs; the figure has no window.
    """
    from matplotlib.figure import Figure  # late: it is slow to import

    rows = max(len(result.options[:MOST_SHOWN]), len(result.pairs[:MOST_SHOWN]), 4)
    figure = Figure(figsize=(12, _ROW * rows + 1.6), layout="constrained")
    standing, pairs, runs = figure.subplots(1, 3, width_ratios=(3, 4, 2))
    _draw_standing(standing, result)
    _draw_pairs(pairs, result)
    _draw_runs(runs, result)
    for panel in (standing, pairs, runs):
        panel.invert_yaxis()
        panel.grid(axis="x", alpha=0.25)
        panel.spines[["top", "right"]].set_visible(False)
    figure.suptitle(result.headline())
    return figure


def _draw_standing(panel: "Axes", result: RaceOfTable) -> None:
    options = result.options[:MOST_SHOWN]
    for verdict, meaning in _MEANING.items():
        places = [place for place, one in enumerate(options) if one.verdict == verdict]
        scores = [options[place].score for place in places]
        known = [(x, place) for x, place in zip(scores, places, strict=True) if x is not None]
        if known:
            at, height = zip(*known, strict=True)
            panel.plot(at, height, "o", ms=7, color=_COLOURS[verdict], label=meaning)
    panel.axhline(result.top - 0.5, color="0.3", lw=0.8, ls=(0, (4, 2)))
    panel.set_yticks(range(len(options)), [one.name for one in options])
    panel.set_ylim(-0.6, len(options) - 0.4)
    by_wins = "win probability, mean over the others"
    panel.set(title="who stands where", xlabel="mean score" if result.by == "mean" else by_wins)
    panel.legend(frameon=False, fontsize="small")


def _draw_pairs(panel: "Axes", result: RaceOfTable) -> None:
    pairs = result.pairs[:MOST_SHOWN]
    for place, pair in enumerate(pairs):
        colour = _COLOURS["in" if pair.decided else "?"]
        panel.plot((pair.low, pair.high), (place, place), color=colour, lw=2)
        panel.plot(pair.estimate, place, "o", ms=5, color=colour)
        panel.annotate(
            _evidence(pair), (1.01, place), xycoords=("axes fraction", "data"), va="center"
        )
    panel.axvline(0.5 if result.by == "wins" else 0.0, color="0.3", lw=0.8)
    panel.set_yticks(range(len(pairs)), [f"{pair.better} over {pair.worse}" for pair in pairs])
    panel.set_ylim(-0.6, max(len(pairs), 1) - 0.4)
    effect = "win probability" if result.by == "wins" else "difference of the means"
    said = f"{100 * (1 - result.delta):.10g} % intervals, at all looks; at the right, the evidence"
    panel.set(title="how much better", xlabel=f"{effect}\n({said})")


def _evidence(pair: Pair) -> str:
    return "enough" if pair.decided else f"{int(100 * max(pair.evidence, 0.0))} %"


def _draw_runs(panel: "Axes", result: RaceOfTable) -> None:
    options = result.options[:MOST_SHOWN]
    colours = [_COLOURS[one.verdict] for one in options]
    panel.barh(range(len(options)), [one.runs for one in options], color=colours)
    wanted = [(place, one.next, one.runs) for place, one in enumerate(options) if one.next]
    if wanted:
        places, more, begin = zip(*wanted, strict=True)
        panel.barh(places, more, left=begin, fill=False, ls=":", label="to be run next")
        panel.legend(frameon=False, fontsize="small")
    panel.set_yticks(range(len(options)), [])
    panel.set_ylim(-0.6, len(options) - 0.4)
    unit = "runs" if result.kind == "independent" else "tasks"
    panel.set(title="where the runs went", xlabel=f"{unit} of each option")
