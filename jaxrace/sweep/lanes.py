"""The compiled part of a sweep: a block of lanes, each with a job, and bursts of steps.

A block has W lanes whatever the number of blocks: XLA rounds sums differently in batches of
another width. Axes: W lanes, S = ``MOST_STEPS``.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxrace.sweep.work import Jobs, Work

# Room for the rows of one burst. A constant, so that every length of burst is the same program.
MOST_STEPS = 32


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Block:
    """The lanes of a block between two bursts."""

    states: Any  # leaves [W, ...]
    alive: jax.Array  # bool [W], has a job that is neither done nor failed


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Burst:
    """What a burst leaves for the log."""

    rows: Any  # leaves [S, W, ...]
    ran: jax.Array  # bool [S, W], the rows that there are
    failed: jax.Array  # bool [W], the job failed in this burst
    num_steps: jax.Array  # int32 [], played by the block


def shapes_of(work: Work, jobs: Jobs) -> tuple[Any, Any]:
    """What a state and a row are, as ``jax.ShapeDtypeStruct``s."""
    # As JAX takes them: it has no 64 bits unless it is told so.
    rows = jax.tree.map(jnp.asarray, jobs.rows(np.zeros(0, np.int64)))
    job = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape[1:], x.dtype), rows)
    return jax.eval_shape(_first_step, work, job)


# Under jit, so that the same work is traced once however often its shapes are asked for.
@jax.jit
def _first_step(work: Work, job: Any) -> tuple[Any, Any]:
    return work.step(work.init(job))


@jax.jit
def refill(work: Work, block: Block, jobs: Any, new: jax.Array, taken: jax.Array) -> Block:
    """Begin jobs in some of the lanes.

    Args:
        work: What to do.
        block: As it is.
        jobs: What ``init`` is given, leaves [W, ...].
        new: bool [W], the lanes that begin; the others stay as they are.
        taken: bool [W], those of them that have a job. To the others something like a job is
            given, so that there is a state to step; what comes of it is nobody's.
    """

    def begin_lane(old: Any, job: Any, is_new: jax.Array) -> tuple[Any, jax.Array]:
        state = work.init(job)
        state = jax.tree.map(lambda x, y: jnp.where(is_new, x, y), state, old)
        return state, ~work.done(state)

    states, begun = _over_lanes(begin_lane, len(new))(block.states, jobs, new)
    return Block(states, jnp.where(new, taken & begun, block.alive))


@functools.partial(jax.jit, donate_argnums=1)
def advance(work: Work, block: Block, limit: jax.Array, quota: jax.Array) -> tuple[Block, Burst]:
    """Step all lanes that are alive, until enough of their jobs have ended.

    Args:
        work: What to do.
        block: Used up.
        limit: int32 [], the most steps, 1 .. S.
        quota: int32 [], the number of jobs that have to end to end the burst.
    """
    width = block.alive.shape[0]
    shapes = jax.eval_shape(_step, work, block.states, block.alive)[1]
    rows = jax.tree.map(lambda x: jnp.zeros((MOST_STEPS, *x.shape), x.dtype), shapes)
    nobody = jnp.zeros(width, bool)
    start = Burst(rows, jnp.zeros((MOST_STEPS, width), bool), nobody, jnp.int32(0))
    enough = block.alive.sum(dtype=jnp.int32) - quota

    def goes_on(carry: tuple[Block, Burst]) -> jax.Array:
        block, burst = carry
        num_alive = block.alive.sum(dtype=jnp.int32)
        return (burst.num_steps < limit) & (num_alive > jnp.maximum(enough, 0))

    def play(carry: tuple[Block, Burst]) -> tuple[Block, Burst]:
        block, burst = carry
        states, row, alive, fails = _step(work, block.states, block.alive)
        at = burst.num_steps
        rows = jax.tree.map(lambda all_rows, x: all_rows.at[at].set(x), burst.rows, row)
        ran = burst.ran.at[at].set(block.alive)
        return Block(states, alive), Burst(rows, ran, burst.failed | fails, at + 1)

    return lax.while_loop(goes_on, play, (block, start))


# Under jit, so that it is traced once for the shapes of its rows and for the loop.
@jax.jit
def _step(work: Work, states: Any, alive: jax.Array) -> tuple[Any, Any, jax.Array, jax.Array]:
    """States, rows, which lanes go on, and which ones fail."""

    def step_lane(state: Any, is_alive: jax.Array) -> tuple[Any, Any, jax.Array, jax.Array]:
        new, row = work.step(state)
        fails = is_alive & work.failed(row)
        goes_on = is_alive & ~fails  # what has failed is not stepped on with
        # What a step leaves as it is may be a key, which must not be chosen from twice.
        new = jax.tree.map(lambda x, y: y if y is x else jnp.where(goes_on, y, x), state, new)
        return new, row, goes_on & ~work.done(new), fails

    return _over_lanes(step_lane, len(alive))(states, alive)


def _over_lanes(function: Callable[..., Any], width: int) -> Callable[..., Any]:
    """``function`` for all lanes; a single one is not batched, so that its branches are real."""
    if width > 1:
        return jax.vmap(function)

    def alone(*args: Any) -> Any:
        found = function(*jax.tree.map(lambda x: x[0], args))
        return jax.tree.map(lambda x: jnp.asarray(x)[None], found)

    return alone
