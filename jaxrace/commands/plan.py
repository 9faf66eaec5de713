"""Say how many runs a race, a ranking or a gate will need.

Simulates the very race, from a pilot or from stated options. A pilot is a table of at least five
runs of each option. Its gaps may be larger or smaller than they look, and the simulation draws
from all that it leaves possible. Stated options need --options, --gap and --spread.

Right or wrong answers with chances p and q have a spread of about sqrt(p (1 - p)), and differences
a spread of sqrt(A - (p - q)^2), where A is the share of questions on which just one of the two is
right: p (1 - q) + q (1 - p) if nothing is in common. So --correlation is about
1 - (A - (p - q)^2) / (2 spread^2). Of .80 and .85 that differ on .15 of questions the spread is
.38, and the correlation .49.

Votes and games have no plan. `jaxrace gate` of a few of them forecasts how many more it takes.

Half of such races end between the first and the last quartile that are printed. Runs of the pilot
count, unless --fresh. All options run alike: a race that follows --next needs fewer runs. Imports
no JAX.

With --order-by-lot it plans one look: choose a number of tasks, run them all, and look once. A
pilot has been looked at, so its tasks do not count then.

Exit status: 0.

For example:
  jaxrace plan pilot.csv --shared
  jaxrace plan pilot.csv --shared --of 2000 --by mean --low 0 --high 1 --budget 800
  jaxrace plan --options 5 --gap 0.05 --spread 0.4 --correlation 0.5
  jaxrace plan --options 2 --gap 0.05 --spread 0.38 --correlation 0.49 --baseline main
"""

from pathlib import Path
from typing import Any

from jaxrace.commands.front import arguments, config_of, write_rows
from jaxrace.judging import PlanOfRace, plan, race
from jaxrace.judging.plan import NOT_SIMULATED
from jaxrace.tables import read_scores

FIGURE = "plan.png"
_FILE = """A file of scores that `jaxrace race` reads. Without it options are stated."""

Config = config_of(
    __doc__,
    ("pilot", _FILE),
    *(plan, race, read_scores),
    without=(*NOT_SIMULATED, "header"),
    needs_file=False,
)


def ask(config: Any) -> tuple[PlanOfRace, str]:
    """Plan a race by a pilot, or by what is stated."""
    table = config.pilot
    if table is not None:
        names = config.options or ""
        about: Any = {"options": "" if names.isdecimal() else names}  # so many: stated
        table = read_scores(table, **arguments(read_scores, config) | about)
    given = arguments(race, config) | arguments(plan, config)
    return plan(table, **given), ""


def write(folder: Path, found: PlanOfRace) -> None:
    """Write with how many runs which share of the races is answered."""
    write_rows(folder / "plan.csv", found.quantiles)
