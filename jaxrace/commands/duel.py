"""Say who beats whom in a matrix of wins or preferences.

Prints who beats how many, who is the best in which way and, of counts, how clear that is.
Imports no JAX. Exit status: 0, or 3 for counts by which it is not clear that one beats all
others.

For example:
  jaxrace duel wins.csv
  jaxrace duel wins.csv --out runs/wins
"""

from pathlib import Path
from typing import Any

from jaxrace.commands.front import arguments, config_of, write_rows
from jaxrace.judging.standing import DuelOfMatrix, duel
from jaxrace.tables import read_matrix

FIGURE = "matrix.png"
_FILE = """A file with p_ij (arm i beats arm j), or how often i has beaten j, in row i and
    column j, perhaps with names (CSV or other text with delimiters, Excel, Parquet, .npy)."""

Config = config_of(__doc__, ("matrix", _FILE), duel, read_matrix)


def ask(config: Any) -> tuple[DuelOfMatrix, str]:
    """Judge the matrix in a file."""
    return duel(config.matrix, argument="matrix", **arguments(read_matrix, config)), ""


def write(folder: Path, found: DuelOfMatrix) -> None:
    """Write who beats how many as a table."""
    write_rows(folder / "options.csv", found.options)
