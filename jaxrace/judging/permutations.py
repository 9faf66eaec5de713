"""Do runs look as they do in any other order? One permutation test of all options together.

If runs are independent and alike, and options have nothing in common, all orders of an option's
runs are equally likely, whatever the others do. So the orders that were not are drawn, and what
stands out from those is seen, whatever law the scores have. Axes: K options, n_i runs of option i,
B drawn orders and the one that there is.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

# Drawn orders: as many as there is time for, and enough to tell one in a hundred.
_MOST, _FEWEST, _MOST_NUMBERS = 2_000, 200, 2 * 10**7

# From so many runs beyond the fifth of each option on, an autoregression of .5 is seen in half of
# the tables or more: docs/tables.md.
_LEAST_RUNS = 45


class Pattern(NamedTuple):
    """What stands out, and how seldom chance makes anything that does so as much."""

    probability: float
    what: str
    is_common: bool = False  # do options resemble each other, row by row?


def is_too_few(counts: Sequence[int]) -> bool:
    """Are so few runs of each option hardly enough to see that they resemble the ones before?"""
    return sum(max(count - 5, 0) for count in counts) < _LEAST_RUNS


def pattern_of(names: Sequence[str], orders: Sequence[np.ndarray]) -> Pattern | None:
    """What stands out most from runs in any order; ``orders`` grow with the scores, [n_i] each.

    Five numbers are made of the ranks: by how much runs resemble the ones before them, and how much
    they rise or fall, of all options together and of the one where it is most; and how much options
    go up and down together, row by row. Each is measured in its own standard deviations over the
    drawn orders, and the largest is compared with that of each drawn order.
    """
    kept = [(name, _scores_of(order)) for name, order in zip(names, orders, strict=True)]
    kept = [(name, ranks) for name, ranks in kept if len(ranks) > 2 and ranks.any()]
    if not kept:
        return None
    total = sum(len(ranks) for _, ranks in kept)
    number = int(np.clip(_MOST_NUMBERS // total, _FEWEST, _MOST))
    rng = np.random.default_rng(0)
    rows = np.zeros((number + 1, max(len(ranks) for _, ranks in kept)), np.float32)
    lags, trends = (np.zeros((len(kept), number + 1)) for _ in range(2))
    for place, (_, ranks) in enumerate(kept):
        drawn = rng.permuted(np.tile(ranks, (number + 1, 1)), axis=1)
        drawn[0] = ranks
        rows[:, : len(ranks)] += drawn
        lags[place] = (drawn[:, 1:] * drawn[:, :-1]).sum(1)
        trends[place] = drawn @ _scores_of(np.arange(len(ranks))) / np.sqrt(len(ranks))
    each = [_in_deviations(x) for x in (lags, trends)]
    together = [_in_deviations(x.sum(0)) for x in (lags, trends)]
    common = _in_deviations((rows**2).sum(1)) * (len(kept) > 1)
    found = np.abs(np.stack([*together, common, *(np.abs(x).max(0) for x in each)]))
    found[3:] = _in_deviations(found[3:])
    largest = found.max(0)
    probability = float((largest >= largest[0] - 1e-9).mean())
    most = int(found[:, 0].argmax())
    counts = np.array([len(ranks) for _, ranks in kept])
    of_lags, of_trends = lags[:, 0] / counts, trends[:, 0] / np.sqrt(counts)
    if most == 2:
        shared = (float((rows[0] ** 2).sum()) - total) / 2
        mean = shared / sum(min(a, b) for i, a in enumerate(counts) for b in counts[:i])
        what = f"rows that options have in common, with a mean rank correlation of {mean:.2f}"
        return Pattern(probability, what, is_common=True)
    if most in (0, 3):
        worst = int(np.abs(each[0][:, 0]).argmax())
        what, numbers = "a {}lag-1 rank correlation of {:.2f}", of_lags
    else:
        worst = int(np.abs(each[1][:, 0]).argmax())
        what, numbers = "a {}rank correlation with their number of {:.2f}", of_trends
    if most < 2 and len(kept) > 1:
        mean = float(np.average(numbers, weights=counts))
        return Pattern(probability, f"runs of all options with {what.format('mean ', mean)}")
    name, ranks = kept[worst]
    what = what.format("", float(numbers[worst]))
    return Pattern(probability, f"{len(ranks)} runs of {name} with {what}")


def _in_deviations(numbers: np.ndarray) -> np.ndarray:
    """From their mean over the orders, in the last axis."""
    spread = numbers.std(-1, keepdims=True)
    return (numbers - numbers.mean(-1, keepdims=True)) / np.where(spread > 0, spread, 1)


def _scores_of(order: np.ndarray) -> np.ndarray:
    """Mid-ranks with mean 0 and mean square 1, float32 [n]; 0 if all are equal."""
    _, codes, counts = np.unique(order, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[codes]
    ranks = ranks - ranks.mean() if len(ranks) else ranks
    return (ranks / (np.sqrt((ranks**2).mean()) if ranks.any() else 1)).astype(np.float32)
