"""Thousands of jobs at once, as one compiled program over lanes."""

from jaxrace.sweep.checkpoint import Checkpoints, is_saved
from jaxrace.sweep.cluster import Ray, connected
from jaxrace.sweep.lanes import default_width, num_cores, use_all_cores
from jaxrace.sweep.log import Rows, SweepLog
from jaxrace.sweep.shards import width_on
from jaxrace.sweep.stopping import Interrupted, StopOnSignals
from jaxrace.sweep.sweep import run
from jaxrace.sweep.work import Jobs, Once, Work, stacked

__all__ = [
    "Checkpoints",
    "Interrupted",
    "Jobs",
    "Once",
    "Ray",
    "Rows",
    "StopOnSignals",
    "SweepLog",
    "Work",
    "connected",
    "default_width",
    "is_saved",
    "num_cores",
    "run",
    "stacked",
    "use_all_cores",
    "width_on",
]
