"""PB-EDPS by pycma with NumPy rollouts and races, one search at a time.

The main job's settings: CMA-ES with lambda 7, mu 3 and positive weights only, sigma0 10, from theta
= 0; n_max from 3 to 100, times 1.25 after an unfinished race, divided by it after a finished one.
"""

import math
from typing import NamedTuple

import cma
import numpy as np
from numpy.typing import NDArray

from peers import numpy_medical, numpy_treatment_race

POPULATION, TOP, MIN_ROUNDS, FACTOR = 7, 3, 3, 1.25

OPTIONS = {
    "popsize": POPULATION,
    "CMA_mu": TOP,
    "CMA_active": False,  # no negative weights
    "verbose": -9,
    # The budget alone ends a search.
    "termination_callback": None,
    "tolfun": 0,
    "tolx": 0,
    "tolfunhist": 0,
    "tolstagnation": math.inf,
    "tolflatfitness": math.inf,
}


class Learned(NamedTuple):
    """The end of a search."""

    theta: NDArray[np.float64]  # [3]
    episodes: int
    generations: int


def search(seed: int, table: NDArray[np.int32], budget: int, sigma0: float = 10.0) -> Learned:
    """One search; ``table`` [n_max, n_max] has the thresholds of a race of every length."""
    generator = np.random.default_rng(seed)
    strategy = make_strategy(seed, sigma0)
    rounds, episodes, generations = float(MIN_ROUNDS), 0, 0
    best = np.zeros(3)
    while episodes < budget:
        population = np.array(strategy.ask())
        max_rounds = math.ceil(rounds)
        patients = numpy_medical.draw(generator, POPULATION, max_rounds)
        treated = numpy_medical.treat(population, patients)
        raced = numpy_treatment_race.play(
            treated.toxicity, treated.tumour, table[max_rounds - 1, :max_rounds], TOP
        )
        fitness = np.empty(POPULATION)
        fitness[raced.ranking] = np.arange(POPULATION)
        strategy.tell(list(population), list(fitness))
        best = population[raced.ranking[0]]
        episodes += int(raced.samples.sum())
        generations += 1
        rounds = rounds / FACTOR if raced.decided else rounds * FACTOR
        rounds = min(max(rounds, MIN_ROUNDS), len(table))
    return Learned(best, episodes, generations)


def make_strategy(seed: int, sigma0: float) -> cma.CMAEvolutionStrategy:
    """pycma's CMA-ES with these settings; its seed 0 would mean the clock."""
    return cma.CMAEvolutionStrategy(3 * [0.0], sigma0, {**OPTIONS, "seed": seed + 1})
