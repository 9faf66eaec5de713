"""The medical treatment task in vectorised NumPy: all episodes of a population in one pass.

Coefficients "seed000", hazard "A", the policy D = sigmoid(theta . (S, X, 1)), six months; the
equations are those of ``jaxrace.envs.medical``. float32 throughout, as in jaxrace.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MONTHS = 6

FloatArray = NDArray[np.float32]


class Treatments(NamedTuple):
    """Outcomes of episodes; the two costs are infinite for the dead."""

    toxicity: FloatArray  # [K, n], worst of the history
    tumour: FloatArray  # [K, n], final
    reward: FloatArray  # [K, n], sum over the history, as in Zhao et al. 2009


def draw(generator: np.random.Generator, num_policies: int, episodes: int) -> FloatArray:
    """Patients for ``treat``."""
    noise = np.empty((3, num_policies, episodes), np.float32)
    generator.random(out=noise[:2], dtype=np.float32)
    generator.standard_exponential(out=noise[2], dtype=np.float32)
    return noise


def treat(theta: NDArray[np.floating], noise: FloatArray, with_reward: bool = False) -> Treatments:
    """Episodes of policies theta [K, 3] on patients noise [3, K, n].

    Of the noise S_0 / 2 and X_0 / 2 are uniform in [0, 1), and the hazards that a patient survives
    are exponentially distributed with mean 1.
    """
    w_tumour, w_toxicity, bias = (column[:, None] for column in theta.astype(np.float32).T)
    first_tumour, first_toxicity = np.float32(2.0) * noise[0], np.float32(2.0) * noise[1]
    tumour, toxicity = first_tumour, first_toxicity
    worst_toxicity = toxicity
    alive = np.ones(tumour.shape, bool)
    hazard, endurance = np.zeros(tumour.shape, np.float32), noise[2]
    reward = np.zeros(tumour.shape, np.float32)
    for _ in range(MONTHS):
        logit = w_tumour * tumour + w_toxicity * toxicity + bias
        with np.errstate(over="ignore"):  # exp(-x) of a strongly negative x: a dose of 0
            dose = np.float32(1.0) / (np.float32(1.0) + np.exp(-logit))
        push = np.float32(1.2) * (dose - np.float32(0.5))
        growth = np.float32(0.1) * np.maximum(toxicity, first_toxicity) - push
        grown = np.maximum(tumour + growth, np.float32(0.0))
        next_tumour = np.where(tumour > 0, grown, tumour)
        next_toxicity = toxicity + np.float32(0.15) * np.maximum(tumour, first_tumour) + push
        hazard = hazard + np.exp(next_tumour + next_toxicity - np.float32(4.0))
        died = alive & (hazard >= endurance)
        if with_reward:
            earned = _reward(next_tumour, next_tumour - tumour, next_toxicity - toxicity)
            reward += alive * np.where(died, np.float32(-60.0), earned)
        alive &= ~died
        tumour, toxicity = next_tumour, next_toxicity
        worst_toxicity = np.maximum(worst_toxicity, toxicity)
    infinite = np.float32(np.inf)
    return Treatments(
        np.where(alive, worst_toxicity, infinite), np.where(alive, tumour, infinite), reward
    )


def _reward(tumour: FloatArray, tumour_change: FloatArray, toxicity_change: FloatArray):
    tumour_term = np.where(tumour <= 0, np.float32(15.0), _term(tumour_change))
    return _term(toxicity_change) + tumour_term


def _term(change: FloatArray) -> FloatArray:
    return np.float32(5.0) * ((change <= -0.5).astype(np.float32) - (change >= 0.5))
