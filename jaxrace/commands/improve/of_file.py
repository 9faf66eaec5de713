"""`jaxrace improve FILE`: a better policy from a log of decisions. Imports no JAX."""

from pathlib import Path

import numpy as np

from jaxrace.commands.improve.config import ImproveConfig
from jaxrace.judging.policies import ImprovementOfLog, improve
from jaxrace.runs import files, tables

FIGURE, POLICY, LOG = "performance.png", "policy.npz", "log.csv"


def ask(config: ImproveConfig) -> ImprovementOfLog:
    """Search a log, and test what is found."""
    return improve(config.log, **config.asked)


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
    tables.write_table(folder / LOG, {name: np.array([value]) for name, value in row.items()})
    with files.new_file(folder / POLICY) as file:
        np.savez(file, **found.policy.arrays())
