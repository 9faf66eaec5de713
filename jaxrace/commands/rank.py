"""Put the options of a table in tiers.

Says of each option its tier, the options tied with it, and the ranks that it may have. An option is
certainly better than all in the tiers below. All of this holds at every look, however often runs
are added. The better option scores higher more often than lower. With --by mean it has the higher
mean.

Runs must be independent. With --shared all options ran on the same tasks, in one order. See
`jaxrace race --help`. Imports no JAX.

Exit status: 0 answered, as --tiers or --tolerance ask, else with two tiers or more, or a list that
is known; 3 not yet; 4 data refused, which contradict what is assumed.

For example:
  jaxrace rank scores.csv
  jaxrace rank results.csv --shared --by mean --low 0 --high 1 --tolerance 0.01 --next next.csv
  jaxrace rank results.csv --shared --tiers 3 --cost prices.csv --report board.md
"""

from pathlib import Path
from typing import Any

from jaxrace.commands.front import write_rows
from jaxrace.commands.race import config_of_scores, judge_scores, write_next
from jaxrace.judging import RankOfTable, race, rank
from jaxrace.runs import plots

FIGURE = "rank.png"
Config = config_of_scores(__doc__, rank, race, without=["top"])


def ask(config: Any) -> tuple[RankOfTable, str]:
    """Judge a table of scores."""
    return judge_scores(rank, config)


def write(folder: Path, found: RankOfTable) -> None:
    """Write the options as a table, and the pairs that were asked for, with their figure."""
    write_rows(folder / "options.csv", found.options)
    if found.pairs:
        write_rows(folder / "pairs.csv", found.pairs)
        plots.save_twice(found.plot_pairs(), folder / "pairs.png")


FILES = {"next": write_next}
