"""Policy search by pycma and its NoiseHandler on returns: what pycma itself has against noise.

No race and no preferences: the fitness of a policy is the mean return of as many episodes as the
handler asks for (1 to 100), and a few policies per generation are evaluated again to measure the
noise. All episodes of the population are one vectorised rollout.
"""

from collections.abc import Callable

import cma
import numpy as np
from numpy.typing import NDArray

from peers import numpy_medical
from peers.pycma_search import Learned, make_strategy

MAX_EPISODES = 100


def search(seed: int, budget: int, sigma0: float = 10.0) -> Learned:
    """One search of about ``budget`` episodes; the generation that uses them up is finished."""
    generator = np.random.default_rng(seed)
    strategy = make_strategy(seed, sigma0)
    # Within a call the episodes are averaged already: aggregate nothing, evaluate once.
    handler = cma.NoiseHandler(3, maxevals=[1, 3, MAX_EPISODES], aggregate=None, epsilon=0)
    episodes, generations = 0, 0
    best = np.zeros(3)
    while episodes < budget:
        count = int(handler.evaluations)
        evaluate = _mean_cost(generator, count)
        population = np.array(strategy.ask())
        costs = evaluate(population)
        strategy.tell(list(population), list(costs))
        strategy.sigma *= handler(
            list(population), list(costs), lambda theta, of=evaluate: of(theta[None])[0]
        )
        episodes += count * (len(population) + len(handler.idx))
        generations += 1
        best = population[np.argmin(costs)]
    return Learned(best, episodes, generations)


def _mean_cost(
    generator: np.random.Generator, episodes: int
) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    def mean_cost(population: NDArray[np.float64]) -> NDArray[np.float64]:
        patients = numpy_medical.draw(generator, len(population), episodes)
        treated = numpy_medical.treat(population, patients, with_reward=True)
        return -treated.reward.mean(1, dtype=np.float64)

    return mean_cost
