"""Thousands of jobs at once, as one compiled program over lanes."""

from jaxrace.sweep.engine import SweepLog, run
from jaxrace.sweep.rows import Rows
from jaxrace.sweep.work import Jobs, Work, stacked

__all__ = ["Jobs", "Rows", "SweepLog", "Work", "run", "stacked"]
