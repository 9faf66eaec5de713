"""The task of the race benchmarks: normal options at k = 10, top 5 of 10, at most 300 rounds."""

import functools
from collections.abc import Callable
from typing import Any

import here  # noqa: F401
import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from jaxrace import racing
from jaxrace.kernels import total_order
from papers.preference_racing import options

OPTIONS, TOP, ROUNDS, DELTA, DISTANCE = 10, 5, 300, 0.05, 10.0
TASK = options.Normal()
RACE = racing.PreferenceRace(OPTIONS, TOP, ROUNDS, total_order, bound="published", rule="sharp")


def thresholds() -> NDArray[np.int32]:
    """Verdict thresholds of every round: int32 [ROUNDS], for the NumPy peers."""
    return np.asarray(RACE.params(DELTA).thresholds)


def one_race(
    race: racing.PreferenceRace = RACE,
) -> Callable[[jax.Array], tuple[jax.Array, jax.Array]]:
    """``play(key) -> samples [K], ranking [K]`` on a random instance, sampling included."""
    params = race.params(DELTA)

    def play(key: jax.Array) -> tuple[jax.Array, jax.Array]:
        task_key, race_key = jax.random.split(key)
        drawn = TASK.draw(task_key, DISTANCE, OPTIONS)
        result = racing.run(race, race_key, TASK.sample, drawn, params)
        return result.samples, result.ranking

    return play


def many_races(
    batch_size: int | None, race: racing.PreferenceRace = RACE
) -> Callable[[jax.Array], Any]:
    """Races of keys [R] in batches of so many, or all at once."""
    play = one_race(race)
    if batch_size is None:
        return jax.vmap(play)
    return lambda keys: jax.lax.map(play, keys, batch_size=batch_size)


@functools.partial(jax.jit, static_argnums=1)
def outcomes_of(keys: jax.Array, rounds: int = ROUNDS) -> jax.Array:
    """Samples that the races of these keys [R] may draw first: float32 [R, K, rounds].

    Drawn as races draw them.
    """

    def of_race(key: jax.Array) -> jax.Array:
        task_key, race_key = jax.random.split(key)
        drawn = TASK.draw(task_key, DISTANCE, OPTIONS)

        def of_option(number: jax.Array, option: Any) -> jax.Array:
            option_key = jax.random.fold_in(race_key, number)
            numbers = jnp.arange(rounds, dtype=jnp.uint32)
            round_keys = jax.vmap(jax.random.fold_in, (None, 0))(option_key, numbers)
            return jax.vmap(TASK.sample, (0, None))(round_keys, option)

        numbers = jnp.arange(OPTIONS, dtype=jnp.uint32)
        return jax.vmap(of_option)(numbers, drawn)

    return jax.vmap(of_race)(keys)


def numpy_draw(seed: int, num_races: int) -> Callable[..., NDArray[np.float32]]:
    """A sampler for the batched NumPy peers: the same task, drawn as fast as NumPy can."""
    generator = np.random.default_rng(seed)
    mean = DISTANCE / 2 * generator.random((num_races, OPTIONS, 1), dtype=np.float32)
    deviation = np.sqrt(generator.random((num_races, OPTIONS, 1), dtype=np.float32))

    def draw(races: NDArray[np.int64], first_round: int, count: int) -> NDArray[np.float32]:
        del first_round
        noise = generator.standard_normal((len(races), OPTIONS, count), dtype=np.float32)
        return mean[races] + deviation[races] * noise

    return draw
