"""`jaxrace duel FILE`: who beats whom. Imports no JAX."""

import dataclasses
from pathlib import Path

import numpy as np

from jaxrace.commands.duel.config import DuelConfig
from jaxrace.judging import standing
from jaxrace.runs import tables

FIGURE, OPTIONS = "matrix.png", "options.csv"


def ask(config: DuelConfig) -> standing.Standing:
    """Judge the matrix in a file."""
    asked = {"decimal": config.decimal, "delimiter": config.delimiter}
    return standing.duel(config.matrix, argument="matrix", **asked)


def write(folder: Path, found: standing.Standing) -> None:
    """Write who beats how many as a table."""
    rows = [dataclasses.asdict(one) for one in found.options]
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    if rows[0]["clearly"] is None:
        del columns["clearly"]
    tables.write_table(folder / OPTIONS, columns)
