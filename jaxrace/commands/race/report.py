"""What `jaxrace race` prints."""

import itertools
import math
from pathlib import Path
from typing import Any

from rich.console import Console

from jaxrace import runs, tables
from jaxrace.commands.printing import names, numbers, print_table, say
from jaxrace.commands.race.config import LEAST_RUNS, MOST_RUNS

_RANKING = "ranking.csv"
_HEADS = ("runs", "median", "beats", "verdict", "further runs")
_BEYOND = "too many"
_MOST_LISTED = 20  # longer rankings are in the file


def print_race(console: Console, folder: Path) -> None:
    """Say of a run folder of ``race`` who is certainly best, and who needs more runs."""
    summary, ranking = runs.read_summary(folder), tables.read_table(folder / _RANKING, ["option"])
    rows = []
    for row in itertools.islice(zip(*ranking.values(), strict=True), _MOST_LISTED):
        place, option, number, median, beats, verdict, further = row
        cells = (f"{place}", str(option), f"{number:,}", f"{median:.6g}", f"{beats}", str(verdict))
        rows.append([*cells, _further(further)])
    print_table(console, [*numbers("place"), names("option"), *numbers(*_HEADS)], rows)
    if len(ranking["place"]) > _MOST_LISTED:
        say(console, f"... and {len(ranking['place']) - _MOST_LISTED} more in {_RANKING}")
    say(console, *(f"WARNING: {text}" for text in summary["doubts"]))
    if not summary["has_names"]:
        say(
            console,
            "options are called by their columns, from left to right; the first row is a run",
        )
    say(console, *_verdict(summary, any(map(math.isinf, ranking["further_runs"].tolist()))))
    say(console, f"{summary['counted']:,} of {summary['runs']:,} runs counted; {folder}")


def _verdict(summary: dict[str, Any], has_too_many: bool) -> list[str]:
    best = ", ".join(summary["selected"])
    certified = "CERTIFIED" if not summary["doubts"] else "CERTIFIED only if runs are independent"
    worth = (
        f"a wrong certificate has probability at most {summary['delta']:g}, in all looks with the "
        f"same columns and settings (horizon {summary['horizon']:,}) together, if all runs are "
        "independent, also those of different columns, and stand as they were made"
    )
    if summary["certificate"] == "dominance":
        return [f"{certified}: {best}: more often better than worse than each of the others", worth]
    if summary["certificate"] == "counts":
        tied = summary["perhaps_tied"]
        more = f"; {', '.join(tied)} may be equally good" if tied else ""
        return [f"{certified}: {best}: nobody beats more of the others{more}", worth]
    if summary["without_block"]:
        lacking = ", ".join(summary["without_block"])
        return [
            "NOT CERTIFIED, and no guess yet, in the order of the medians",
            f"nothing is said before all have {LEAST_RUNS} runs; fewer have {lacking}",
        ]
    pairs = [
        f"{' or '.join(pair['options'])} ({math.floor(100 * pair['evidence'])} % of the evidence)"
        for pair in summary["in_doubt"]
    ]
    hidden = summary["pairs_in_doubt"] - len(pairs)
    more = f" and {hidden} more" if hidden else ""
    too_many = f"; {_BEYOND}: more than {MOST_RUNS:,} of an option" if has_too_many else ""
    helps = (
        "further runs are a forecast, from gaps as they look, until nothing is in doubt; add them "
        f"at the end{too_many}"
    )
    return [f"NOT CERTIFIED, a guess: {best}", f"in doubt: {', '.join(pairs)}{more}", helps]


def _further(number: float) -> str:
    if math.isinf(number):
        return _BEYOND
    return f"{number:,.0f}" if number else ""
