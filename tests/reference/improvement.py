"""High-confidence policy improvement: one number at a time, float64, from the formulas.

Source: Thomas, Theocharous and Ghavamzadeh 2015 (ICML); Precup, Sutton and Singh 2000 for the
estimates; Waudby-Smith and Ramdas 2024 for the betting bound. Values X are plain lists of the
values that count; time is counted from 0.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy import stats


@dataclass
class Step:
    """What was seen, which action was taken with what probability, and the reward."""

    observation: np.ndarray
    action: int
    probability: float
    reward: float


def ratio(step, policy):
    """pi(a | s) / pi_i(a | s); ``policy(observation)`` gives the probabilities of all actions."""
    return float(policy(step.observation)[step.action]) / step.probability


def weight(trajectory, policy):
    """The product of the ratios of a trajectory, a list of steps."""
    return math.prod(ratio(step, policy) for step in trajectory)


def normalised_return(trajectory, low, high, discount):
    total = sum(discount**t * step.reward for t, step in enumerate(trajectory))
    return (total - low) / (high - low)


def weighted_returns(data, policy, low, high, discount=1.0):
    """X_i for a list of trajectories."""
    return [normalised_return(one, low, high, discount) * weight(one, policy) for one in data]


def ordinary(data, policy, low, high, discount=1.0):
    return sum(weighted_returns(data, policy, low, high, discount)) / len(data)


def weighted(data, policy, low, high, discount=1.0):
    """g: the sum of X_i over the sum of the weights; 0 without weight."""
    total = sum(weight(one, policy) for one in data)
    return sum(weighted_returns(data, policy, low, high, discount)) / total if total > 0 else 0.0


def weight_up_to(trajectory, policy, time):
    """The product of the ratios up to a time; that of a trajectory that has ended stays."""
    return weight(trajectory[: time + 1], policy)


def reward_at(trajectory, time):
    return trajectory[time].reward if time < len(trajectory) else 0.0


def per_decision(data, policy, low, high, discount=1.0, is_weighted=False):
    """Every reward is weighted by the actions that led to it only."""
    total = 0.0
    for t in range(max(map(len, data))):
        weights = [weight_up_to(one, policy, t) for one in data]
        rewards = [w * reward_at(one, t) for w, one in zip(weights, data, strict=True)]
        divisor = sum(weights) if is_weighted else len(data)
        total += discount**t * sum(rewards) / divisor if divisor > 0 else 0.0
    return (total - low) / (high - low)


def student_bound(values, delta, number):
    """Algorithm 2."""
    quantile = stats.t.ppf(1 - delta, number - 1)
    return np.mean(values) - np.std(values, ddof=1) / math.sqrt(number) * quantile


def capped_bound(values, cap, delta, number):
    """The concentration inequality with the threshold c, as printed, for m values like these."""
    capped = np.minimum(np.asarray(values, float), cap)
    n = len(capped)
    log = math.log(2 / delta)
    spread = n * (capped**2).sum() - capped.sum() ** 2
    width = 7 * cap * log / (3 * (number - 1))
    width += math.sqrt(2 * log / (number * n * (n - 1)) * max(spread, 0.0))
    return capped.mean() - width


def best_capped_bound(values, delta, number, points=4000):
    """The largest bound that any c from 1 on gives, from many c and those around the best."""
    top = max(1.0, float(np.max(values)))
    grid = np.unique(np.concatenate([np.geomspace(1, top, points), np.clip(values, 1, top)]))
    bounds = [capped_bound(values, cap, delta, number) for cap in grid]
    best = int(np.argmax(bounds))
    around = np.linspace(grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)], 200)
    return max(*bounds, *(capped_bound(values, cap, delta, number) for cap in around))


def bootstrap_bound(values, shares, delta, corrected=True):
    """Algorithm 3 with its last line mended; ``shares`` [B, n] make the means of the resamples.

    With ``corrected`` False the bias z0 and the acceleration a are 0.
    """
    values = np.asarray(values, float)
    mean = values.mean()
    if np.ptp(values) == 0:
        return mean
    means = np.sort(np.asarray(shares, float) @ values)
    quantile, resamples = stats.norm.ppf(1 - delta), len(means)
    bias = acceleration = 0.0
    if corrected:
        bias, acceleration = bias_of(means, mean), acceleration_of(values)
    shift = quantile - bias
    level = stats.norm.cdf(bias - shift / (1 + acceleration * shift))
    place = (resamples + 1) * level
    if place < 1:
        return means[0]
    if place > resamples:
        return means[-1]
    lower = max(min(math.floor(place), resamples - 1), 1)
    at, above = (stats.norm.ppf((lower + k) / (resamples + 1)) for k in (0, 1))
    share = (stats.norm.ppf(level) - at) / (above - at)
    return means[lower - 1] + share * (means[lower] - means[lower - 1])


def bias_of(means, mean):
    """z0, line 8; kept finite. Equal means are not below, though rounding may part them."""
    resamples = len(means)
    below = (means < mean - 1e-12 * abs(mean)).sum() / resamples
    return stats.norm.ppf(min(max(below, 1 / (resamples + 1)), resamples / (resamples + 1)))


def acceleration_of(values):
    """a, line 13, from the means without one value each."""
    others = np.array([np.delete(values, i).mean() for i in range(len(values))])
    distances = others.mean() - others
    return (distances**3).sum() / (6 * (distances**2).sum() ** 1.5)


def bets(values, cap, delta, planned=None, anytime=False):
    """lambda_t of every value before it is cut to .75 / mu, for ``planned`` values in all.

    Half a success is counted before the first value, and the variance of a coin. With ``anytime``
    value number i = t + 1 is bet on as if it were the last of i ln(i + 1) values.
    """
    planned = planned or len(values)
    seen, squares, result = 0.5, 0.25, []
    for t, value in enumerate(np.minimum(values, cap) / cap):
        horizon = (t + 1) * math.log(t + 2) if anytime else planned
        result.append(math.sqrt(2 * math.log(1 / delta) * (t + 1) / (horizon * squares)))
        seen += value
        squares += (value - seen / (t + 2)) ** 2
    return result


def capital(values, cap, mu, chosen):
    """What a gambler has had at most who began with 1 and bet against the mean mu."""
    now = most = 1.0
    for value, bet in zip(np.minimum(values, cap) / cap, chosen, strict=True):
        now *= 1 + min(bet, 0.75 / mu) * (value - mu)
        most = max(most, now)
    return most


def betting_bound(values, cap, delta, planned=None, anytime=False):
    """The largest mean that is refuted, 0 if there is none; what it is lies in [0, c]."""
    values = np.asarray(values, float)
    chosen = bets(values, cap, delta, planned, anytime)

    def is_refuted(mu):
        return capital(values, cap, mu, chosen) >= 1 / delta

    low, high = 1e-9, 1.0
    if not is_refuted(low):
        return 0.0
    if is_refuted(high):
        return cap
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if is_refuted(middle) else (low, middle)
    return cap * low


def objective(estimate, predicted, floor):
    """f: the estimate g if the bound is predicted to reach rho_-, else the bound."""
    return estimate if predicted >= floor else predicted


@dataclass
class Daedalus:
    """Algorithm 8, given the candidates and their bounds; a trajectory is any object.

    Daedalus2 is the same with ``keeps_test``. ``estimate(policy, trajectories)`` is g.
    """

    initial: object
    batch_size: int
    floor: float
    keeps_test: bool
    estimate: Callable
    policies: list = field(default_factory=list)
    train: list = field(default_factory=list)
    test: list = field(default_factory=list)

    def __post_init__(self):
        self.policies.append(self.initial)

    def known(self):
        """What the policies are compared on."""
        return self.train + self.test if self.keeps_test else self.train

    def current(self):
        """The number of the policy to run, lines 4 and 5; the first one of equals."""
        worths = [self.estimate(policy, self.known()) for policy in self.policies]
        return worths.index(max(worths))

    def collect(self, batch):
        """Line 6."""
        assert len(batch) == self.batch_size
        fifth = -(-self.batch_size // 5)
        self.train += batch[:fifth]
        self.test += batch[fifth:]

    def judge(self, candidate, bound):
        """Lines 7 to 12: is the candidate found safe, and is it added?"""
        is_found = bound >= self.floor
        rivals = max(self.estimate(policy, self.known()) for policy in self.policies)
        is_added = is_found and self.estimate(candidate, self.known()) > rivals
        if is_added:
            self.policies.append(candidate)
            if not self.keeps_test:
                self.test = []
        return is_found, is_added
