"""The fused driver: samples, evidence and verdicts of whole races in one compiled loop.

Axes: B races of a batch, K options, R rows (options of all races), n rounds of a chunk, N tasks.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxrace import kernels
from jaxrace.core.compilation import cost_of, jit
from jaxrace.core.narrowing import as_arrays, as_host_array, require_rows_apart
from jaxrace.core.validation import (
    BadArgument,
    require_function,
    require_integer,
    require_keys,
    require_kind,
)
from jaxrace.racing.base import Race, in_batch

Sample = Callable[..., Any]
# Keys and options, leaves [B, K, ...], and the samples that each has drawn so far.
Rows = tuple[jax.Array, Any, jax.Array | np.ndarray]

_SAMPLES = 300  # of an option, in a race that may draw any number of them
_LISTED_ROWS = 256  # options of a batch, from which on it pays to draw only for those that ask
_SINGLE_ROWS = 128  # up to so many options go one by one: simulators may be expensive


def run(
    race: Race,
    key: jax.Array,
    sample: Sample,
    options: Any,
    params: Any,
    chunk: int | None = None,
    common_random_numbers: bool = False,
    *,
    tasks: Any = None,
) -> Any:
    """Run a race to its end, as one program.

    Returns exactly the result of the ask/tell loop on the same samples. Sample t (from 0) of
    option i has the key ``fold_in(fold_in(key, i), t)``, and a shared task ``fold_in(key, t)`` for
    all options: one with chance of its own folds its number in. The t-th task of a list is
    ``task_order(race, key)[t]``. Under vmap all races of the batch advance in one loop.

    Args:
        race: Such as a ``PreferenceRace``.
        key: Of all samples, and of the order of a finite list of tasks.
        sample: ``sample(key, option) -> outcome`` of one sample, pure JAX and hashable, such as a
            function; ``sample(key, option, task)`` on shared tasks.
        options: Leaves [K, ...], one row per option.
        params: From ``race.params``.
        chunk: Rounds that are simulated at once, ``race.chunk`` unless given. A ``DominanceRace``
            counts all of them, and on a GPU draws three blocks at once.
        common_random_numbers: Give all options the same randomness in each round. This can
            lower the variance of their differences, but the guarantee of the race is VOID.
        tasks: Shared tasks, leaves [N, ...], one row per task; N is the capacity. Unless given,
            ``sample`` is given the task's number, int32.

    Raises:
        ValueError: An argument is out of its range, or only float64 tells its rows apart; or, not
            under a trace, as ``race.tell`` does. Under a trace ``result.invalid`` says so.

    >>> from jaxrace.racing import PreferenceRace
    >>> race = PreferenceRace(num_options=4, top=2, capacity=200, compare=kernels.total_order)
    >>> def sample(key, mean):
    ...     return mean + jax.random.normal(key)
    >>> means = jax.numpy.array([0.0, 3.0, 1.5, -2.0])
    >>> result = run(race, jax.random.key(0), sample, means, race.params(delta=0.05))
    >>> result.best.tolist(), bool(result.decided)
    ([1, 2], True)
    """
    require_kind("race", race, Race)
    require_keys("key", key, ndim=0)
    require_function("sample", sample)
    if chunk is not None:
        require_integer("chunk", chunk, 1)
    race._check_params(params)
    of_race = key, _as_rows("options", options, race.num_options), params
    require_kind("common_random_numbers", common_random_numbers, bool)
    if race._shares_tasks:
        capacity = getattr(race, "capacity", 0)
        if common_random_numbers:
            raise BadArgument("common_random_numbers", "False for shared tasks", "True")
        tasks = jnp.arange(capacity, dtype=jnp.int32) if tasks is None else tasks
        of_race += (_as_rows("tasks", tasks, capacity),)
    elif tasks is not None:
        raise BadArgument("tasks", "none for a race of independent samples", "some")
    result, first = _run(race, sample, chunk, common_random_numbers, *of_race)
    result = race._check_found(result, first, source=sample)
    return dataclasses.replace(result, common_random_numbers=common_random_numbers)


def _as_rows(name: str, tree: Any, count: int) -> Any:
    """Arrays of JAX with ``count`` rows, leaves [count, ...], which are told apart as before."""
    given = jax.tree.map(functools.partial(as_host_array, name), tree)
    rows = as_arrays(name, given)
    expected = f"leaves with leading axis {count}"
    if not jax.tree.leaves(rows):
        raise BadArgument(name, expected, "no arrays")
    for leaf in jax.tree.leaves(rows):
        if leaf.shape[:1] != (count,):
            hint = ": np.asarray makes an array of lists" if isinstance(tree, list) else ""
            raise BadArgument(name, expected, f"{list(leaf.shape)}", hint)
    require_rows_apart(name, given, rows)
    return rows


def _work(
    race: Race, sample: Any, _: int, __: bool, key: jax.Array, options: Any, ___: Any, *tasks: Any
) -> float:
    """Of the race, and of all samples that it may draw."""
    own = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape[1:], x.dtype), (options, *tasks))
    samples = race.num_options * getattr(race, "capacity", _SAMPLES)
    return race.work + samples * cost_of(sample, key, *own)


@jit(4, work=_work)
def _run(
    race: Race, sample: Sample, chunk: int | None, common_random_numbers: bool, *of_race: Any
) -> tuple[Any, Any]:
    """The result and ``_first_outcomes``, of the key, options, params and tasks of one race."""
    play = functools.partial(_play_in_step, race, sample, chunk, common_random_numbers)

    def play_batch(*of_races: Any) -> Any:
        return kernels.map_blocks(play, kernels.sizes().races)(*of_races)

    return in_batch(kernels.merge_vmaps(play_batch), *of_race)


def _play_in_step(
    race: Race,
    sample: Sample,
    chunk: int | None,
    common_random_numbers: bool,
    keys: jax.Array,
    options: Any,
    params: Any,
    *tasks: Any,
) -> tuple[Any, Any]:
    """B races, ``chunk`` rounds at once: results and ``_first_outcomes``, leaves [B, ...]."""
    if chunk is None:  # a race in blocks opens with one
        chunk = race.chunk * (kernels.sizes().blocks if race._opening else 1)
    option, *task = jax.tree.map(lambda x: x[0, 0], (options, *tasks))
    draws_all = cost_of(sample, keys[0], option, *task) <= kernels.sizes().light_draw
    draw, example = race._drawn(by_key(sample), keys[0], option, jnp.int32(0), *task)
    if tasks:
        draw, sources = race._draw_tasks(draw, keys, *tasks)
    else:
        sources = option_keys(keys, race.num_options, common_random_numbers)
    example = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), example)
    # All begin alike: XLA would take seconds to see what follows from that.
    begun = lax.optimization_barrier(jax.vmap(lambda p: race.init(example, p))(params))

    def ask(states: Any) -> jax.Array:
        return jax.vmap(race.ask)(states, params).astype(bool)

    def draw_next(states: Any, asked: jax.Array, num_rounds: int) -> Any:
        """The next samples [B, K, n, ...], from where those of each option end."""
        rows = sources, options, states.simulated
        if not draws_all and (race._is_unequal or asked.size >= _LISTED_ROWS):
            return _map_rows(of_rows(draw, num_rounds), asked, rows)
        return jax.vmap(of_rows(draw, num_rounds))(*rows)

    def play_chunk(carry: tuple[jax.Array, Any, jax.Array]) -> tuple[jax.Array, Any, jax.Array]:
        first_round, states, asked = carry  # rounds told so far; who asks, bool [B, K]
        outcomes = draw_next(states, asked, chunk)
        states = race.tell_batch(states, outcomes, params, first_round)
        return first_round + chunk, states, ask(states)

    states = begun
    if race._opening:
        outcomes = draw_next(begun, ask(begun), race._opening)
        states = race._open_batch(begun, outcomes, params)
    start = jnp.int32(0), states, ask(states)
    end = lax.while_loop(lambda carry: carry[2].any(), play_chunk, start)
    states = race._finish_batch(end[1], params)
    return jax.vmap(race.result)(states, params), jax.vmap(race._first_outcomes)(states)


def option_keys(keys: jax.Array, num_options: int, common_random_numbers: bool) -> jax.Array:
    """The key of each option of B races, [B, K], from those of the races, [B]."""
    numbers = jnp.arange(num_options, dtype=jnp.uint32)
    if common_random_numbers:
        numbers = jnp.zeros_like(numbers)
    return jax.vmap(jax.vmap(jax.random.fold_in, (None, 0)), (0, None))(keys, numbers)


def by_key(sample: Sample) -> Callable[..., Any]:
    """A function of a key, the option, the number of a sample, and its task if there are any."""
    return lambda key, option, number, *task: sample(jax.random.fold_in(key, number), option, *task)


def of_rows(draw: Callable[..., Any], num_rounds: int) -> Callable[..., Any]:
    """The next samples [R, n, ...] of R sources, options and numbers of samples drawn so far."""

    def draw_row(source: jax.Array, option: Any, drawn: jax.Array) -> Any:
        numbers = drawn + jnp.arange(num_rounds, dtype=jnp.int32)
        return jax.vmap(draw, (None, None, 0))(source, option, numbers)

    return jax.vmap(draw_row)


def _map_rows(function: Callable[..., Any], wanted: jax.Array, args: Any) -> Any:
    """A function of any number of rows, of those [B, K] that are wanted; zeros for the others."""
    first = jax.eval_shape(function, *jax.tree.map(lambda x: x[0], args))
    empty = jax.tree.map(lambda x: jnp.zeros((*wanted.shape, *x.shape[1:]), x.dtype), first)
    sizes = kernels.sizes()
    # The last block is filled up with an option that has not asked.
    few = wanted.size <= _SINGLE_ROWS
    block = 1 if few else min(sizes.rows, wanted.size // sizes.row_blocks)
    return kernels.update_listed(wanted, lambda _, *own: function(*own), empty, *args, block=block)
