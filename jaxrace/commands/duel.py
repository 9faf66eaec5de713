"""Say who beats whom in a matrix of wins or preferences.

Prints how many others each option beats, and who is the best in which way. Of counts it also says
which pairs are clear. Imports no JAX.

Exit status: 0; 3 if counts do not make it clear that one option beats all others.

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
_FILE = """A file (CSV or other text with delimiters, JSON, Excel, Parquet, .npy), perhaps with
    names. In row i and column j is the probability that i beats j, or how often i has beaten j."""

Config = config_of(__doc__, ("matrix", _FILE), duel, read_matrix)


def ask(config: Any) -> tuple[DuelOfMatrix, str]:
    """Judge the matrix in a file."""
    return duel(config.matrix, argument="matrix", **arguments(read_matrix, config)), ""


def write(folder: Path, found: DuelOfMatrix) -> None:
    """Write who beats how many as a table."""
    write_rows(folder / "options.csv", found.options)
