"""The compiled part of a sweep: lanes, each with a job, and bursts of steps.

Every device has W lanes, however many devices there are: XLA rounds sums differently in batches
of another width. Axes: D devices, W lanes of a device, S = ``MOST_STEPS``.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from jaxrace.compilation import bounded_jit, brief, compile_ahead
from jaxrace.keys import is_key, with_keys, without_keys
from jaxrace.sweep.work import Jobs, Work

# Room for the rows of one burst. A constant, so that every length of burst is the same program.
MOST_STEPS = 32

# Jobs that small programs step side by side: all that a step computes is in memory at once.
_MOST_SMALL_JOBS = 1024

_AXIS = "lanes"
_SPLIT = P(_AXIS)


class Lanes(NamedTuple):
    """The lanes between two bursts."""

    states: Any  # leaves [D W, ...]
    alive: Any  # bool [D W], has a job that is neither done nor failed


class Burst(NamedTuple):
    """What a burst leaves for the log."""

    rows: Any  # leaves [S, D W, ...]
    ran: Any  # bool [S, D W], the rows that there are
    failed: Any  # bool [D W], the job failed in this burst
    num_steps: Any  # int32 [D], played by the lanes of each device


class Program:
    """How the lanes of a sweep advance, and their arrays on its devices.

    As one program, compiled once for all devices; or, of what ``is_small``, by many small ones.
    """

    def __init__(
        self, work: Work, jobs: Jobs, width: int, devices: Sequence[Any], small: bool = False
    ) -> None:
        count = width * len(devices)
        some, mask = jobs.inputs(np.zeros(count, np.int64)), np.zeros(count, bool)
        self._mesh = None if small else Mesh(np.array(devices), (_AXIS,))
        self._work, self._nothing = self._put(work, P()), self._put((some, mask))
        self.lanes = self._put(Lanes(_no_states(work, some), mask))
        self._advance: Any = _advance_small
        if not small:
            arguments = self._arguments(None, 0, 0)
            self._advance = compile_ahead(_advance_all, self._mesh, *arguments, brief=jobs.brief)

    def dispatch(self, begun: tuple[Any, Any] | None, limit: int, quota: int) -> Burst:
        """Let all devices ``advance``, which goes on after the return; ``lanes`` are the new ones.

        ``begun`` is None if no job begins.
        """
        self.lanes, burst = self._advance(*self._arguments(begun, limit, quota))
        return burst

    def saved(self) -> dict[str, np.ndarray]:
        """Copies of all states, without keys, by names: leaves [D W, ...]."""
        leaves = jax.device_get(jax.tree.leaves(without_keys(self.lanes.states)))
        return {f"leaf_{number:03}": np.array(leaf) for number, leaf in enumerate(leaves)}

    def restore(self, saved: Mapping[str, np.ndarray], places: Any, alive: Any) -> None:
        """Go on from what ``saved`` gave, with the states at these places, int [D W]."""
        # What has no elements need not be there.
        leaves = [saved[name][places] if x.size else x for name, x in self.saved().items()]
        states = jax.tree.unflatten(jax.tree.structure(self.lanes.states), leaves)
        self.lanes = self._put(Lanes(with_keys(states, self.lanes.states), alive))

    def _arguments(self, begun: tuple[Any, Any] | None, limit: int, quota: int) -> tuple:
        begun = self._nothing if begun is None else self._put(begun)
        return self._work, self.lanes, begun, *self._put((np.int32(limit), np.int32(quota)), P())

    def _put(self, arrays: Any, spec: P = _SPLIT) -> Any:
        return jax.device_put(arrays, NamedSharding(self._mesh, spec)) if self._mesh else arrays


def _no_states(work: Work, some: Any) -> Any:
    """Zeros for the states of so many jobs as are given, leaves [n, ...]."""
    shapes = jax.eval_shape(jax.vmap(work.init), some)
    # NumPy's where it can be: every shape of jnp.zeros is a program.
    return jax.tree.map(lambda x: (jnp if is_key(x) else np).zeros(x.shape, x.dtype), shapes)


@jax.jit
def traced_job(work: Work, job: Any) -> tuple[Any, Any, jax.Array, jax.Array]:
    """All that is done with one job: a state, a row, is it done, and has it failed."""
    state, row = work.step(work.init(job))
    return state, row, work.done(state), work.failed(row)


def traced(work: Work, jobs: Jobs) -> jax.stages.Traced:
    """``traced_job``, for the shapes of what it returns and for what it lowers to."""
    # As JAX takes them: it has no 64 bits unless it is told so.
    rows = jax.tree.map(jnp.asarray, jobs.inputs(np.zeros(0, np.int64)))
    return traced_job.trace(
        work, jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape[1:], x.dtype), rows)
    )


@functools.partial(jax.jit, static_argnums=0, donate_argnums=2)
def _advance_all(mesh: Mesh, *args: Any) -> tuple[Lanes, Burst]:
    """``advance`` the lanes of every device."""
    burst = Burst(P(None, _AXIS), P(None, _AXIS), _SPLIT, _SPLIT)
    given, left = (P(), _SPLIT, _SPLIT, P(), P()), (_SPLIT, burst)
    play = jax.shard_map(advance, mesh=mesh, in_specs=given, out_specs=left, check_vma=False)
    return play(*args)


def advance(work: Work, lanes: Lanes, begun: Any, limit: Any, quota: Any) -> tuple[Lanes, Burst]:
    """Begin jobs in some lanes of a device, and step all that are alive: 1 .. ``limit`` steps.

    Ends when ``quota`` of their jobs have ended; both are int32 []. ``begun`` is what ``init`` is
    given, leaves [W, ...], and bool [W], the lanes that begin.
    """
    lanes = lax.cond(begun[1].any(), _begin, lambda _, lanes, *rest: lanes, work, lanes, *begun)
    width = len(lanes.alive)
    shapes = jax.eval_shape(_step, work, lanes)[1]
    rows = jax.tree.map(lambda x: jnp.zeros((MOST_STEPS, *x.shape), x.dtype), shapes)
    ran, failed = jnp.zeros((MOST_STEPS, width), bool), jnp.zeros(width, bool)
    least_alive = jnp.maximum(lanes.alive.sum(dtype=jnp.int32) - quota, 0)

    def goes_on(carry: tuple[Lanes, Burst]) -> jax.Array:
        lanes, burst = carry
        return (burst.num_steps[0] < limit) & (lanes.alive.sum(dtype=jnp.int32) > least_alive)

    def step(carry: tuple[Lanes, Burst]) -> tuple[Lanes, Burst]:
        lanes, burst = carry
        new_lanes, row, fails = _step(work, lanes)
        at = burst.num_steps[0]
        rows = jax.tree.map(lambda all_rows, x: all_rows.at[at].set(x), burst.rows, row)
        ran = burst.ran.at[at].set(lanes.alive)
        return new_lanes, Burst(rows, ran, burst.failed | fails, burst.num_steps + 1)

    return lax.while_loop(goes_on, step, (lanes, Burst(rows, ran, failed, jnp.zeros(1, jnp.int32))))


def _begin(work: Work, lanes: Lanes, jobs: Any, begins: jax.Array) -> Lanes:
    """Every lane without a job gets a state; of those that do not ``begin`` it is nobody's."""

    def begin_lane(old: Any, job: Any, is_alive: jax.Array) -> tuple[Any, jax.Array]:
        new = work.init(job)
        state = jax.tree.map(lambda x, y: jnp.where(is_alive, x, y), old, new)
        return state, ~work.done(new)

    states, goes_on = _over_lanes(begin_lane)(lanes.states, jobs, lanes.alive)
    return Lanes(states, lanes.alive | begins & goes_on)


# Under jit, so that it is traced once for the shapes of its rows and for the loop.
@jax.jit
def _step(work: Work, lanes: Lanes) -> tuple[Lanes, Any, jax.Array]:
    """New lanes, a row of each, and which of them fail."""

    def step_lane(state: Any, is_alive: jax.Array) -> tuple[Any, jax.Array, Any, jax.Array]:
        new, row = work.step(state)
        fails = is_alive & work.failed(row)
        goes_on = is_alive & ~fails  # what has failed is not stepped on with
        # What a step leaves as it is may be a key, which must not be chosen from twice.
        new = jax.tree.map(lambda x, y: y if y is x else jnp.where(goes_on, y, x), state, new)
        return new, goes_on & ~work.done(new), row, fails

    states, alive, rows, fails = _over_lanes(step_lane)(lanes.states, lanes.alive)
    return Lanes(states, alive), rows, fails


def _over_lanes(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` for all lanes; a single one is not batched, so that its branches are real."""

    def alone(*args: Any) -> Any:
        found = function(*jax.tree.map(lambda x: x[0], args))
        return jax.tree.map(lambda x: jnp.asarray(x)[None], found)

    return lambda *args: (jax.vmap(function) if len(args[-1]) > 1 else alone)(*args)


def is_small(work: Work, jobs: Jobs, width: int) -> bool:
    """Is a sweep of a second or two made of small programs? The one place that decides.

    One program for a whole step would take ten times as long to compile as to run. Work with
    ``step_lanes`` makes it of programs that it shares with others, all jobs side by side. A device
    that is not a CPU waits for each of them, and takes one large program.
    """
    is_on_cpu = jax.default_backend() == "cpu"
    has_steps = getattr(work, "step_lanes", None) is not None
    return jobs.brief and has_steps and is_on_cpu and width == jobs.count <= _MOST_SMALL_JOBS


_in_haste = bounded_jit(0, work=brief)
_begin_small = _in_haste(_begin)


def _advance_small(work: Any, lanes: Lanes, begun: Any, *_: Any) -> tuple[Lanes, Burst]:
    """Begin jobs and play one step of them, to its end, by small programs; see ``is_small``."""
    if begun[1].any():
        lanes = _begin_small(work, lanes, *begun)
    alive = np.asarray(lanes.alive)
    states, rows, ran = work.step_lanes(lanes.states, alive)
    alive, ran, failed = _end_step(work, states, rows, alive, ran)
    rows = jax.tree.map(lambda x: np.asarray(x)[None], rows)
    return Lanes(states, alive), Burst(rows, ran, failed, jax.device_put(np.ones(1, np.int32)))


@_in_haste
def _end_step(work: Work, states: Any, rows: Any, alive: Any, ran: Any) -> tuple[Any, Any, Any]:
    """Of all lanes: do they go on, have they run, bool [1, W], and have they failed?"""
    ran = alive & ran
    failed = ran & jax.vmap(work.failed)(rows)
    return alive & ~failed & ~jax.vmap(work.done)(states), ran[None], failed
