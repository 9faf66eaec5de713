"""A brief sweep, all of its jobs side by side, by small programs in the place of one for all.

One program for a whole step would take ten times as long to compile as to run; small ones are
shared with others. Axes: J jobs, each with a lane.
"""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from jaxrace import sweep
from jaxrace.core.compilation import jit
from jaxrace.sweep.lanes import Burst, Lanes, begin

# All that a step computes is in memory at once.
_MOST_JOBS = 1024

_begin = jit(0)(begin)


def is_for(jobs: sweep.Jobs) -> bool:
    """Are there few jobs, for a second or two? Other devices than a CPU wait for every program."""
    return jobs.brief and jobs.count <= _MOST_JOBS and jax.default_backend() == "cpu"


def advance(work: Any, step_lanes: Callable[..., Any], lanes: Lanes, begun: Any) -> Any:
    """New lanes, and a ``Burst`` of one step, after ``begun``, if any, have begun.

    ``step_lanes(states, alive)`` gives states, rows and which of them ran.
    """
    if begun is not None:
        lanes = _begin(work, lanes, *begun)
    states, rows, ran = step_lanes(lanes.states, np.asarray(lanes.alive))
    alive, ran, failed = _end_step(work, states, rows, lanes.alive, ran)
    rows = jax.tree.map(lambda x: np.asarray(x)[None], rows)
    return Lanes(states, alive), Burst(rows, ran, failed)


@jit(0)
def _end_step(work: Any, states: Any, rows: Any, alive: Any, ran: Any) -> tuple[Any, Any, Any]:
    """Of all lanes: do they go on, bool [J], have they run, and have they failed? [1, J]."""
    ran = alive & ran
    failed = ran & jax.vmap(work.failed)(rows)
    return alive & ~failed & ~jax.vmap(work.done)(states), ran[None], failed[None]
