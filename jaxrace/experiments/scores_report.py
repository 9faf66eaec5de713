"""What `jaxrace race` prints."""

import math
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from jaxrace import runs, tables

_RANKING = "ranking.csv"

# Longer rankings are in the file.
_MOST_LISTED = 20

# More than this is no forecast but a way to say that two options look equal.
_MOST_FURTHER = 10_000


def print_race(console: Console, folder: Path) -> None:
    """Say of a run folder of ``race`` who is certainly best, and who needs more runs.

    Args:
        console: Where.
        folder: The run's.

    >>> import numpy as np
    >>> from jaxrace.experiments.scores_config import ScoresConfig
    >>> from jaxrace.experiments.scores_race import race_scores
    >>> numbers = {"a": np.arange(11) % 7, "b": np.arange(11) % 3 + 5}
    >>> tables.write_table("scores.csv", numbers)
    >>> print_race(Console(), race_scores(ScoresConfig("scores.csv"), "out"))
    place  option  runs  median  beats  verdict  further runs
        1  b         11       6      1       in
    ...
    """
    summary, ranking = runs.read_summary(folder), tables.read_table(folder / _RANKING, ["option"])
    table = Table(box=SIMPLE_HEAD if console.is_terminal else None, pad_edge=False)
    for head in ("place", "option", "runs", "median", "beats", "verdict", "further runs"):
        table.add_column(head, justify="left" if head == "option" else "right", no_wrap=True)
    for row in list(zip(*ranking.values(), strict=True))[:_MOST_LISTED]:
        place, option, number, median, beats, verdict, further = row
        cells = (f"{place}", option, f"{number:,}", f"{median:.4g}", f"{beats}", str(verdict))
        table.add_row(*cells, _further(further))
    console.print(table)
    if len(ranking["place"]) > _MOST_LISTED:
        _say(console, f"... and {len(ranking['place']) - _MOST_LISTED} more in {_RANKING}")
    for line in _lines(summary):
        _say(console, line)
    _say(console, f"{summary['counted']:,} of {summary['runs']:,} runs counted; {folder}")


def _lines(summary: dict[str, Any]) -> list[str]:
    best = ", ".join(summary["selected"])
    worth = (
        f"a wrong certificate has probability at most {summary['delta']:g}, in all looks at the "
        "table together, if runs are independent and stand as they were made"
    )
    if summary["certificate"] == "dominance":
        return [f"CERTIFIED: {best}: better than each of the others more often than not", worth]
    if summary["certificate"] == "counts":
        tied = summary["perhaps_tied"]
        more = f"; {', '.join(tied)} may be equally good" if tied else ""
        return [f"CERTIFIED: {best}: nobody is better than more of the others{more}", worth]
    pairs = [
        f"{' or '.join(pair['options'])} ({math.floor(100 * pair['evidence'])} % of the evidence)"
        for pair in summary["in_doubt"]
    ]
    hidden = summary["pairs_in_doubt"] - len(pairs)
    more = f" and {hidden} more" if hidden else ""
    helps = (
        f"no more runs will help: the horizon of {summary['horizon']:,} is used up"
        if summary["ended"]
        else "further runs are a forecast, from gaps as they look, until nothing is in doubt; add "
        "them at the end"
    )
    return [f"NOT CERTIFIED, a guess: {best}", f"in doubt: {', '.join(pairs)}{more}", helps]


def _further(number: float) -> str:
    if number > _MOST_FURTHER:
        return f"> {_MOST_FURTHER:,}"
    return f"{number:,.0f}" if number else ""


def _say(console: Console, text: str) -> None:
    console.print(text, highlight=False, markup=False, soft_wrap=True)
