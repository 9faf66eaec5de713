"""Thousands of jobs at once, as one compiled program over lanes."""

from jaxrace.core.signals import StopOnSignals as StopOnSignals
from jaxrace.sweep.checkpoint import Checkpoints as Checkpoints
from jaxrace.sweep.checkpoint import is_saved as is_saved
from jaxrace.sweep.cluster import connected as connected
from jaxrace.sweep.engine import Interrupted as Interrupted
from jaxrace.sweep.engine import run as run
from jaxrace.sweep.lanes import default_width as default_width
from jaxrace.sweep.lanes import num_cores as num_cores
from jaxrace.sweep.lanes import use_all_cores as use_all_cores
from jaxrace.sweep.log import Rows as Rows
from jaxrace.sweep.log import SweepLog as SweepLog
from jaxrace.sweep.shards import Ray as Ray
from jaxrace.sweep.work import Jobs as Jobs
from jaxrace.sweep.work import Once as Once
from jaxrace.sweep.work import Work as Work
from jaxrace.sweep.work import stacked as stacked
