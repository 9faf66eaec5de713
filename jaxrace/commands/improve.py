"""Find a policy that is certainly better than the one in use, in a log of decisions.

By a lower confidence bound of its gain in mean return. With --floor X: one whose mean return is
certainly X or more. A fifth of the log is searched, and the rest tests what is found, once; the
other of the two questions is answered besides, with an error probability of its own. If you try a
log again until something passes, these grow. All of it supposes that trajectories are independent,
or of independent clusters, such as users, and that the logged probabilities are right.

A table has a row for each step, with columns such as trajectory, action, probability, reward,
perhaps behaviour and cluster, and what was observed. An NPZ file has arrays [n, T]. --out leaves a
folder with config.json, log.csv, summary.json and policy.npz. Imports no JAX.

Exit status: 0; 3 if no policy passes; 4 data refused: wrong probabilities, copies of rows, or users
whose rewards are alike.

For example:
  jaxrace improve log.csv --low 0 --high 20
  jaxrace improve log.csv --low 0 --high 20 --bound ci --floor 0.25 --out runs/new-policy
"""

from pathlib import Path
from typing import Any

from jaxrace.commands.front import arguments, config_of
from jaxrace.core.validation import BadArgument
from jaxrace.judging.policies import ImprovementOfLog, improve
from jaxrace.runs import files, tables
from jaxrace.tables import read_log

FIGURE = "performance.png"
BOUNDS: dict[str, str] = {
    "ci": "safe: a concentration inequality for heavy tails",
    "betting": "safe: by bets, the tightest; for a known number of values",
    "betting-anytime": "safe: as betting, for any number of values; still one look",
    "bernstein": "safe: empirical Bernstein; values above 5 count as 5",
    "t": "semi-safe: Student's t",
    "bca": "semi-safe: the corrected bootstrap",
    "percentile": "semi-safe: the plain bootstrap",
}

_TABLES = (
    ".csv",
    ".tsv",
    ".txt",
    ".json",
    ".jsonl",
    ".ndjson",
    ".dsjson",
    ".parquet",
    ".feather",
    ".xlsx",
)
_ROLES = ("trajectory", "action", "probability", "reward", "behaviour", "cluster", "context")
_FILE = """A file of logged decisions. A table (CSV or other text with delimiters, JSON, Excel,
    Parquet) has a row for each. Or an NPZ file of arrays."""
_COLUMNS = f"""Columns by their roles, if they have other names, such as
    action=item,reward=click,context=age,context=device. Roles are {", ".join(_ROLES[:-1])} and
    {_ROLES[-1]} (all other columns, unless given)."""

Config = config_of(__doc__, ("log", _FILE), improve, read_log, columns=(str | None, None, _COLUMNS))


def ask(config: Any) -> tuple[ImprovementOfLog, str]:
    """Search a log, and test what is found."""
    is_arrays = config.log.lower().endswith(".npz")
    if not (is_arrays or config.log.lower().endswith(_TABLES)):
        expected = f"a file that ends in .npz, {', '.join(_TABLES)}"
        raise BadArgument("log", expected, repr(config.log))
    wanted = "the least and the largest possible return, as in --low 0 --high 1"
    of_table = arguments(read_log, config)
    for name in ("low", "high"):
        if getattr(config, name) is None:
            raise BadArgument(name, wanted, "None")
    for name, value in of_table.items() if is_arrays else ():
        if value not in (None, "auto"):
            raise BadArgument(name, f"none with {config.log}, as it is of a table", repr(value))
    of_table |= {"argument": "log"}
    return improve(config.log, **arguments(improve, config), **of_table), ""


def write(folder: Path, found: ImprovementOfLog) -> None:
    """Write the policy, see ``jaxrace.load_policy``, and the test as a table of one row."""
    summary = found.summary
    passed, bound = bool(summary["passed"]["mean"]), "upper" if summary["smaller"] else "lower"
    row = {
        "repeat": 0,
        "trajectories": summary["trajectories"],
        "passed": passed,
        "added": passed,
        **{name: summary[name] for name in (f"{bound}_bound", "estimate", "delta")},
    }
    tables.write_table(folder / "log.csv", row)
    files.write_arrays(folder / "policy.npz", **found.policy.arrays())
