"""The preference-based race of one generation on treatments, in NumPy, whole race at a time.

Samples of all n_max rounds are at hand (drawing ahead is cheaper for NumPy than stopping early),
all samples of all pairs of options are compared by Pareto dominance in one expression (7 options
and 100 rounds fit the cache), and only rounds in which a pair may be decided are walked through.
Sharp rule.

Axes: K options, n = n_max rounds, P = K (K-1) / 2 pairs.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Ranked(NamedTuple):
    """What a generation needs to know of its race."""

    ranking: NDArray[np.int64]  # [K]
    samples: NDArray[np.int64]  # [K]
    decided: bool


def play(
    toxicity: NDArray[np.float32],
    tumour: NDArray[np.float32],
    thresholds: NDArray[np.int32],
    top: int,
) -> Ranked:
    """Play a race on costs [K, n], infinite for the dead; thresholds [n]."""
    num_options, max_rounds = toxicity.shape
    i, j = np.triu_indices(num_options, 1)
    path = _net_counts(toxicity, tumour, i, j)
    active = np.ones(len(i), bool)
    beats = np.zeros((num_options, num_options), bool)
    end = np.full(len(i), max_rounds)  # samples behind each pair's count
    for n in np.flatnonzero((np.abs(path) >= thresholds[:, None]).any(1)):
        sure = active & (np.abs(path[n]) >= thresholds[n])
        beats[i[sure & (path[n] > 0)], j[sure & (path[n] > 0)]] = True
        beats[j[sure & (path[n] < 0)], i[sure & (path[n] < 0)]] = True
        settled = _settled(beats, top)
        dropped = active & ((settled[i] & settled[j]) | beats[i, j] | beats[j, i])
        end[dropped] = n + 1
        active &= ~dropped
    net = np.zeros((num_options, num_options), np.int64)
    rounds = np.zeros_like(net)
    net[i, j] = path[end - 1, np.arange(len(i))]
    net -= net.T
    rounds[i, j] = rounds[j, i] = end
    ahead = beats | (~(beats | beats.T) & (net > 0))
    margins = net / np.maximum(rounds, 1) ** 2
    ranking = np.lexsort((-margins.sum(1), -ahead.sum(1)))
    return Ranked(ranking, rounds.max(1), not active.any())


def _net_counts(
    toxicity: NDArray[np.float32],
    tumour: NDArray[np.float32],
    i: NDArray[np.int64],
    j: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Net counts after every round: [n, P]."""
    max_rounds = toxicity.shape[1]
    a_toxicity, b_toxicity = toxicity[i][:, :, None], toxicity[j][:, None, :]
    a_tumour, b_tumour = tumour[i][:, :, None], tumour[j][:, None, :]
    # [P, n of i, n of j]; int8 differences of two bools are the signs.
    as_good = (a_toxicity <= b_toxicity) & (a_tumour <= b_tumour)
    no_better = (b_toxicity <= a_toxicity) & (b_tumour <= a_tumour)
    signs = as_good.view(np.int8) - no_better.view(np.int8)
    # einsum adds products with 0 and 1 in one pass, where masks would make copies.
    earlier = np.tri(max_rounds, dtype=np.float32)
    signs = signs.astype(np.float32)
    gains = np.einsum("pst,ts->tp", signs, earlier, optimize=False)
    gains += np.einsum("pts,ts->tp", signs, earlier, optimize=False)
    gains -= signs.diagonal(axis1=1, axis2=2).T
    return np.cumsum(gains, axis=0, dtype=np.float64).astype(np.int64)


def _settled(beats: NDArray[np.bool_], top: int) -> NDArray[np.bool_]:
    num_options = len(beats)
    better = beats.sum(1)[:, None] + beats.sum(0)[None, :] >= num_options
    return (better.sum(1) >= num_options - top) | (better.sum(0) >= top)
