"""Tables and lines with texts that are not ours, such as names of options and of files.

All commands print through here: nothing in such a text may tell a terminal what to do.
"""

import unicodedata
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text


def shown(text: str) -> str:
    r"""A text with what is no letter, digit, sign or space as an escape sequence."""
    return "".join(
        c if c.isprintable() or unicodedata.category(c) == "Zs" else ascii(c)[1:-1] for c in text
    )


def new_table(console: Console, heads: Sequence[str], left: str) -> Table:
    """A table whose numbers are never cut; names fold where there is no room."""
    table = Table(box=SIMPLE_HEAD if console.is_terminal else None, pad_edge=False)
    for head in heads:
        if head == left:
            table.add_column(head, overflow="fold")
        else:
            table.add_column(head, justify="right", no_wrap=True)
    return table


def add_row(table: Table, cells: Sequence[str]) -> None:
    """Add a row of texts as they are: brackets and colons in names are no markup.

    See ``shown`` for what is escaped.
    """
    table.add_row(*(Text(shown(cell)) for cell in cells))


def say(console: Console, text: str) -> None:
    """Print a line as it is, however long; see ``shown`` for what is escaped."""
    console.print(Text(shown(text)), highlight=False, soft_wrap=True)


def confidence_scale(count: int) -> float:
    """Half the 95 % confidence interval of a mean of so many, in standard errors."""
    from scipy import stats

    return float(stats.t.ppf(0.975, count - 1))
