"""The figure of a race of a table: a row for each option, the best first."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from jaxrace.answers import style
from jaxrace.answers.answer import first_of, list_down, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LOOKS = {  # of verdicts: colour and mark
    "in": (style.BLUE, "o"),
    "good enough": (style.BLUE, "o"),
    "tied": (style.SKY, "s"),
    "out": (style.GREY, "o"),
    "?": (style.ORANGE, "D"),
}


class Row(NamedTuple):
    """What a figure has of an option."""

    name: str
    verdict: str
    score: float | None
    ends: tuple[float, float, float] | None  # low, estimate, high against the closest beyond
    runs: int
    next: int  # runs that would help next


class Said(NamedTuple):
    """What a figure says of all options."""

    title: str
    verdicts: dict[str, str]  # what each of them means
    score: str
    effect: str  # what the intervals are of
    edges: tuple[float, float]  # where a pair is decided: above the line of the top, and below it
    runs: str


def draw_race(rows: Sequence[Row], said: Said, top: int, count: int) -> "Figure":
    """Who stands where, by how much, and where the runs went: the first rows of so many options.

    The line is below the ``top`` best. An interval is that against the closest option on its other
    side, seen from the option itself: to the right of the edge it is the better one.
    """
    names = [row.name for row in rows]
    figure, found = panels(said.title, len(rows), (4, 4, 3), names, share_rows=True)
    standing, differences, runs = found
    _draw_standing(standing, rows, said)
    standing.set(title="who stands where" + first_of(rows, count), xlabel=said.score)
    _draw_differences(differences, rows, said, top - 0.5)
    _draw_runs(runs, rows, said)
    for panel in found:
        panel.axhline(top - 0.5, color=style.EDGE, lw=0.8, ls=style.DASHED)
    list_down(standing, names)
    return figure


def _looks(row: Row) -> dict[str, Any]:
    colour, mark = _LOOKS[row.verdict]
    return {"color": colour, "marker": mark}


def _draw_standing(panel: "Axes", rows: Sequence[Row], said: Said) -> None:
    labelled = set()
    for place, row in enumerate(rows):
        if row.score is not None:
            panel.plot(row.score, place, ls="", ms=7, **_looks(row))
            labelled.add(row.verdict)
    for verdict, meaning in said.verdicts.items():
        if verdict in labelled:
            colour, mark = _LOOKS[verdict]
            panel.plot([], [], ls="", ms=7, color=colour, marker=mark, label=meaning)
    if labelled:
        panel.legend(frameon=False, fontsize="small", loc="best")


def _draw_differences(panel: "Axes", rows: Sequence[Row], said: Said, line: float) -> None:
    for place, row in enumerate(rows):
        if row.ends is not None:
            low, middle, high = row.ends
            looks = _looks(row)
            panel.plot((low, high), (place, place), color=looks["color"], lw=2)
            panel.plot(middle, place, ms=5, **looks)
    for height, edge in zip(((-0.6, line), (line, len(rows) - 0.4)), said.edges, strict=True):
        panel.plot((edge, edge), height, color=style.EDGE, lw=0.8)
    none = "\n(none: further apart, or no runs in common)"
    none *= any(row.ends is None for row in rows)
    panel.set(title="against the closest across the line", xlabel=said.effect + none)


def _draw_runs(panel: "Axes", rows: Sequence[Row], said: Said) -> None:
    colours = [_LOOKS[row.verdict][0] for row in rows]
    panel.barh(range(len(rows)), [row.runs for row in rows], color=colours)
    wanted = [(place, row.next, row.runs) for place, row in enumerate(rows) if row.next]
    if wanted:
        places, more, begin = zip(*wanted, strict=True)
        panel.barh(places, more, left=begin, fill=False, ls=":")
    more = "\n(dotted: to be run next)" if wanted else ""
    panel.set(title="where the runs went", xlabel=said.runs + more)
