"""Thousands of jobs at once, as one compiled program over lanes."""

from jaxrace.sweep.beats import Beats
from jaxrace.sweep.checkpoint import Checkpoints, is_saved
from jaxrace.sweep.engine import SweepLog, run
from jaxrace.sweep.hosts import Hosts, join_hosts
from jaxrace.sweep.once import Once
from jaxrace.sweep.player import OnRows
from jaxrace.sweep.rows import Rows, RowStore
from jaxrace.sweep.sizing import default_sizes, num_cores
from jaxrace.sweep.stopping import HostLost, Interrupted, StopOnSignals
from jaxrace.sweep.work import Jobs, Work, stacked

__all__ = [
    "Beats",
    "Checkpoints",
    "HostLost",
    "Hosts",
    "Interrupted",
    "Jobs",
    "OnRows",
    "Once",
    "RowStore",
    "Rows",
    "StopOnSignals",
    "SweepLog",
    "Work",
    "default_sizes",
    "is_saved",
    "join_hosts",
    "num_cores",
    "run",
    "stacked",
]
