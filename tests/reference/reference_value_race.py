"""The Hoeffding race and the empirical Bernstein race, one option at a time.

Maron and Moore 1994; Heidrich-Meisner and Igel 2009; Mnih et al. 2008.
"""

import dataclasses
import math

import numpy as np


@dataclasses.dataclass
class Round:
    """What is known after one round."""

    drawn: np.ndarray  # bool [K], who was sampled
    selected: np.ndarray  # bool [K]
    discarded: np.ndarray  # bool [K]
    lower: np.ndarray  # [K]
    upper: np.ndarray  # [K]
    # The smallest difference that a decision of this round hung on: between the ends of two
    # options' intervals, or of an intersection.
    margin: float


@dataclasses.dataclass
class History:
    """The whole race."""

    rounds: list[Round]
    samples: np.ndarray  # int [K]
    mean: np.ndarray  # [K]
    empty: np.ndarray  # bool [K], an intersection was empty
    best: set[int]
    decided: bool


def radius(kind, values, value_range, events, delta):
    """Half the width of the interval of one option's mean."""
    n = len(values)
    if kind == "hoeffding":
        return value_range * math.sqrt(math.log(2 * events / delta) / (2 * n))
    level = math.log(3 * events / delta)
    return np.std(values) * math.sqrt(2 * level / n) + 3 * value_range * level / n


def race(outcomes, kind, top, max_rounds, delta, value_range, intersect=False, dynamic_delta=False):
    """Play a race on given samples [K, at least max_rounds]; see `History`."""
    outcomes = np.asarray(outcomes, np.float64)
    num_options = len(outcomes)
    chosen, rejected = set(), set()
    undecided = set(range(num_options))
    past_undecided = 0
    samples = np.zeros(num_options, int)
    mean = np.zeros(num_options)
    lower, upper = np.full(num_options, -np.inf), np.full(num_options, np.inf)
    empty = np.zeros(num_options, bool)
    rounds = []
    n = 0
    while undecided and n < max_rounds:
        n += 1
        margin = math.inf
        events = num_options * max_rounds
        if dynamic_delta:
            events = past_undecided + (max_rounds - n + 1) * len(undecided)
        past_undecided += len(undecided)
        drawn = np.zeros(num_options, bool)
        for i in undecided:
            drawn[i] = True
            samples[i] = n
            values = outcomes[i, :n]
            mean[i] = values.mean()
            width = radius(kind, values, value_range, events, delta)
            low, high = mean[i] - width, mean[i] + width
            if intersect:
                both = max(lower[i], low), min(upper[i], high)
                margin = min(margin, abs(both[1] - both[0]))
                if both[0] <= both[1]:
                    low, high = both
                else:
                    empty[i] = True
            lower[i], upper[i] = low, high
        can_tell = n >= 5
        for i in undecided if can_tell else ():
            for j in undecided - {i}:
                margin = min(margin, abs(lower[i] - upper[j]))
        to_choose = {
            i
            for i in undecided
            if can_tell
            and sum(lower[i] > upper[j] for j in undecided - {i})
            >= num_options - top - len(rejected)
        }
        to_reject = {
            i
            for i in undecided
            if can_tell and sum(upper[i] < lower[j] for j in undecided - {i}) >= top - len(chosen)
        }
        chosen |= to_choose
        rejected |= to_reject
        undecided -= chosen | rejected
        # With all places taken the others are out, and with all losers known the others are in.
        if len(chosen) == top:
            rejected |= undecided
            undecided = set()
        elif len(rejected) == num_options - top:
            chosen |= undecided
            undecided = set()
        rounds.append(
            Round(
                drawn,
                np.isin(np.arange(num_options), list(chosen)),
                np.isin(np.arange(num_options), list(rejected)),
                lower.copy(),
                upper.copy(),
                margin,
            )
        )
    decided = not undecided
    by_mean = sorted(undecided, key=lambda i: (-mean[i], i))
    best = chosen | set(by_mean[: top - len(chosen)])
    return History(rounds, samples, mean, empty, best, decided)
