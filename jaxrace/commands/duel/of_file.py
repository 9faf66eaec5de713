"""`jaxrace duel FILE`: who beats whom. Imports no JAX."""

import dataclasses
from pathlib import Path

import numpy as np

from jaxrace import data, tables
from jaxrace.commands.duel.config import MATRICES, DuelConfig
from jaxrace.judging import standing

FIGURE, OPTIONS = "matrix.png", "options.csv"


def ask(config: DuelConfig) -> standing.Standing:
    """Judge the matrix in a file."""
    return standing.duel(read(config))


def write(folder: Path, found: standing.Standing) -> None:
    """Write who beats how many as a table."""
    rows = [dataclasses.asdict(one) for one in found.options]
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    if rows[0]["clearly"] is None:
        del columns["clearly"]
    tables.write_table(folder / OPTIONS, columns)


def read(config: DuelConfig) -> data.Matrix:
    """Who beats whom, by the file that the options name."""
    if "." not in config.matrix and not Path(config.matrix).exists():
        raise ValueError(
            f"matrix: expected a file or one of {', '.join(MATRICES)}, got {config.matrix!r}"
        )
    found = data.read_matrix(config.matrix, decimal=config.decimal, delimiter=config.delimiter)
    if config.arms not in (None, len(found.names)):
        raise ValueError(
            f"arms: expected {len(found.names)}, as in {config.matrix}, got {config.arms}"
        )
    return found
