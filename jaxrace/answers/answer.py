"""An answer about named options: as text, in a notebook, as a data frame, for JSON."""

import base64
import dataclasses
import html
import importlib.util
import io
import itertools
import math
import re
import textwrap
import unicodedata
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from jaxrace.answers import style
from jaxrace.core.validation import BadArgument

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NOT_YET = 3  # the exit status where an answer is not as sure as was asked
REFUSED = 4  # that of data that contradict what was assumed: more of them will not help
MOST_SHOWN = 20  # rows of a printed table; the answer has everything
MOST_DRAWN = 100  # rows of a figure that has a row for each option
# Heads of columns of names and other words.
NAMES = ("option", "other", "better", "worse", "algorithm", "where", "does", "estimate", "group")
NAMES += ("compare next", "with", "best so far", "against")
_MOST_LISTED = 8  # names in a line
_ROW, _NARROW_ROW = 0.28, 0.17  # of a figure, in inches; the latter from so many rows on:
_MANY_ROWS = 25
_TITLE = 9  # letters of a title in an inch
_LEAST_WIDTH = 7  # of a figure, in inches
_SHORT, _LONGEST = 12, 32  # letters of a name in a figure
_WIDE = 12  # columns of a heat map with little room for digits
_LETTERS = 14  # of a name in an inch


class Shown(NamedTuple):
    """A table as people read it."""

    heads: list[str]
    rows: list[list[str]]
    hidden: int = 0  # rows that are left out
    below: tuple[str, ...] = ()  # lines that say how to read it

    @classmethod
    def first(cls, heads: Sequence[str], rows: Sequence[list[str]], *below: str) -> Self:
        """The first rows, as many as are shown."""
        return cls([*heads], [*rows[:MOST_SHOWN]], max(len(rows) - MOST_SHOWN, 0), below)


class Answer:
    """What the results of ``jaxrace.race``, ``select``, ``duel`` and ``improve`` have in common.

    Print it, have it as the last line of a cell, or use ``to_frame``, ``to_dict`` and ``plot``.
    """

    ROWS: ClassVar[Mapping[str, type]]  # the fields that are lists of rows, and their dataclasses
    ALSO: ClassVar[tuple[str, ...]] = ()  # properties that ``to_dict`` has beside the fields
    notes: tuple[str, ...]  # what was guessed, and what a reader should know
    # Why data contradict what was assumed, so that nothing is certain: in short, ": ", in full.
    refused = ""

    @property
    def is_answered(self) -> bool:
        """Is it as sure as was asked?"""
        return True

    @property
    def status(self) -> int:
        """The exit status of the command."""
        if self.refused:
            return REFUSED
        return 0 if self.is_answered else NOT_YET

    def refusal(self) -> str:
        """The headline of data that are refused: the reason in short."""
        return f"DATA REFUSED: {self.refused.partition(': ')[0]}"

    def refusal_meant(self) -> list[str]:
        """The reason in full, below that headline."""
        return [f"nothing is certain: {self.refused.partition(': ')[2]}"]

    def asked(self) -> str:
        """The question in a line."""
        raise NotImplementedError

    def headline(self) -> str:
        """The answer in a line."""
        raise NotImplementedError

    def meanings(self) -> list[str]:
        """What the headline says, and how sure it is, in lines."""
        raise NotImplementedError

    def meaning(self) -> str:
        """The same in one line."""
        return "; ".join(self.meanings())

    def tables(self) -> list[Shown]:
        """What is shown below it."""
        raise NotImplementedError

    def plot(self) -> "Figure":
        """A matplotlib figure."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """All fields and what is said in words, for JSON; infinity and NaN are None."""
        also = {name: getattr(self, name) for name in (*self.ALSO, "status")}
        also |= {"headline": self.headline(), "meanings": self.meanings()}
        return finite(dataclasses.asdict(self) | also)  # pyright: ignore[reportArgumentType]

    def to_frame(self, which: str | None = None) -> Any:
        """One kind of its rows, by default the first, as a frame of polars, or else of pandas."""
        which = next(iter(self.ROWS)) if which is None else which
        if which not in self.ROWS:
            raise BadArgument("which", f"one of {', '.join(self.ROWS)}", repr(which))
        names = [field.name for field in dataclasses.fields(self.ROWS[which])]
        columns = {name: [getattr(row, name) for row in getattr(self, which)] for name in names}
        for library in ("polars", "pandas"):
            if importlib.util.find_spec(library):
                return importlib.import_module(library).DataFrame(columns)
        raise ModuleNotFoundError("to_frame needs polars or pandas: pip install polars")

    def __str__(self) -> str:
        lines = [self.asked(), f"  {self.headline()}", f"  {self.meaning()}"]
        lines += [f"  note: {note}" for note in self.notes]
        for table in self.tables():
            lines += ["", *(f"  {line}" for line in _aligned(table))]
            if table.hidden:
                lines.append(f"  ... and {table.hidden} more")
            lines += [f"  {line}" for line in table.below]
        return "\n".join(map(shown, lines))

    def to_html(self, figure: bool = True) -> str:
        """What ``print`` says, as HTML, and below it the figure if matplotlib is there."""
        said = (self.headline(), self.meaning(), *self.notes)
        text = "".join(f"<p>{html.escape(shown(line))}</p>" for line in said)
        text += self.html_tables()
        if not figure or importlib.util.find_spec("matplotlib") is None:
            return text
        content = base64.b64encode(drawn(self.plot(), "png", dpi=100)).decode()
        told = html.escape(shown(self.headline()))
        fits = 'style="max-width:100%"'
        return f'{text}<img alt="{told}" {fits} src="data:image/png;base64,{content}">'

    def html_tables(self) -> str:
        """Its tables as HTML, and what is said below each."""
        return "".join(map(_html_table, self.tables()))

    def _repr_html_(self) -> str:
        return self.to_html()


class Ranking(Answer):
    """An answer about options: who is the best."""

    top: int  # kappa
    options: tuple[Any, ...]  # with a name each, best first

    @property
    def names(self) -> list[str]:
        """All options, best first."""
        return [option.name for option in self.options]

    def labels(self, most: int = _LONGEST) -> dict[str, str]:
        """All options as a figure calls them, by their names."""
        return dict(zip(self.names, labels(self.names, most), strict=True))

    @property
    def best(self) -> list[str]:
        """The first kappa, best first: as sure as ``meaning`` says."""
        return self.names[: self.top]


def panels(
    title: str,
    rows: int,
    widths: Sequence[int],
    names: Sequence[str] = (),
    beside: int = 1,
    share_rows: bool = False,
) -> tuple["Figure", Sequence["Axes"]]:
    """A figure and its panels, one for each width, with room for ``beside`` long names in a row.

    Panels that share their rows have the names at the left of the first one alone.
    """
    letters = min(max(map(len, names), default=0), _LONGEST)
    width = max(4 * len(widths), _LEAST_WIDTH) + beside * max(letters - _SHORT, 0) / _LETTERS
    lines = textwrap.wrap(
        shown(title), int(_TITLE * width), max_lines=3, placeholder=" ...", break_on_hyphens=False
    )
    row = _ROW if rows < _MANY_ROWS else _NARROW_ROW
    height = row * max(rows, 3) + 1.7 + 0.2 * (len(lines) - 1)
    shared = {"width_ratios": widths, "sharey": share_rows}
    figure, (found,) = style.new_figure((width, height), 1, len(widths), **shared)
    for panel in found:
        panel.grid(visible=False, axis="y")
        if rows >= _MANY_ROWS:
            panel.tick_params(axis="y", labelsize=7)
    for panel in found[:1] if share_rows else found:
        panel.invert_yaxis()
    figure.suptitle(_verbatim("\n".join(lines)))
    return figure, found


def list_down(panel: "Axes", names: Sequence[str], rows: int = 0) -> None:
    """Name the rows of a panel, from the top, with room for so many."""
    panel.set_yticks(range(len(names)), names)
    panel.set_ylim(max(len(names), rows, 1) - 0.4, -0.6)


def labels(names: Sequence[str], most: int = _LONGEST) -> list[str]:
    """Names as a figure has room for them, still different ones; a dollar sign begins no formula.

    Of long names that begin alike the words that differ are shown, then the first ones.

    >>> labels(["a", "lr=0.001,batch=256,seed=1", "lr=0.001,batch=256,seed=2"], 18)
    ['a', 'lr=0.001,...seed=1', 'lr=0.001,...seed=2']
    >>> labels(["Meta-Llama-3.1-70B-Instruct", "Meta-Llama-3.1-8B-Instruct"], 20)
    ['Meta-...70B-Instruct', 'Meta-...8B-Instruct']
    """
    cut = [*map(shown, names)]
    families: dict[str, list[int]] = {}
    for place, name in enumerate(cut):
        if len(name) > most:
            families.setdefault(re.match(r"[^\W\d_]*", name)[0], []).append(place)  # pyright: ignore[reportOptionalSubscript]
    for places in families.values():
        family = [cut[place] for place in places]
        for place, label in zip(places, _kept_apart(family, most), strict=True):
            cut[place] = label
    counts = Counter(cut)
    return [
        _verbatim(f"{label} ({place})" if counts[label] > 1 and label != name else label)
        for place, (name, label) in enumerate(zip(names, cut, strict=True), 1)
    ]


def _kept_apart(names: Sequence[str], most: int) -> list[str]:
    """Long names without the words that all of them have, as far as there is no room for these."""
    words = [re.findall(r"[^-_/,;:| ]*[-_/,;:| ]+|[^-_/,;:| ]+", name) for name in names]
    common = set.intersection(*({word.rstrip("-_/,;:| ") for word in own} for own in words))
    cut = []
    for own in words:
        keeps = [word.rstrip("-_/,;:| ") not in common for word in own]
        for place in (0, -1, *range(1, len(own))):
            more = [*keeps]
            more[place] = True
            if len(_joined(own, more)) > most:
                break
            keeps = more
        label, least = _joined(own, keeps), max(most, _LONGEST)
        is_cut = len(label) > least or not any(keeps)
        half, whole = most // 2, "".join(own)
        cut.append(f"{whole[:half]}...{whole[-half + 3 :]}" if is_cut else label)
    return cut


def _joined(words: Sequence[str], keeps: Sequence[bool]) -> str:
    """The words that are kept, and dots for each row of others."""
    parts = itertools.groupby(zip(words, keeps, strict=True), key=lambda pair: pair[1])
    return "".join("".join(x for x, _ in own) if kept else "..." for kept, own in parts)


def first_of(shown: Sequence[Any], count: int) -> str:
    """What the title of a panel adds where it shows some of so many rows."""
    return "" if len(shown) == count else f": the first {len(shown):,} of {count:,}"


def shown(text: str) -> str:
    r"""A text without control characters: nothing in it commands a terminal, a page or a figure.

    >>> print(shown("a\x1b[31m\nb"))
    a\x1b[31m\nb
    """
    return "".join(
        c if c.isprintable() or unicodedata.category(c) == "Zs" else ascii(c)[1:-1] for c in text
    )


def _verbatim(text: str) -> str:
    return text.replace("$", "\\$")


def drawn(figure: "Figure", kind: str, dpi: int = 150) -> bytes:
    """The content of a file of a kind, such as "png" or "svg".

    Letters that no font here has are boxes in a PNG, and text in an SVG, for the viewer's fonts.
    """
    import matplotlib

    content = io.BytesIO()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        figure.savefig(content, format=kind, dpi=dpi)
        is_boxed = any("missing from font" in str(one.message) for one in caught)
        if is_boxed and kind == "svg":
            content = io.BytesIO()
            with matplotlib.rc_context({"svg.fonttype": "none"}):
                figure.savefig(content, format=kind)
    for one in caught:
        if "missing from font" not in str(one.message):
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    return content.getvalue()


def draw_heat(panel: "Axes", means: np.ndarray, smaller: bool = False) -> None:
    """A coloured cell for each mean [rows, columns], with the number in it; NaN is left blank.

    The largest are yellow, or the smallest, if ``smaller``.
    """
    colours = f"{style.MORE}_r" if smaller else style.MORE
    image = panel.imshow(means, aspect="auto", origin="lower", cmap=colours)
    panel.grid(visible=False)
    middle, size = sum(image.get_clim()) / 2, min(8, 110 / means.shape[1])
    digits = 3 if means.shape[1] <= _WIDE else 2
    for row, column in np.argwhere(np.isfinite(means)):
        mean = means[row, column]
        is_dark = mean > middle if smaller else mean < middle
        at = column, row, f"{mean:.{digits}g}"
        colour = "white" if is_dark else "black"
        panel.text(*at, ha="center", va="center", fontsize=size, color=colour)


def listed(names: Sequence[str]) -> str:
    """Some names in words."""
    more = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
    return ", ".join(names[:_MOST_LISTED]) + more


def who_may(by: str, top: int, possible: Sequence[str], sure: Sequence[str], count: int) -> str:
    """Who may be among the best kappa of so many: what theorem 4 of docs/theory/tables.md proves.

    >>> who_may("wins", 1, ["a", "b"], [], 3), who_may("mean", 2, ["a", "b", "c"], ["a"], 4)
    ('only a, b can be better than each of the others', 'the best 2 are among a, b, c; certainly a')
    """
    if len(possible) == count and not sure:
        return "either may be the better one" if count == 2 else "all of them may be among the best"
    names = listed(possible)
    others = "the other" if count == 2 else "each of the others"
    among = names if len(possible) == top else f"among {names}"
    if by == "wins":
        claim = f"only {names} can be better than {others}"
        if top > 1:
            claim = f"if {top} are better than each of the others, they are {among}"
    else:
        one = names if len(possible) == 1 else f"one of {names}"
        claim = f"the best is {one}" if top == 1 else f"the best {top} are {among}"
    if not sure or len(possible) == top:
        return claim
    return f"{claim}; certainly {listed(sure)}"


def finite(value: Any) -> Any:
    """The same with None for numbers that JSON has not."""
    if isinstance(value, dict):
        return {key: finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _aligned(table: Shown) -> list[str]:
    """Its lines: names on the left, numbers on the right."""
    is_name = [head in (*NAMES, "verdict") for head in table.heads]
    widths = [max(map(len, column)) for column in zip(table.heads, *table.rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if left else cell.rjust(width)
            for cell, width, left in zip(row, widths, is_name, strict=True)
        ).rstrip()
        for row in [table.heads, *table.rows]
    ]


def _html_table(table: Shown) -> str:
    def tagged(tag: str, texts: Iterable[str]) -> str:
        return "".join(f"<{tag}>{html.escape(shown(text))}</{tag}>" for text in texts)

    rows = "".join(f"<tr>{tagged('td', row)}</tr>" for row in table.rows)
    more = [f"... and {table.hidden} more"] if table.hidden else []
    below = tagged("p", (*more, *table.below))
    return f"<table><tr>{tagged('th', table.heads)}</tr>{rows}</table>{below}"
