"""`jaxrace select FILE`: which options are the best by comparisons. Imports no JAX."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from jaxrace.commands.select.config import OF_COLUMNS, SelectConfig
from jaxrace.judging import rating
from jaxrace.runs import tables

FIGURE, RANKING = "ranking.png", "ranking.csv"


def ask(config: SelectConfig) -> rating.SelectionOfVotes:
    """Judge a file of comparisons."""
    names = ("delta", "next", "score", "seed", *OF_COLUMNS)
    given: dict[str, Any] = {name: getattr(config, name) for name in names}
    return rating.select(config.votes, config.top, argument="votes", **given)


def write(folder: Path, found: rating.SelectionOfVotes) -> None:
    """Write the ranking as a table."""
    rows = [dataclasses.asdict(one) for one in found.options]
    ranking = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    for name in ("low", "high"):
        ranking[name] = ranking[name].astype(float)  # NaN where there is none
    tables.write_table(folder / RANKING, {"place": np.arange(1, len(rows) + 1)} | ranking)
