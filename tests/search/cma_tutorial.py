"""CMA-ES with positive weights in plain NumPy float64.

Written from Hansen, The CMA Evolution Strategy: A Tutorial (arXiv 1604.00772, first version of
2016), Table 1 and the summary of appendix A.
"""

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class Constants:
    """Table 1, for a dimension n and a population size lambda."""

    weights: np.ndarray  # [mu]
    mu_eff: float
    c_sigma: float
    d_sigma: float
    c_c: float
    c_1: float
    c_mu: float
    chi_n: float


@dataclasses.dataclass(frozen=True)
class State:
    """The distribution N(mean, sigma^2 C) after ``generation`` updates."""

    mean: np.ndarray
    sigma: float
    C: np.ndarray
    p_sigma: np.ndarray
    p_c: np.ndarray
    generation: int


def constants(n, population_size):
    mu = population_size // 2
    raw = np.log((population_size + 1) / 2) - np.log(np.arange(1, mu + 1))  # eq. 49
    weights = raw / raw.sum()
    mu_eff = 1 / (weights**2).sum()  # eq. 8
    c_sigma = (mu_eff + 2) / (n + mu_eff + 5)  # eq. 55
    c_1 = 2 / ((n + 1.3) ** 2 + mu_eff)  # eq. 57
    return Constants(
        weights=weights,
        mu_eff=mu_eff,
        c_sigma=c_sigma,
        d_sigma=1 + 2 * max(0.0, np.sqrt((mu_eff - 1) / (n + 1)) - 1) + c_sigma,
        c_c=(4 + mu_eff / n) / (n + 4 + 2 * mu_eff / n),  # eq. 56
        c_1=c_1,
        # eq. 58; the second version of 2023 adds 1/4 to the bracket.
        c_mu=min(1 - c_1, 2 * (mu_eff - 2 + 1 / mu_eff) / ((n + 2) ** 2 + mu_eff)),
        chi_n=np.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n**2)),
    )


def stall_indicator(p_sigma, generation, k):
    """h_sigma in the update that is number ``generation`` (from 1)."""
    n = len(p_sigma)
    length = np.linalg.norm(p_sigma) / np.sqrt(1 - (1 - k.c_sigma) ** (2 * generation))
    return bool(length < (1.4 + 2 / (n + 1)) * k.chi_n)


def update(state, best_first, k, decomposed):
    """The state after one generation; ``best_first`` is the population [lambda, n] by rank.

    ``decomposed`` is the C of this or an earlier generation (appendix B.2), of which B and D are.
    """
    eigenvalues, B = np.linalg.eigh(decomposed)
    y = (best_first[: len(k.weights)] - state.mean) / state.sigma
    y_w = k.weights @ y
    whitened = B @ ((B.T @ y_w) / np.sqrt(eigenvalues))
    p_sigma = (1 - k.c_sigma) * state.p_sigma
    p_sigma = p_sigma + np.sqrt(k.c_sigma * (2 - k.c_sigma) * k.mu_eff) * whitened
    h = stall_indicator(p_sigma, state.generation + 1, k)
    p_c = (1 - k.c_c) * state.p_c + h * np.sqrt(k.c_c * (2 - k.c_c) * k.mu_eff) * y_w
    delta_h = (1 - h) * k.c_c * (2 - k.c_c)
    rank_mu = np.einsum("i,ij,ik->jk", k.weights, y, y)
    C = (1 + k.c_1 * delta_h - k.c_1 - k.c_mu) * state.C
    C = C + k.c_1 * np.outer(p_c, p_c) + k.c_mu * rank_mu
    step = (k.c_sigma / k.d_sigma) * (np.linalg.norm(p_sigma) / k.chi_n - 1)
    return State(
        mean=state.mean + state.sigma * y_w,
        sigma=state.sigma * np.exp(step),
        C=C,
        p_sigma=p_sigma,
        p_c=p_c,
        generation=state.generation + 1,
    )
