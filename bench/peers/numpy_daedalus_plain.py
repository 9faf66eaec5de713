"""The search of ``numpy_daedalus`` as one writes it first: pycma asks for one loss at a time."""

import cma
import numpy as np
from scipy.special import ndtr, ndtri

from peers.numpy_daedalus import OPTIONS, RESAMPLES, Array, Set


def bca(values: Array, counts: Array, delta: float) -> float:
    """Thomas et al. 2015, Algorithm 3, of values [n], with resamples given as counts [B, n]."""
    mean = values.mean()
    if values.max() == values.min():
        return float(mean)
    means = np.sort(counts @ values / counts[0].sum())
    share = np.clip((means < mean).mean(), 1 / (RESAMPLES + 1), RESAMPLES / (RESAMPLES + 1))
    z0, z = ndtri(share), -ndtri(delta)
    apart = values - mean
    acceleration = (apart**3).sum() / (6 * (apart**2).sum() ** 1.5)
    z_low = z0 - (z - z0) / (1 + acceleration * (z - z0))
    below = int(np.clip(np.floor((RESAMPLES + 1) * ndtr(z_low)), 1, RESAMPLES - 1))
    left, right = ndtri(below / (RESAMPLES + 1)), ndtri((below + 1) / (RESAMPLES + 1))
    part = np.clip((z_low - left) / (right - left), 0, 1)
    return float(means[below - 1] + part * (means[below] - means[below - 1]))


def search(
    rng: np.random.Generator,
    train: Set,
    tested_on: int,
    start: Array,
    floor: float,
    delta: float,
    seed: int,
) -> Array:
    """As ``numpy_daedalus.search``, one candidate at a time."""
    counts = np.ascontiguousarray(train.resamples(rng, tested_on).T)

    def loss(flat: Array) -> float:
        weights = train.weights(np.reshape(flat, start.shape))
        lower = bca(weights * train.returns, counts, delta)
        return -(float(train.estimate(weights)) if lower >= floor else lower)

    found, _ = cma.fmin2(loss, start.reshape(-1), 1.0, {**OPTIONS, "seed": seed})
    return np.reshape(found, start.shape)
