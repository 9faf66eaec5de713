"""What `jaxrace select` prints."""

import itertools
import math
from collections import Counter
from pathlib import Path
from typing import Any

from rich.console import Console

from jaxrace import runs, tables
from jaxrace.commands.printing import names, numbers, print_table, say
from jaxrace.commands.select.config import LEAST_OF_A_PAIR
from jaxrace.commands.workbench import with_error

_RANKING = "ranking.csv"
_MOST_LISTED = 20  # longer rankings are in the file

# A chance that a comparison changes the selection; and what reads as certain with three digits.
_UNLIKELY, _SURE = 0.01, 0.9995
_LEAST_SHOWN = 1e-9  # smaller chances are those of the model alone


def print_selection(console: Console, folder: Path) -> None:
    """Say of a run folder of ``select`` who is best, or how often which method was right."""
    summary = runs.read_summary(folder)
    if "selected" in summary:
        _print_judgement(console, folder, summary)
        return
    results = {name: found for name, found in summary.items() if isinstance(found, dict)}
    heads = ["comparisons", "correct"]
    # Methods with a guarantee may also end undecided.
    if any("decided" in found for found in results.values()):
        heads.append("decided")
    rows = []
    for name, found in results.items():
        rate = with_error(found["correct"]["mean"], found["correct"]["stderr"], digits=3)
        cells = [name, f"{found['samples']:,.0f}", rate]
        if "decided" in found:
            cells.append(f"{found['decided']:,}, {found['decided_wrongly']:,} of them wrongly")
        rows.append(cells)
    print_table(console, [names("method"), *numbers(*heads)], rows)
    say(console, f"{summary['repeats']:,} selections by each method; {folder}")


def _print_judgement(console: Console, folder: Path, summary: dict[str, Any]) -> None:
    ranking = tables.read_table(folder / _RANKING, text=["option"])
    rows = zip(*(ranking[name] for name in ("place", "option", "score", "selected")), strict=True)
    cells = [
        (str(place), str(option), f"{score:.4g}", "selected" if selected else "")
        for place, option, score, selected in itertools.islice(rows, _MOST_LISTED)
    ]
    print_table(console, [*numbers("place"), names("option"), *numbers("score", "")], cells)
    say(console, *_lines(summary), f"{summary['comparisons']:,} comparisons; {folder}")


def _lines(summary: dict[str, Any]) -> list[str]:
    lines = []
    if summary["reading"] == "win":
        lines.append(
            "scores are read as the first's share of a win: 1 won, 0 lost, 0.5 tied; "
            "--score margin reads by how much the first was better"
        )
    if not summary["connected"]:
        lines.append("options that no chain of comparisons connects are in no order yet")
    if summary["model"] == "linked":
        lines.append(
            f"some pairs have fewer than {LEAST_OF_A_PAIR} comparisons: ranking, probability and "
            "advice are of one model of all of them, score = quality of the first - quality of the "
            "second + noise of one variance (least squares)"
        )
    lines.append(f"probability that the selection is right: {_sureness(summary)}")
    counts = Counter(" - ".join(pair) for pair in summary["next"])
    pairs = (pair if n == 1 else f"{pair} ({n:,} times)" for pair, n in counts.items())
    lines.append(f"compare next: {'; '.join(pairs)}")
    log_chance = summary["log_chance_of_change"]
    if log_chance is None or log_chance < math.log(_UNLIKELY):
        is_shown = log_chance is not None and log_chance >= math.log(_LEAST_SHOWN)
        chance = f"{math.exp(log_chance):.1g} at most" if is_shown else f"below {_LEAST_SHOWN:g}"
        lines.append(
            "none of these comparisons is likely to change the selection by itself: "
            f"the chance is {chance}"
        )
    return lines


def _sureness(summary: dict[str, Any]) -> str:
    confidence = summary["confidence"]
    if confidence is not None:
        about = "above 0.999" if confidence > _SURE else f"about {confidence:.3f}"
        return f"{about}, an estimate without guarantee"
    if not summary["connected"]:
        return "not known yet: compare options that nothing connects"
    if summary["model"] == "linked":
        return "not known yet: there are too few comparisons to tell how noisy they are"
    return "not known: the scores are too large or too small to tell"
