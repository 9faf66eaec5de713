"""What `jaxrace select` prints."""

from pathlib import Path
from typing import Any

from rich.console import Console

from jaxrace import runs, tables
from jaxrace.experiments.printing import add_row, new_table, say
from jaxrace.experiments.select_file import LEAST_OF_A_PAIR
from jaxrace.experiments.workbench import with_error

_RANKING = "ranking.csv"

# Longer rankings are in the file.
_MOST_LISTED = 20


def print_selection(console: Console, folder: Path) -> None:
    """Say of a run folder of ``select`` who is best, or how often which method was right.

    Args:
        console: Where.
        folder: The run's.

    >>> right = {"mean": 0.5, "stderr": 0.1, "count": 25}
    >>> runs.write_summary(".", {"repeats": 25, "pocbam": {"samples": 100.0, "correct": right}})
    >>> print_selection(Console(), Path("."))
    method  comparisons        correct
    pocbam          100  0.500 ± 0.100
    25 selections by each method; .
    """
    summary = runs.read_summary(folder)
    if "selected" in summary:
        _print_judgement(console, folder, summary)
        return
    results = {name: found for name, found in summary.items() if isinstance(found, dict)}
    heads = ["comparisons", "correct"]
    if any("decided" in found for found in results.values()):
        heads.append("decided")
    table = new_table(console, ["method", *heads], "method")
    for name, found in results.items():
        rate = with_error(found["correct"]["mean"], found["correct"]["stderr"], digits=3)
        cells = [f"{found['samples']:,.0f}", rate, _decided(found)]
        add_row(table, [name, *cells[: len(heads)]])
    console.print(table)
    say(console, f"{summary['repeats']:,} selections by each method; {folder}")


def _decided(found: dict[str, Any]) -> str:
    """Of a method with a guarantee, which may also end undecided."""
    if "decided" not in found:
        return ""
    return f"{found['decided']:,}, {found['decided_wrongly']:,} of them wrongly"


def _print_judgement(console: Console, folder: Path, summary: dict[str, Any]) -> None:
    ranking = tables.read_table(folder / _RANKING, text=["option"])
    table = new_table(console, ["place", "option", "score", ""], "option")
    rows = zip(*(ranking[name] for name in ("place", "option", "score", "selected")), strict=True)
    for place, option, score, selected in list(rows)[:_MOST_LISTED]:
        cells = str(place), str(option), f"{score:.4g}", "selected" if selected else ""
        add_row(table, cells)
    console.print(table)
    confidence, fewest = summary["confidence"], summary["fewest_of_a_pair"]
    if not summary["connected"]:
        say(console, "options that no chain of comparisons connects are in no order yet")
    if confidence is not None:
        sure = f"about {confidence:.3f}, an estimate without guarantee"
    elif fewest < LEAST_OF_A_PAIR:
        sure = f"not known yet: some pairs have fewer than {LEAST_OF_A_PAIR} comparisons"
        say(console, "ranked by qualities that fit all comparisons best (least squares)")
    else:
        sure = "not known: the scores are too large or too small to tell"
    say(console, f"probability that the selection is right: {sure}")
    pairs = "; ".join(" - ".join(pair) for pair in summary["next"])
    say(console, f"compare next: {pairs}")
    say(console, f"{summary['comparisons']:,} comparisons; {folder}")
