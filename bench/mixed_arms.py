"""Games with 3 to 36 arms: a program for each number of arms, or one of 36 for all?

`python bench/mixed_arms.py` prints seconds to compile and to run. Missing arms lose every duel: an
algorithm that could leave them out would take the same steps on arrays of the same size.
"""

import time

import here  # noqa: F401
import jax
import numpy as np

from jaxrace import dueling
from jaxrace.core.programs import compile_ahead
from jaxrace.dueling import matrices
from papers.duels.lineup import entrant

SIZES = range(3, 37, 3)
RUNS, DUELS = 25, 20_000
ALGORITHMS = ("rucb", "savage", "dts", "sup-klucb")


def padded(matrix, arms):
    """The matrix [K, K] with certain losers up to so many arms."""
    size = len(matrix)
    out = np.full((arms, arms), 0.5, np.float32)
    out[:size, :size], out[:size, size:], out[size:, :size] = matrix, 1.0, 0.0
    return out


def measure(name, games):
    """Seconds to compile and to run, of games [G, K, K] with the same number of arms."""
    arms = games.shape[-1]
    one = entrant(name, arms, DUELS, 1 / DUELS, jax.random.key(0))

    def play(matrix, key):
        problem = dueling.duels(matrix)
        return dueling.run(one.algorithm, key, problem, DUELS, one.params, 1).regret

    both = jax.vmap(jax.vmap(play, (None, 0)), (0, None))
    arguments = games, jax.random.split(jax.random.key(1), RUNS)
    started = time.perf_counter()
    program = compile_ahead(jax.jit(both), *arguments)
    compiled = time.perf_counter()
    jax.block_until_ready(program(*arguments))
    return np.array([compiled - started, time.perf_counter() - compiled])


def main():
    """Both ways."""
    games = [np.asarray(matrices.random(jax.random.key(size), size)) for size in SIZES]
    for name in ALGORITHMS:
        grouped = np.sum([measure(name, game[None]) for game in games], 0)
        together = measure(name, np.stack([padded(game, max(SIZES)) for game in games]))
        for way, (compiling, running) in (("grouped", grouped), ("padded", together)):
            print(f"{name:8} {way:8} compiled in {compiling:5.1f} s, run in {running:5.1f} s")


if __name__ == "__main__":
    main()
