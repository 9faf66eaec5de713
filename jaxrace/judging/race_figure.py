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
    """Who stands where, by how much, and beside it runs: the first rows of so many options.

    The line is below the ``top`` best. An interval is that against the closest option on its other
    side, seen from the option itself: to the right of the edge it is the better one. Runs are below
    if all options have the same number, and none is to be run next.
    """
    names, numbers = [row.name for row in rows], {row.runs for row in rows}
    is_plain = len(numbers) == 1 and not any(row.next for row in rows)
    figure, found = panels(said.title, len(rows), (1, 1), names, share_rows=True)
    figure.set_figwidth(figure.get_figwidth() - 1)
    _draw_standing(found[0], rows, said)
    runs = f"\n{max(numbers):,} {said.runs} of each option" if is_plain else ""
    found[0].set(title="who stands where" + first_of(rows, count), xlabel=said.score + runs)
    _draw_differences(found[1], rows, said, top - 0.5)
    if not is_plain:
        _tell_runs(found[1], rows, said)
    for panel in found:
        panel.axhline(top - 0.5, color=style.EDGE, lw=0.8, ls=style.DASHED)
    found[1].tick_params(axis="y", left=False)
    list_down(found[0], names)
    verdicts = [verdict for verdict in said.verdicts if any(verdict == x.verdict for x in rows)]
    handles = [found[0].plot([], [], ls="", ms=7, **_looks(verdict))[0] for verdict in verdicts]
    meanings = [said.verdicts[verdict] for verdict in verdicts]
    figure.legend(handles, meanings, loc="outside lower left", ncols=4, frameon=False)
    return figure


def _looks(verdict: str) -> dict[str, Any]:
    colour, mark = _LOOKS[verdict]
    return {"color": colour, "marker": mark}


def _draw_standing(panel: "Axes", rows: Sequence[Row], said: Said) -> None:
    for place, row in enumerate(rows):
        if row.score is not None:
            panel.plot(row.score, place, ls="", ms=7, **_looks(row.verdict))


def _draw_differences(panel: "Axes", rows: Sequence[Row], said: Said, line: float) -> None:
    for place, row in enumerate(rows):
        if row.ends is not None:
            low, middle, high = row.ends
            looks = _looks(row.verdict)
            panel.plot((low, high), (place, place), color=looks["color"], lw=2)
            panel.plot(middle, place, ms=5, **looks)
    for height, edge in zip(((-0.6, line), (line, len(rows) - 0.4)), said.edges, strict=True):
        panel.plot((edge, edge), height, color=style.EDGE, lw=0.8)
    if not any(row.ends for row in rows):
        panel.text(0.5, 0.5, "no intervals", ha="center", transform=panel.transAxes)
    panel.set(title="against the closest\nacross the line", xlabel=said.effect)


def _tell_runs(panel: "Axes", rows: Sequence[Row], said: Said) -> None:
    at = {"xycoords": ("axes fraction", "data"), "va": "center", "fontsize": "small"}
    for place, row in enumerate(rows):
        more = f" + {row.next:,}" if row.next else ""
        panel.annotate(f"{row.runs:,}{more}", (1.02, place), **at)
    head = said.runs + ("\n+ next" if any(row.next for row in rows) else "")
    panel.text(1.02, 1.0, head, va="bottom", fontsize="small", transform=panel.transAxes)
