"""The fused driver: sampling, win counts and verdicts of whole races in one compiled loop.

Axes: B lanes (races that run side by side), K options.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace import kernels
from jaxrace.core.compilation import cost_of, is_traced, jit
from jaxrace.core.validation import require_function, require_integer, require_keys, require_kind
from jaxrace.racing import base, drawing

_SAMPLES = 300  # of an option, in a race that may draw any number of them


def run(
    race: base.Race,
    key: jax.Array,
    sample: drawing.Sample,
    options: Any,
    params: Any,
    chunk: int | None = None,
    common_random_numbers: bool = False,
) -> Any:
    """Play a race to its end, as one program.

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
    chunk, options = checked(race, key, sample, options, params, chunk)
    require_kind("common_random_numbers", common_random_numbers, bool)
    result, first = _run(race, sample, chunk, common_random_numbers, key, options, params)
    check_found(race, sample, result, first)
    return dataclasses.replace(result, common_random_numbers=common_random_numbers)


def checked(
    race: base.Race, key: jax.Array, sample: Any, options: Any, params: Any, chunk: int | None
) -> tuple[int, Any]:
    """The chunk and the options as arrays; ValueError unless arguments are what they should be."""
    require_keys("key", key, ndim=0)
    require_function("sample", sample)
    chunk = race.chunk if chunk is None else chunk
    require_integer("chunk", chunk, 1)
    race.check_params(params)
    return chunk, base.as_rows("options", options, race.num_options)


def check_found(race: base.Race, sample: Any, result: Any, first: Any) -> None:
    """Raise ValueError for what only the samples show; not under a trace."""
    if not is_traced(result):
        race.raise_if_invalid(result.invalid)
        race.check_result(result)
        race.check_preferences(first, source=sample)


def _work(
    race: base.Race, sample: Any, _: int, __: bool, key: jax.Array, options: Any, ___: Any
) -> float:
    """Of the race, and of all samples that it may draw."""
    option = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape[1:], x.dtype), options)
    samples = race.num_options * getattr(race, "capacity", _SAMPLES)
    return race.work + samples * cost_of(sample, key, option)


@jit(4, work=_work)
def _run(
    race: base.Race, sample: drawing.Sample, chunk: int, common_random_numbers: bool, *of_race: Any
) -> Any:
    """The result and ``first_outcomes``, of the key, the options and the params of one race."""
    play = functools.partial(_play_in_step, race, sample, chunk, common_random_numbers)
    return in_lanes(play, *of_race)


def in_lanes(play: Callable[..., Any], *of_race: Any) -> Any:
    """What a function of B races, leaves [B, ...], returns for one; under vmap they share lanes."""

    def play_lanes(*of_races: Any) -> Any:
        return kernels.map_blocks(play, kernels.sizes().races)(*of_races)

    return base.in_lane(kernels.merge_vmaps(play_lanes), *of_race)


def _play_in_step(
    race: base.Race,
    sample: drawing.Sample,
    chunk: int,
    common_random_numbers: bool,
    keys: jax.Array,
    options: Any,
    params: Any,
) -> tuple[Any, Any]:
    """Play B races, ``chunk`` rounds at once: results and ``first_outcomes``, leaves [B, ...]."""
    example = jax.eval_shape(sample, keys[0], jax.tree.map(lambda x: x[0, 0], options))
    example = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), example)
    option_keys = drawing.option_keys(keys, race.num_options, common_random_numbers)
    # All begin alike: XLA would take seconds to work out what follows from that.
    begun = lax.optimization_barrier(jax.vmap(lambda p: race.init(example, p))(params))

    def ask(states: Any) -> jax.Array:
        return jax.vmap(race.ask)(states, params)

    def draw_next(asked: jax.Array, drawn: jax.Array, num_rounds: int) -> Any:
        rows = option_keys, options, drawn
        return drawing.draw_next(sample, num_rounds, race.opening > 0, rows, asked)

    def play_chunk(carry: tuple[jax.Array, Any, jax.Array]) -> tuple[jax.Array, Any, jax.Array]:
        first_round, states, asked = carry  # rounds told so far; who asks, bool [B, K]
        outcomes = draw_next(asked, states.simulated, chunk)
        states = race.tell_lanes(states, outcomes, params, first_round)
        return first_round + chunk, states, ask(states)

    states = begun
    if race.opening:
        outcomes = draw_next(ask(begun), begun.simulated, race.opening)
        states = race.open_lanes(begun, outcomes, params)
    start = jnp.int32(0), states, ask(states)
    end = lax.while_loop(lambda carry: carry[2].any(), play_chunk, start)
    states = race.finish_lanes(end[1], params)
    return jax.vmap(race.result)(states, params), jax.vmap(race.first_outcomes)(states)
