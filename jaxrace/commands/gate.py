"""Let candidates pass that are better than a baseline, or not worse by a margin.

Says of each option but the baseline whether it is better, not worse by --margin, no better by it,
worse, or how many more runs it takes to know, about: at every look, however often runs are added.
An option is better than another if it scores higher more often than lower, or, --by mean, if its
mean is higher. Runs are independent, or, --shared, all options ran on the same tasks, in one order:
see `jaxrace race --help`. Imports no JAX. Exit status: 0 all candidates are better, or not worse by
the margin; 1 one is worse, or no better by the margin (as is every status of a command that failed,
which prints a line that begins with "jaxrace: error"); 3 not yet; 2 bad input.

For example:
  jaxrace gate scores.csv --baseline main
  jaxrace gate results.csv --baseline main --margin 0.01 --shared --by mean --low 0 --high 1
  jaxrace gate results.csv --baseline main --shared --looks gate.looks --report gate.md
"""

from pathlib import Path
from typing import Any

from jaxrace.commands.front import write_rows
from jaxrace.commands.race import config_of_scores, judge_scores, write_next
from jaxrace.judging import GateOfTable, gate, race

FIGURE = "gate.png"
Config = config_of_scores(__doc__, gate, race, without=("top", "tolerance"))


def ask(config: Any) -> tuple[GateOfTable, str]:
    """Judge a table of scores."""
    return judge_scores(gate, config)


def write(folder: Path, found: GateOfTable) -> None:
    """Write the candidates as a table."""
    write_rows(folder / "candidates.csv", found.candidates)


FILES = {"next": write_next}
