"""Times dominance races and sharp ones, in turn, as a sample becomes more expensive.

    python bench/simulator_cost.py [ROUNDS]

A sample of this task is a normal number, as in the other benchmarks. Here it is made of so many
numbers, whose scaled sum has the same distribution: the races stay the same, and their simulator
takes longer.
"""

import functools
import sys
import time
from collections.abc import Callable
from typing import Any

import bench_dominance
import here  # noqa: F401
import jax
import jax.numpy as jnp
import normal_races as task
import numpy as np

from jaxrace import racing
from jaxrace.core.programs import compile_ahead
from papers.preference_racing.options import NormalOptions

# Numbers that a sample is made of, and races: enough of them for lanes to be filled again.
_WORK = ((1, 10_000), (16, 10_000), (128, 5_000), (1024, 2_500))
_BATCH = 500


def sample(numbers: int, key: jax.Array, option: NormalOptions) -> jax.Array:
    """A normal number of the option's mean and variance."""
    noise = jax.random.normal(key, (numbers,)).sum() / np.float32(np.sqrt(numbers))
    return option.mean + jnp.sqrt(option.variance) * noise


def races(race: racing.Race, params: Any, numbers: int) -> Callable[[jax.Array], Any]:
    """Of one key: the samples that counted and those that were drawn."""
    draw = functools.partial(sample, numbers)

    def play(key: jax.Array) -> tuple[jax.Array, jax.Array]:
        task_key, race_key = jax.random.split(key)
        options = task.TASK.draw(task_key, task.DISTANCE, task.OPTIONS)
        result = racing.run(race, race_key, draw, options, params)
        return result.samples.sum(), result.simulated.sum()

    return play


def programs(numbers: int, keys: jax.Array) -> list[Callable[[], Any]]:
    """Sharp races in batches, and dominance races, which refill their own; both of one draw."""
    dominance = bench_dominance.race_of(task.OPTIONS, task.TOP)
    sharp = races(task.RACE, task.RACE.params(task.DELTA), numbers)
    kinds = (
        lambda keys: jax.lax.map(sharp, keys, batch_size=_BATCH),
        jax.vmap(races(dominance, dominance.params(task.DELTA), numbers)),
    )
    compiled = [compile_ahead(jax.jit(kind), keys) for kind in kinds]
    return [functools.partial(_run, program, keys) for program in compiled]


def _run(program: Any, keys: jax.Array) -> Any:
    return jax.block_until_ready(program(keys))


def draws_alone(numbers: int) -> float:
    """Seconds that a sample takes by itself."""
    keys = jax.random.split(jax.random.key(0), 200_000)
    option = NormalOptions(jnp.float32(0), jnp.float32(1))
    draw = jax.vmap(functools.partial(sample, numbers), (0, None))
    some = keys[: max(1000, 200_000 // numbers)]
    run = functools.partial(_run, compile_ahead(jax.jit(lambda k: draw(k, option)), some), some)
    run()
    return min(_seconds(run) for _ in range(5)) / len(some)


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    for numbers, number in _WORK:
        both = programs(numbers, jax.random.split(jax.random.key(0), number))
        counted, drawn = zip(*(map(np.mean, run()) for run in both), strict=True)
        seconds = np.asarray([[_seconds(run) for run in both] for _ in range(rounds)])
        ratio = np.median(seconds[:, 0] / seconds[:, 1])
        sharp, dominance = 1e6 * np.median(seconds, axis=0) / number
        print(
            f"{numbers:5} numbers, {1e9 * draws_alone(numbers):8.1f} ns alone: "
            f"sharp {sharp:8.1f} us per race, dominance {dominance:8.1f}, ratio {ratio:.2f}; "
            f"drawn {drawn[0]:.0f} and {drawn[1]:.0f}, "
            f"counted {counted[0]:.0f} and {counted[1]:.0f}"
        )


def _seconds(run: Callable[[], Any]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
