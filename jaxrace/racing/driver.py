"""The fused driver: sampling, win counts and verdicts of whole races in one compiled loop.

Axes: B lanes (races that run side by side), K options, r = chunk.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from jaxrace import kernels, narrowing
from jaxrace.compilation import bounded_jit
from jaxrace.protocol import is_traced
from jaxrace.racing import base, lockstep
from jaxrace.validation import require_function, require_integer, require_keys, require_kind

Sample = Callable[[jax.Array, Any], Any]


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

    Returns exactly what the ask/tell loop returns on the same samples. Sample t (from 0) of
    option i is drawn with the key ``fold_in(fold_in(key, i), t)``, so that the samples do not
    depend on ``chunk``, nor, but for a ``DominanceRace``, the verdicts. May be called under jit
    and under vmap (over keys, options and params, at once or nested): all races of the batch
    advance in one loop then.

    Args:
        race: A race, such as ``PreferenceRace``.
        key: A key from ``jax.random.key``.
        sample: ``sample(key, option) -> outcome``, pure JAX, for one option and one sample;
            hashable (a function or a frozen dataclass).
        options: Pytree with leaves [K, ...], one row per option.
        params: From ``race.params``.
        chunk: Rounds that are simulated at once; the race's own ``chunk`` unless given. More of
            them fill the vector units better and draw more samples that may not be needed. The
            result is the same, but for a ``DominanceRace``: it counts all that it is told.
        common_random_numbers: Give all options the same randomness in each round. This can
            lower the variance of their differences, but the options' samples are dependent
            then and the guarantee of the race is VOID.

    Returns:
        The race's result: ``PreferenceResult``, ``ValueResult`` or ``DominanceResult``.

    Raises:
        ValueError: An argument is not what it should be, ``options`` has other leading axes than
            K, or numbers that are out of JAX's range, or rows that only float64 tells apart; a
            counted outcome is NaN or infinite, or the race's ``compare`` is no antisymmetric
            sign on the first outcomes of ``sample`` (the last two not under a trace;
            ``result.invalid`` tells of the former).

    >>> import jax
    >>> from jaxrace.kernels import total_order
    >>> from jaxrace.protocol import is_traced
    from jaxrace.racing import PreferenceRace
    >>> race = PreferenceRace(num_options=4, top=2, capacity=200, compare=total_order)
    >>> means = jax.numpy.array([0.0, 3.0, 1.5, -2.0])
    >>> def sample(key, mean):
    ...     return mean + jax.random.normal(key)
    >>> result = run(race, jax.random.key(0), sample, means, race.params(delta=0.05))
    >>> result.best.tolist(), bool(result.decided)
    ([1, 2], True)
    """
    require_keys("key", key, ndim=0)
    require_function("sample", sample)
    chunk = race.chunk if chunk is None else chunk
    require_integer("chunk", chunk, 1)
    race.check_params(params)
    require_kind("common_random_numbers", common_random_numbers, bool)
    given = jax.tree.map(functools.partial(narrowing.as_host_array, "options"), options)
    options = narrowing.as_arrays("options", given)
    if not jax.tree.leaves(options):
        raise ValueError(
            f"options: expected leaves with leading axis {race.num_options}, got no arrays"
        )
    for leaf in jax.tree.leaves(options):
        if leaf.shape[:1] != (race.num_options,):
            raise ValueError(
                f"options: expected leaves with leading axis {race.num_options}, "
                f"got {list(leaf.shape)}"
            )
    narrowing.require_rows_apart("options", given, options)
    result, first = _run(race, sample, chunk, common_random_numbers, key, options, params)
    if not is_traced(result):
        base.raise_if_invalid(result.invalid)
        race.check_result(result)
        race.check_preferences(first, source=sample)
    return dataclasses.replace(result, common_random_numbers=common_random_numbers)


@bounded_jit(4)
def _run(
    race: base.Race,
    sample: Sample,
    chunk: int,
    common_random_numbers: bool,
    key: jax.Array,
    options: Any,
    params: Any,
) -> Any:
    play = functools.partial(_play_lanes, race, sample, chunk, common_random_numbers)
    lane = jax.tree.map(lambda x: x[None], (key, options, params))
    return jax.tree.map(lambda x: x[0], kernels.merge_vmaps(play)(*lane))


def _play_lanes(
    race: base.Race,
    sample: Sample,
    chunk: int,
    common_random_numbers: bool,
    keys: jax.Array,
    options: Any,
    params: Any,
) -> tuple[Any, Any]:
    """Play one race per lane. All arguments have the leading axis B.

    Returns the results, and the races' ``first_outcomes``.
    """
    first = jax.tree.map(lambda x: x[0, 0], options)
    example = jax.eval_shape(sample, keys[0], first)
    example = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), example)
    numbers = jnp.arange(race.num_options, dtype=jnp.uint32)
    if common_random_numbers:
        numbers = jnp.zeros_like(numbers)
    option_keys = jax.vmap(jax.vmap(jax.random.fold_in, (None, 0)), (0, None))(keys, numbers)

    def draw(option_key: jax.Array, option: Any, sample_number: jax.Array) -> Any:
        return sample(jax.random.fold_in(option_key, sample_number), option)

    play = functools.partial(lockstep.play, race, draw, chunk, example)
    return kernels.map_blocks(play, kernels.sizes().races)(option_keys, options, params)
