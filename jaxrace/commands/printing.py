"""Tables and lines with texts that are not ours, such as names of options and of files.

All commands print through here: nothing in such a text may tell a terminal what to do.
"""

from collections.abc import Iterable, Sequence

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from jaxrace.answers.answer import shown
from jaxrace.evidence.quantiles import student_quantile

_BETWEEN = 3  # signs between two columns
_LEAST_NAME = 8  # letters of a name in a line, where room is short


def say(console: Console, *lines: str) -> None:
    """Print lines as they are; a terminal's lines end between words."""
    for line in lines:
        console.print(Text(shown(line)), highlight=False, soft_wrap=not console.is_terminal)


def name_column(head: str) -> Column:
    """A column of names, which fold where room is short."""
    return Column(head, overflow="fold")


def verdict_column() -> Column:
    """A column of verdicts in words, which fold where room is short."""
    return Column("verdict", justify="right")


def print_table(
    console: Console,
    heads: Iterable[str | Column],
    rows: Iterable[Sequence[str]],
    first_style: str = "",
) -> None:
    """Print rows of texts as they are; below a head that is a text are numbers, which are not cut.

    Brackets and colons in names are no markup. A terminal that is too narrow folds heads, and texts
    in other columns.
    """
    texts = [[shown(cell) for cell in cells] for cells in rows]
    columns = [
        Column(head, justify="right", no_wrap=True) if isinstance(head, str) else head
        for head in heads
    ]
    widths = [max(map(cell_len, below), default=0) for below in zip(*texts, strict=True)]
    titles = [str(column.header) for column in columns]
    natural = [max(cell_len(title), width) for title, width in zip(titles, widths, strict=False)]
    is_narrow = console.is_terminal and sum(natural) + _BETWEEN * len(columns) > console.width
    if is_narrow:
        for column, title, width in zip(columns, titles, widths, strict=False):
            word = max(map(cell_len, title.split()), default=0)
            if column.no_wrap:
                column.no_wrap, column.width = False, max(width, word)
            else:
                column.min_width = max(min(width, _LEAST_NAME), word)
    box = SIMPLE_HEAD if console.is_terminal else None
    padding = (0, 1, 0, 0) if is_narrow else (0, 1)
    table = Table(*columns, box=box, padding=padding, pad_edge=False)
    for number, cells in enumerate(texts):
        table.add_row(*map(Text, cells), style="" if number else first_style)
    console.print(table)


def plus_minus(console: Console) -> str:
    """The sign before an error, as far as the console's encoding has it."""
    return "\N{PLUS-MINUS SIGN}" if console.encoding.startswith("utf") else "+-"


def confidence_scale(count: int) -> float:
    """Half the 95 % confidence interval of a mean of so many, in standard errors."""
    return student_quantile(0.025, count - 1)
