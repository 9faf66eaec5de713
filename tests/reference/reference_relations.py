"""Preferences between samples, as matrices of h: 1 preferred, 1/2 tie or incomparable, 0 worse."""

import numpy as np


def larger(first, second):
    """h[a, b] of numbers [n] against [m]."""
    a, b = np.asarray(first)[:, None], np.asarray(second)[None, :]
    return (a > b) + 0.5 * (a == b)


def dominates(first, second):
    """h[a, b] of vectors [n, d] against [m, d]: no coordinate is smaller and one is larger."""
    a, b = np.asarray(first)[:, None], np.asarray(second)[None, :]
    better = (a >= b).all(-1) & (a > b).any(-1)
    worse = (b >= a).all(-1) & (b > a).any(-1)
    return 0.5 + 0.5 * better - 0.5 * worse


def medical(first, second):
    """h of outcomes [n, 3]: alive (0 or 1), toxicity, tumour size (both the smaller the better).

    Alive beats dead; two dead are incomparable; two alive compare by Pareto dominance
    (Fuernkranz et al. 2012; Busa-Fekete et al. 2014).
    """
    a, b = np.asarray(first, float), np.asarray(second, float)
    alive_a, alive_b = a[:, None, 0] > 0, b[None, :, 0] > 0
    costs = dominates(-a[:, 1:], -b[:, 1:])
    by_survival = 0.5 + 0.5 * (alive_a & ~alive_b) - 0.5 * (alive_b & ~alive_a)
    return np.where(alive_a & alive_b, costs, by_survival)


def half_units(prefer, outcomes):
    """W_ij = 2 sum of h over all pairs of samples, int64 [K, K]; outcomes [K, n, ...]."""
    return prefix_half_units(prefer, outcomes)[-1]


def prefix_half_units(prefer, outcomes):
    """The same for every prefix of the samples, int64 [n, K, K]."""
    num_options, num_rounds = outcomes.shape[:2]
    wins = np.empty((num_rounds, num_options, num_options), np.int64)
    for i in range(num_options):
        for j in range(num_options):
            h = prefer(outcomes[i], outcomes[j])
            for n in range(1, num_rounds + 1):
                wins[n - 1, i, j] = round(2 * h[:n, :n].sum())
    return wins
