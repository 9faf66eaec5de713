"""Thousands of jobs at once, as one compiled program over lanes."""

from jaxrace.sweep.checkpoint import Checkpoints, is_saved
from jaxrace.sweep.cluster import Ray, connected
from jaxrace.sweep.engine import OnRows, SweepLog
from jaxrace.sweep.places import default_devices, default_width, num_cores, use_all_cores
from jaxrace.sweep.rows import Rows, RowStore
from jaxrace.sweep.shards import width_on
from jaxrace.sweep.stopping import Interrupted, StopOnSignals
from jaxrace.sweep.sweep import run
from jaxrace.sweep.work import Jobs, Once, Work, stacked

__all__ = [
    "Checkpoints",
    "Interrupted",
    "Jobs",
    "OnRows",
    "Once",
    "Ray",
    "RowStore",
    "Rows",
    "StopOnSignals",
    "SweepLog",
    "Work",
    "connected",
    "default_devices",
    "default_width",
    "is_saved",
    "num_cores",
    "run",
    "stacked",
    "use_all_cores",
    "width_on",
]
