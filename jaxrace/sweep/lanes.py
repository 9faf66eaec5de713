"""The compiled part of a sweep: lanes, each with a job.

Axes: D devices, W lanes of each, S = ``MOST_STEPS``. XLA rounds sums differently for another W.
"""

import functools
import math
import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from jaxrace.core.compilation import LARGE, MIDDLING, jit
from jaxrace.core.keys import is_key
from jaxrace.core.programs import compile_ahead
from jaxrace.sweep.work import Jobs, Work

MOST_STEPS = 32  # of a burst; a constant, so that bursts of every length are one program
_CPU_WIDTH, _WIDTH = 32, 4096  # of 8 to 128 lanes on a CPU, 32 ran the most searches per second
# Lanes may have this share of the memory, if a step takes ten times its state.
_MEMORY_SHARE, _STEP_SHARE = 0.5, 10
_MOST_SIDE_BY_SIDE = 1024  # jobs that the host steps: all that a step computes is in memory at once

_SPLIT = P("lanes")


class Lanes(NamedTuple):
    """The lanes between two bursts."""

    states: Any  # leaves [D W, ...]
    alive: Any  # bool [D W], has a job that is neither done nor failed


class Burst(NamedTuple):
    """What a burst leaves for the log; a step leaves the same without the first axis."""

    rows: Any  # leaves [S, D W, ...]
    ran: Any  # bool [S, D W], the rows that count
    failed: Any  # bool [S, D W], the job fails in this step


def host_step(work: Any, jobs: Jobs, width: int) -> Callable[..., Any] | None:
    """How the host steps a few brief jobs side by side, if the work says how; see ``Work``.

    Devices other than a CPU would wait for every small program.
    """
    is_whole = width == jobs.count <= _MOST_SIDE_BY_SIDE and jobs.lanes is None
    if not (is_whole and jobs.brief and hasattr(work, "host_step")):
        return None
    return work.host_step(jobs) if jax.default_backend() == "cpu" else None


def program(
    work: Work, jobs: Jobs, width: int, devices: Sequence[Any], own: Any
) -> tuple[Lanes, Callable[..., tuple[Lanes, Burst]]]:
    """Lanes without jobs, and the function that advances them, which returns before it has ended.

    ``play(lanes, begun, limit, quota)`` is ``advance`` on all devices as one compiled program, or
    one step by the work's ``own``. ``begun`` is None if no job begins.
    """
    count = width * len(devices)
    some, mask = jobs.inputs(np.zeros(count, np.int64)), np.zeros(count, bool)
    shapes = jax.eval_shape(jax.vmap(work.init), some)
    # NumPy's where it can be: every shape of jnp.zeros is a program.
    zeros = jax.tree.map(lambda x: (jnp if is_key(x) else np).zeros(x.shape, x.dtype), shapes)
    none = Lanes(zeros, mask)
    if own is not None:
        return none, lambda lanes, begun, *_: _advance_side_by_side(work, own, lanes, begun)
    mesh = Mesh(np.array(devices), ("lanes",))

    def put(arrays: Any, spec: P = _SPLIT) -> Any:
        return jax.device_put(arrays, NamedSharding(mesh, spec))

    none, shared, nothing = put(none), put(work, P()), put((some, mask))

    def arguments(lanes: Lanes, begun: Any, limit: int, quota: int) -> tuple:
        limits = put((np.int32(limit), np.int32(quota)), P())
        return shared, lanes, put(begun) if begun else nothing, *limits

    like = arguments(none, None, 0, 0)
    work_of = MIDDLING if jobs.brief else LARGE
    advance_all = compile_ahead(_advance_all, mesh, *like, work=work_of)
    return none, lambda *given: advance_all(*arguments(*given))


@jax.jit
def traced_job(work: Work, job: Any) -> tuple[Any, Any, jax.Array, jax.Array]:
    """All that is done with one job: a state, a row, is it done, and has it failed."""
    state, row = work.step(work.init(job))
    return state, row, work.done(state), work.failed(row)


def traced(work: Work, jobs: Jobs) -> jax.stages.Traced:
    """``traced_job``, for the shapes of what it returns and for what it lowers to."""
    # As JAX takes them: it has no 64 bits unless it is told so.
    rows = jax.tree.map(jnp.asarray, jobs.inputs(np.zeros(0, np.int64)))
    job = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape[1:], x.dtype), rows)
    return traced_job.trace(work, job)


def _over_lanes(function: Callable[..., Any]) -> Callable[..., Any]:
    """For all lanes, given a work; a single one is not batched, so that its branches are real."""

    @functools.wraps(function)
    def of_lanes(work: Work, *args: Any) -> Any:
        if len(args[0].alive) > 1:
            return jax.vmap(functools.partial(function, work))(*args)
        found = function(work, *jax.tree.map(lambda x: x[0], args))
        return jax.tree.map(lambda x: jnp.asarray(x)[None], found)

    return of_lanes


@_over_lanes
def begin(work: Work, lane: Lanes, job: Any, begins: jax.Array) -> Lanes:
    """A lane without a job gets a state, which counts if it ``begins``."""
    new = work.init(job)
    state = jax.tree.map(lambda x, y: jnp.where(lane.alive, x, y), lane.states, new)
    return Lanes(state, lane.alive | begins & ~work.done(new))


@jax.jit  # traced once, for the shapes of its rows and for the loop
@_over_lanes
def _step(work: Work, lane: Lanes) -> tuple[Lanes, Burst]:
    """The lane after a step, and what that leaves."""
    new, row = work.step(lane.states)
    fails = lane.alive & work.failed(row)
    goes_on = lane.alive & ~fails
    # A leaf that the step does not change may be a key, which must not be used twice.
    new = jax.tree.map(lambda x, y: y if y is x else jnp.where(goes_on, y, x), lane.states, new)
    return Lanes(new, goes_on & ~work.done(new)), Burst(row, lane.alive, fails)


_begin_alone = jit(0)(begin)


def _advance_side_by_side(
    work: Any, step: Callable[..., Any], lanes: Lanes, begun: Any
) -> tuple[Lanes, Burst]:
    """Lanes after one ``host_step``: one program for it compiles for longer than it runs."""
    if begun is not None:
        lanes = _begin_alone(work, lanes, *begun)
    states, rows, ran = step(lanes.states, np.asarray(lanes.alive))
    alive, *ended = _end_step(work, states, rows, lanes.alive, ran)
    return Lanes(states, alive), Burst(jax.tree.map(lambda x: np.asarray(x)[None], rows), *ended)


@jit(0)
def _end_step(work: Any, states: Any, rows: Any, alive: Any, ran: Any) -> tuple[Any, Any, Any]:
    """Of all lanes: do they go on, bool [J], have they run, and have they failed? [1, J]."""
    ran = alive & ran
    failed = ran & jax.vmap(work.failed)(rows)
    return alive & ~failed & ~jax.vmap(work.done)(states), ran[None], failed[None]


@functools.partial(jax.jit, static_argnums=0, donate_argnums=2)
def _advance_all(mesh: Mesh, *args: Any) -> tuple[Lanes, Burst]:
    """``advance`` the lanes of every device."""
    given, left = (P(), _SPLIT, _SPLIT, P(), P()), (_SPLIT, P(None, "lanes"))
    play = jax.shard_map(advance, mesh=mesh, in_specs=given, out_specs=left, check_vma=False)
    return play(*args)


def advance(work: Work, lanes: Lanes, begun: Any, limit: Any, quota: Any) -> tuple[Lanes, Burst]:
    """Begin jobs in some lanes of a device, and step all that are alive: 1 .. ``limit`` steps.

    Ends when ``quota`` of their jobs have ended; both are int32 []. ``begun`` has what ``init`` is
    given, leaves [W, ...], and the lanes that begin, bool [W].
    """
    lanes = lax.cond(begun[1].any(), begin, lambda _, lanes, *rest: lanes, work, lanes, *begun)
    shapes = jax.eval_shape(_step, work, lanes)[1]
    none = jax.tree.map(lambda x: jnp.zeros((MOST_STEPS, *x.shape), x.dtype), shapes)
    least_alive = jnp.maximum(lanes.alive.sum(dtype=jnp.int32) - quota, 0)

    def goes_on(carry: tuple[jax.Array, Lanes, Burst]) -> jax.Array:
        at, lanes, _ = carry
        return (at < limit) & (lanes.alive.sum(dtype=jnp.int32) > least_alive)

    def step(carry: tuple[jax.Array, Lanes, Burst]) -> tuple[jax.Array, Lanes, Burst]:
        at, lanes, burst = carry
        lanes, left = _step(work, lanes)
        return at + 1, lanes, jax.tree.map(lambda all_left, x: all_left.at[at].set(x), burst, left)

    return lax.while_loop(goes_on, step, (jnp.int32(0), lanes, none))[1:]


def num_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def use_all_cores() -> None:
    """Let sweeps use all cores of a CPU; RuntimeError if JAX has computed anything before.

    JAX gets a device for each core, and one more. XLA cuts a batch of matrices in parts for its
    threads, one per device, and one of them waits for the others. Should every device of a sweep
    wait, the last thread still does the parts.
    """
    jax.config.update("jax_num_cpu_devices", num_cores() + 1)


def default_devices() -> list[Any]:
    """JAX's devices on this machine; of a CPU one for each core, and one is left out."""
    devices = jax.local_devices()
    is_cpu = devices[0].platform == "cpu"
    return devices[: max(min(num_cores(), len(devices) - 1), 1)] if is_cpu else devices


def default_width(work: Work, jobs: Jobs, devices: Sequence[Any] | None = None) -> int:
    """The lanes of each device unless they are given: see ``run``."""
    if host_step(work, jobs, jobs.count):
        return jobs.count
    device = (default_devices() if devices is None else devices)[0]
    most = _CPU_WIDTH if device.platform == "cpu" else _WIDTH
    room = (device.memory_stats() or {}).get("bytes_limit", math.inf) * _MEMORY_SHARE
    shapes = traced(work, jobs).out_info[:2]
    state, row = (sum(x.size * x.dtype.itemsize for x in jax.tree.leaves(y)) for y in shapes)
    most = max(int(min(most, room / max(_STEP_SHARE * state + MOST_STEPS * row, 1))), 1)
    # A little less, if each lane then has a job.
    return max(math.ceil(jobs.count / max(math.ceil(jobs.count / most), 1)), 1)
