"""The fused driver of races on shared tasks.

Axes: B lanes (races that run side by side), K options, N tasks.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace.core.compilation import cost_of, jit
from jaxrace.core.validation import require_kind
from jaxrace.racing import base, driver
from jaxrace.racing.drawing import map_rows
from jaxrace.racing.shared.race import SharedRace
from jaxrace.racing.shared.result import SharedResult
from jaxrace.racing.shared.state import SharedParams

Sample = Callable[[jax.Array, Any, Any], Any]


def run_shared(
    race: SharedRace,
    key: jax.Array,
    sample: Sample,
    options: Any,
    params: SharedParams,
    tasks: Any = None,
    chunk: int | None = None,
) -> SharedResult:
    """Play a race on shared tasks to its end on the device.

    Returns the result of the ask/tell loop on the same outcomes. Task t (from 0) of a stream has
    the key ``fold_in(key, t)``, the same for all options: an option with chance of its own folds
    its number in. Of a finite list, the t-th task that is run is number
    ``task_order(race, key)[t]``. May be called under jit and vmap (over keys, options, params and
    tasks).

    Args:
        race: The race.
        key: Of all outcomes, and of the order of a finite list.
        sample: ``sample(key, option, task) -> outcome``, pure JAX, for one option and one task;
            hashable (a function or a frozen dataclass).
        options: Leaves [K, ...], one row per option.
        params: From ``race.params``.
        tasks: Leaves [N, ...], one row per task, of which ``sample`` is given one; N is the
            capacity. Unless given, ``sample`` is given the task's number, int32.
        chunk: Tasks that are run at once, ``race.chunk`` unless given.

    Raises:
        ValueError: An argument is not what it should be; or, not under a trace, an outcome that
            counts is not finite or out of its range, or ``compare`` is no antisymmetric sign.

    >>> race = SharedRace(num_options=3, top=1, capacity=2000, low=0, high=1, finite=True)
    >>> def is_right(key, option, difficulty):
    ...     chance = jax.nn.sigmoid(option["skill"] - difficulty)
    ...     own = jax.random.fold_in(key, option["number"])
    ...     return jax.random.bernoulli(own, chance).astype(jax.numpy.float32)
    >>> models = {"skill": jax.numpy.array([0.0, 0.2, 1.0]), "number": jax.numpy.arange(3)}
    >>> prompts = jax.random.normal(jax.random.key(1), 2000)
    >>> result = run_shared(
    ...     race, jax.random.key(0), is_right, models, race.params(delta=0.05), prompts
    ... )
    >>> result.best.tolist(), bool(result.decided), int(result.evaluations) < 1500
    ([2], True, True)
    """
    require_kind("race", race, SharedRace)
    chunk, options = driver.checked(race, key, sample, options, params, chunk)
    if tasks is None:
        tasks = jnp.arange(race.capacity, dtype=jnp.int32)
    tasks = base.as_rows("tasks", tasks, race.capacity)
    result, first = _run(race, sample, chunk, key, options, params, tasks)
    driver.check_found(race, sample, result, first)
    return result


def task_order(race: SharedRace, key: jax.Array) -> jax.Array:
    """The numbers of the tasks in the order in which they are run: int32 [N].

    By lot for a finite list, from the race's key; otherwise as they are.
    """
    numbers = jnp.arange(race.capacity, dtype=jnp.int32)
    if not race.finite:
        return numbers
    return jax.random.permutation(jax.random.fold_in(key, race.capacity), numbers)


def _work(
    race: SharedRace, sample: Any, _: int, key: jax.Array, options: Any, __: Any, tasks: Any
) -> float:
    """Of the race, and of all outcomes that it may ask for."""
    shapes = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape[1:], x.dtype), (options, tasks))
    samples = race.num_options * race.capacity
    return race.work + samples * cost_of(sample, key, *shapes)


@jit(3, work=_work)
def _run(race: SharedRace, sample: Sample, chunk: int, *of_race: Any) -> tuple[SharedResult, Any]:
    """The result and ``first_outcomes``, of key, options, params and tasks of one race."""
    return driver.in_lanes(functools.partial(_play_in_step, race, sample, chunk), *of_race)


def _play_in_step(
    race: SharedRace,
    sample: Sample,
    chunk: int,
    keys: jax.Array,
    options: Any,
    params: SharedParams,
    tasks: Any,
) -> tuple[Any, Any]:
    orders = jax.vmap(functools.partial(task_order, race))(keys)

    def draw(lane: jax.Array, option: Any, number: jax.Array) -> Any:
        """The outcome of an option of a race on its task of a number."""
        number = jnp.minimum(number, race.capacity - 1)
        task = jax.tree.map(lambda x: x[lane, orders[lane, number]], tasks)
        return sample(jax.random.fold_in(keys[lane], number), option, task)

    def draw_block(lanes: jax.Array, options: Any, numbers: jax.Array) -> Any:
        return jax.vmap(jax.vmap(draw, (None, None, 0)))(lanes, options, numbers)

    lanes = jnp.arange(keys.size, dtype=jnp.int32)
    of_options = jnp.broadcast_to(lanes[:, None], (keys.size, race.num_options))

    def draw_next(simulated: jax.Array, asked: jax.Array) -> Any:
        numbers = simulated[..., None] + jnp.arange(chunk, dtype=jnp.int32)
        return map_rows(draw_block, asked, (of_options, options, numbers))

    first = jax.tree.map(lambda x: x[0, 0], options)
    example = jax.eval_shape(draw, jnp.int32(0), first, jnp.int32(0))
    begun = jax.vmap(lambda params: race.init(example, params))(params)

    def asks(states: Any) -> jax.Array:
        return jax.vmap(race.ask)(states, params) > 0

    def play_chunk(states: Any) -> Any:
        return race.tell_tasks(states, draw_next(states.simulated, asks(states)), params)

    states = lax.while_loop(lambda states: asks(states).any(), play_chunk, begun)
    return jax.vmap(race.result)(states, params), jax.vmap(race.first_outcomes)(states)
