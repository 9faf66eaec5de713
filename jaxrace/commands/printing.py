"""Tables and lines with texts that are not ours, such as names of options and of files.

All commands print through here: nothing in such a text may tell a terminal what to do.
"""

from collections.abc import Iterable, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from jaxrace.answers.answer import shown
from jaxrace.evidence.quantiles import student_quantile


def say(console: Console, *lines: str) -> None:
    """Print lines as they are, however long."""
    for line in lines:
        console.print(Text(shown(line)), highlight=False, soft_wrap=True)


def name_column(head: str) -> Column:
    """A column of names, which fold where room is short."""
    return Column(head, overflow="fold")


def print_table(
    console: Console,
    heads: Iterable[str | Column],
    rows: Iterable[Sequence[str]],
    first_style: str = "",
) -> None:
    """Print rows of texts as they are; below a head that is a text are numbers, which are not cut.

    Brackets and colons in names are no markup.
    """
    columns = [
        Column(head, justify="right", no_wrap=True) if isinstance(head, str) else head
        for head in heads
    ]
    table = Table(*columns, box=SIMPLE_HEAD if console.is_terminal else None, pad_edge=False)
    for number, cells in enumerate(rows):
        style = "" if number else first_style
        table.add_row(*(Text(shown(cell)) for cell in cells), style=style)
    console.print(table)


def plus_minus(console: Console) -> str:
    """The sign before an error, as far as the console's encoding has it."""
    return "\N{PLUS-MINUS SIGN}" if console.encoding.startswith("utf") else "+-"


def confidence_scale(count: int) -> float:
    """Half the 95 % confidence interval of a mean of so many, in standard errors."""
    return student_quantile(0.025, count - 1)
