"""The table that `jaxrace duel` prints."""

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Column

from jaxrace import runs
from jaxrace.commands.printing import numbers, plus_minus, print_table, say


def print_regrets(console: Console, folder: Path) -> None:
    """Print the regrets of a run folder of ``duel``, and what there is to say of its matrix."""
    summary = runs.read_summary(folder)
    facts = summary["matrix"]
    winner = facts["condorcet_winner"]
    say(
        console,
        f"{facts['arms']} arms; Condorcet winner {'none' if winner is None else winner}, "
        f"Copeland winners {_listed(facts['copeland_winners'])}, "
        f"Borda winners {_listed(facts['borda_winners'])}, "
        f"Smith set {_listed(facts['smith_set'])}",
    )
    # The others are in summary.json.
    measures = ("copeland", "borda") if winner is None else ("strong", "copeland")
    regrets = numbers(*(f"{measure} regret" for measure in measures))
    others = numbers("correct", "explored in", "favourite", no_wrap=False)
    sign, rows = plus_minus(console), []
    for name, one in summary.items():
        if name in ("horizon", "repeats", "matrix"):
            continue
        cells = [_number(one["regret"][measure], sign) for measure in measures]
        duels = one["exploration_duels"]
        explored = "-" if duels is None else f"{duels['mean']:,.0f}"
        if duels is not None and one["exploration_ended"] < 1:
            explored += f" ({one['exploration_ended']:.0%})"
        right = f"{one['correct']['mean']:.3f}"
        rows.append([name, *cells, right, explored, str(one["recommended_most"])])
    print_table(console, [Column("", no_wrap=True), *regrets, *others], rows)
    say(
        console,
        f"means of {summary['repeats']} repeats of {summary['horizon']:,} duels; correct: in the "
        f"end recommends a Copeland winner (with -borda in the name: a Borda winner); {folder}",
    )


def _number(statistic: dict[str, Any], sign: str) -> str:
    mean, stderr = statistic["mean"], statistic["stderr"]
    digits = 0 if mean >= 100 else 1
    return f"{mean:,.{digits}f}" + ("" if stderr is None else f" {sign} {stderr:,.{digits}f}")


def _listed(arms: list[int]) -> str:
    return ", ".join(map(str, arms)) if len(arms) <= 8 else f"{len(arms)} arms"
