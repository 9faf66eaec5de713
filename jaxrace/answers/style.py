"""How all figures look: their colours, lines, marks and axes, in this place alone.

The colours are those of Okabe and Ito (2008), "Color universal design", without the yellow, which
is too pale for lines. In this order the first four differ most for people who see no green; any two
of the seven differ in lightness or hue for them. No figure relies on colours alone: lines have
dashes and points have marks.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Size = tuple[float, float]  # width and height in inches

BLUE, ORANGE, BLACK, PURPLE = "#0072B2", "#E69F00", "#000000", "#CC79A7"
SKY, RED, GREEN = "#56B4E9", "#D55E00", "#009E73"
COLOURS = (BLUE, ORANGE, BLACK, PURPLE, SKY, RED, GREEN)
GREY, EDGE, FAINT = "0.6", "0.3", "0.8"  # what is out, lines to compare with, what is behind
DASHED = (0, (4, 2))
DASHES = ("--", ":", "-.", (0, (6, 1, 1, 1, 1, 1)))  # from the fourth line on
_SOLID = 3
MARKS = "osD^vPX*"  # one more than colours: pairs of both repeat late
MORE = "viridis"  # of heat maps, uniform to the eye: yellow is the best everywhere
FOR_AND_AGAINST = "PuOr"  # of heat maps about 0: purple is for the row, orange against it


def colour(number: int) -> str:
    """That of one of several things, counted from 0."""
    return COLOURS[number % len(COLOURS)]


def line(number: int) -> dict[str, Any]:
    """Colour and dashes of one of several lines: from the fourth on, dashes differ, too.

    >>> line(0), line(7)
    ({'color': '#0072B2', 'ls': '-'}, {'color': '#0072B2', 'ls': '--'})
    """
    dashes = "-" if number < _SOLID else DASHES[(number - _SOLID) % len(DASHES)]
    return {"color": colour(number), "ls": dashes}


def mark(number: int) -> str:
    """That of the points of one of several things."""
    return MARKS[number % len(MARKS)]


def new_figure(size: Size, rows: int = 1, columns: int = 1, **shared: Any) -> tuple["Figure", Any]:
    """A figure and its panels [rows, columns]: a pale grid, no frame above and to the right."""
    import matplotlib  # late: it is slow to import
    from cycler import cycler
    from matplotlib.figure import Figure

    looks: Any = {
        "axes.prop_cycle": cycler(color=COLOURS),
        "axes.axisbelow": True,
        "axes.grid": True,
        "grid.alpha": 0.25,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
    with matplotlib.rc_context(looks):
        figure = Figure(figsize=size, layout="constrained")
        return figure, figure.subplots(rows, columns, squeeze=False, **shared)
