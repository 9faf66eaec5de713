"""Thousands of jobs at once, as one compiled program over lanes."""

from jaxrace.sweep.checkpoint import Checkpoints
from jaxrace.sweep.engine import SweepLog, run
from jaxrace.sweep.player import Interrupted
from jaxrace.sweep.rows import Rows, RowStore
from jaxrace.sweep.work import Jobs, Work, stacked

__all__ = [
    "Checkpoints",
    "Interrupted",
    "Jobs",
    "RowStore",
    "Rows",
    "SweepLog",
    "Work",
    "run",
    "stacked",
]
