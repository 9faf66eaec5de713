"""A block of lanes: its programs, whose jobs its lanes have, and its turns. Axes: W lanes."""

import time
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from jaxrace.compilation import compile_ahead
from jaxrace.sweep import lanes, lapack
from jaxrace.sweep.bare import bare, dressed, zeros
from jaxrace.sweep.rows import Rows, taken_from
from jaxrace.sweep.sizing import Device
from jaxrace.sweep.work import Jobs, Work

# A burst ends when this share of its lanes has to be refilled.
_REFILL_SHARE = 10

# Seconds that a burst should take at most: only between two of them a sweep is shown, saved and
# stopped. A step may take a minute.
_LONGEST_BURST = 5.0


class Programs:
    """The compiled programs for one device."""

    def __init__(self, work: Work, jobs: Jobs, width: int, device: Device) -> None:
        self._device = device
        self._work = self._put(work)
        some = self._put(jobs.rows(np.zeros(width, np.int64)))
        self._states = jax.eval_shape(jax.vmap(self._work.init), some)
        mask, count = self._put((np.zeros(width, bool), np.int32(0)))
        block = self.make_block()
        self._refill = compile_ahead(lanes.refill, self._work, block, some, mask, mask)
        self._advance = compile_ahead(
            lanes.advance,
            self._work,
            block,
            count,
            count,
        )

    def run_alone(self) -> bool:
        """Must blocks of this device advance one after the other?"""
        programs = (self._refill, self._advance) if self._device.platform == "cpu" else ()
        return any(lapack.may_hang(program.as_text()) for program in programs)

    def refill(self, block: lanes.Block, *args: Any) -> lanes.Block:
        """See ``lanes.refill``."""
        return self._refill(self._work, block, *self._put(args))

    def advance(self, block: lanes.Block, *args: Any) -> tuple[lanes.Block, lanes.Burst]:
        """See ``lanes.advance``."""
        return self._advance(self._work, block, *self._put(args))

    def make_block(self) -> lanes.Block:
        """A block without a job."""
        states = zeros(self._states)
        width = jax.tree.leaves(states)[0].shape[0]
        return self._put(lanes.Block(states, jnp.zeros(width, bool)))

    def restore_block(self, leaves: list[np.ndarray]) -> lanes.Block:
        """A block from what ``LaneBlock.saved`` gave."""
        *states, alive = leaves
        structure = jax.tree.structure(jax.eval_shape(bare, self._states))
        states = dressed(jax.tree.unflatten(structure, states), self._states)
        return self._put(lanes.Block(states, jnp.asarray(alive)))

    def _put(self, arrays: Any) -> Any:
        return jax.device_put(arrays, self._device)


class Owners(NamedTuple):
    """Whose the lanes of a block are: NumPy arrays [W]."""

    job: NDArray[np.int64]  # -1 where the lane is free
    step: NDArray[np.int64]  # steps that the job has played
    unused: NDArray[np.bool_]  # the lane never had a job


class Turn(NamedTuple):
    """What a block has done in one turn."""

    rows: Rows
    ended: NDArray[np.int64]  # the jobs that are done or failed
    failed: NDArray[np.int64]  # those that failed
    lane_steps: int  # steps that were computed, all lanes together


class Source(Protocol):
    """Where a block gets its jobs."""

    def take(self, free: NDArray[np.bool_]) -> tuple[NDArray[np.int64], bool]:
        """The next job of each free lane, -1 if there is none; and do any others wait?"""
        ...


class LaneBlock:
    """A block of lanes, and whose jobs they have.

    Args:
        programs: Of its device.
        jobs: Of the sweep.
        width: W.
    """

    def __init__(self, programs: Programs, jobs: Jobs, width: int) -> None:
        self._programs = programs
        self._jobs = jobs
        self._block = programs.make_block()
        self._most_steps = 1  # how long one takes is not known yet
        nobody = np.full(width, -1)
        self.owners = Owners(nobody, np.zeros(width, np.int64), np.ones(width, bool))

    def saved(self) -> list[np.ndarray]:
        """Copies of all arrays on the device."""
        leaves = jax.tree.leaves((bare(self._block.states), self._block.alive))
        return [np.array(leaf) for leaf in jax.device_get(leaves)]

    def restore(self, leaves: list[np.ndarray], owners: Owners) -> None:
        """Go on from what ``saved`` and ``owners`` were."""
        self._block = self._programs.restore_block(leaves)
        self.owners = owners

    def turn(self, source: Source, limit: int) -> Turn | None:
        """Refill, and play a burst of at most ``limit`` steps, fewer if they take long.

        None without a job to play.
        """
        job, step, _ = self.owners
        waiting = self._refill(source)
        if (job < 0).all():
            return None
        width = len(job)
        # Without jobs that wait, there is no reason to stop early.
        quota = max(1, width // _REFILL_SHARE) if waiting else width
        counts = np.int32(min(limit, self._most_steps)), np.int32(quota)
        started = time.perf_counter()
        self._block, burst = self._programs.advance(self._block, *counts)
        burst, alive = jax.device_get((burst, self._block.alive))
        seconds = max(time.perf_counter() - started, 1e-6)
        self._most_steps = max(int(burst.num_steps * _LONGEST_BURST / seconds), 1)
        rows = taken_from(burst, job, step)
        has_ended = (job >= 0) & ~alive
        ended, failed = job[has_ended], job[has_ended & burst.failed]
        step += burst.ran.sum(0)
        job[has_ended], step[has_ended] = -1, 0
        return Turn(rows, ended, failed, int(burst.num_steps) * width)

    def _refill(self, source: Source) -> bool:
        """Give free lanes their next jobs; do any jobs wait still?"""
        owners = self.owners
        job, waiting = source.take(owners.job < 0)
        taken = job >= 0
        if taken.any():
            owners.job[taken] = job[taken]
            # Lanes that never had a job get a copy of another's.
            rows = self._jobs.rows(np.where(taken, job, job[taken][0]))
            self._block = self._programs.refill(self._block, rows, taken | owners.unused, taken)
            owners.unused[:] = False
        return waiting
