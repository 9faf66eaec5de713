"""Put the tasks of several benchmarks in an order by lot, before any of them is run.

Options run the tasks in this order. They may stop as soon as it is clear who is best on average:
`jaxrace race RESULTS --shared --weights equal --seed N --of TASKS` says so at any time. Imports no
JAX.

Exit status: 0.

For example:
  jaxrace order questions.csv --groups subject --seed 1 --to order.csv
  jaxrace order questions.csv --weights size
"""

from pathlib import Path
from typing import Any

import numpy as np

from jaxrace.commands.front import arguments, config_of
from jaxrace.judging.order import OrderOfTasks, order
from jaxrace.runs import tables

FIGURE = "order.png"
_FILE = """A file of all tasks and their groups (CSV, JSON, JSON lines, Excel, Parquet), with
    columns such as question and subject."""
_TO = "A CSV file to write: the rows of TASKS in the order in which to run them."

Config = config_of(__doc__, ("tasks", _FILE), order, without=("items",), to=(str | None, None, _TO))


def ask(config: Any) -> tuple[OrderOfTasks, str]:
    """Draw an order of the tasks in a file."""
    return order(config.tasks, **arguments(order, config)), ""


def write(folder: Path, found: OrderOfTasks) -> None:
    """Write the order as a table."""
    _write_order(folder / "order.csv", found)


def _write_order(path: Path, found: OrderOfTasks) -> None:
    tables.write_table(path, {head: np.array(cells) for head, cells in found.columns.items()})


FILES = {"to": _write_order}
