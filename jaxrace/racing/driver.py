"""The fused driver: sampling, win counts and verdicts of whole races in one compiled loop.

Axes: B lanes (races that run side by side), K options, R rows: options of races, n rounds of a
chunk.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace import kernels, narrowing
from jaxrace.compilation import bounded_jit
from jaxrace.protocol import is_traced
from jaxrace.racing import base
from jaxrace.validation import require_function, require_integer, require_keys, require_kind

Sample = Callable[[jax.Array, Any], Any]

# Options of a batch from which on it pays to draw only for those that ask, once they are few.
_LISTED_ROWS = 256
# So many rounds fill the vector registers as the innermost axis; fewer leave it to the options.
_FEW_ROUNDS = 16
# Up to so many options go one by one: an expensive simulator had better not run in vain.
_SINGLE_ROWS = 128


def run(
    race: base.Race,
    key: jax.Array,
    sample: Sample,
    options: Any,
    params: Any,
    chunk: int | None = None,
    common_random_numbers: bool = False,
) -> Any:
    """Play a race to its end on the device.

    Returns exactly the result of the ask/tell loop on the same samples. Sample t (from 0) of
    option i is drawn with the key ``fold_in(fold_in(key, i), t)``, so that the samples do not
    depend on ``chunk``, nor, but for a ``DominanceRace``, the verdicts. May be called under jit
    and under vmap (over keys, options and params, at once or nested): all races of the batch
    advance in one loop then.

    Args:
        race: Such as a ``PreferenceRace``.
        key: Of all samples.
        sample: ``sample(key, option) -> outcome``, pure JAX, for one option and one sample;
            hashable (a function or a frozen dataclass).
        options: Leaves [K, ...], one row per option.
        params: From ``race.params``.
        chunk: Rounds that are simulated at once, ``race.chunk`` unless given. More of them fill the
            vector units better and draw more samples that may not be needed; a ``DominanceRace``
            counts all that it is told.
        common_random_numbers: Give all options the same randomness in each round. This can
            lower the variance of their differences, but the guarantee of the race is VOID.

    Raises:
        ValueError: An argument is not what it should be; ``options`` has numbers that are out of
            JAX's range, or rows that only float64 tells apart; or, not under a trace, a counted
            outcome is NaN or infinite (``result.invalid``), or the race's ``compare`` is no
            antisymmetric sign on the first outcomes of ``sample``.

    >>> from jaxrace.kernels import total_order
    >>> from jaxrace.racing import PreferenceRace
    >>> race = PreferenceRace(num_options=4, top=2, capacity=200, compare=total_order)
    >>> def sample(key, mean):
    ...     return mean + jax.random.normal(key)
    >>> means = jax.numpy.array([0.0, 3.0, 1.5, -2.0])
    >>> result = run(race, jax.random.key(0), sample, means, race.params(delta=0.05))
    >>> result.best.tolist(), bool(result.decided)
    ([1, 2], True)
    """
    if race.shares_tasks:
        raise ValueError("race: expected one of independent samples, got one for run_shared")
    require_keys("key", key, ndim=0)
    require_function("sample", sample)
    chunk = race.chunk if chunk is None else chunk
    require_integer("chunk", chunk, 1)
    race.check_params(params)
    require_kind("common_random_numbers", common_random_numbers, bool)
    given = jax.tree.map(functools.partial(narrowing.as_host_array, "options"), options)
    options = narrowing.as_arrays("options", given)
    expected = f"options: expected leaves with leading axis {race.num_options}"
    if not jax.tree.leaves(options):
        raise ValueError(f"{expected}, got no arrays")
    for leaf in jax.tree.leaves(options):
        if leaf.shape[:1] != (race.num_options,):
            raise ValueError(f"{expected}, got {list(leaf.shape)}")
    narrowing.require_rows_apart("options", given, options)
    result, first = _run(race, sample, chunk, common_random_numbers, key, options, params)
    if not is_traced(result):
        base.raise_if_invalid(result.invalid)
        race.check_result(result)
        race.check_preferences(first, source=sample)
    return dataclasses.replace(result, common_random_numbers=common_random_numbers)


@bounded_jit(4)
def _run(
    race: base.Race, sample: Sample, chunk: int, common_random_numbers: bool, *of_race: Any
) -> Any:
    """The result and ``first_outcomes``, of the key, the options and the params of one race."""
    play = functools.partial(_play_lanes, race, sample, chunk, common_random_numbers)
    return base.in_lane(kernels.merge_vmaps(play), *of_race)


def _play_lanes(
    race: base.Race,
    sample: Sample,
    chunk: int,
    common_random_numbers: bool,
    keys: jax.Array,
    options: Any,
    params: Any,
) -> tuple[Any, Any]:
    """The results of B races, one per lane, and their ``first_outcomes``."""
    first = jax.tree.map(lambda x: x[0, 0], options)
    example = jax.eval_shape(sample, keys[0], first)
    example = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), example)
    numbers = jnp.arange(race.num_options, dtype=jnp.uint32)
    if common_random_numbers:
        numbers = jnp.zeros_like(numbers)
    option_keys = jax.vmap(jax.vmap(jax.random.fold_in, (None, 0)), (0, None))(keys, numbers)

    def draw(option_key: jax.Array, option: Any, sample_number: jax.Array) -> Any:
        return sample(jax.random.fold_in(option_key, sample_number), option)

    play = functools.partial(_play_in_step, race, draw, chunk, example)
    return kernels.map_blocks(play, kernels.sizes().races)(option_keys, options, params)


class _Carry(NamedTuple):
    """The races between two chunks of rounds."""

    first_round: jax.Array  # int32 [], rounds told so far
    states: Any  # leaves [B, ...], some of them flattened
    asked: jax.Array  # bool [B, K]


def _play_in_step(
    race: base.Race,
    draw: Callable[..., Any],
    chunk: int,
    example: Any,
    option_keys: jax.Array,
    options: Any,
    params: Any,
) -> tuple[Any, Any]:
    """Play B races: their results, and ``first_outcomes``; leaves [B, ...].

    Samples are ``draw(option_key, option, sample_number) -> outcome``, shaped as ``example``, drawn
    ``chunk`` rounds at once; ``option_keys`` are [B, K].
    """
    begun = jax.vmap(lambda p: race.init(example, p))(params)

    def ask(states: Any) -> jax.Array:
        return jax.vmap(race.ask)(states, params)

    def draw_next(asked: jax.Array, drawn: jax.Array, num_rounds: int) -> Any:
        """The next samples [B, K, n, ...], from where those of each option end: int32 [B, K]."""
        rows = (option_keys, options, drawn)
        if race.opening:
            return _draw_asked(draw, num_rounds, rows, asked)
        if asked.size < _LISTED_ROWS:
            return _draw_all(draw, num_rounds, rows)
        # A listed row takes hardly longer to draw than one of all.
        few = 10 * asked.sum(dtype=jnp.int32) < 9 * asked.size
        return lax.cond(
            few,
            lambda rows: _draw_asked(draw, num_rounds, rows, asked),
            lambda rows: _draw_all(draw, num_rounds, rows),
            rows,
        )

    def flat(states: Any) -> Any:
        # Arrays [B, K, K] on two axes: loops over K numbers leave the vector units half empty.
        def square(x: jax.Array) -> bool:
            return x.ndim == 3 and x.shape[1] == x.shape[2]

        return jax.tree.map(lambda x: x.reshape(x.shape[0], -1) if square(x) else x, states)

    def in_shape(leaves: Any) -> Any:
        return jax.tree.map(lambda x, like: x.reshape(like.shape), leaves, begun)

    def play_chunk(carry: _Carry) -> _Carry:
        states = in_shape(carry.states)
        outcomes = draw_next(carry.asked, states.simulated, chunk)
        states = race.advance_lanes(states, outcomes, params, carry.first_round)
        return _Carry(carry.first_round + chunk, flat(states), ask(states))

    states = begun
    if race.opening:
        outcomes = draw_next(ask(begun), begun.simulated, race.opening)
        states = race.open_lanes(begun, outcomes, params)
    start = _Carry(jnp.int32(0), flat(states), ask(states))
    end = lax.while_loop(lambda carry: carry.asked.any(), play_chunk, start)
    states = race.finish_lanes(in_shape(end.states), params)
    return jax.vmap(race.result)(states, params), jax.vmap(race.first_outcomes)(states)


def _draw_all(draw: Callable[..., Any], num_rounds: int, rows: tuple[Any, ...]) -> Any:
    """Samples [B, K, n, ...] of all options."""
    option_keys, options, drawn = rows
    # The rounds are the innermost axis: they fill the vector registers.
    numbers = _numbers(drawn, num_rounds)
    return jax.vmap(jax.vmap(jax.vmap(draw, (None, None, 0))))(option_keys, options, numbers)


def _draw_asked(
    draw: Callable[..., Any], num_rounds: int, rows: tuple[Any, ...], asked: jax.Array
) -> Any:
    """Samples [B, K, n, ...] of the options that ask; of the others nothing is drawn."""
    axis = 1 if num_rounds < _FEW_ROUNDS else 0

    def draw_block(option_keys: jax.Array, options: Any, drawn: jax.Array) -> Any:
        numbers = _numbers(drawn, num_rounds)  # [R, n]
        if num_rounds < min(_FEW_ROUNDS, drawn.size):
            return jax.vmap(jax.vmap(draw), (None, None, 0))(option_keys, options, numbers.T)
        return jax.vmap(jax.vmap(draw, (None, None, 0)), out_axes=axis)(
            option_keys, options, numbers
        )

    return map_rows(draw_block, asked, rows, axis=axis)


def _numbers(drawn: jax.Array, num_rounds: int) -> jax.Array:
    """uint32 [..., n], of the samples that follow so many."""
    return (drawn[..., None] + jnp.arange(num_rounds, dtype=jnp.int32)).astype(jnp.uint32)


def map_rows(function: Callable[..., Any], wanted: jax.Array, args: Any, axis: int = 0) -> Any:
    """``function`` of the rows [B, K] that are wanted, and zeros for the others.

    The function takes ``args`` of any number of rows, [rows, ...]; the rows of what it returns are
    on ``axis``, 0 or 1.
    """
    num_rows = wanted.size
    args = jax.tree.map(lambda x: x.reshape(num_rows, *x.shape[2:]), args)

    def map_block(rows: jax.Array, results: Any) -> Any:
        own = jnp.minimum(rows, num_rows - 1)
        # There always is a first row, which the compiler does not know.
        part = kernels.with_operands_kept(
            function, rows[0] < num_rows, *jax.tree.map(lambda x: x[own], args)
        )
        at = (slice(None),) * axis + (rows,)
        return jax.tree.map(lambda x, y: x.at[at].set(y, mode="drop"), results, part)

    first = jax.eval_shape(function, *jax.tree.map(lambda x: x[:1], args))

    def empty_of(x: jax.ShapeDtypeStruct) -> jax.Array:
        return jnp.zeros((*x.shape[:axis], num_rows, *x.shape[axis + 1 :]), x.dtype)

    empty = jax.tree.map(empty_of, first)
    sizes = kernels.sizes()
    # The last block is filled up with an option that has not asked.
    few = num_rows <= _SINGLE_ROWS
    block = 1 if few else min(sizes.rows, num_rows // sizes.row_blocks)
    results = kernels.for_listed(wanted, block, map_block, empty)
    results = jax.tree.map(lambda x: jnp.moveaxis(x, axis, 0), results)
    return jax.tree.map(lambda x: x.reshape(*wanted.shape, *x.shape[1:]), results)
