"""Sweeps that take a second or two: all jobs at once, step by step, on the host.

One program for a whole step would take ten times as long to compile as to run. Work that has a
``step_lanes`` makes it of small programs instead, which it shares with others. Axes: W lanes, a job
in each.
"""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from jaxrace.compilation import bounded_jit
from jaxrace.sweep.lanes import Burst, Lanes, Program, no_states
from jaxrace.sweep.work import Jobs, Work

# Jobs that go side by side: their states, and all that a step computes, are in memory at once.
_MOST_JOBS = 1024


def is_small(work: Work, jobs: Jobs, width: int) -> bool:
    """Is a sweep made of small programs? The one place that decides.

    A device that is not a CPU waits for each of them, and takes one large program.
    """
    is_on_cpu = jax.default_backend() == "cpu"
    has_steps = getattr(work, "step_lanes", None) is not None
    return jobs.brief and has_steps and is_on_cpu and width == jobs.count <= _MOST_JOBS


_ONE = np.ones(1, np.int32)  # steps of a burst


def _little(*_: Any) -> float:
    return 0.0


class SmallProgram(Program):
    """A program on one device, where every job has a lane of its own from the start."""

    def __init__(self, work: Any, jobs: Jobs, width: int, devices: Sequence[Any]) -> None:
        del devices
        self._work, self._some = work, jobs.inputs(np.zeros(width, np.int64))
        self.lanes = Lanes(None, np.zeros(width, bool))  # before any job has begun

    def dispatch(self, begun: tuple[Any, Any, Any] | None, limit: int, quota: int) -> Burst:
        """Play one step of all lanes that have a job, to its end."""
        del limit, quota
        if begun is not None:  # before, no lane had a job
            self.lanes = _begin(self._work, begun[0], begun[2])
        alive = np.asarray(self.lanes.alive)
        states, rows, ran = self._work.step_lanes(self.lanes.states, alive)
        alive, ran, failed = _end_step(self._work, states, rows, alive, ran)
        self.lanes = Lanes(states, alive)
        return Burst(
            jax.tree.map(lambda x: np.asarray(x)[None], rows), ran, failed, jax.device_put(_ONE)
        )

    def saved(self) -> dict[str, np.ndarray]:
        """Copies of all states, as of any program; zeros before a job has begun."""
        if self.lanes.states is None:
            self.lanes = Lanes(no_states(self._work, self._some), self.lanes.alive)
        return super().saved()

    def _put(self, arrays: Any, spec: Any = None) -> Any:
        return arrays


@bounded_jit(0, work=_little)
def _begin(work: Work, inputs: Any, taken: jax.Array) -> Lanes:
    states = jax.vmap(work.init)(inputs)
    return Lanes(states, taken & ~jax.vmap(work.done)(states))


@bounded_jit(0, work=_little)
def _end_step(
    work: Work, states: Any, rows: Any, alive: jax.Array, ran: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Of all lanes: do they go on, have they run, bool [1, W], and have they failed?"""
    ran = alive & ran
    failed = ran & jax.vmap(work.failed)(rows)
    return alive & ~failed & ~jax.vmap(work.done)(states), ran[None], failed
