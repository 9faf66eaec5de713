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

from jaxrace.commands.front import arguments, config_of, write_rows
from jaxrace.commands.race import FILE, NEXT, NO_HEADER, write_next
from jaxrace.judging import GateOfTable, gate, race
from jaxrace.tables import read_scores

FIGURE = "gate.png"
_UNLIKE_RACE = ("top", "tolerance", "compare", "header")
Config = config_of(
    __doc__,
    ("scores", FILE),
    *(gate, race, read_scores),
    without=_UNLIKE_RACE,
    no_header=(bool, False, NO_HEADER),
    next=(str | None, None, NEXT),
)


def ask(config: Any) -> tuple[GateOfTable, str]:
    """Judge a table of scores; with a hint, if there is one."""
    header = not config.no_header
    table = read_scores(config.scores, header=header, **arguments(read_scores, config))
    found = gate(table, **arguments(race, config) | arguments(gate, config))
    hint = "if every row is a task on which all options ran: --shared compares them by it"
    return found, "" if config.shared or not table.fits_shared else hint


def write(folder: Path, found: GateOfTable) -> None:
    """Write the candidates as a table."""
    write_rows(folder / "candidates.csv", found.candidates)


FILES = {"next": write_next}
