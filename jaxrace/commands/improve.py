"""Find a policy that is certainly no worse, in a log of decisions.

Its mean return is no lower than a floor, by a lower confidence bound. The floor is by default
an estimate of what the policy in use earns: the mean return of the fifth of the log that is
searched. A file has a row for each step (CSV: trajectory, action, probability, reward, perhaps
behaviour, and what was observed) or arrays [n, T] (NPZ). Imports no JAX. --out leaves a folder
with config.json, log.csv, summary.json and policy.npz. The error probability is that of one
test: for a log that is tried again until something passes, it is larger. Exit status: 0, or 3
where there is no better policy.

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
    "betting": "safe: what no gambler could refute; tighter",
    "betting-anytime": "the same for any number of values; for one look too",
    "bernstein": "safe: empirical Bernstein, values above 5 count as 5",
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
_ROLES = ("trajectory", "action", "probability", "reward", "behaviour", "context")
_FILE = """A file of logged decisions: a table (CSV or other text with delimiters, JSON, Excel,
    Parquet) with a row for each, or an NPZ file of arrays."""
_COLUMNS = f"""Of a table: columns by their roles, if they have other names, such as
    action=item,reward=click,probability=p,context=age,context=device; the roles are
    {", ".join(_ROLES[:-1])} and {_ROLES[-1]} (default: all others)."""

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
