"""Find the best k from votes, games or other comparisons of two.

Prints the ranking, what is certain, and what to compare next. A score is a margin or a share of a
win. A margin says by how much the first was better, or just 1, -1 and 0 for won, lost and tied. A
share of a win is 1, 0 or 0.5. --score margin or --score win says which, where the file does not.
Imports no JAX.

Exit status: 0 certified, by the games alone; 3 not yet, however likely the model's guess is; 4 data
refused, which contradict what is assumed: the same games twice, or games that are not alike.

For example:
  jaxrace select games.csv --top 3 --next 10
  jaxrace select votes.csv --score win --out runs/votes
"""

from pathlib import Path
from typing import Any

from jaxrace.commands.front import arguments, config_of, write_rows
from jaxrace.judging.rating import SelectionOfVotes, select
from jaxrace.tables import read_votes

FIGURE = "ranking.png"
_FILE = """A file of comparisons (CSV or other text with delimiters, JSON, Excel, Parquet, PGN),
    or a folder of such files, which are read as one. Two columns name the options, such as
    first and second, or model_a and model_b. One column says who has won, such as score,
    winner or result."""

Config = config_of(__doc__, ("votes", _FILE), select, read_votes)


def ask(config: Any) -> tuple[SelectionOfVotes, str]:
    """Judge a file of comparisons."""
    given = arguments(read_votes, config) | arguments(select, config)
    return select(config.votes, argument="votes", **given), ""


def write(folder: Path, found: SelectionOfVotes) -> None:
    """Write the ranking as a table."""
    write_rows(folder / "ranking.csv", found.options, "place")
