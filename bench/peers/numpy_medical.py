"""The medical treatment task in vectorised NumPy: all episodes of a population in one pass.

Coefficients "seed000", hazard "A", the policy D = sigmoid(theta . (S, X, 1)), six months; the
equations are those of ``jaxrace.envs.medical_model``. float32 throughout, as in jaxrace.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MONTHS = 6
NOISE = 2 + MONTHS  # uniform numbers per episode: S_0, X_0 and the death thresholds

FloatArray = NDArray[np.float32]


class Treatments(NamedTuple):
    """Outcomes of episodes; the two costs are infinite for the dead."""

    toxicity: FloatArray  # [K, n], worst of the history
    tumour: FloatArray  # [K, n], final
    reward: FloatArray  # [K, n], sum over the history, as in Zhao et al. 2009


def treat(theta: NDArray[np.floating], noise: FloatArray, with_reward: bool = False) -> Treatments:
    """Episodes of policies theta [K, 3] on patients noise [NOISE, K, n], uniform in [0, 1)."""
    w_tumour, w_toxicity, bias = (column[:, None] for column in theta.astype(np.float32).T)
    first_tumour, first_toxicity = np.float32(2.0) * noise[0], np.float32(2.0) * noise[1]
    tumour, toxicity = first_tumour, first_toxicity
    worst_toxicity = toxicity
    alive = np.ones(tumour.shape, bool)
    reward = np.zeros(tumour.shape, np.float32)
    for month in range(MONTHS):
        logit = w_tumour * tumour + w_toxicity * toxicity + bias
        with np.errstate(over="ignore"):  # exp(-x) of a strongly negative x: a dose of 0
            dose = np.float32(1.0) / (np.float32(1.0) + np.exp(-logit))
        push = np.float32(1.2) * (dose - np.float32(0.5))
        growth = np.float32(0.1) * np.maximum(toxicity, first_toxicity) - push
        grown = np.maximum(tumour + growth, np.float32(0.0))
        next_tumour = np.where(tumour > 0, grown, tumour)
        next_toxicity = toxicity + np.float32(0.15) * np.maximum(tumour, first_tumour) + push
        death = -np.expm1(-np.exp(next_tumour + next_toxicity - np.float32(4.0)))
        died = alive & (noise[2 + month] < death)
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
